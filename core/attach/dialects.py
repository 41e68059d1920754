"""Writes the built-in LLM's answer in the format that an attached agent expects.

It chooses among the actions of the page as Backstep sees it. The agent's own
actions are read from what it sends: tools, a schema of its reply, or the
signatures of functions in its prompt. Its name for the element is found in
its prompt by the element's words.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple
from uuid import uuid4

from core.llm.rules.decisions import proposed
from core.llm.rules.page import hints
from core.llm.rules.policies import Role
from core.schema.action import Action, RefTarget, Stop
from core.schema.errors import LLMError
from core.schema.messages import LLMReply, LLMRequest, ToolCall
from core.schema.observation import CleanObservation, Element

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
"""Words in the names of agents' actions, the likeliest first, by the kind of our action."""
_UNLIKE = (
    "tab file drag fill_form fillform mouse_click_xy by_coordinates option_list get_ read_ find_".split()
)
"""Words in the names of actions that do something else."""
_LOOKS = "snapshot observe look page_state".split()
"""Words in the names of tools that tell what is in the page."""
_HANDLE = re.compile(
    r"\[ref=(\w+)\]|\[(\d+)\](?=<)|^[ \t]*(?:[-*+]+[ \t]*)?\[([A-Za-z]?\d+(?:-\d+)?)\]|\bbid=['\"]?(\w+)",
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
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "str": "string"}
_EMPTY: dict[str, Any] = {"boolean": True, "integer": 0, "number": 0, "array": [], "object": {}}
"""What a parameter that must be given and means nothing here is given, by its type; any other gets an empty text."""
_BEFORE = 200
"""Letters before an element's name in a prompt that may be its label."""
_THOUGHTS = 300


class _Answer(NamedTuple):
    """The answer: an action of ours with its element, and the agent's name for that."""

    action: Action
    why: str
    element: Element | None
    handle: str

    @property
    def text(self) -> str | None:
        """What is typed or chosen; None for other actions."""
        return getattr(self.action, "text", None) or getattr(self.action, "option", None)

    def named(self) -> str:
        """Return the agent's name for the element. Raises LLMError if it was not found."""
        if self.element is not None and not self.handle:
            raise LLMError(
                f'The built-in LLM cannot find {self.element.role} "{self.element.name}" in the request of '
                "the agent; choose another LLM."
            )
        return self.handle

    def in_words(self) -> str:
        """Return what is to be done to the element, as a person would tell it."""
        where = f'the {self.element.role} "{self.element.name}"' if self.element is not None else ""
        form = {"type": 'type "{}" into {}', "select": 'select "{}" in {}'}
        return form.get(self.action.kind, "click {1}").format(self.text, where)


class _Way(NamedTuple):
    """One action that the agent offers its LLM."""

    name: str
    parameters: Schema
    write: Callable[[dict[str, Any]], LLMReply]
    """Writes the reply from the arguments."""


def answered(request: LLMRequest) -> LLMReply:
    """Return the built-in LLM's reply to an agent's question; `request` has the page and what is permissible.

    Raises LLMError if it cannot be said in a form that the agent has shown.
    """
    if request.view is None or request.permissible is None:
        raise LLMError("The built-in LLM was asked before the page was read.")
    move = proposed(request.view, request.permissible, Role())
    page = request.view.observation
    target = next(iter(move.action.targets), None)
    element = next(
        (one for one in page.elements if isinstance(target, RefTarget) and one.ref == target.ref), None
    )
    texts = [message.text for message in request.messages]
    handle = _handle(element, page, texts) if element is not None else ""
    answer = _Answer(move.action, move.why, element, handle)
    for ways in _formats(request, answer):
        if (way := _fitting(ways, answer)) is not None:
            return way.write(_filled(way.parameters, answer))
    if isinstance(move.action, Stop):
        return LLMReply(text=move.action.answer or move.why, finish_reason="stop")
    raise LLMError(
        "The built-in LLM cannot answer this agent: its request has no tool, schema or function for "
        f"{move.action.kind}. Choose another LLM."
    )


# How agents offer their actions


def _formats(request: LLMRequest, answer: _Answer) -> Iterator[list[_Way]]:
    """Yield the agent's actions, format by format; an action is written in the first that has it."""
    for tool in request.tools:
        yield _in_list(tool.parameters, answer, partial(_called, tool.name, ""))
    has_looked = answer.element is None or _HANDLE.search(request.messages[-1].text) is not None
    looks = [tool for tool in request.tools if any(word in tool.name for word in _LOOKS)]
    is_blind = bool(looks) and not has_looked
    yield [
        _Way(tool.name, {}, lambda _: _called(looks[0].name, "", {}))
        if is_blind and "role" not in tool.parameters.get("properties", {})
        else _Way(tool.name, tool.parameters, partial(_called, tool.name, answer.why))
        for tool in request.tools
    ]
    schema = request.reply_schema or {}
    yield _in_list(schema, answer, _as_json)
    yield _by_method(schema)
    yield _in_prompt("\n".join(message.text for message in request.messages), answer)


def _called(name: str, why: str, arguments: Mapping[str, Any]) -> LLMReply:
    # Clients take a second call of one id for the first.
    call = ToolCall(
        id=f"call_{uuid4().hex[:12]}", name=name, arguments=json.dumps(arguments, ensure_ascii=False)
    )
    return LLMReply(text=why, tool_calls=(call,), finish_reason="tool_calls")


def _as_json(value: Mapping[str, Any]) -> LLMReply:
    return LLMReply(text=json.dumps(value, ensure_ascii=False), finish_reason="stop")


def _in_list(schema: Schema, answer: _Answer, say: Callable[[dict[str, Any]], LLMReply]) -> list[_Way]:
    """Return the actions of a schema with a list of objects of one property each, as browser-use's."""
    defined = {**schema.get("$defs", {}), **schema.get("definitions", {})}
    properties = {
        name: _plain(one, defined) for name, one in _plain(schema, defined).get("properties", {}).items()
    }
    thoughts = {
        name: answer.why[:_THOUGHTS] for name, one in properties.items() if one.get("type") == "string"
    }

    def write(name: str, key: str, given: dict[str, Any]) -> LLMReply:
        return say({**thoughts, name: [{key: given}]})

    ways: list[_Way] = []
    for name, listed in properties.items():
        items = _plain(listed.get("items", {}), defined)
        options = [
            _plain(option, defined).get("properties", {})
            for option in items.get("anyOf") or items.get("oneOf") or [items]
        ]
        if all(len(option) == 1 for option in options):
            actions = (action for option in options for action in option.items())
            ways.extend(
                _Way(key, _plain(inner, defined), partial(write, name, key)) for key, inner in actions
            )
    return ways


def _by_method(schema: Schema) -> list[_Way]:
    """Return the actions of a schema that names a method among several, as Stagehand's."""
    properties = schema.get("properties", {})
    # What else is asked is whether a further action is to follow.
    further = {name: False for name, one in properties.items() if one.get("type") == "boolean"}

    def write(name: str, method: str, given: dict[str, Any]) -> LLMReply:
        return _as_json({name: {**given, "method": method}, **further})

    inners = ((name, _plain(one, {})) for name, one in properties.items())
    return [
        _Way(method, inner, partial(write, name, method))
        for name, inner in inners
        for method in inner.get("properties", {}).get("method", {}).get("enum", ())
    ]


def _in_prompt(text: str, answer: _Answer) -> list[_Way]:
    """Return the functions whose signatures a prompt has, as BrowserGym's."""
    form = "<think>\n{}\n</think>\n<action>\n{}\n</action>" if "<action>" in text else "{}\n```{}```"

    def write(name: str, given: Mapping[str, Any]) -> LLMReply:
        call = f"{name}({', '.join(repr(value) for value in given.values())})"
        return LLMReply(text=form.format(answer.why, call), finish_reason="stop")

    return [
        _Way(match["name"], _signature(match["given"]), partial(write, match["name"]))
        for match in _SIGNATURE.finditer(text)
    ]


def _signature(given: str) -> Schema:
    """Return the schema of the parameters that a signature must be given."""
    properties: dict[str, Any] = {}
    for parameter in _PARAMETER.finditer(given):
        if parameter["default"]:
            break
        kind = parameter["type"].strip()
        properties[parameter["name"]] = {
            "type": _TYPES.get(kind, "string" if "str" in kind or "Literal" in kind else "array")
        }
    return {"properties": properties, "required": list(properties)}


def _plain(schema: Schema, defined: Mapping[str, Any]) -> Schema:
    """Return a schema with its reference looked up, and without the choice of being null."""
    if reference := schema.get("$ref"):
        schema = {**defined.get(str(reference).rsplit("/", 1)[-1], {}), **schema}
    options = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return _plain(options[0], defined) if len(options) == 1 else schema


# Which action of the agent's, and what it is given


def _fitting(ways: list[_Way], answer: _Answer) -> _Way | None:
    """Return the action of the agent's that does what ours does, by the words of its name.

    That is also one which is told in words what to do to an element, as Stagehand's.
    """
    able = [way for way in ways if not any(word in way.name.lower() for word in _UNLIKE)]
    for word in _NAMES.get(answer.action.kind, "").split():
        if fitting := [way for way in able if word in way.name.lower()]:
            return min(fitting, key=lambda way: len(way.name))
    return next((way for way in ways if way.name == "act" and answer.element is not None), None)


def _filled(schema: Schema, answer: _Answer) -> dict[str, Any]:
    """Return arguments for parameters by their names; those that mean nothing here are given where they must be."""
    given: dict[str, Any] = {}
    for name, parameter in schema.get("properties", {}).items():
        kind = _plain(parameter, {}).get("type", "")
        value = _value(name.lower(), answer)
        if value is None and name in schema.get("required", ()):
            value = _EMPTY.get(kind, "")
        if value is not None:
            given[name] = _of_type(value, kind)
    return given


def _of_type(value: Any, kind: str) -> Any:
    if kind in ("integer", "number") and isinstance(value, str):
        return int(re.sub(r"\D", "", value) or 0)
    return [value] if kind == "array" and not isinstance(value, list) else value


def _value(name: str, answer: _Answer) -> Any:
    """Return what a parameter of this name is to be given; None if it means nothing for this action."""
    tables = (_OF_ELEMENT if answer.element is not None else {}, _OF_ACTION.get(answer.action.kind, _OF_TEXT))
    for table in tables:
        for names, value in table.items():
            if name in names.split() and (given := value(answer)) is not None:
                return given
    return None


_Values = dict[str, Callable[[Any], Any]]
_OF_ELEMENT: _Values = {
    "ref target index bid uid id element_id elementid element_index": _Answer.named,
    "element description": lambda answer: f'{answer.element.role} "{answer.element.name}"',
    "action instruction": _Answer.in_words,
    "role": lambda answer: answer.element.role,
    "name element_name": lambda answer: answer.element.name,
    "selector css xpath": lambda answer: (
        f"role={answer.element.role}[name={json.dumps(answer.element.name, ensure_ascii=False)}]"
    ),
}
"""What parameters are given that say which element is meant, by their names."""
_OF_TEXT: _Values = {
    "text value content query option options values arguments label": lambda answer: answer.text,
    # A click, which some name by the words on it.
    "text label": lambda answer: answer.element.name if answer.element is not None else None,
}
_OF_ACTION: dict[str, _Values] = {
    "goto": {"url": lambda answer: answer.action.url},
    "press": {"key keys key_comb text": lambda answer: answer.action.keys},
    "scroll": {
        "direction": lambda answer: answer.action.direction,
        "down": lambda answer: answer.action.direction == "down",
    },
    "wait": {
        "seconds time": lambda answer: answer.action.seconds,
        "wait_ms": lambda answer: answer.action.seconds * 1000,
    },
    "stop": {
        "text answer message result": lambda answer: answer.action.answer or answer.why,
        "success": lambda answer: True,
    },
    "go_back": {},
}
"""What other parameters are given, by the kind of our action; `_OF_TEXT` for a kind that is not here."""


# The agent's own name for an element


def _handle(element: Element, page: CleanObservation, texts: list[str]) -> str:
    """Return how the newest of an agent's texts that names elements names this one; empty if none does."""
    text = next((one for one in reversed(texts) if _HANDLE.search(one)), "")
    matches = list(_HANDLE.finditer(text))
    starts = [text.rfind("\n", 0, match.start()) + 1 for match in matches]
    handles: dict[str, int] = {}
    for match, (start, end) in zip(matches, pairwise([*starts, len(text)]), strict=True):
        before = " ".join(text[max(0, start - _BEFORE) : start].splitlines()[-2:])
        handle = next(filter(None, match.groups()))
        handles[handle] = max(_likeness(element, text[start:end], before), handles.get(handle, 0))
    best = max(handles.values(), default=0)
    if best <= 0:
        return ""
    # Of several that look alike it is the one at the same place among them.
    same = [handle for handle, likeness in handles.items() if likeness == best]
    alike = [one.ref for one in page.elements if (one.role, one.name) == (element.role, element.name)]
    return same[alike.index(element.ref) if len(alike) == len(same) else 0]


def _likeness(element: Element, lines: str, before: str) -> int:
    """Return how well the lines of an element in a prompt fit ours; 0 for not at all.

    The words of a field are often those before it.
    """
    own, tag = lines.splitlines()[0], element.tag.lower()
    shown = _TAG.search(own)
    is_field = tag in _FIELDS
    likeness = 3 * sum(_norm(hint) in _norm(own) for hint in hints(element) if hint)
    if name := _norm(element.name):
        mine = own if is_field else lines
        if re.search(rf"[\"'>\n]\s*{re.escape(element.name)}\s*[\"'<\n]", f"{mine}\n"):
            likeness += 8
        elif re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _norm(mine)):
            likeness += 5
        elif is_field and name in _norm(before):
            likeness += 4
    if likeness and shown is not None and tag:
        return likeness + 3 if shown[1] == tag else likeness // 2
    return likeness + 2 if likeness and element.role.lower() in _norm(own) else likeness


def _norm(text: str) -> str:
    return " ".join(text.replace("-", " ").replace("_", " ").casefold().split())
