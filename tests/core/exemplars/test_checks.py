import pytest

from core.exemplars.checks import (
    check,
    check_actions,
    check_contrasts,
    check_length,
    check_run,
    check_secrets,
)
from core.exemplars.files import ExemplarFiles
from core.sandbox.running import confinement
from core.schema.exemplar import Contrast, Exemplar, ExemplarStep
from tests.core.exemplars.making import ALL

PAGE = '[1] button "Ok"\n  [2] textbox (#name)\n[13] link "Help [1]"'


def with_actions(*actions: str, observation: str = PAGE, **more) -> Exemplar:
    step = ExemplarStep(observation=observation, actions=actions)
    return ALL[0].replace(steps=(step,), **more)


@pytest.mark.parametrize(
    ("action", "kind", "words"),
    [
        ("clck [1]", "action", 'There is no action "clck"'),
        ("click [3]", "element", "click [3] names [3], which its step does not show"),
        ('click [button "Cancel"]', "element", 'names [button "Cancel"]'),
        ("drag [1] [99]", "element", "names [99]"),
    ],
)
def test_what_is_wrong_with_an_action_is_reported_with_its_place(action, kind, words):
    (found,) = check_actions(with_actions("click [1]", action))
    assert (found.kind, found.where, found.level) == (kind, "step 1, action 2", "fault")
    assert words in found.text


@pytest.mark.parametrize("action", ["click [2]", 'click [button "Ok"]', "press [Enter]", "click [xpath=//a]"])
def test_an_action_on_what_is_there_or_cannot_be_determined_is_right(action):
    assert list(check_actions(with_actions(action))) == []


def test_without_an_observation_nothing_is_said_of_elements():
    assert list(check_actions(with_actions("click [9]", observation=""))) == []


def test_what_comes_after_the_end_is_reported():
    (found,) = check_actions(with_actions("stop [x]", "click [1]"))
    assert "ends the task" in found.text


def test_a_contrast_is_checked_too():
    exemplar = with_actions(
        "click [1]", contrasts=(Contrast(observation=PAGE, tried="click [1]", right="clik [1]"),)
    )
    assert [one.where for one in check_contrasts(exemplar)] == ["contrast 1, right"]


def test_a_contrast_of_a_page_that_is_no_look_is_reported_as_being_in_no_prompt():
    kept = Contrast(observation=f"{PAGE}\n[14] text", tried="click [1]", right="click [2]")
    (found,) = check_contrasts(with_actions("click [1]", contrasts=(kept,)))
    assert (found.where, found.level) == ("contrast 1", "note")
    assert "prompts do not show it" in found.text


def test_what_is_typed_into_a_field_that_hides_it_is_reported():
    looks = (
        ExemplarStep(
            observation='[1] textbox "Name"\n[2] textbox "Password"', actions=("type [1] [x]", "type [2] [y]")
        ),
        ExemplarStep(observation='[1] textbox value="x"\n[2] textbox value="•"', actions=("stop []",)),
    )
    (found,) = check_secrets(ALL[0].replace(steps=looks))
    assert (found.kind, found.level, found.where) == ("secret", "note", "step 1, action 2")
    assert list(check_secrets(with_actions("type [2] [y]"))) == []


def test_an_over_long_one_is_a_note_that_names_the_longest_look():
    exemplar = ALL[0].replace(
        steps=(
            ExemplarStep(observation="short", actions=("stop []",)),
            ExemplarStep(observation="word " * 500, actions=("stop []",)),
        )
    )
    (found,) = check_length(exemplar, 100)
    assert (found.where, found.level) == ("step 2", "note")
    assert check_length(exemplar, 1000) == ()
    (found,) = check_length(
        exemplar.replace(steps=(exemplar.steps[1].replace(observation="word " * 11_000),))
    )
    assert found.level == "fault"
    assert "Presets use 10000 tokens of exemplars at most" in found.text


@pytest.mark.parametrize(("success", "count"), [(False, 1), (None, 0), (True, 0)])
def test_only_a_run_that_is_known_to_have_failed_is_reported(success, count):
    assert len(check_run(ALL[0], 4, lambda run: success)) == count
    assert check_run(ALL[0], None, lambda run: False) == ()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def parse(html: return html", "not valid Python"),
        ("import requests", "may not import"),
        ("def parse(html): return htlm", "NameError"),
        ("open('/etc/passwd')\nobs = 'x'", "may not open files"),
    ],
)
async def test_a_program_that_runs_on_no_page_is_a_fault(code, words):
    need_sandbox()
    (found,) = await check(with_actions("click [1]", parser=code))
    assert (found.kind, found.level) == ("parser", "fault")
    assert words in found.text


async def test_what_a_program_says_of_an_empty_page_in_place_of_its_own_is_not_held_against_it():
    need_sandbox()
    assert await check(with_actions("click [1]", parser="obs = html.split('<h1>')[1]")) == ()


async def test_what_comes_with_the_program_has_no_faults():
    found = [problem for one in ExemplarFiles().all() for problem in await check(one, with_parser=False)]
    assert found == []


def need_sandbox() -> None:
    found = confinement()
    if not found.is_confined:
        pytest.skip(found.reason)
