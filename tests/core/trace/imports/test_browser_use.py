import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace.imports.browser_use import read_browser_use_history
from tests.core.trace.imports.import_files import PNG, item

LINK = {
    "node_name": "A",
    "ax_name": "Lamps",
    "attributes": {"href": "/lamps"},
    "x_path": "html/body/a[2]",
}


def read(*items):
    return read_browser_use_history({"history": list(items)})


def actions(*entries, **more):
    imported = read(item(*entries, **more))
    assert imported.faulty == ()
    return [str(step.action) for step in imported.steps]


def test_a_step_has_its_thought_address_picture_and_times():
    imported = read(item({"click": {"index": 5}}, elements=[LINK]))
    (step,) = imported.steps
    assert imported.origin == "agent"
    assert imported.start_url == "https://shop.example/"
    assert (str(step.action), step.target) == (r"click [xpath=/html/body/a\[2\]]", 'a "Lamps"')
    assert (step.thought, step.title, step.screenshot) == ("Open the lamps.", "Shop", PNG)
    assert (step.begun, step.seconds) == (1_700_000_000.0, 2.5)


def test_an_older_history_is_read_too():
    old = item({"click_element_by_index": {"index": 3, "xpath": None}}, {"go_to_url": {"url": "a.example"}})
    old["model_output"] = {
        "current_state": {"next_goal": "Go on.", "memory": ""},
        "action": old["model_output"]["action"],
    }
    old["state"]["interacted_element"] = [{"tag_name": "a", "xpath": "html/body/a", "attributes": {}}, None]
    imported = read(old)
    assert [str(step.action) for step in imported.steps] == ["click [xpath=/html/body/a]", "goto [a.example]"]
    assert [step.thought for step in imported.steps] == ["Go on.", ""]


def test_every_action_that_has_a_word_of_ours_gets_it():
    assert actions(
        {"navigate": {"url": "https://a.example", "new_tab": True}},
        {"input": {"index": 2, "text": "lamp", "clear": False}},
        {"send_keys": {"keys": "Control+a"}},
        {"scroll": {"down": False, "pages": 1.0}},
        {"go_back": {}},
        {"wait": {"seconds": 3}},
        {"upload_file": {"index": 4, "path": "/tmp/a.txt"}},
        {"select_dropdown": {"index": 6, "text": "Oslo"}},
        {"switch": {"tab_id": "FF12"}},
        {"close": {"tab_id": "FF12"}},
        {"done": {"text": "42", "success": True}},
    ) == [
        "new_tab",
        "goto [https://a.example]",
        "type [2] [lamp] [append=1]",
        "press [Control+a]",
        "scroll [up]",
        "go_back",
        "wait [3.0]",
        "upload [4] [/tmp/a.txt]",
        "select [6] [Oslo]",
        "tab_focus [0]",
        "close_tab",
        "stop [42]",
    ]


def test_actions_without_a_word_of_ours_keep_their_own():
    assert actions(
        {"extract": {"query": "prices", "extract_links": False}},
        {"wait": {"seconds": 90}},
    ) == ["extract [prices] [False]", "wait [90]"]


def test_a_click_at_coordinates_is_one_at_a_pixel():
    assert actions({"click": {"coordinate_x": 3, "coordinate_y": 4}}) == ["click_at [3] [4]"]


def test_what_failed_or_was_not_carried_out_says_so():
    imported = read(
        item(
            {"click": {"index": 1}},
            {"click": {"index": 2}},
            results=[{"error": "There is no element 1."}],
        )
    )
    assert [(step.outcome, step.message) for step in imported.steps] == [
        ("failed", "There is no element 1."),
        ("skipped", "The history has no result for it: it was not carried out."),
    ]


def test_an_item_without_an_answer_of_the_llm_is_a_failed_step():
    imported = read(item(model_output=None, results=[{"error": "The LLM did not answer."}]))
    (step,) = imported.steps
    assert (step.action, step.outcome, step.message) == (None, "failed", "The LLM did not answer.")


def test_the_answer_is_that_of_done():
    imported = read(item({"done": {"text": "It costs 12.", "success": True}}))
    assert imported.answer == "It costs 12."
    assert imported.steps[0].effect == "stop"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("x", "Input should be"),
        ({"result": {}}, "result: "),
        (
            item({"click": {"index": 1}, "wait": {}}),
            "history[1].model_output.action[0] must have one action",
        ),
        (item({}), "must have one action, not 0"),
        (item({"input": {"index": 1}}), "input needs text"),
        (item({"navigate": {"url": " "}}), "navigate: "),
        (item({"wait": {"seconds": "long"}}), "wait has a value that cannot be used"),
        (item({"5 bad name": {}}), "5 bad name: "),
        ({"model_output": {"action": "click"}}, "not a list of actions"),
        (item({"send_keys": {"keys": 5}}), "send_keys: "),
        (item({"switch": {"tab_id": "x"}}, state={"tabs": [5]}), "state.tabs.0: "),
    ],
)
def test_a_faulty_entry_is_reported_with_its_position(entry, said):
    imported = read(item({"go_back": {}}), entry)
    (fault,) = imported.faulty
    assert fault.position == "history[1]"
    assert said in fault.why
    assert len(imported.steps) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["click", "input", "scroll", "switch", "wait", "done", "navigate", "odd"])
VALUES = st.dictionaries(
    st.sampled_from(["index", "text", "url", "tab_id", "seconds", "down"]), JSON, max_size=3
)


@given(
    output=JSON | st.fixed_dictionaries({"action": st.lists(st.dictionaries(NAMES, VALUES, max_size=1))}),
    state=JSON | st.fixed_dictionaries({"interacted_element": JSON, "tabs": JSON, "screenshot": JSON}),
    metadata=JSON,
    result=JSON,
)
def test_whatever_an_item_holds_it_is_read_or_reported(output, state, metadata, result):
    entry = {"model_output": output, "state": state, "metadata": metadata, "result": result}
    imported = read(entry)
    assert imported.steps or imported.left_out or imported.faulty
