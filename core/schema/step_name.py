"""What a step did, in few words: for lists, files and reports."""

import re

from core.schema.action import ACTIONS
from core.schema.action_text import split_brackets
from core.schema.errors import ActionSyntaxError

_FILLS = ("type", "select", "upload")
"""Actions that put a value into an element; its name says more than the action's."""
_REF = re.compile(r"\[\d+\]")
_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ENTER = {"enter=1": " ↵", "enter=true": " ↵"}
"""How an option is said that is often there."""


def step_name(action: str, target: str) -> str:
    """Return a step in words, such as ``Password ← "karrie"``, ``click button "Login"`` or ``search ← "green tea"``.

    `action` is the action's text, and `target` the description of its element.
    """
    name, _, rest = action.partition(" ")
    try:
        parts = split_brackets(rest)
    except ActionSyntaxError:
        parts = []
    if name in _FILLS and len(parts) > 1 and target:
        known = ACTIONS[name].options
        options = [part for part in parts[2:] if part.partition("=")[0] in known]
        values = ", ".join(_quoted(part) for part in parts[1:] if part not in options)
        named = _NAME.search(target)
        more = "".join(_ENTER.get(part, f" [{part}]") for part in options)
        return f"{named[1] if named else target} ← {values}{more}"
    if name not in ACTIONS and parts:
        return f"{name} ← {', '.join(_quoted(part) if ' ' in part else part for part in parts)}"
    text, replaced = _REF.subn(lambda _match: target, action, count=1) if target else (action, 1)
    return text if replaced or name not in ACTIONS else f"{action} {target}"


def _quoted(value: str) -> str:
    return f'"{value}"'
