"""One written action of a policy, split into its name and its bracketed arguments.

Its effect on the stack depends only on the whole name, never on words inside the brackets.
"""

import re
from typing import Literal

from core.schema.action import ACTIONS, escape_brackets
from core.schema.action_text import parse_action, split_brackets, unquoted, usage
from core.schema.errors import ActionSyntaxError
from core.schema.record import Record

Does = Literal["act", "note", "call", "stop"]
STOP_USAGE = usage("stop")
"""How a policy ends: with an answer, which may be empty, or with what it lacked."""

_NAME = re.compile(r"\s*([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)\s*(?=\[|$)")


class Call(Record):
    """An action as a policy writes it: a page action, a note, the call of a policy, or its own end."""

    name: str
    arguments: tuple[str, ...] = ()

    @property
    def does(self) -> Does:
        return what_it_does(self.name)

    def __str__(self) -> str:
        return " ".join([self.name, *(f"[{escape_brackets(argument)}]" for argument in self.arguments)])


def what_it_does(name: str) -> Does:
    """Return what an action of this name does: a name that no action has is the call of a policy."""
    if name == "stop":
        return "stop"
    if name == "note":
        return "note"
    return "act" if name in ACTIONS else "call"


def read_call(text: str) -> Call:
    """Read ``name [argument] [argument]``.

    The whole may be in quotes. Whether there is a policy of that name is not asked here. Raises
    ActionSyntaxError for what has another form, and for an action of the page
    that is not one.
    """
    text = unquoted(text)
    match = _NAME.match(text)
    if match is None:
        raise ActionSyntaxError(
            f'"{text.strip()[:200]}" is not an action: write its name and then each argument in [ ].'
        )
    name = match[1]
    arguments = tuple(split_brackets(text[match.end() :]))
    if name == "stop":
        if len(arguments) > 2:
            raise ActionSyntaxError(f'"{text.strip()[:200]}" has too many arguments: {STOP_USAGE}.')
    elif name in ACTIONS:
        parse_action(text)
    return Call(name=name, arguments=arguments)
