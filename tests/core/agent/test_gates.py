from dataclasses import replace

import pytest

from core.agent.gates import GATES, Gate, Gates, load_gates
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.action_text import parse_action
from core.schema.element_identity import RecordedInput
from core.schema.errors import DataError
from tests.core.stage import page_file

NOTHING = Permissible()


@pytest.mark.parametrize(
    ("action", "label", "stops"),
    [
        ("click [1]", 'button "Place your order"', True),
        ("click [1]", 'button "PAY NOW"', True),
        ("press [Enter]", 'button "Buy now"', True),
        ("click_at [3] [4]", 'generic; button "Buy now"', True),
        ("right_click [1]", 'button "Buy now"', False),
        ("click [1]", 'link "Delete my account"', True),
        ("click [1]", 'link "Delete row"', False),
        ("hover [1]", 'button "Buy now"', False),
        ("type [1] [buy now]", 'textbox "Search"', False),
    ],
)
def test_what_cannot_be_undone_stops(action, label, stops):
    reason = load_gates().reason(parse_action(action), label, NOTHING, "web")
    assert (reason is not None) is stops


def test_an_environment_that_only_plays_is_left_alone():
    assert load_gates().reason(parse_action("click [1]"), 'button "Buy now"', NOTHING, "miniwob") is None


def test_an_action_marked_so_stops_in_every_environment():
    marked = Permissible(actions=(PermissibleAction(name="click", cannot_be_undone=True),))
    assert load_gates().reason(parse_action("click [1]"), "x", marked, "miniwob") is not None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'kinds = ["click", "click_at", "double_click"]',
            'kinds = ["klick"]',
            'no action "klick"; did you mean click',
        ),
        ("reason = ", "raeson = ", 'no key "raeson"'),
        (r"pattern = '\b(delete", r"pattern = '\b((delete", "not a regular expression"),
        ("except_environments = [", "except_environments = ", "not TOML"),
    ],
)
def test_a_wrong_gate_file_is_reported_with_file_and_line(tmp_path, old, new, said):
    path = tmp_path / "gates.toml"
    assert old in GATES.read_text()
    path.write_text(GATES.read_text().replace(old, new))
    with pytest.raises(DataError) as refused:
        load_gates(path)
    assert f"{path}, line " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("thought", "hint"),
    [
        ("This can't be undone, so I am careful.", "can't be undone"),
        ("Sending it is irreversible.", "irreversible"),
        ("It permanently deletes the file.", "permanently deletes"),
        ("I undo the last change.", ""),
    ],
)
def test_what_the_llm_says_of_its_action_is_a_hint(thought, hint):
    gates = load_gates()
    assert gates.hint(thought, "web") == hint
    assert gates.hint(thought, "miniwob") == ""


def test_what_would_be_done_again_is_told_without_an_element_where_it_had_none(stage, llm_server, tmp_path):
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>x"), instruction="Go.")
    gates = Gates((Gate(kinds=("press",), pattern="", reason="it sends the form"),))
    entered = RecordedInput(step=3, action=parse_action("press [Enter]"))
    said = replace(run.world, gates=gates).repeated([entered], [], run.state.episode)
    assert said == "Repeating it would press [Enter] (step 3): it sends the form."
