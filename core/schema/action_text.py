"""Parses actions from their text form, and describes how each is written."""

import re
from collections.abc import Container, Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import ValidationError

from core.schema.action import (
    ACTION,
    ACTIONS,
    Action,
    BaseAction,
    Named,
    is_target,
    parse_target,
    shown,
)
from core.schema.argument import part_by_name, without_optional
from core.schema.errors import ActionSyntaxError

_ALIASES = {
    "select_option": "select",
    "doubleclick": "double_click",
    "rightclick": "right_click",
    "context_click": "right_click",
    "mouse_click": "click_at",
    "highlight": "select_text",
    "dblclick": "double_click",
    "fill": "type",
    "focus_tab": "tab_focus",
    "back": "go_back",
    "forward": "go_forward",
    "finish": "stop",
    "note_down": "note",
}
_YES_OR_NO = re.compile(r"0|1|true|false|yes|no|on|off", re.IGNORECASE)
_EXAMPLES = {"at": "x,y", "from_at": "x,y", "to_at": "x,y", "keys": "Control+Shift", "nth": "2"}
"""How the value of an option is written that is no yes or no."""
_SHOWN = {"direction": "up|down|left|right"}
"""How an argument is written that has few values."""
_BARE_FLAG = re.compile(r"\s*([01])\s*")
_LABEL = re.compile(
    r"""\s*(?:\((?:"(?:[^"\\]|\\.)*"|\([^()]*\)|[^()"])*\)"""
    r"""|[a-z]+(?:-[a-z]+)*\s+"(?:[^"\\]|\\.)*"|[.,;!]+\s*$)"""
)
"""What an LLM adds after a bracket: what the element is, as the history of a prompt tells it, or a full stop."""
_QUOTED = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""", re.DOTALL)
_BARE = re.compile(rf"""\s*,?\s*((?:[A-Za-z_]+=)?(?:{_QUOTED.pattern}|[^\s,"'()\[\]]+))""", re.DOTALL)
"""An argument without brackets: between quotes, or one word."""
_ENDS = ".;! \n"
_SCROLL = re.compile(r"\s*(scroll)[ _-]+(up|down|left|right)\s*(?=\[|$)", re.IGNORECASE)
"""How LLMs write a scroll without brackets round its direction."""
_NAME = re.compile(r"\s*([A-Za-z]+(?:[ _-]+[A-Za-z]+)*)\s*(?=\[|$)")
_CALL = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*(?=\[|$)")
_TWO_WORDS = re.compile(r"\s*([A-Za-z]+[ _-][A-Za-z]+)\b")
_FIRST_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")


def split_brackets(text: str, *, labels: bool = False) -> list[str]:
    """Split ``[a] [b [c]]`` into its outermost parts, unescaped.

    With `labels`, what an LLM adds after a bracket is skipped: ``[5] (button "Save")``, ``[5].``.
    Raises ActionSyntaxError.
    """
    parts: list[str] = []
    current: list[str] = []
    depth = 0
    index = 0
    while index < len(text):
        char = text[index]
        if depth and char == "\\" and text[index + 1 : index + 2] in ("[", "]", "\\"):
            current.append(text[index + 1])
            index += 2
            continue
        if char == "[":
            depth += 1
            if depth > 1:
                current.append(char)
        elif char == "]" and depth:
            depth -= 1
            if depth:
                current.append(char)
            else:
                parts.append("".join(current))
                current = []
        elif depth:
            current.append(char)
        elif labels and parts and (label := _LABEL.match(text, index)):
            index = label.end()
            continue
        elif not char.isspace():
            raise ActionSyntaxError(
                f'"{shown(text)}" has text outside its brackets: put each argument in [ ].'
            )
        index += 1
    if depth:
        raise ActionSyntaxError(f'"{shown(text)}" has a bracket that is not closed.')
    return parts


def parse_action(text: str, names: Iterable[str] = ()) -> Action:
    """Read one action from its text form.

    Beside the actions that any page has, those called by one of `names` are
    read: what the state offers, and policies. Raises ActionSyntaxError with a
    sentence that names what is wrong and, for an unknown name, the nearest one.
    """
    names = tuple(names)
    text = unquoted(text)
    head = _head(text, names)
    if head is None:
        raise ActionSyntaxError(
            f'"{shown(text)}" is not an action: begin with its name, and put each argument in [ ].'
        )
    if head.own:
        return Named(name=head.name, arguments=_arguments(_parts(text, head, None)))
    cls = ACTIONS.get(head.name)
    if cls is None:
        raise ActionSyntaxError(
            f'There is no action "{shown(head.name)}"; {_nearest(_kind(head.name), names)}'
        )
    values = _values(text, cls, [*head.arguments, *_parts(text, head, cls)])
    try:
        return ACTION.validate_python({"kind": head.name, **values})
    except ValidationError as error:
        first = error.errors()[0]
        missing = first["type"] == "missing"
        problem = "lacks" if missing else "cannot use"
        where = str(first["loc"][-1]) if first["loc"] else "its arguments"
        reason = "" if missing else f" ({first['msg']})"
        raise ActionSyntaxError(f'"{shown(text)}" {problem} {where}{reason}: {usage(head.name)}.') from error


def _values(text: str, cls: type[BaseAction], parts: Iterable[str]) -> dict[str, Any]:
    """Return the values of an action's parts: by name where a part has one, else in their order."""
    values: dict[str, Any] = {}
    flags = [name for name in cls.options if cls.is_flag(name)]
    for position, part in enumerate(parts):
        given = part_by_name(part, cls.fields)
        if given is not None and (given.name not in values or given.name == cls.several):
            _add(cls, values, given.name, given.value)
        elif (option := _option(cls, part) if position >= _required(cls) else None) is not None:
            values[option[0]] = option[1]
        elif (field := next((name for name in cls.fields if name not in values), cls.several)) != "":
            _add(cls, values, field, without_optional(part))
        elif flags and flags[0] not in values and (bare := _BARE_FLAG.fullmatch(part)):
            values[flags[0]] = bare[1] == "1"
        elif (flag := without_optional(part).strip().lower()) in flags:
            values[flag] = True
        else:
            raise ActionSyntaxError(f'"{shown(text)}" has too many arguments: {usage(_kind_of(cls))}.')
    return values


def _add(cls: type[BaseAction], values: dict[str, Any], name: str, part: str) -> None:
    if name == cls.several and name in values:
        values[name] += f"\n{part}"
    elif name in ("target", "to"):
        values[name] = parse_target(part)
    elif name == "direction":
        values[name] = part.strip().lower()
    else:
        # Free text as it stands.
        values[name] = part if cls.model_fields[name].annotation in (str, str | None) else part.strip()


def _option(cls: type[BaseAction], part: str) -> tuple[str, Any] | None:
    """Return an option that is given with its name, and its value; None if the part is no such option."""
    given = part_by_name(part, cls.options)
    if given is None:
        return None
    value = given.value.strip()
    if not cls.is_flag(given.name):
        return given.name, value
    yes_or_no = _YES_OR_NO.fullmatch(value)
    return (given.name, value.lower() in ("1", "true", "yes", "on")) if yes_or_no else None


def _parts(text: str, head: "_Head", cls: type[BaseAction] | None) -> list[str]:
    """Return the arguments after the name: in brackets, or without them as in ``CLICK 5`` and ``type(5, "x")``."""
    rest = text[head.end :].strip()
    if not rest.strip(_ENDS):
        return []
    if rest.startswith("["):
        return split_brackets(rest, labels=True)
    bare = rest[1:-1].strip() if rest.startswith("(") and rest.endswith(")") else rest.rstrip(_ENDS)
    if cls is not None and cls.fields == ("target",) and is_target(bare):
        return [bare]
    words: list[str] = []
    position = 0
    while position < len(bare):
        word = _BARE.match(bare, position)
        if word is None:
            return split_brackets(rest)  # It says what is wrong.
        words.append(word[1])
        position = word.end()
    # Words of a sentence are no arguments: a text stands in quotes, where it is not the only word.
    text_alone = cls is not None and cls.fields[:1] in (("answer",), ("text",))
    quoted = all(_QUOTED.search(word) or word.isdecimal() or "=" in word for word in words)
    if not quoted and (text_alone or len(words) > (1 if cls is None else len(cls.fields))):
        return split_brackets(rest)
    return [_unquoted(word) for word in words]


def _unquoted(word: str) -> str:
    """Return a word with the text between quotes in it, if there is one, as it is meant."""
    return _QUOTED.sub(lambda quoted: re.sub(r"\\([\\\"'])", r"\1", quoted[0][1:-1]), word, count=1)


def unquoted(text: str) -> str:
    """Return an action's text without the quotes round all of it, if it has them."""
    return _unquoted(text.strip()) if _QUOTED.fullmatch(text.strip()) else text


def written_name(text: str, names: Iterable[str] = ()) -> str:
    """Return the name that an action's text begins with, as `parse_action` takes it; empty if it has none."""
    head = _head(unquoted(text), tuple(names))
    return head.name if head is not None else ""


class _Head(NamedTuple):
    """How an action's text begins."""

    name: str
    """The name of an action; of one that there is not, the word as it is written."""
    own: bool
    """Whether it is one of the names that not every page has."""
    end: int
    arguments: tuple[str, ...] = ()
    """Those written without brackets."""


def _head(text: str, names: Iterable[str]) -> _Head | None:
    named = _CALL.match(text) or _FIRST_WORD.match(text)
    if named is not None and (called := _offered(named[1], names)):
        return _Head(called, True, named.end())
    if scroll := _SCROLL.match(text):
        return _Head("scroll", False, scroll.end(), (scroll[2],))
    matches = [match for pattern in (_NAME, _TWO_WORDS, _FIRST_WORD) if (match := pattern.match(text))]
    if not matches:
        return None
    match = next((match for match in matches if _kind(match[1]) in ACTIONS), matches[0])
    kind = _kind(match[1])
    return _Head(kind if kind in ACTIONS else match[1], False, match.end())


def _kind(word: str) -> str:
    kind = re.sub(r"[ _-]+", "_", word.lower())
    return _ALIASES.get(kind, kind)


def _required(cls: type[BaseAction]) -> int:
    return sum(1 for name in cls.fields if cls.model_fields[name].is_required())


def usage(kind: str, only: Container[str] | None = None) -> str:
    """Return how an action is written, such as ``type [target] [text] [optional: enter=0|1]``.

    `only` names the arguments that it has here; None: all of them.
    """
    if kind == "stop":
        return " or ".join(
            ["stop [answer]", *(["stop [] [what is missing]"] if only is None or "lacked" in only else [])]
        )
    cls = ACTIONS[kind]
    parts = [
        bracketed(
            f"{name}={_EXAMPLES.get(name, '0|1')}" if name in cls.options else _SHOWN.get(name, name),
            required,
        )
        for name in (*cls.fields, *cls.options)
        if only is None or name in only
        for required in (cls.model_fields[name].is_required(),)
    ]
    if cls.several and (only is None or cls.several in only):
        parts.append(bracketed(f"{cls.several}…", False))
    return " ".join([kind, *parts])


def bracketed(argument: str, required: bool) -> str:
    """Return an argument as a list of actions shows it."""
    return f"[{argument}]" if required else f"[optional: {argument}]"


def _offered(word: str, names: Iterable[str]) -> str:
    """Return the one of `names` that is written there, or nothing; case counts only where it tells two apart."""
    names = tuple(names)
    if word in names:
        return word
    alike = [name for name in names if name.lower() == word.lower()]
    return alike[0] if len(alike) == 1 and word.lower() not in ACTIONS else ""


def _arguments(parts: list[str]) -> tuple[str, ...]:
    """Return the parts without empty ones at the end: these are arguments left out."""
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _kind_of(cls: type[BaseAction]) -> str:
    return str(cls.model_fields["kind"].default)


def _nearest(kind: str, names: Iterable[str] = ()) -> str:
    known = [*names, *ACTIONS]
    close = get_close_matches(kind, known, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}."
