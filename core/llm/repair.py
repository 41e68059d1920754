"""Converts a reply to permissible actions, or to one sentence that says what is wrong with it.

`read_reply` never raises: whatever an LLM writes becomes actions or a problem.
`repair_messages` makes the single repair turn, which tells the LLM the problem.
"""

import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from core.llm.named_elements import InPage, NotOneError, numbered, sought
from core.llm.replies import (
    Written,
    WrittenCall,
    load_json,
    part_thinking,
    plain,
    read_json,
    read_lines,
    read_tools,
    why_nothing,
    why_stopped,
)
from core.schema.action import ACTION, ACTIONS, Action, Named, RefTarget, Target, Type, parse_target
from core.schema.action_space import HOW, MOUSE, Parameter, ParameterType, Permissible, PermissibleAction
from core.schema.action_text import parse_action, usage, written_name
from core.schema.errors import ActionSyntaxError
from core.schema.messages import LLMReply, LLMRequest, Message
from core.schema.record import Record
from core.schema.step import Proposal

ReplyFormat: TypeAlias = Literal["tools", "json", "lines"]

_YES_OR_NO = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), True),
    **dict.fromkeys(("false", "no", "off", "n", "0"), False),
}
_ESCAPED = re.compile(r"\\[\\\[\]n]")
_BACKSLASH_N = (
    "The \\n in the text is typed as a backslash and an n: only fields of several lines take a line break."
)
_FIELD_TYPES: dict[object, ParameterType] = {bool: "boolean", int: "integer", float: "number"}


class _UnusableError(Exception):
    """Why a reply cannot be used, in a sentence for the LLM."""


def sought_in_page(reply: LLMReply, request: LLMRequest, reply_format: ReplyFormat) -> tuple[Target, ...]:
    """Return the targets of a reply that have to be found in the page: XPaths, and what has the focus."""
    targets: dict[Target, None] = {}
    for written in _written(reply, reply_format, request.permissible).actions:
        try:
            action = (
                _from_text(written, request) if isinstance(written, str) else _from_call(written, request)
            )
        except _UnusableError:
            continue
        targets |= dict.fromkeys(sought(action))
    return tuple(targets)


def read_reply(
    reply: LLMReply, request: LLMRequest, reply_format: ReplyFormat, in_page: InPage = MappingProxyType({})
) -> tuple[Proposal, tuple[Action, ...]]:
    """Return the proposal, with the first action, and the other actions in their order.

    `in_page` has the numbers of the targets that `sought_in_page` names. Where
    anything in the reply cannot be used, a later action too, there is no
    action at all: the proposal holds the problem and the queue is empty.
    """
    written = _written(reply, reply_format, request.permissible)
    thought = plain(written.thought)
    try:
        actions = _actions(written, reply, request, in_page)
    except _UnusableError as problem:
        return Proposal(thought=thought, problem=plain(str(problem))), ()
    pairs = zip(written.actions, actions, strict=True)
    is_kept = any(isinstance(b, Type) and "\\n" in b.text and _has_line_break(a) for a, b in pairs)
    remark = _BACKSLASH_N if is_kept else ""
    return Proposal(action=actions[0], thought=thought, remark=remark), actions[1:]


class Alternatives(Record):
    """Actions of which each stands for itself."""

    thought: str = ""
    actions: tuple[Action, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """Those that cannot be used, as they were written, each with the reason."""
    problem: str = ""
    """Why none can be read at all."""


def read_alternatives(
    reply: LLMReply, request: LLMRequest, reply_format: ReplyFormat, in_page: InPage = MappingProxyType({})
) -> Alternatives:
    """Return the actions of a reply that can be used, and of the others why not; `in_page` as `read_reply` has it."""
    written = _written(reply, reply_format, request.permissible)
    actions: list[Action] = []
    refused: list[tuple[str, str]] = []
    for action in written.actions:
        try:
            actions.append(_action(action, request, in_page))
        except _UnusableError as why:
            text = (
                action
                if isinstance(action, str)
                else f"{action.name} {json.dumps(action.arguments, ensure_ascii=False)}"
            )
            refused.append((plain(text), plain(_joined(str(why), why_stopped(reply)))))
    return Alternatives(
        thought=plain(written.thought),
        actions=tuple(actions),
        refused=tuple(refused),
        problem=plain(_problem(written, reply)),
    )


def repair_messages(request: LLMRequest, reply: LLMReply, problem: str) -> LLMRequest:
    """Return the request that shows the LLM its reply and quotes what is wrong with it.

    Calls that other servers could not read back (unknown to them, or with
    arguments that are not JSON) are shown as text.
    """
    again = f"{problem} Nothing has been done yet. "
    again += (
        "Call one of the tools again." if request.tools else "Reply again, in the same form and nothing else."
    )
    calls = tuple(
        call.replace(id=call.id or f"call_{number}") for number, call in enumerate(reply.tool_calls, start=1)
    )
    names = {tool.name for tool in request.tools}
    said_text = part_thinking(reply.text).text
    answers: tuple[Message, ...]
    if calls and all(call.name in names and _is_object(call.arguments) for call in calls):
        said = Message(role="assistant", text=said_text, tool_calls=calls)
        answers = tuple(
            Message(role="tool", tool_call_id=call.id, text=again if number == 0 else "Not done either.")
            for number, call in enumerate(calls)
        )
    else:
        shown = [said_text, *(f"{call.name} {call.arguments}" for call in calls)]
        text = "\n".join(one for one in shown if one.strip())
        said = Message(role="assistant", text=text or "(an empty reply)")
        answers = (Message(role="user", text=again),)
    return request.replace(purpose="repair", messages=(*request.messages, said, *answers))


def _written(reply: LLMReply, reply_format: ReplyFormat, permissible: Permissible | None) -> Written:
    if reply_format == "lines":
        if permissible is None:
            return read_lines(reply)
        rows = [row.text for row in permissible.rows()]
        example = next((text for text in rows if "[]" not in text), rows[0] if rows else "stop []")
        return read_lines(reply, permissible.own_names, example)
    return (read_tools if reply_format == "tools" else read_json)(reply, permissible)


def _actions(written: Written, reply: LLMReply, request: LLMRequest, in_page: InPage) -> tuple[Action, ...]:
    if problem := _problem(written, reply):
        raise _UnusableError(problem)
    if written.goes_on and (stopped := why_stopped(reply)):
        # It may be all thinking: some servers deliver it without an opening mark.
        raise _UnusableError(
            f"{stopped} It goes on after its action, which may not be the one that is meant."
        )
    actions: list[Action] = []
    for number, one in enumerate(written.actions, start=1):
        try:
            actions.append(_action(one, request, in_page))
        except _UnusableError as why:
            which = f"Action {number} of {len(written.actions)}: " if len(written.actions) > 1 else ""
            raise _UnusableError(_joined(f"{which}{why}", why_stopped(reply))) from why
    return tuple(actions)


def _problem(written: Written, reply: LLMReply) -> str:
    """Return why no actions can be read from a reply, or nothing: what became of it rather than its form."""
    if written.actions:
        return ""
    if why := why_nothing(reply):
        return why
    stopped = why_stopped(reply)
    if not written.is_missing:
        return _joined(written.problem or "The reply has no action.", stopped)
    if stopped:
        return f"{stopped} It has no action so far."
    if part_thinking(reply.text).is_open:
        return "The reply ends while the model is still thinking, and has no action."
    return f"{reply.note.rstrip('.')}." if reply.finish_reason == "error" and reply.note else written.problem


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _action(written: WrittenCall | str, request: LLMRequest, in_page: InPage) -> Action:
    permissible = request.permissible
    action = _from_text(written, request) if isinstance(written, str) else _from_call(written, request)
    if permissible is None:
        return action
    try:
        action = numbered(action, permissible, in_page)
    except NotOneError as error:
        raise _UnusableError(str(error)) from error
    if isinstance(written, str) and isinstance(action, Type) and _takes_lines(action.target, request):
        text = _ESCAPED.sub(lambda escaped: "\n" if escaped[0] == "\\n" else escaped[0], written)
        read = _parsed(text, permissible)
        assert isinstance(read, Type)
        action = action.replace(text=read.text)
    _check(action, permissible)
    return permissible.meant(action)


def _from_text(text: str, request: LLMRequest) -> Action:
    permissible = request.permissible
    name = written_name(text, permissible.own_names) if permissible is not None else ""
    if permissible is not None and name and permissible.action(name) is None:
        # Before its arguments are read: what is wrong with those of another action helps nobody.
        raise _UnusableError(_no_such(name, permissible))
    action = _parsed(text, permissible)
    allowed = permissible.action(action.name) if permissible is not None else None
    return (
        _typed(allowed.placed(action), allowed)
        if isinstance(action, Named) and allowed is not None
        else action
    )


def _parsed(text: str, permissible: Permissible | None) -> Action:
    try:
        return parse_action(text, permissible.own_names if permissible is not None else ())
    except ActionSyntaxError as error:
        raise _UnusableError(str(error)) from error
    except ValidationError as error:
        raise _UnusableError(f'"{text}" contains characters that are not allowed in an action.') from error


def _takes_lines(target: Target, request: LLMRequest) -> bool:
    """Return whether a target is a field of several lines."""
    page = request.view.observation.elements if request.view is not None else ()
    return isinstance(target, RefTarget) and any(one.ref == target.ref and one.takes_lines for one in page)


def _has_line_break(written: WrittenCall | str) -> bool:
    """Return whether a line has a backslash and an n that it does not mean as these two characters."""
    return isinstance(written, str) and any(one[0] == "\\n" for one in _ESCAPED.finditer(written))


def _typed(action: Named, allowed: PermissibleAction) -> Named:
    """Return the action with true or false for each yes or no, however that was written."""
    kinds = [parameter.type for parameter in allowed.parameters]
    arguments = tuple(
        _as_text(meant) if kind == "boolean" and (meant := _yes_or_no(text)) is not None else text
        for text, kind in itertools.zip_longest(
            action.arguments, kinds[: len(action.arguments)], fillvalue=""
        )
    )
    return action.replace(arguments=arguments)


def _from_call(call: WrittenCall, request: LLMRequest) -> Action:
    name, permissible = call.name.strip(), request.permissible
    arguments = dict(call.arguments)
    if name == "click" and (how := arguments.pop(HOW, None)):
        ways = {way: action for action, way in MOUSE.items()}
        way = how.strip().lower().removesuffix("_click") if isinstance(how, str) else ""
        if way not in {*ways, "click", "left", "single"}:
            raise _UnusableError(f"{name} takes {' or '.join(ways)} as its {HOW}, not {_shown(how)}.")
        name = ways.get(way, name)
    allowed = permissible.action(name) if permissible is not None else None
    own = allowed is not None and allowed.origin != "page"
    if (name not in ACTIONS and not own) or (permissible is not None and allowed is None):
        raise _UnusableError(_no_such(name, permissible))
    values: dict[str, Any] = {}
    parameters = _parameters(name, allowed)
    for key, value in arguments.items():
        parameter = parameters.get(key)
        if parameter is None and key == "kind" and value == name:
            continue
        if parameter is None:
            takes = ", ".join(parameters) or "no arguments"
            key = key[:80]
            close = get_close_matches(key, list(parameters), n=1)
            hint = f"did you mean {close[0]}?" if close else f"it takes {takes}."
            raise _UnusableError(f'{name} has no argument "{key}"; {hint}')
        if value is None and not parameter.required:
            continue
        values[key] = (
            _target(name, parameter, value)
            if key in ("target", "to") and not own
            else _value(name, parameter, value)
        )
    missing = [key for key, parameter in parameters.items() if parameter.required and key not in values]
    if missing:
        raise _UnusableError(f"{name} lacks {' and '.join(missing)}; give it.")
    if own:
        return Named(name=name, arguments=_in_order(parameters, values))
    try:
        return ACTION.validate_python({"kind": name, **values})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = str(first["loc"][-1]) if first["loc"] else "its arguments"
        raise _UnusableError(f"{name} cannot use {where} ({first['msg']}): {usage(name)}.") from error


def _in_order(parameters: Iterable[str], values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the arguments as texts in their places, those at the end that were left out not among them."""
    texts = [_as_text(values.get(name, "")) for name in parameters]
    while texts and not texts[-1]:
        texts.pop()
    return tuple(texts)


def _as_text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check(action: Action, permissible: Permissible | None) -> None:
    """Refuse what is not permissible, and what `Permissible.problem` leaves to the schema."""
    if permissible is None:
        return
    if problem := permissible.problem(action):
        raise _UnusableError(
            problem if permissible.action(action.name) else _no_such(action.name, permissible)
        )
    allowed = permissible.action(action.name)
    assert allowed is not None
    for name in (*action.fields, *action.options):
        value = getattr(action, name)
        parameter = allowed.parameter(name)
        default = type(action).model_fields[name].default
        if parameter is None:
            if name in action.model_fields_set and value != default:
                raise _UnusableError(f"{action.kind} takes no {name} here.")
            continue
        if parameter.required and name not in action.model_fields_set:
            raise _UnusableError(f"{action.kind} lacks {name}; give it.")
        if name in ("target", "to") and value is not None and parameter.type == "integer":
            _only_refs(action.kind, name, value)


def _only_refs(kind: str, name: str, target: object) -> None:
    if not isinstance(target, RefTarget):
        raise _UnusableError(f'{kind} wants the number of an element as its {name}, not "{target}".')


def _parameters(name: str, allowed: PermissibleAction | None) -> dict[str, Parameter]:
    """Return the arguments an action takes: those permissible, or its own if nothing says."""
    if allowed is not None:
        return {parameter.name: parameter for parameter in allowed.parameters}
    cls = ACTIONS[name]
    return {
        field: Parameter(
            name=field,
            type=_FIELD_TYPES.get(cls.model_fields[field].annotation, "string"),
            required=cls.model_fields[field].is_required(),
        )
        for field in (*cls.fields, *cls.options)
    }


def _target(name: str, parameter: Parameter, value: object) -> Any:
    number = _whole(value)
    if number is not None and number >= 0:
        return RefTarget(ref=number)
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("[") and text.endswith("]"):
            text = text[1:-1]
        try:
            target = parse_target(text)
        except (ActionSyntaxError, ValidationError) as error:
            raise _UnusableError(f"{name}, {parameter.name}: {error}") from error
        return target
    raise _UnusableError(
        f"{name} wants the number of an element as its {parameter.name}, not {_shown(value)}."
    )


def _value(name: str, parameter: Parameter, value: object) -> Any:
    """Return `value` in the argument's type, changed only if nothing is lost."""
    changed: Any = None
    if parameter.type == "boolean":
        changed = _yes_or_no(value)
    elif parameter.type == "integer":
        changed = _whole(value)
    elif parameter.type == "number":
        changed = _number(value)
    elif isinstance(value, str):
        changed = value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        changed = str(value)
    if changed is None:
        words = {"boolean": "true or false", "integer": "a whole number", "number": "a number"}
        wanted = words.get(parameter.type, "a text")
        raise _UnusableError(f"{name} wants {wanted} as its {parameter.name}, not {_shown(value)}.")
    return changed


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else None
    if isinstance(value, str) and 0 < len(value.strip()) < 16:
        text = value.strip()
        if text.removeprefix("-").isdecimal() and text.isascii():
            return int(text)
    return None


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, str)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None
    return None


def _yes_or_no(value: object) -> bool | None:
    if isinstance(value, str):
        return _YES_OR_NO.get(value.strip().lower())
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    return None


def _no_such(name: str, permissible: Permissible | None) -> str:
    if permissible is not None and name in permissible.not_now:
        return permissible.not_now[name]
    names = list(ACTIONS) if permissible is None else [action.name for action in permissible.actions]
    name = name[:80]
    close = get_close_matches(name.lower().replace(" ", "_"), names, n=1)
    what = "is not permissible here" if name in ACTIONS else "is not an action"
    hint = f"did you mean {close[0]}? Permissible are" if close else "permissible are"
    return f'"{name}" {what}; {hint}: {", ".join(names)}.'


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:79] + "…"


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(load_json(arguments), dict)
    except ValueError:
        return False
