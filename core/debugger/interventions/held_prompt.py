"""The prompt of a call that is held, as one text: a heading for each message, with its text below."""

import re
from collections.abc import Sequence

from core.schema.errors import UsageError
from core.schema.messages import Message

TITLE = "The prompt of call {number} ({purpose}), which has not been sent"
HINT = "The text below each heading is a message; the headings stay. Pictures and tool calls are sent as they are."
_HEADING = re.compile(r"### (system|user|assistant|tool)\s*")
_LIKE_ONE = re.compile(r"^(\\*### (?:system|user|assistant|tool)\s*)$", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*### (?:system|user|assistant|tool)\s*)$", re.MULTILINE)


def as_text(messages: Sequence[Message]) -> str:
    """Return messages as one text; a line of theirs that looks like a heading gets a backslash."""
    return "\n\n".join(f"### {one.role}\n" + _LIKE_ONE.sub(r"\\\1", one.text) for one in messages)


def with_text(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    """Return the messages with the texts that `text` has for them; raises UsageError with the line."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if _HEADING.fullmatch(line)]
    first = starts[0] if starts else len(lines)
    if any(line.strip() for line in lines[:first]):
        raise UsageError(f"Line 1: begin with the heading ### {messages[0].role}.")
    if len(starts) < len(messages):
        missing = messages[len(starts)].role
        raise UsageError(f"Message {len(starts) + 1} is missing: it begins with a line ### {missing}.")
    if len(starts) > len(messages):
        line = starts[len(messages)] + 1
        raise UsageError(
            f"Line {line}: the prompt has only {len(messages)} messages; write \\### for a line of text."
        )
    found = []
    for message, start, end in zip(messages, starts, [*starts[1:], None], strict=True):
        role = lines[start].split()[1]
        if role != message.role:
            raise UsageError(f"Line {start + 1}: this message is ### {message.role}, not ### {role}.")
        body = lines[start + 1 : end]
        if end is not None and body and not body[-1]:
            body.pop()
        found.append(message.replace(text=_ESCAPED.sub(r"\1", "\n".join(body))))
    return tuple(found)
