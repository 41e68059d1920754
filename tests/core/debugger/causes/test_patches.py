"""What causes read of files and permissible actions, and their patches."""

from types import SimpleNamespace

import pytest

from core.agent.spaces.file import ParameterFile, SpaceAction
from core.debugger.causes.kinds import changes, spaces
from core.debugger.causes.kinds.policies import with_listed
from core.schema.action_space import Choice, Parameter, PermissibleAction


@pytest.mark.parametrize(
    ("listed", "names", "put"),
    [
        ('["click"]', ["type", "stop"], '["type", "stop", "click"]'),
        ('["click"]', ["click", "type"], '["type", "click"]'),
        ("[]", ["type", "stop"], '["type", "stop"]'),
        ('["click"]', ["click"], None),
        ("true", ["click"], None),
    ],
)
def test_a_list_gets_the_names_that_it_lacks(listed, names, put):
    text = f"+++\nactions = {listed}\n+++\n# Instruction\n\nDo [this].\n"
    facts = SimpleNamespace(texts=SimpleNamespace(now=lambda _name: text))
    patch = with_listed(facts, "policies/a.md", 2, *names)
    assert (patch and text.replace(patch.find, patch.put)) == (put and text.replace(listed, put))


def actions(*values: str, name: str = "title") -> PermissibleAction:
    passenger = Parameter(name="passenger", choices=(Choice(value="Mr A"), Choice(value="Ms B")))
    given = Parameter(name=name, choices=tuple(Choice(value=one) for one in values))
    return PermissibleAction(name="save", parameters=(passenger, given), origin="state")


@pytest.mark.parametrize(
    ("here", "there", "lost"),
    [
        (actions("Mr"), actions("Mr", "Ms"), ("title", ["Ms"])),
        (actions("Mr", "Ms", "Dr"), actions("Ms", "Mr"), ("", [])),
        (actions("Mr", name="form"), actions("Mr"), ("title", ["Mr"])),
        (None, actions("Mr"), ("", [])),
    ],
)
def test_the_values_that_an_action_lacks_are_those_of_one_of_its_parameters(here, there, lost):
    assert spaces._lost(here, there) == lost


def test_lost_values_lie_where_the_file_has_those_of_their_parameter():
    action = SpaceAction(
        name="save",
        description="Save.",
        does=('click [button "Save"]',),
        parameter=(
            ParameterFile(name="passenger", choices=("Mr A",)),
            ParameterFile(name="title", choices=("Mr", "Ms")),
        ),
    )
    assert spaces._where_values(action, ("state", 0, "action", 1), "title")[-3:] == (
        "parameter",
        1,
        "choices",
    )
    assert spaces._where_values(action, ("state", 0, "action", 1), "gone")[-3:] == ("parameter", 0, "choices")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("a\n- Stop.", "a\n- Stop.\n- Stop at once.", ("", "- Stop at once.")),
        ("[a]\nx = 1\n", "[a]\nx = 1\n[b]\ntop = 2\n", ("", "top = 2")),
        ("x = 1\n", "x = 2\n", ("x = 1", "x = 2")),
    ],
)
def test_a_change_is_told_by_its_first_line_that_says_something(old, new, said):
    (change,) = changes._changes(old, new)
    assert (change.gone, change.came) == said
    assert new[: change.start] + change.before + new[change.end :] == old or not old.endswith("\n")
