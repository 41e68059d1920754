"""Compares prompts by their words, to find out whether two ask the same."""

import difflib
import json
import re
from collections.abc import Iterable, Sequence

from core.schema.messages import Message, Tool

LOOPBACK = re.compile(r"127\.0\.0\.1:\d+")
_SHOWN = 12
"""Lines of a difference that are shown."""
_PASSING = (
    (
        re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d[:-]\d\d(?:[:-]\d\d(?:[.,-]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"),
        "DATE",
    ),
    (re.compile(r"\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b"), "TIME"),
    (re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"), "ID"),
    (re.compile(r"\b(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{16,}\b"), "ID"),
    (re.compile(r"\bcall_[A-Za-z0-9_]+"), "ID"),
    (re.compile(r"/tmp/[^\s\"']+"), "PATH"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|s|seconds)\b"), "SECONDS"),
    (re.compile(r"\b\d+ total elements\b"), "ELEMENTS"),
)
"""What differs from one run of a program to the next: times, ids, temporary files.

browser-use counts the elements by which it shows for a second what it clicks, too.
"""


def words_of(messages: Sequence[Message], tools: Iterable[Tool]) -> str:
    """Return what a prompt says: its messages, tool calls and tools; pictures do not count."""
    parts = [f"[{message.role}]\n{message.text}" for message in messages]
    parts += [call.model_dump_json() for message in messages for call in message.tool_calls]
    if offered := [tool.model_dump() for tool in tools]:
        parts.append(json.dumps(offered, indent=1, sort_keys=True))
    return "\n".join(parts)


def plain(text: str) -> str:
    """Return the words without ports of 127.0.0.1: sites of ours are served on another one each time."""
    return LOOPBACK.sub("127.0.0.1", text)


def lasting(text: str) -> str:
    """Return the words also without times, ids and temporary paths, which a program makes again each time."""
    text = plain(text)
    for pattern, name in _PASSING:
        text = pattern.sub(name, text)
    return text


def difference(recorded: str, asked: str) -> str:
    """Return the lines in which two prompts differ, each with its sign."""
    lines = difflib.unified_diff(
        plain(recorded).splitlines(), plain(asked).splitlines(), "recorded", "asked", lineterm="", n=1
    )
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    more = f"\n… and {len(changed) - _SHOWN} more lines" if len(changed) > _SHOWN else ""
    return "\n".join(changed[:_SHOWN]) + more
