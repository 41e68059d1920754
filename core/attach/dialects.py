"""Writes the built-in LLM's answer in the format that an attached agent expects.

It chooses among the actions of the page as Backstep sees it. The agent's own
actions are read from what it sends: tools, a schema of its reply, or the
signatures of functions in its prompt. Its name for the element is found in
its prompt by the element's words.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import uuid4

from core.llm.rules.decisions import proposed
from core.llm.rules.page import hints
from core.llm.rules.policies import role_in
from core.schema.action import Action, GoBack, Goto, Press, RefTarget, Scroll, Select, Stop, Type, Wait
from core.schema.errors import LLMError
from core.schema.messages import LLMReply, LLMRequest, ToolCall
from core.schema.observation import Element

Schema = Mapping[str, Any]

_NAMES = {
    "click": "click tap",
    "double_click": "dblclick double_click double",
    "hover": "hover",
    "type": "fill type input enter_text set_value",
    "select": "select choose",
    "check": "check click",
    "press": "press send_keys key",
    "goto": "goto navigate go_to open visit",
    "go_back": "back",
    "scroll": "scroll",
    "wait": "wait noop sleep",
    "stop": "done finish stop answer send_msg",
}
"""Words in the names of agents' tools, the likeliest first, by the kind of our action."""
_UNLIKE = "tab file drag fill_form fillform mouse_click_xy by_coordinates option_list get_ read_ find_"
"""Words in the names of tools that do something else."""
_LOOKS = "snapshot observe look page_state"
"""Words in the names of tools that tell what is in the page."""
_HANDLE = re.compile(
    r"\[ref=(?P<ref>\w+)\]|\[(?P<tag>\d+)\](?=<)|^[ \t]*(?:[-*+]+[ \t]*)?\[(?P<id>[A-Za-z]?\d+(?:-\d+)?)\]"
    r"|\bbid=['\"]?(?P<bid>\w+)",
    re.MULTILINE,
)
"""How prompts name elements: Playwright's snapshots, browser-use's tags, numbers as Stagehand's, BrowserGym's ids."""
_TAG = re.compile(r"<([a-z][\w-]*)")
_FIELDS = ("input", "textarea", "select")
_SIGNATURE = re.compile(
    r"^[ \t]*(?:-[ \t]*)?(?P<name>[a-z_]{2,40})\((?P<given>[^()\n]*:[^\n]*)\)", re.MULTILINE
)
_PARAMETER = re.compile(
    r"(?P<name>\w+)\s*:\s*(?P<type>\w+(?:\[[^\]]*\])?(?:\s*\|\s*\w+(?:\[[^\]]*\])?)*)(?P<default>\s*=)?"
)
_BEFORE = 200
"""Letters before an element's name in a prompt that may be its label."""
_THOUGHTS = 300


class _Way(NamedTuple):
    """One action that the agent offers its LLM."""

    name: str
    parameters: Schema


class _Answer(NamedTuple):
    """The answer: an action of ours with its element."""

    action: Action
    why: str
    element: Element | None
    handle: str


def answered(request: LLMRequest) -> LLMReply:
    """Return the built-in LLM's reply to an agent's question; `request` has the page and what is permissible.

    Raises LLMError if it cannot be said in a form that the agent has shown.
    """
    if request.view is None or request.permissible is None:
        raise LLMError("The built-in LLM was asked before the page was read.")
    move = proposed(request.view, request.permissible, role_in(()))
    target = next(iter(move.action.targets), None)
    seen = request.view.observation.elements
    element = next((one for one in seen if isinstance(target, RefTarget) and one.ref == target.ref), None)
    handle = _handle(element, seen, [one.text for one in request.messages]) if element is not None else ""
    answer = _Answer(move.action, move.why, element, handle)
    for form in (_by_tools, _by_schema, _by_signatures):
        if (reply := form(request, answer)) is not None:
            return reply
    if isinstance(move.action, Stop):
        return LLMReply(text=move.action.answer or move.why, finish_reason="stop")
    raise LLMError(
        "The built-in LLM cannot answer this agent: its request has no tool, schema or function for "
        f"{move.action.kind}. Choose another LLM."
    )


def _by_tools(request: LLMRequest, answer: _Answer) -> LLMReply | None:
    for tool in request.tools:
        if (value := _in_schema(tool.parameters, answer)) is not None:
            return _called(tool.name, value)
    way = _fitting([_Way(tool.name, tool.parameters) for tool in request.tools], answer)
    if way is None:
        return _by_words(request, answer)
    if answer.element is not None and not _HANDLE.search(request.messages[-1].text):
        # The agent has not looked at the page as it is now.
        looks = [one for one in request.tools if any(word in one.name for word in _LOOKS.split())]
        if looks and not _names_by_role(way.parameters):
            return _called(looks[0].name, {})
    return _called(way.name, _filled(way.parameters, answer), answer.why)


def _by_words(request: LLMRequest, answer: _Answer) -> LLMReply | None:
    """Answer with the tool that is told in words what to do, as Stagehand's."""
    words = _in_words(answer)
    if not words or not any(one.name == "act" for one in request.tools):
        return None
    return _called("act", {"action": words}, answer.why)


def _in_words(answer: _Answer) -> str:
    """Return what is to be done to an element in words; empty if that is nothing."""
    if answer.element is None:
        return ""
    where = f'the {answer.element.role} "{answer.element.name}"'
    match answer.action:
        case Type():
            return f'type "{answer.action.text}" into {where}'
        case Select():
            return f'select "{answer.action.option}" in {where}'
        case _:
            return f"click {where}"


def _names_by_role(schema: Schema) -> bool:
    return "role" in schema.get("properties", {})


def _called(name: str, arguments: Mapping[str, Any], why: str = "") -> LLMReply:
    # Clients take a second call of one id for the first.
    call = ToolCall(
        id=f"call_{uuid4().hex[:12]}", name=name, arguments=json.dumps(arguments, ensure_ascii=False)
    )
    return LLMReply(text=why, tool_calls=(call,), finish_reason="tool_calls")


def _by_schema(request: LLMRequest, answer: _Answer) -> LLMReply | None:
    schema = request.reply_schema or {}
    value = _in_schema(schema, answer) or _by_method(schema, answer)
    return (
        None if value is None else LLMReply(text=json.dumps(value, ensure_ascii=False), finish_reason="stop")
    )


def _by_signatures(request: LLMRequest, answer: _Answer) -> LLMReply | None:
    text = "\n".join(one.text for one in request.messages)
    ways = [_Way(found["name"], _signature(found["given"])) for found in _SIGNATURE.finditer(text)]
    way = _fitting(ways, answer)
    if way is None:
        return None
    given = _filled(way.parameters, answer)
    call = f"{way.name}({', '.join(repr(value) for value in given.values())})"
    if "<action>" in text:
        return LLMReply(
            text=f"<think>\n{answer.why}\n</think>\n<action>\n{call}\n</action>", finish_reason="stop"
        )
    return LLMReply(text=f"{answer.why}\n```{call}```", finish_reason="stop")


def _signature(given: str) -> Schema:
    """Return the schema of the parameters that a signature must be given."""
    properties: dict[str, Any] = {}
    for found in _PARAMETER.finditer(given):
        if found["default"]:
            break
        kind = found["type"].strip()
        numeric = {"int": "integer", "float": "number", "bool": "boolean"}.get(kind)
        properties[found["name"]] = {"type": numeric or ("string" if "str" in kind else "array")}
    return {"properties": properties, "required": list(properties)}


# A reply whose schema holds a list of actions, as browser-use's


def _in_schema(schema: Schema, answer: _Answer) -> dict[str, Any] | None:
    """Return a value of a schema that has a list of actions, each an object of one property; None for another."""
    defined = {**schema.get("$defs", {}), **schema.get("definitions", {})}
    properties = _plain(schema, defined).get("properties", {})
    for name, listed in properties.items():
        items = _plain(_plain(listed, defined).get("items", {}), defined)
        options = [
            _plain(option, defined).get("properties", {})
            for option in items.get("anyOf") or items.get("oneOf") or [items]
        ]
        if not all(len(option) == 1 for option in options):
            continue
        ways = [_Way(key, _plain(inner, defined)) for option in options for key, inner in option.items()]
        way = _fitting(ways, answer)
        if way is None:
            continue
        said = {
            key: answer.why[:_THOUGHTS]
            for key, one in properties.items()
            if key != name and _plain(one, defined).get("type") == "string"
        }
        return {**said, name: [{way.name: _filled(way.parameters, answer)}]}
    return None


def _by_method(schema: Schema, answer: _Answer) -> dict[str, Any] | None:
    """Return a value of a schema that has an action with its method among several, as Stagehand's; None for another."""
    properties = schema.get("properties", {})
    for name, one in properties.items():
        inner = _plain(one, {})
        methods = inner.get("properties", {}).get("method", {}).get("enum", ())
        way = _fitting([_Way(method, inner) for method in methods], answer)
        if way is None:
            continue
        # What else is asked is whether a further action is to follow.
        further = {key: False for key, two in properties.items() if two.get("type") == "boolean"}
        return {name: {**_filled(inner, answer), "method": way.name}, **further}
    return None


def _plain(schema: Schema, defined: Mapping[str, Any]) -> Schema:
    """Return a schema with its reference looked up, and without the choice of being null."""
    if reference := schema.get("$ref"):
        schema = {**defined.get(str(reference).rsplit("/", 1)[-1], {}), **schema}
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return _plain(options[0], defined) if len(options) == 1 else schema


# Which action of the agent's, and what it is given


def _fitting(ways: Iterable[_Way], answer: _Answer) -> _Way | None:
    """Return the way that does what is to be done, by the words of its name."""
    ways = list(ways)
    for word in _NAMES.get(answer.action.kind, "").split():
        found = [
            way
            for way in ways
            if word in way.name.lower() and not any(one in way.name.lower() for one in _UNLIKE.split())
        ]
        if found:
            return min(found, key=lambda way: len(way.name))
    return None


def _filled(schema: Schema, answer: _Answer) -> dict[str, Any]:
    """Return arguments for parameters by their names; those that mean nothing here are given where they must be."""
    given: dict[str, Any] = {}
    required = schema.get("required", ())
    for name, one in schema.get("properties", {}).items():
        kind = one.get("type") or next(
            (two.get("type") for two in one.get("anyOf", ()) if two.get("type")), ""
        )
        value = _value(name.lower(), answer)
        if value is None and name in required:
            value = {"boolean": True, "integer": 0, "number": 0, "array": [], "object": {}}.get(kind, "")
        if value is not None:
            given[name] = _of_type(value, kind)
    return given


def _of_type(value: Any, kind: str) -> Any:
    if kind in ("integer", "number") and isinstance(value, str):
        digits = re.sub(r"\D", "", value)
        return int(digits) if digits else 0
    if kind == "array" and not isinstance(value, list):
        return [value]
    return value


def _value(name: str, answer: _Answer) -> Any:
    """Return what a parameter of this name is to be given; None if it means nothing for this action."""
    action, element = answer.action, answer.element
    if element is not None:
        for same, value in _OF_ELEMENT.items():
            if name in same.split():
                return value(element, answer)
    said: dict[str, Any] = {}
    match action:
        case Goto():
            said = {"url": action.url}
        case Press():
            said = dict.fromkeys(("key", "keys", "key_comb", "text"), action.keys)
        case Scroll():
            said = {"direction": action.direction, "down": action.direction == "down"}
        case Wait():
            said = {"seconds": action.seconds, "time": action.seconds, "wait_ms": action.seconds * 1000}
        case Stop():
            said = dict.fromkeys(("text", "answer", "message", "result"), action.answer or answer.why)
            said["success"] = True
        case GoBack():
            pass
        case _:
            words: str | None = getattr(action, "text", None) or getattr(action, "option", None)
            if words is None:  # A click, which some name by the words on it.
                words = element.name if element is not None and name in ("text", "label") else None
            names = ("text", "value", "content", "query", "option", "options", "values", "arguments")
            said = dict.fromkeys((*names, "label"), words)
    return said.get(name)


def _role_selector(element: Element) -> str:
    return f"role={element.role}[name={json.dumps(element.name, ensure_ascii=False)}]"


_OF_ELEMENT: dict[str, Callable[[Element, _Answer], Any]] = {
    "ref target index bid uid id element_id elementid element_index": lambda element, answer: _needed(
        element, answer
    ),
    "element description": lambda element, answer: f'{element.role} "{element.name}"',
    "role": lambda element, answer: element.role,
    "name element_name": lambda element, answer: element.name,
    "selector css xpath": lambda element, answer: _role_selector(element),
}
"""What parameters are given that say which element is meant."""


def _needed(element: Element, answer: _Answer) -> str:
    if not answer.handle:
        raise LLMError(
            f'The built-in LLM cannot find {element.role} "{element.name}" in the request of the agent; '
            "choose another LLM."
        )
    return answer.handle


# The agent's own name for an element


def _handle(element: Element, seen: Iterable[Element], texts: list[str]) -> str:
    """Return how the newest of an agent's texts that names elements names this one; empty if none does."""
    text = next((one for one in reversed(texts) if _HANDLE.search(one)), "")
    found = list(_HANDLE.finditer(text))
    starts = [text.rfind("\n", 0, one.start()) + 1 for one in found]
    scored: list[tuple[int, str]] = []
    for match, (start, end) in zip(found, pairwise([*starts, len(text)]), strict=True):
        before = " ".join(text[max(0, start - _BEFORE) : start].splitlines()[-2:])
        handle = next(filter(None, match.groups()))
        scored.append((_likeness(element, text[start:end], before), handle))
    best = max((score for score, _ in scored), default=0)
    same = [handle for score, handle in scored if score == best]
    if best <= 0:
        return ""
    # Of several that look alike it is the one at the same place among them.
    alike = [one.ref for one in seen if (one.role, one.name) == (element.role, element.name)]
    place = alike.index(element.ref) if len(alike) == len(same) else 0
    return same[place]


def _likeness(element: Element, lines: str, before: str) -> int:
    """Return how well the lines of an element in a prompt fit ours; 0 for not at all.

    The words of a field are often those before it.
    """
    own, tag = lines.splitlines()[0], element.tag.lower()
    shown = _TAG.search(own)
    is_field = tag in _FIELDS
    score = 3 * sum(_norm(one) in _norm(own) for one in hints(element) if one)
    if name := _norm(element.name):
        mine = own if is_field else lines
        if re.search(rf"[\"'>\n]\s*{re.escape(element.name)}\s*[\"'<\n]", f"{mine}\n"):
            score += 8
        elif re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _norm(mine)):
            score += 5
        elif is_field and name in _norm(before):
            score += 4
    if score and shown is not None and tag:
        score = score + 3 if shown[1] == tag else score // 2
    elif score and element.role.lower() in _norm(own):
        score += 2
    return score


def _norm(text: str) -> str:
    return " ".join(text.replace("-", " ").replace("_", " ").casefold().split())
