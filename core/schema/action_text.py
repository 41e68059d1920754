"""Parses actions from their text form, and describes how each is written."""

import re
from collections.abc import Container, Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import ValidationError

from core.schema.action import ACTION, ACTIONS, Action, BaseAction, Named, parse_target, shown
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
}
_OPTION_ALIASES = {
    "press_enter_after": "enter",
    "x": "at",
    "modifiers": "keys",
    "from": "from_at",
    "to": "to_at",
}
_OPTION = re.compile(r"\s*([a-z_]+)\s*=\s*(.*?)\s*", re.IGNORECASE | re.DOTALL)
_YES_OR_NO = re.compile(r"0|1|true|false|yes|no|on|off", re.IGNORECASE)
_EXAMPLES = {"at": "x,y", "from_at": "x,y", "to_at": "x,y", "keys": "Control+Shift", "nth": "2"}
"""How the value of an option is written that is no yes or no."""
_BARE_FLAG = re.compile(r"\s*([01])\s*")
_SCROLL = re.compile(r"\s*(scroll)[ _-]+(up|down|left|right)\s*(?=\[|$)", re.IGNORECASE)
"""How LLMs write a scroll without brackets round its direction."""
_NAME = re.compile(r"\s*([A-Za-z]+(?:[ _-]+[A-Za-z]+)*)\s*(?=\[|$)")
_CALL = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*(?=\[|$)")
_FIRST_WORD = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)")


def split_brackets(text: str) -> list[str]:
    """Split ``[a] [b [c]]`` into its outermost parts, unescaped."""
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
        elif not char.isspace():
            raise ActionSyntaxError(
                f'"{shown(text)}" has text outside its brackets: put each argument in [ ], as in click [12].'
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
    head = _head(text, names)
    if head is None:
        raise ActionSyntaxError(f'"{shown(text)}" is not an action: begin with its name, as in click [12].')
    if head.own:
        return Named(name=head.name, arguments=_arguments(text[head.end :]))
    kind = head.name
    cls = ACTIONS.get(kind)
    if cls is None:
        raise ActionSyntaxError(f'There is no action "{shown(kind)}"; {_nearest(_kind(kind), names)}')
    parts = [*head.arguments, *split_brackets(text[head.end :])]
    values: dict[str, Any] = {}
    fields = list(cls.fields)
    for position, part in enumerate(parts):
        option = _option(cls, part) if position >= _required(cls) else None
        if option is not None:
            values[option[0]] = option[1]
            continue
        flag = cls.options[0] if cls.options and cls.is_flag(cls.options[0]) else ""
        if not fields and flag and flag not in values and (bare := _BARE_FLAG.fullmatch(part)):
            values[flag] = bare[1] == "1"
            continue
        if not fields and cls.several:
            values[cls.several] += f"\n{part}"
            continue
        if not fields:
            raise ActionSyntaxError(f'"{shown(text)}" has too many arguments: {usage(kind)}.')
        name = fields.pop(0)
        values[name] = parse_target(part) if name in ("target", "to") else _value(cls, name, part)
    try:
        return ACTION.validate_python({"kind": kind, **values})
    except ValidationError as error:
        first = error.errors()[0]
        missing = first["type"] == "missing"
        problem = "lacks" if missing else "cannot use"
        where = str(first["loc"][-1]) if first["loc"] else "its arguments"
        reason = "" if missing else f" ({first['msg']})"
        raise ActionSyntaxError(f'"{shown(text)}" {problem} {where}{reason}: {usage(kind)}.') from error


def _option(cls: type[BaseAction], part: str) -> tuple[str, Any] | None:
    """Return an option that is given with its name, and its value; None if the part is no such option."""
    found = _OPTION.fullmatch(part)
    if found is None:
        return None
    word = found[1].lower()
    name = word if word in cls.options else _OPTION_ALIASES.get(word, word)
    if name not in cls.options:
        return None
    if not cls.is_flag(name):
        return name, found[2]
    yes_or_no = _YES_OR_NO.fullmatch(found[2])
    return (name, found[2].lower() in ("1", "true", "yes", "on")) if yes_or_no else None


def written_name(text: str, names: Iterable[str] = ()) -> str:
    """Return the name that an action's text begins with, as `parse_action` takes it; empty if it has none."""
    head = _head(text, tuple(names))
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
    named = _CALL.match(text)
    if named is not None and (called := _offered(named[1], names)):
        return _Head(called, True, named.end())
    if scroll := _SCROLL.match(text):
        return _Head("scroll", False, scroll.end(), (scroll[2],))
    match = _NAME.match(text) or _FIRST_WORD.match(text)
    if match is None:
        return None
    kind = _kind(match[1])
    return _Head(kind if kind in ACTIONS else match[1], False, match.end())


def _kind(word: str) -> str:
    kind = re.sub(r"[ _-]+", "_", word.lower())
    return _ALIASES.get(kind, kind)


def _value(cls: type[BaseAction], name: str, part: str) -> str:
    """Return a bracketed part as the field takes it: free text as it stands, a fixed word in lower case."""
    if name == "direction":
        return part.strip().lower().removeprefix("direction=").strip()
    return part if cls.model_fields[name].annotation in (str, str | None) else part.strip()


def _required(cls: type[BaseAction]) -> int:
    return sum(1 for name in cls.fields if cls.model_fields[name].is_required())


def usage(kind: str, only: Container[str] | None = None) -> str:
    """Return how an action is written, such as ``type [target] [text] [optional: enter=0|1]``.

    `only` names the arguments that it has here; None: all of them.
    """
    cls = ACTIONS[kind]
    parts = [
        bracketed(f"{name}={_EXAMPLES.get(name, '0|1')}" if name in cls.options else name, required)
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


def _arguments(text: str) -> tuple[str, ...]:
    """Return the bracketed parts, without empty ones at the end: these are arguments left out."""
    parts = split_brackets(text)
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _nearest(kind: str, names: Iterable[str] = ()) -> str:
    known = [*names, *ACTIONS]
    close = get_close_matches(kind, known, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}."
