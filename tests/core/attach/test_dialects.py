"""The built-in LLM's answers to agents of several makes, as each expects them."""

import json
from typing import Any

import pytest

from core.attach.dialects import answered
from core.llm.rules.page import offered_by
from core.schema.errors import LLMError
from core.schema.messages import LLMReply, LLMRequest, Message, PromptView, Tool, Turn
from core.schema.observation import Box, CleanObservation, Element

BOX = Box(x=0, y=0, width=10, height=10)


def element(ref: int, role: str, name: str, *uses: Any, **more: Any) -> Element:
    return Element(ref=ref, role=role, name=name, uses=uses, box=BOX, **more)


PAGE = CleanObservation(
    url="http://shop/",
    title="Shop",
    elements=(
        element(1, "textbox", "City", "click", "type", tag="input"),
        element(2, "button", "Send", "click", tag="button"),
        element(3, "button", "Delete", "click", tag="button"),
    ),
)
TYPED = Turn(number=1, action="type [1] [Rome]", target='textbox "City"', result="done", url="http://shop/")


def ask(objective: str, *texts: str, history: tuple[Turn, ...] = (), **more: Any) -> LLMReply:
    request = LLMRequest(
        purpose="agent",
        messages=tuple(Message(role="user", text=text) for text in texts)
        or (Message(role="user", text="?"),),
        view=PromptView(objective=objective, observation=PAGE, history=history),
        permissible=offered_by(PAGE),
        **more,
    )
    return answered(request)


def tool(name: str, parameters: str) -> Tool:
    """Return a tool whose parameters are texts, and all required."""
    given = {one: {"type": "string"} for one in parameters.split()}
    return Tool(name=name, parameters={"type": "object", "properties": given, "required": list(given)})


def called(reply: LLMReply) -> tuple[str, dict[str, Any]]:
    (call,) = reply.tool_calls
    return call.name, json.loads(call.arguments)


CLICK = 'Click the button "Delete".'
TYPE = 'Type "Rome" into the City field.'


def test_tools_are_called_with_the_role_and_the_name_of_an_element() -> None:
    tools = (
        tool("browser_tab_new", "url"),
        tool("click", "role name"),
        tool("fill", "role name text"),
    )
    assert called(ask(CLICK, tools=tools)) == ("click", {"role": "button", "name": "Delete"})
    assert called(ask(TYPE, tools=tools)) == ("fill", {"role": "textbox", "name": "City", "text": "Rome"})


def test_an_element_is_named_as_the_agents_newest_snapshot_names_it() -> None:
    old = '- button "Delete" [ref=e9]'
    new = '- textbox "City" [ref=e3]\n- button "Send" [ref=e4]\n- button "Delete" [ref=e5] [cursor=pointer]'
    tools = (
        tool("browser_click", "element ref"),
        tool("browser_type", "element ref text"),
    )
    name, given = called(ask(CLICK, old, new, "Go on.", tools=tools))
    assert (name, given) == ("browser_click", {"element": 'button "Delete"', "ref": "e5"})
    assert called(ask(TYPE, new, tools=tools))[1]["ref"] == "e3"


def test_an_agent_that_has_not_looked_at_the_page_is_made_to_look_first() -> None:
    fields = {
        "type": "array",
        "items": {"properties": {"target": {"type": "string"}, "name": {"type": "string"}}},
    }
    tools = (
        Tool(name="browser_fill_form", parameters={"properties": {"fields": fields}}),
        tool("browser_click", "element target"),
        Tool(name="browser_snapshot", parameters={"properties": {"filename": {"type": "string"}}}),
    )
    assert called(ask(CLICK, "Go on.", tools=tools)) == ("browser_snapshot", {})
    assert called(ask(CLICK, '- button "Delete" [ref=e5]', tools=tools))[1]["target"] == "e5"


BROWSER_USE = """[2]<form role=form />
	City
	[3]<input id=q type=text />
	*[5]<button type=submit />
		Send
	[8]<button />
		Delete
"""
ACTIONS = {
    "$defs": {
        "Click": {"properties": {"index": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
        "Input": {
            "properties": {
                "index": {"type": "integer"},
                "text": {"type": "string"},
                "clear": {"type": "boolean"},
            },
            "required": ["index", "text", "clear"],
        },
        "Done": {
            "properties": {"text": {"type": "string"}, "success": {"type": "boolean"}},
            "required": ["text", "success"],
        },
        "A": {"properties": {"done": {"$ref": "#/$defs/Done"}}},
        "B": {"properties": {"click": {"$ref": "#/$defs/Click"}}},
        "C": {"properties": {"input": {"anyOf": [{"$ref": "#/$defs/Input"}, {"type": "null"}]}}},
    },
    "properties": {
        "memory": {"type": "string"},
        "action": {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/{one}"} for one in "ABC"]}},
    },
}


def test_a_schema_with_a_list_of_actions_is_filled_as_browser_use_has_it() -> None:
    said = json.loads(ask(CLICK, BROWSER_USE, reply_schema=ACTIONS).text)
    assert said["action"] == [{"click": {"index": 8}}]
    assert said["memory"]
    said = json.loads(ask(TYPE, BROWSER_USE, reply_schema=ACTIONS).text)
    assert said["action"] == [{"input": {"index": 3, "text": "Rome", "clear": True}}]


def test_the_same_schema_as_the_parameters_of_a_tool_is_filled_too() -> None:
    name, given = called(ask(CLICK, BROWSER_USE, tools=(Tool(name="AgentOutput", parameters=ACTIONS),)))
    assert (name, given["action"]) == ("AgentOutput", [{"click": {"index": 8}}])


BROWSERGYM = """# AXTree
[a1] RootWebArea 'Shop'
	[12] textbox 'City'
	[13] button 'Send', clickable
	[14] button 'Delete', clickable
# Actions
noop(wait_ms: float = 1000)
click(bid: str, button: Literal['left', 'middle', 'right'] = 'left')
fill(bid: str, value: str)
send_msg_to_user(text: str)
Answer with <think> and <action>.
"""


def test_functions_in_the_prompt_are_called_as_browsergym_has_it() -> None:
    assert "<action>\nclick('14')\n</action>" in ask(CLICK, BROWSERGYM).text
    assert "<action>\nfill('12', 'Rome')\n</action>" in ask(TYPE, BROWSERGYM).text


STAGEHAND = """Accessibility Tree:
[0-6] RootWebArea: Shop
  [0-3] textbox: City
  [0-8] button: Send
  [0-12] button: Delete
"""
BY_METHOD = {
    "properties": {
        "action": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "elementId": {"type": "string"},
                        "description": {"type": "string"},
                        "method": {"type": "string", "enum": ["click", "fill", "type", "doubleClick"]},
                        "arguments": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["elementId", "description", "method", "arguments"],
                },
                {"type": "null"},
            ]
        },
        "twoStep": {"type": "boolean"},
    },
    "required": ["action", "twoStep"],
}


def test_a_tool_that_takes_words_is_told_what_to_do_as_stagehand_has_it() -> None:
    fields = {"type": "array", "items": {"properties": {"action": {"type": "string"}}}}
    tools = (
        tool("act", "action"),
        tool("extract", "instruction"),
        Tool(name="fillForm", parameters={"properties": {"fields": fields}}),
    )
    assert called(ask(CLICK, tools=tools)) == ("act", {"action": 'click the button "Delete"'})
    assert called(ask(TYPE, tools=tools)) == ("act", {"action": 'type "Rome" into the textbox "City"'})


def test_an_action_with_one_of_several_methods_is_filled_as_stagehand_has_it() -> None:
    said = json.loads(ask(CLICK, STAGEHAND, reply_schema=BY_METHOD).text)
    described = {"elementId": "0-12", "description": 'button "Delete"'}
    assert said == {"action": {**described, "method": "click", "arguments": []}, "twoStep": False}
    said = json.loads(ask(TYPE, STAGEHAND, reply_schema=BY_METHOD).text)
    assert (said["action"]["elementId"], said["action"]["method"]) == ("0-3", "fill")
    assert said["action"]["arguments"] == ["Rome"]


def test_what_cannot_be_said_to_an_agent_is_an_error_and_no_guess() -> None:
    with pytest.raises(LLMError, match="has no tool, schema or function for click"):
        ask(CLICK, "What now?")
    with pytest.raises(LLMError, match='cannot find button "Delete" in the request of the agent'):
        ask(CLICK, "[1]<a />\n\tHome", tools=(tool("click", "index"),))


def test_the_end_is_said_in_words_where_there_is_no_tool_for_it() -> None:
    sent = Turn(number=1, action="click [2]", target='button "Send"', result="done", url="http://shop/")
    reply = ask('Click the button "Send".', history=(sent,), tools=(tool("click", "role name"),))
    assert reply.tool_calls == ()
    assert reply.text
