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
    ) == ["extract [prices] [false]", "wait [90]"]


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
        ({"result": "x"}, "result: Input should be a valid list"),
        (item(state="x"), "state: Input should be a valid dictionary"),
        (
            item({"click": {"index": 1}, "wait": {}}),
            "it must have one action, not 2",
        ),
        (item({}), "it must have one action, not 0"),
        (item({"input": {"index": 1}}), "input needs text"),
        (item({"click": {"index": None}}), "click needs index"),
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
    assert fault.position in ("history[1]", "history[1].model_output.action[0]")
    assert said in fault.why
    assert len(imported.steps) == 1


def test_a_time_that_no_trace_may_have_counts_as_missing():
    (step,) = read(item({"go_back": {}}, begun=7e10)).steps
    assert (step.begun, step.seconds) == (None, 0.0)


def test_an_action_that_cannot_be_read_leaves_the_others_of_its_item():
    imported = read(item({"click": {"index": 1}}, {"input": {"index": 2}}, {"click": {"index": 3}}))
    assert [str(step.action) for step in imported.steps] == ["click [1]", "click [3]"]
    (fault,) = imported.faulty
    assert fault.position == "history[0].model_output.action[1]"


def test_what_is_null_in_a_history_that_broke_off_counts_as_missing():
    whole = item({"click": {"index": 1}})
    broken = {"model_output": None, "result": [{"error": "The call timed out"}], "state": None}
    state = {"url": None, "title": None, "tabs": None, "interacted_element": None}
    metadata = {"step_start_time": None, "step_end_time": 5, "step_number": 1}
    imported = read(
        whole,
        broken,
        item({"click": {"index": 2}}) | {"result": None},
        item({"click": {"index": 3}}, state=state, metadata=metadata),
        item({"click": {"index": 4}}, results=[None]),
    )
    assert imported.faulty == ()
    assert [(str(one.action), one.outcome) for one in imported.steps] == [
        ("click [1]", "done"),
        ("None", "failed"),
        ("click [2]", "skipped"),
        ("click [3]", "done"),
        ("click [4]", "skipped"),
    ]


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"clear_existing": False}, "type [4] [x] [append=1]"),
        ({"clear_existing": True}, "type [4] [x]"),
        ({"clear": False}, "type [4] [x] [append=1]"),
        ({"clear": None, "clear_existing": None}, "type [4] [x]"),
        ({}, "type [4] [x]"),
    ],
)
def test_text_is_added_where_any_version_says_so(given, written):
    assert actions({"input_text": {"index": 4, "text": "x", **given}}) == [written]


@pytest.mark.parametrize(
    ("done", "answer"),
    [
        (
            {"success": True, "data": {"name": "Åse", "lit": True, "price": None}},
            '{"name": "Åse", "lit": true, "price": null}',
        ),
        ({"success": True, "data": [1, "a"]}, '[1, "a"]'),
        ({"success": True, "data": "plain"}, "plain"),
        ({"title": "Lamp", "text": "long"}, '{"title": "Lamp", "text": "long"}'),
        ({"text": "12", "success": False, "files_to_display": []}, "12"),
        ({"text": None, "success": True}, ""),
        ({"success": True, "data": None}, ""),
        ({}, ""),
    ],
)
def test_a_structured_answer_is_json(done, answer):
    assert read(item({"done": done})).answer == answer


def test_the_first_versions_are_read():
    first = {
        "model_output": {
            "current_state": {"valuation_previous_goal": "", "memory": "m", "next_goal": "Go on."},
            "action": {
                "search_google": None,
                "click_element": {"index": 3, "num_clicks": 2},
                "input_text": None,
            },
        },
        "result": {"is_done": False, "extracted_content": "Clicked", "error": None},
        "state": {
            "url": "http://a/",
            "title": "A",
            "tabs": [],
            "interacted_element": {"xpath": "html/body/a"},
        },
    }
    oldest = {"model_output": {"action": {"click_element": {"id": 1}}}, "result": {"error": "gone"}}
    imported = read(first, oldest)
    assert imported.faulty == ()
    assert [(str(one.action), one.outcome) for one in imported.steps] == [
        ("click [xpath=/html/body/a]", "done"),
        ("click [xpath=/html/body/a]", "done"),
        ("click [1]", "failed"),
    ]


TABS = {
    "url": "http://a/",
    "title": "A",
    "tabs": [
        {"page_id": 0, "url": "http://a/", "title": "A", "tab_id": "00AA"},
        {"page_id": 1, "url": "http://b/", "title": "B", "tab_id": "00BB"},
    ],
}


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        ({"switch_tab": {"page_id": 1}}, ["tab_focus [1]"]),
        ({"switch_tab": {"page_id": -1}}, ["switch_tab [-1]"]),
        ({"switch_tab": {"url": "http://b/"}}, ["tab_focus [1]"]),
        ({"switch": {"tab_id": "00BB"}}, ["tab_focus [1]"]),
        ({"switch": {"tab_id": "00CC"}}, ["switch [00CC]"]),
        ({"close_tab": {"page_id": 0}}, ["close_tab"]),
        ({"close_tab": {"page_id": 1}}, ["tab_focus [1]", "close_tab"]),
        ({"close": {"tab_id": "00CC"}}, ["close [00CC]"]),
        ({"close": {}}, ["close_tab"]),
        ({"click": {"index": 2, "ctrl": True}}, ["click [2] [keys=Control]"]),
        ({"click_element_by_index": {"index": 2, "xpath": "/html/a"}}, ["click [xpath=/html/a]"]),
        ({"click_element": {"index": 2, "num_clicks": 50}}, ["click_element [2] [50]"]),
        ({"scroll": {"down": True, "num_pages": 1.0, "frame_element_index": 7}}, ["scroll [down] [7]"]),
        ({"scroll": {"down": True, "pages": 1.0, "index": 0}}, ["scroll [down]"]),
        ({"wait": {"seconds": None}}, ["wait [3.0]"]),
        ({"scroll_down": {"amount": None}}, ["scroll [down]"]),
        ({"upload_file_to_element": {"index": 4, "path": "/a"}}, ["upload [4] [/a]"]),
        ({"extract_page_content": True}, ["extract_page_content"]),
        ({"write_file": {"file_name": "a.md", "tags": ["x"]}}, ['write_file [a.md] [\\["x"\\]]']),
        ({"shop.add-item": {"count": 2}}, ["shop_add_item [2]"]),
    ],
)
def test_an_action_says_what_the_version_of_its_file_means(entry, written):
    assert actions(entry, state=TABS) == written


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


@pytest.mark.parametrize(
    "element",
    [
        {"attributes": {"type": "password"}},
        {"attributes": {"autocomplete": "section-a current-password"}},
        {"attributes": {"name": "user[passwd]"}},
        {"ax_name": "Password", "attributes": None},
        {"x_path": "//*[@id='password']"},
    ],
)
@pytest.mark.parametrize("password", ["hunter2", "in"])
def test_a_password_is_bullets_also_in_what_was_said_of_it(element, password):
    shown = {"node_name": "INPUT", "x_path": "html/body/input", **element}
    said = {"extracted_content": f"Input {password} into index 3"}
    imported = read(item({"input": {"index": 3, "text": password}}, elements=[shown], results=[said]))
    (step,) = imported.steps
    instead = "•" * len(password)
    assert (step.action.text, step.message) == (instead, f"Input {instead} into index 3")


def test_a_password_is_hidden_wherever_else_the_history_has_it():
    field = {"node_name": "INPUT", "x_path": "html/body/input", "attributes": {"type": "password"}}
    first = item({"navigate": {"url": "https://shop.example/?pw=hunter2"}})
    first["model_output"]["next_goal"] = "Log in with hunter2."
    typed = item(
        {"input_text": {"index": 3, "text": "hunter2"}}, elements=[field], results=[{"error": "No hunter2"}]
    )
    own = item({"fill_it": {"index": 3, "text": "hunter2"}}, elements=[field])
    imported = read(first, typed, own, item({"done": {"text": "I sent hunter2", "success": True}}))
    assert imported.faulty == ()
    assert (imported.steps[0].thought, imported.answer) == ("Log in with •••••••.", "I sent •••••••")
    assert "hunter2" not in repr(imported)


def test_what_is_typed_into_other_fields_stays():
    city = {"node_name": "INPUT", "x_path": "html/body/input", "attributes": {"type": "text", "name": "city"}}
    assert actions({"input": {"index": 3, "text": "Oslo"}}, elements=[city]) == [
        "type [xpath=/html/body/input] [Oslo]"
    ]
