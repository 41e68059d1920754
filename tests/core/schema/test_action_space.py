import re
from typing import Any

import pytest

from core.agent.general_space import label_of, permissible_of
from core.llm.json_schema import fits
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.action_text import parse_action
from core.schema.observation import Box
from tests.core.observations import element, observation, options

PAGE = observation(
    element(1, "button", "Save"),
    element(2, "textbox", "Name", uses=("click", "type")),
    element(3, "combobox", "City", uses=("select",), options=options("Oslo", "Rome")),
    element(4, "combobox", "Fruit", uses=("select",), options=options("Fig", "Pear", disabled=("Pear",))),
    element(5, "checkbox", "I agree", uses=("check",)),
    element(6, "img", "ball", uses=("drag",)),
    element(7, "button", "File", uses=("upload",)),
    element(8, "text", "only words", uses=()),
    element(9, "button", "Greyed", states=("disabled",)),
    element(10, "textbox", "Fixed", uses=("click", "type"), states=("readonly",)),
    element(11, "combobox", "Empty", uses=("select",), options=options("None", disabled=("None",))),
    tabs=2,
)
OFFERED = permissible_of(PAGE, back=1, forward=1)


@pytest.mark.parametrize(
    "text",
    [
        "click [1]",
        "double_click [2]",
        "hover [1]",
        "type [2] [any words] [enter=1] [append=1]",
        "select [3] [Rome]",
        "select [4] [Fig]",
        "check [5] [checked=0]",
        "drag [6] [8]",
        "upload [7] [/tmp/x]",
        "press [Enter]",
        "scroll [down]",
        "scroll [down] [8]",
        "goto [https://example.org]",
        "go_back",
        "go_forward",
        "new_tab",
        "tab_focus [1]",
        "close_tab",
        "wait [2]",
        "note [x]",
        "stop [x]",
    ],
)
def test_what_the_page_offers_is_permissible(text):
    assert OFFERED.problem(parse_action(text)) is None


DRAWN = observation(
    element(1, "img", "", tag="svg"),
    element(2, "option", "row"),
    element(3, "listbox", "Many", uses=("select",), options=options("a", "b")),
    element(4, "text", "some words to mark", uses=()),
    element(5, "generic", "", box=Box(x=0, y=0, width=100, height=90)),
)


@pytest.mark.parametrize(
    "text",
    [
        "click [1] [at=0.2,1]",
        "click [2] [keys=Shift]",
        "right_click [1] [at=0.2,1]",
        "hover [5] [at=0.2,1]",
        "drag [1] [1] [from_at=0,0] [to_at=1,1]",
        "select [3] [a] [selected=0]",
        "select_text [4] [words] [nth=1]",
    ],
)
def test_places_keys_and_words_are_offered_where_the_page_has_what_they_are_for(text):
    assert permissible_of(DRAWN).problem(parse_action(text)) is None
    plain = permissible_of(
        observation(element(1, "button", "Save"), element(2, "text", "two words", uses=()))
    )
    assert plain.problem(parse_action(text)) is not None


def test_a_shape_that_no_click_acts_on_can_be_pointed_at():
    chart = observation(element(1, "graphics-symbol", "Sales", uses=()), element(2, "text", "words", uses=()))
    offered = permissible_of(chart)
    assert offered.problem(parse_action("hover [1]")) is None
    assert offered.problem(parse_action("hover [2]")) is not None
    assert offered.problem(parse_action("click [1]")) is not None


def test_a_pixel_is_offered_to_who_sees_the_page_alone():
    assert permissible_of(PAGE, pictures=True).problem(parse_action("click_at [3] [4]")) is None
    assert "click_at is not permissible" in str(
        permissible_of(PAGE).problem(parse_action("click_at [3] [4]"))
    )


def test_a_pixel_is_called_by_what_can_be_used_there():
    assert label_of(PAGE, parse_action("click_at [10] [15]")) == 'button "Save"'
    assert label_of(PAGE, parse_action("click_at [700] [15]")) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("click [8]", "not permissible on [8]"),
        ("click [99]", "not permissible on [99]"),
        ("click [9]", "not permissible on [9]"),
        ("type [1] [x]", "not permissible on [1]"),
        ("type [10] [x]", "not permissible on [10]"),
        ("select [3] [Paris]", "there are: Oslo | Rome"),
        ("select [3] [Fig]", "there are: Oslo | Rome"),
        ("select [4] [Pear]", "there are: Fig"),
        ("select [11] [None]", "not permissible on [11]"),
        ("drag [6] [99]", "not permissible on [99]"),
        ("drag [1] [6]", "not permissible on [1]"),
        ("tab_focus [2]", "there are: 0 | 1"),
        ('click [button "Save"]', "wants the number"),
        ("click [focus]", "wants the number"),
        ('drag [6] [button "Save"]', "as its to"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(text, said):
    assert said in (OFFERED.problem(parse_action(text)) or "")


def test_only_the_tools_that_can_do_something_are_offered():
    bare = permissible_of(observation(element(1, "text", "words", uses=())))
    assert [action.name for action in bare.actions] == [
        "press",
        "scroll",
        "goto",
        "new_tab",
        "wait",
        "note",
        "stop",
    ]
    assert "permissible are: press" in (bare.problem(parse_action("click [1]")) or "")


def test_a_field_that_the_action_does_not_take_here_is_refused():
    allowed = PermissibleAction(
        name="type", parameters=(Parameter(name="target", type="integer"), Parameter(name="text"))
    )
    permissible = Permissible(actions=(allowed,))
    assert permissible.problem(parse_action("type [1] [x]")) is None
    assert permissible.problem(parse_action("type [1] [x] [enter=1]")) == "type takes no enter here."


def test_other_target_dialects_pass_where_the_parameter_is_text():
    permissible = Permissible(
        actions=(PermissibleAction(name="click", parameters=(Parameter(name="target"),)),)
    )
    assert permissible.problem(parse_action('click [button "Save"]')) is None
    assert permissible.problem(parse_action("click [xpath=//a]")) is None


def _schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *(one for inner in schema.get("properties", {}).values() for one in _schemas(inner))]


@pytest.mark.parametrize("page", [PAGE, observation(), observation(element(1))])
def test_schemas_are_ones_that_servers_accept(page):
    for action in permissible_of(page, back=1, forward=1).actions:
        schema = action.json_schema()
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])
        for one in _schemas(schema):
            assert one["type"] in ("object", "string", "integer", "number", "boolean")
            if "enum" in one:
                assert one["enum"]
                assert len(set(one["enum"])) == len(one["enum"])
                assert all(
                    isinstance(value, int if one["type"] == "integer" else str) for value in one["enum"]
                )


def test_schemas_name_only_permissible_values():
    click = OFFERED.action("click")
    select = OFFERED.action("select")
    assert click is not None
    assert select is not None
    assert click.json_schema()["properties"]["target"]["enum"] == [1, 2, 10]
    assert select.json_schema()["properties"]["target"]["enum"] == [3, 4]
    assert select.json_schema()["properties"]["option"]["enum"] == ["Oslo", "Rome", "Fig"]


def test_the_schema_of_a_reply_holds_what_is_permissible_and_nothing_else():
    schema = OFFERED.reply_schema(1)

    def fitting(**action):
        return fits({"thought": "So.", "actions": [action]}, schema)

    assert fitting(name="click", target=2)
    assert fitting(name="go_back")
    assert not fitting(name="click", target=3)
    assert not fitting(name="fly", target=2)
    assert not fitting(name="click")
    assert not fitting(name="click", target=2, force=True)
    assert not fitting(name="check", target=5, checked="yes")
    assert not fits({"actions": [{"name": "go_back"}]}, schema)
    assert schema["properties"]["actions"]["maxItems"] == 1
    assert "maxItems" not in OFFERED.reply_schema()["properties"]["actions"]


def test_a_list_offers_only_its_own_options_in_the_schema_of_a_reply():
    schema = OFFERED.reply_schema(1)

    def chosen(target, option):
        action = {"name": "select", "target": target, "option": option}
        return fits({"thought": "So.", "actions": [action]}, schema)

    assert chosen(3, "Oslo")
    assert chosen(4, "Fig")
    assert not chosen(3, "Fig")
    assert not chosen(4, "Oslo")


@pytest.mark.parametrize(
    ("keys", "offered"),
    [
        ("Enter", True),
        ("Control+a", True),
        ("Shift+Tab", True),
        ("F12", True),
        ("x", True),
        ("Entr", False),
        ("", False),
    ],
)
def test_the_schema_of_press_offers_only_keys_that_there_are(keys, offered):
    press = OFFERED.action("press")
    assert press is not None
    (entry,) = press.entry_schemas()
    pattern = entry["properties"]["keys"]["pattern"]
    assert bool(re.search(pattern, keys)) is offered


def test_rows_list_each_action_with_each_of_its_targets():
    rows = OFFERED.rows()
    assert [row.text for row in rows if row.name == "click"] == ["click [1]", "click [2]", "click [10]"]
    assert [row.text for row in rows if row.name == "type"] == ["type [2] []"]
    assert [row.text for row in rows if row.name == "stop"] == ["stop"]
    assert next(row for row in rows if row.name == "click").label == 'button "Save"'


def test_every_row_without_blanks_is_permissible_as_it_stands():
    whole = [row.text for row in OFFERED.rows() if "[]" not in row.text]
    assert len(whole) > 10
    assert [OFFERED.problem(parse_action(text)) for text in whole] == [None] * len(whole)


def test_a_long_list_of_values_is_cut_in_the_refusal():
    many = tuple(Choice(value=str(number)) for number in range(100))
    permissible = Permissible(
        actions=(PermissibleAction(name="tab_focus", parameters=(Parameter(name="index", choices=many),)),)
    )
    assert (permissible.problem(parse_action("tab_focus [200]")) or "").endswith("| 19 | ….")


def test_over_the_cap_what_is_in_view_and_near_goes_first():
    near = [element(ref, box={"x": 0, "y": 10, "width": 9, "height": 9}) for ref in (5, 6)]
    below = element(1, in_viewport=False, box={"x": 0, "y": 700, "width": 9, "height": 9})
    far = element(2, in_viewport=False, box={"x": 0, "y": 9000, "width": 9, "height": 9})
    permissible = permissible_of(observation(far, *near, below), cap=3)
    click = permissible.action("click")
    assert click is not None
    assert [choice.value for choice in click.parameters[0].choices or ()] == ["5", "6", "1"]
    assert permissible.left_out == 1


def test_what_the_mouse_does_with_the_same_elements_is_one_tool():
    tools = {tool.name: tool for tool in OFFERED.as_tools()}
    assert OFFERED.action("double_click") is not None
    assert not {"double_click", "right_click", "hover"} & set(tools)
    how = tools["click"].parameter("how")
    assert [choice.value for choice in how.choices] == ["double", "right", "hover"]
    assert not how.required


def test_a_way_of_clicking_that_takes_other_elements_stays_a_tool_of_its_own():
    hover = OFFERED.action("hover")
    other = hover.replace(parameters=(hover.parameters[0].replace(choices=(Choice(value="7"),)),))
    actions = tuple(other if one is hover else one for one in OFFERED.actions)
    names = [tool.name for tool in OFFERED.replace(actions=actions).as_tools()]
    assert "hover" in names
    assert "double_click" not in names
