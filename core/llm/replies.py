"""Parses a reply into a thought and written actions, before the check whether they are permissible.

There are three formats: tool calls, JSON, and REASON/ACTION lines. Parsing is lenient about wrapping (code
fences, prose around JSON, bold labels) and strict about the actions. The built-in LLM, the person and
scripted servers write in the same formats.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from core.llm.thinking import marks
from core.schema.action import Action, Named, RefTarget
from core.schema.action_space import ParameterType, Permissible, PermissibleAction
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
    is_missing: bool = False
    """Whether the problem is that there is nothing at all in the form that is asked for."""
    goes_on: bool = False
    """Whether there are words after the last action."""


class PartedReply(NamedTuple):
    """A reply's text without its thinking."""

    thinking: str
    text: str
    is_open: bool
    """Whether the thinking is not ended."""


_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\r?\n?(.*?)```", re.DOTALL)
# One class of signs before and after the word: two that overlap would take for ever on a line of blanks.
_ACTION = re.compile(r"^[ \t*_`#>-]*ACTION[ \t*_`0-9]*:[ \t*_`]*\s*", re.MULTILINE | re.IGNORECASE)
_REASON = re.compile(r"^[ \t*_`#>-]*(?:REASON|THOUGHT)[ \t*_`]*:[ \t*_`]*", re.MULTILINE | re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*")
_BRACKET = re.compile(r"\s*\[")
_JSON_START = re.compile(r"[{\[]")
_SIGN = re.compile(r"\\[\[\]\\]|[\[\]]")
_ARGUMENTS = re.compile(
    r"(?:^[ \t*_`#>-]*+|(?<=[>\]▷:])[ \t*_`]*+)(?:ACTION[ \t*_`0-9]*+:[ \t*_`]*+\s*+)?"
    r"[A-Za-z][A-Za-z0-9_]{0,63}+[ \t]*+(?=\[)",
    re.MULTILINE | re.IGNORECASE,
)
"""The name of an action before its arguments, at the beginning of a line or after a mark."""
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”"}
_CALLED = re.compile(
    r"(?:<function=|\[TOOL_CALLS\]|\bto=functions\.|<\|tool_call_begin\|>(?:functions\.)?"
    r"|<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?)\s{0,9}([A-Za-z_][A-Za-z0-9_]*)"
)
"""What stands before the arguments of a tool call in text: Llama, Mistral, gpt-oss, Kimi, DeepSeek."""
_TAG = re.compile(r"<[^<>]*>")
_BEGUN_CALL = re.compile(r"\{\s*\"(?:name|actions?|thought|reason)\"\s*:")
_THOUGHTS = ("thought", "reason")
_NAMES = ("name", "action", "kind", "tool", "tool_name", "function")
"""Under these an object has the name of what it calls."""
MOST_ACTIONS = 100
"""Actions, or tool calls, of one reply that are taken."""
CUT = "cut"
"""The finish reason of a reply that was longer than what is taken."""
_LENGTH = frozenset({"length", "max_tokens"})
_FILTERED = frozenset({"content_filter", "safety"})
_MOST_READ = 2_000_000
"""Characters that are read in search of JSON, places where it could begin taken together."""
_DEEPEST = 100
_TOO_DEEP = "it is nested too deep"


def read_tools(reply: LLMReply, permissible: Permissible | None = None) -> Written:
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
        thoughts.append(_take_thought(arguments, call.name, permissible))
        actions.append(WrittenCall(name=call.name, arguments=arguments))
    if not actions:
        in_text = read_json(reply, permissible)
        if in_text.actions or (in_text.problem and not in_text.is_missing and _BEGUN_CALL.search(text)):
            return in_text
    said = "\n".join(dict.fromkeys(one for one in thoughts if one))
    problem = "" if actions else "The reply calls no tool; call one of the tools that are listed."
    return Written(thought=said, actions=tuple(actions), problem=problem, is_missing=not actions)


def read_json(reply: LLMReply, permissible: Permissible | None = None) -> Written:
    """Read the JSON objects and lists of actions in a reply, in order: alone, in code fences, or within prose.

    Tool calls that a model has written as text are read too, in the forms of several models.
    """
    thinking, text = split_thinking(reply.text)
    found = _find_json(text)
    fitting = [one for one in found if one.name or _could_hold_actions(one.value)]
    fitting = fitting or [one for one in found if isinstance(one.value, dict)][-1:]
    if not fitting:
        trouble = _trouble(text)
        problem = (
            f"The reply is not JSON: {trouble}."
            if trouble
            else 'The reply holds no JSON object with "actions".'
        )
        return Written(thought=text or thinking, problem=problem, is_missing=not trouble)
    thoughts: list[str] = []
    entries: list[Any] = []
    replies: list[Any] = []
    for value, _, _, name in fitting:
        if isinstance(value, dict):
            thoughts.append(_take_thought(value, name or _name_in(value), permissible))
            if name:
                entries.append(WrittenCall(name=name, arguments=value))
                continue
            if "actions" in value:
                if value["actions"] in replies:
                    continue  # The whole reply, said once more.
                replies.append(value["actions"])
            value = _entries(value)
        entries += value if isinstance(value, list) else [value] if value else []
    thought = "\n".join(dict.fromkeys(filter(None, thoughts))) or thinking
    problem = ""
    gaps = [text[one.end : after.start] for one, after in itertools.pairwise(fitting)]
    if not entries:
        problem = 'The JSON has no actions; list at least one under "actions".'
    elif any(map(_BEGUN_CALL.search, (*gaps, text[fitting[-1].end :]))):
        problem = "One of the actions in the reply is not JSON, or is not complete."
    elif len(entries) > MOST_ACTIONS:
        problem = _too_many(len(entries))
    actions = [
        entry if isinstance(entry, str | WrittenCall) else _call_of(entry, permissible) for entry in entries
    ]
    if not problem and None in actions:
        problem = 'Each entry of "actions" must be an object with the action\'s "name".'
    if problem:
        return Written(thought=thought, problem=problem)
    goes_on = _has_words(text[fitting[-1].end :])
    return Written(
        thought=thought, actions=tuple(action for action in actions if action is not None), goes_on=goes_on
    )


def read_lines(reply: LLMReply, names: Iterable[str] = (), example: str = "click [12]") -> Written:
    """Read REASON and ACTION lines; `names` are actions besides those of any page, `example` one that would do.

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
            problem=f"The reply has no ACTION line; end it with one, as in ACTION: {example}.",
            is_missing=True,
        )
    reasons.append(rest)
    thought = "\n".join(filter(None, (_without_label(reason) for reason in reasons)))
    if len(actions) > MOST_ACTIONS:
        return Written(thought=thought or thinking, problem=_too_many(len(actions)))
    return Written(thought=thought or thinking, actions=tuple(actions), goes_on=_has_words(rest))


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, _TAG.sub("", text)))


def _too_many(count: int) -> str:
    return f"The reply has {count} actions, but at most {MOST_ACTIONS} are allowed; answer with fewer."


def why_nothing(reply: LLMReply) -> str:
    """Return why there is nothing in a reply to be read, in a sentence; empty if there is something."""
    thinking, text, is_open = part_thinking(reply.text)
    if reply.refused:
        return f"The model refused to answer: {text}" if text else "The model refused to answer."
    if text or reply.tool_calls:
        return ""
    if why := why_stopped(reply):
        return why
    if reply.finish_reason == "error" and reply.note:
        return f"{reply.note.rstrip('.')}."
    if is_open or thinking or reply.reasoning.strip():
        return "The reply is empty: it has only reasoning."
    return "The reply is empty."


def why_stopped(reply: LLMReply) -> str:
    """Return why a reply ends before it is complete, in a sentence; empty if it does not."""
    finish = reply.finish_reason.lower()
    if finish in _FILTERED:
        return "A content filter of the server stopped the reply."
    if finish == CUT or finish in _LENGTH:
        _, text, is_open = part_thinking(reply.text)
        reasons = is_open or (not text and not reply.tool_calls and bool(reply.text or reply.reasoning))
        when = " while the model was still thinking" if reasons else ""
        limit = "was longer than the limit" if finish == CUT else "reached the limit of max_tokens"
        return f"The reply was cut off{when}: it {limit}."
    return ""


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
    # A piece of an answer may end in the middle of a pair.
    return value if constants else _paired(value)


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
    return str(_paired(text)).replace("\0", "\ufffd")


def _paired(value: Any) -> Any:
    """Return a text, or a JSON value with texts, without halves of surrogate pairs."""
    if isinstance(value, dict):
        return {_paired(name): _paired(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_paired(inner) for inner in value]
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def split_thinking(text: str) -> tuple[str, str]:
    """Part a reply into what it thinks, by the marks of `resources/llm/thinking.toml`, and the rest."""
    parted = part_thinking(text)
    return parted.thinking, parted.text


def part_thinking(text: str) -> PartedReply:
    """Part a reply into what it thinks and the rest.

    All up to the last closing mark is thinking, and so is all after an opening mark that is not closed. A mark in
    the arguments of an action, in a JSON text or between quotes is one of the words.
    """
    known = marks()
    found = list(known.mark.finditer(text))
    places = sorted(_places_of_arguments(text), reverse=True) if found else []
    used: list[re.Match[str]] = []
    opened: re.Match[str] | None = None
    entry, end, reach = "", 0, 0
    for mark in found:
        while places and places[-1][0] < mark.start():
            reach = max(reach, places.pop()[1])
        if mark.end() <= reach or _is_quoted(text, mark):
            continue
        name, kind = known.kinds[str(mark.lastgroup)]
        if kind == "opening":
            opened, entry = (mark, name) if opened is None else (opened, entry)
        elif (opened is None and kind == "closing") or (opened is not None and name == entry):
            opened, end = None, mark.end()
        else:
            continue
        used.append(mark)
    begin = len(text) if opened is None else opened.start()
    starts = (0, *(one.end() for one in used))
    stops = (*(one.start() for one in used), len(text))
    pieces = (
        known.unwrapped(text[start:stop])
        for start, stop in zip(starts, stops, strict=True)
        if stop <= end or start >= begin
    )
    thinking = "\n\n".join(filter(None, pieces)) if used else ""
    return PartedReply(thinking, known.unwrapped(text[end:begin]), opened is not None)


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    return bool(after) and _QUOTES.get(before) == after


def _places_of_arguments(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the arguments of actions begin and end, in brackets and in JSON."""
    read = 0
    for named in _ARGUMENTS.finditer(text):
        for start, end in _bracketed(text, named.end()):
            read += (len(text) if end is None else end) - start
            if end is not None:
                yield start, end
        if read > _MOST_READ:
            break
    for one in _find_json(text):
        yield one.start, one.end


def without_marks(text: str) -> str:
    """Return a text in which marks of thinking stand between quotes: none of them is taken for one."""
    return marks().mark.sub(lambda mark: f"'{mark[0]}'" if not _is_quoted(text, mark) else mark[0], text)


def _take_thought(values: dict[str, Any], called: str, permissible: Permissible | None) -> str:
    """Take the thought out of an object that may be a call: what the action takes as its argument is none."""
    action = permissible.action(called.strip()) if permissible is not None else None
    for name in _THOUGHTS:
        if isinstance(values.get(name), str) and (action is None or action.parameter(name) is None):
            return str(values.pop(name)).strip()
    return ""


def _entries(found: dict[str, Any]) -> Any:
    for name in ("actions", "tool_calls"):
        if name in found:
            return found[name]
    single = found.get("action")
    if isinstance(single, dict) or (isinstance(single, str) and (len(found) == 1 or "[" in single)):
        return single
    return found if any(name in found for name in _NAMES) else None


def _name_in(values: dict[str, Any]) -> str:
    """Return the name of what an object calls, or nothing."""
    return next((name for key in _NAMES if isinstance(name := values.get(key), str)), "")


def _call_of(entry: object, permissible: Permissible | None = None) -> WrittenCall | None:
    if not isinstance(entry, dict):
        return None
    values = dict(entry)
    if isinstance(inner := values.get("function"), dict):
        values = dict(inner)
    name = next((name for key in _NAMES if isinstance(name := values.pop(key, None), str)), None)
    if name is None:
        return None
    for nested in ("arguments", "args", "parameters"):
        given = values.get(nested)
        if isinstance(given, str) and given.lstrip().startswith("{"):
            try:
                given = load_json(given)
            except ValueError:
                continue
        if isinstance(given, dict):
            del values[nested]
            values |= given
            break
    _take_thought(values, name, permissible)
    return WrittenCall(name=name, arguments=values)


def find_object(text: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the first JSON object in a text that has one of these names, or an empty one."""
    wanted = frozenset(names)
    objects = (one.value for one in _find_json(text) if isinstance(one.value, dict))
    return next((one for one in objects if not wanted.isdisjoint(one)), {})


class _Found(NamedTuple):
    """A JSON object or list in a text."""

    value: Any
    start: int
    end: int
    name: str = ""
    """The tool that is called with it, where that is said before it."""


def _find_json(text: str) -> list[_Found]:
    """Return the JSON objects and lists that stand in a text, in order."""
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)
    found: list[_Found] = []
    position = last = read = tries = 0
    while (match := _JSON_START.search(text, position)) and tries < 200 and read < _MOST_READ:
        start = match.start()
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            end = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
            read, tries = read + end - start, tries + 1
            position = match.end()
            continue
        read += position - start
        if is_deep(value):
            tries += 1
            continue
        before = _CALLED.findall(text, max(last, start - 200), start) if isinstance(value, dict) else ()
        found.append(_Found(_paired(value), start, position, before[-1] if before else ""))
        last = position
    return found


def _trouble(text: str) -> str:
    """Return why a text, or what stands in a code fence of it, is not the JSON that it begins as."""
    for candidate in (text, *(match[1] for match in _FENCE.finditer(text))):
        if candidate.lstrip()[:1] in ("{", "["):
            try:
                load_json(candidate)
            except ValueError as error:
                return str(error)
    return ""


def _could_hold_actions(found: object) -> bool:
    if isinstance(found, list):
        return bool(found) and all(_call_of(one) is not None for one in found)
    return isinstance(found, dict) and any(name in found for name in ("actions", "tool_calls", *_NAMES))


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
    for _, end in _bracketed(text, position):
        if end is None:
            return len(text)
        position = end
    line_end = text.find("\n", position)
    return len(text) if line_end < 0 else line_end


def _bracketed(text: str, position: int) -> Iterator[tuple[int, int | None]]:
    """Yield where each of the brackets that follow one another begins and ends; None if it is not closed."""
    while following := _BRACKET.match(text, position):
        depth = 1
        for sign in _SIGN.finditer(text, following.end()):
            depth += {"[": 1, "]": -1}.get(sign[0], 0)
            if depth == 0:
                position = sign.end()
                yield following.end() - 1, position
                break
        else:
            yield following.end() - 1, None
            return


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
        arguments[name] = _TYPED[parameter.type](value) if parameter is not None else value
    return arguments


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


_TYPED: dict[ParameterType, Callable[[str], Any]] = {
    "string": str,
    "integer": int,
    "number": _number,
    "boolean": lambda text: text == "true",
}


def as_tool_call(action: Action, permissible: Permissible | None = None, *, id: str = "call_1") -> ToolCall:
    """Return the tool call that asks for `action`."""
    text = json.dumps(action_arguments(action, permissible), ensure_ascii=False)
    return ToolCall(id=id, name=action.name, arguments=text)


def as_json(thought: str, actions: Sequence[Action], permissible: Permissible | None = None) -> str:
    """Return the JSON reply with this thought and these actions."""
    entries = []
    for action in actions:
        arguments = action_arguments(action, permissible)
        allowed = permissible.action(action.name) if permissible is not None else None
        apart = allowed is not None and allowed.stands_apart
        entries.append({"name": action.name, **({"arguments": arguments} if apart else arguments)})
    return json.dumps({"thought": thought, "actions": entries}, ensure_ascii=False)


def as_lines(thought: str, actions: Sequence[Action], permissible: Permissible | None = None) -> str:
    """Return the REASON/ACTION reply with this thought and these actions."""
    texts = [str(action) if permissible is None else permissible.written(action) for action in actions]
    return "\n".join([f"REASON: {without_marks(thought)}", *(f"ACTION: {text}" for text in texts)])
