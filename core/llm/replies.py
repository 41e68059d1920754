"""Parses a reply into a thought and written actions, before the check whether they are permissible.

There are three formats: tool calls, JSON, and REASON/ACTION lines. Parsing is lenient about wrapping (code
fences, prose around JSON, bold labels) and strict about the actions. The built-in LLM, the person and
scripted servers write in the same formats.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from core.schema.action import Action, Named, RefTarget
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.messages import LLMReply, ToolCall
from core.schema.record import Record


class WrittenCall(Record):
    """An action as a name and arguments, unchecked."""

    name: str
    arguments: dict[str, Any]


class Written(Record):
    """What a reply says: its actions are calls, or texts in the case of lines."""

    thought: str = ""
    actions: tuple[WrittenCall | str, ...] = ()
    problem: str = ""


_THINK = re.compile(r"\s*<think(?:ing)?>(.*?)</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n?(.*?)```", re.DOTALL)
# One class of signs before and after the word: two that overlap would take for ever on a line of blanks.
_ACTION = re.compile(r"^[ \t*_`#>-]*ACTION[ \t*_`0-9]*:[ \t*_`]*\s*", re.MULTILINE | re.IGNORECASE)
_REASON = re.compile(r"^[ \t*_`#>-]*(?:REASON|THOUGHT)[ \t*_`]*:[ \t*_`]*", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*")
_BRACKET = re.compile(r"\s*\[")
_JSON_START = re.compile(r"[{\[]")
_THOUGHTS = ("thought", "reason")
MOST_ACTIONS = 100
"""Actions, or tool calls, of one reply that are taken."""
CUT = "cut"
"""The finish reason of a reply that was longer than what is taken."""
_MOST_READ = 2_000_000
"""Characters that are read in search of JSON, places where it could begin taken together."""
_DEEPEST = 100
_TOO_DEEP = "it is nested too deep"


def read_tools(reply: LLMReply) -> Written:
    """Read tool calls; the thought is the text, or what the calls carry as their ``thought``."""
    thought, text = split_thinking(reply.text)
    thoughts = [text or thought]
    actions: list[WrittenCall | str] = []
    for number, call in enumerate(reply.tool_calls, start=1):
        which = f" of call {number}" if len(reply.tool_calls) > 1 else ""
        try:
            arguments = load_json(call.arguments) if call.arguments.strip() else {}
            if isinstance(arguments, str):
                arguments = load_json(arguments)
        except ValueError as error:
            return Written(
                thought=thoughts[0], problem=f"The arguments{which} of {call.name} are not JSON: {error}."
            )
        if not isinstance(arguments, dict):
            return Written(
                thought=thoughts[0], problem=f"The arguments{which} of {call.name} must be a JSON object."
            )
        thoughts.append(_take_thought(arguments))
        actions.append(WrittenCall(name=call.name, arguments=arguments))
    if not actions:
        in_text = read_json(reply)
        if in_text.actions:
            return in_text
    said = "\n".join(dict.fromkeys(one for one in thoughts if one))
    problem = "" if actions else "The reply calls no tool; call one of the tools that are listed."
    return Written(thought=said, actions=tuple(actions), problem=problem)


def read_json(reply: LLMReply) -> Written:
    """Read a JSON object or list of actions, alone, in a code fence, or within prose."""
    thinking, text = split_thinking(reply.text)
    found, trouble = _find_json(text, _could_hold_actions)
    if found is None:
        problem = (
            f"The reply is not JSON: {trouble}."
            if trouble
            else 'The reply holds no JSON; answer {"thought": "…", "actions": [{"name": "…", …}]}.'
        )
        return Written(thought=text or thinking, problem=problem)
    thought = thinking
    if isinstance(found, dict):
        thought = _take_thought(found) or thinking
        entries = _entries(found)
    else:
        entries = found
    if isinstance(entries, (dict, str)):
        entries = [entries]
    if not isinstance(entries, list) or not entries:
        return Written(thought=thought, problem='The JSON has no actions; list at least one under "actions".')
    if len(entries) > MOST_ACTIONS:
        return Written(thought=thought, problem=_too_many(len(entries)))
    actions: list[WrittenCall | str] = []
    for entry in entries:
        if isinstance(entry, str):
            actions.append(entry)
            continue
        call = _call_of(entry)
        if call is None:
            return Written(
                thought=thought,
                problem='Each entry of "actions" must be an object with the action\'s "name".',
            )
        actions.append(call)
    return Written(thought=thought, actions=tuple(actions))


def read_lines(reply: LLMReply, names: Iterable[str] = ()) -> Written:
    """Read REASON and ACTION lines; `names` are actions besides those of any page.

    A reason continues until a line that begins with ACTION, whatever its own
    lines begin with; an action continues until its brackets are closed. Several
    ACTION lines are several actions.
    """
    thinking, text = split_thinking(reply.text)
    reasons: list[str] = []
    actions: list[WrittenCall | str] = []
    position = 0
    while match := _ACTION.search(text, position):
        reasons.append(text[position : match.start()])
        end = _end_of_action(text, match.end())
        actions.append(text[match.end() : end].strip().strip("`").strip())
        position = end
    rest = text[position:]
    if not actions:
        bare = _FENCE.fullmatch(text.strip())
        alone = (bare[1] if bare else text).strip().strip("`").strip()
        if _looks_like_action(alone, names):
            return Written(thought=thinking, actions=(alone,))
        return Written(
            thought=_without_label(text) or thinking,
            problem="The reply has no ACTION line; end it with one, as in ACTION: click [12].",
        )
    reasons.append(rest)
    thought = "\n".join(filter(None, (_without_label(reason) for reason in reasons)))
    if len(actions) > MOST_ACTIONS:
        return Written(thought=thought or thinking, problem=_too_many(len(actions)))
    return Written(thought=thought or thinking, actions=tuple(actions))


def _too_many(count: int) -> str:
    return f"The reply has {count} actions, but at most {MOST_ACTIONS} are allowed; answer with fewer."


def load_json(text: str, *, constants: bool = False) -> Any:
    """Read JSON; raises ValueError with a short reason for anything that is not, however odd.

    With `constants` NaN and infinities are None; without they are not JSON.
    """
    try:
        value = json.loads(text, strict=False, parse_constant=_no_number if constants else _no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    except ValueError as error:
        # Python reads no number of more than 4300 digits, and says how to make it.
        raise ValueError("a number in it is too long" if "digits" in str(error) else str(error)) from error
    if text.count("[") + text.count("{") > _DEEPEST and is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def is_deep(value: object) -> bool:
    """Return whether lists and objects lie deeper in one another than anything that is meant."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _no_number(name: str) -> Any:
    return None


def plain(text: str) -> str:
    """Return `text` as a database and a window can keep it.

    The halves of a surrogate pair become one character; a half alone, and the character U+0000, become U+FFFD.
    """
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def split_thinking(text: str) -> tuple[str, str]:
    """Part a reply into what stands between thinking tags at its beginning, and the rest."""
    match = _THINK.match(text)
    return (match[1].strip(), text[match.end() :].strip()) if match else ("", text.strip())


def _take_thought(values: dict[str, Any]) -> str:
    for name in _THOUGHTS:
        if isinstance(values.get(name), str):
            return str(values.pop(name)).strip()
    return ""


def _entries(found: dict[str, Any]) -> Any:
    if "actions" in found:
        return found["actions"]
    single = found.get("action")
    named_beside_arguments = isinstance(single, str) and len(found) > 1 and "[" not in single
    if "name" in found or named_beside_arguments:
        return found
    return single


def _call_of(entry: object) -> WrittenCall | None:
    if not isinstance(entry, dict):
        return None
    values = dict(entry)
    name = values.pop("name", None) or values.pop("action", None) or values.pop("kind", None)
    if not isinstance(name, str):
        return None
    for nested in ("arguments", "args", "parameters"):
        if isinstance(values.get(nested), dict):
            values |= values.pop(nested)
    _take_thought(values)
    return WrittenCall(name=name, arguments=values)


def find_object(text: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the first JSON object in a text that has one of these names, or an empty one."""
    wanted = frozenset(names)
    found, _ = _find_json(text, lambda one: isinstance(one, dict) and not wanted.isdisjoint(one))
    return found if isinstance(found, dict) and not wanted.isdisjoint(found) else {}


def _find_json(text: str, fits: Callable[[object], bool]) -> tuple[Any, str]:
    """Return the first JSON object or list that fits, or one that does not, and why there is none."""
    trouble = ""
    for candidate in (text, *(match[1] for match in _FENCE.finditer(text))):
        if candidate.lstrip()[:1] not in ("{", "["):
            continue
        try:
            found = load_json(candidate)
        except ValueError as error:
            trouble = trouble or str(error)
            continue
        if fits(found):
            return found, ""
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)
    spare: Any = None
    position = 0
    read = tries = 0
    while (match := _JSON_START.search(text, position)) and tries < 200 and read < _MOST_READ:
        tries += 1
        try:
            found, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError) as error:
            end = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
            read += end - match.start()
            position = match.end()
            continue
        read += position - match.start()
        if is_deep(found):
            trouble = trouble or _TOO_DEEP
            continue
        if fits(found):
            return found, ""
        if isinstance(found, dict):
            spare = found
    return spare, trouble


def _could_hold_actions(found: object) -> bool:
    if isinstance(found, list):
        return bool(found) and all(isinstance(one, dict) and "name" in one for one in found)
    return isinstance(found, dict) and any(name in found for name in ("actions", "action", "name"))


def _looks_like_action(text: str, names: Iterable[str]) -> bool:
    try:
        parse_action(text, names)
    except (ActionSyntaxError, ValueError):
        return False
    return True


def _without_label(text: str) -> str:
    return _REASON.sub("", text).strip()


def _end_of_action(text: str, start: int) -> int:
    """Return where the action that begins at `start` ends: after its brackets, and the rest of that line."""
    match = _NAME.match(text, start)
    position = match.end() if match else start
    while True:
        following = _BRACKET.match(text, position)
        if following is None:
            break
        closed = _close(text, following.end())
        if closed is None:
            return len(text)
        position = closed
    line_end = text.find("\n", position)
    return len(text) if line_end < 0 else line_end


def _close(text: str, position: int) -> int | None:
    depth = 1
    while position < len(text):
        char = text[position]
        if char == "\\" and text[position + 1 : position + 2] in ("[", "]", "\\"):
            position += 2
            continue
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None


# Writing


def action_arguments(action: Action, permissible: Permissible | None = None) -> dict[str, Any]:
    """Return the arguments of an action's tool call.

    A target that is a ref is a number, any other its text. What stands at its
    default and was never set is left out, unless it has another one in
    `permissible`, where also what the arguments of a state's action or a
    policy are called is looked up.
    """
    allowed = permissible.action(action.name) if permissible is not None else None
    if isinstance(action, Named):
        return _named_arguments(action, allowed) if allowed is not None else {}
    own_defaults = allowed.defaults if allowed is not None else {}
    arguments: dict[str, Any] = {}
    for name in (*action.fields, *action.options):
        value = getattr(action, name)
        required = type(action).model_fields[name].is_required()
        if value is None or not (required or name in action.model_fields_set or name in own_defaults):
            continue
        if name in ("target", "to"):
            value = value.ref if isinstance(value, RefTarget) else str(value)
        arguments[name] = value
    return arguments


def _named_arguments(action: Named, allowed: PermissibleAction) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, value in allowed.arguments(action).items():
        parameter = allowed.parameter(name)
        plain = parameter is None or parameter.type == "string"
        arguments[name] = value if plain else json.loads(value)
    return arguments


def as_tool_call(action: Action, permissible: Permissible | None = None, *, id: str = "call_1") -> ToolCall:
    """Return the tool call that asks for `action`."""
    text = json.dumps(action_arguments(action, permissible), ensure_ascii=False)
    return ToolCall(id=id, name=action.name, arguments=text)


def as_json(thought: str, actions: Sequence[Action], permissible: Permissible | None = None) -> str:
    """Return the JSON reply with this thought and these actions."""
    entries = [{"name": action.name, **action_arguments(action, permissible)} for action in actions]
    return json.dumps({"thought": thought, "actions": entries}, ensure_ascii=False)


def as_lines(thought: str, actions: Sequence[Action], permissible: Permissible | None = None) -> str:
    """Return the REASON/ACTION reply with this thought and these actions."""
    texts = [str(action) if permissible is None else permissible.written(action) for action in actions]
    return "\n".join([f"REASON: {thought}", *(f"ACTION: {text}" for text in texts)])
