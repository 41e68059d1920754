"""Reads an answer to an attached agent: its thought, the text to type, and the action."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from core.llm.replies import load_json, split_thinking
from core.schema.messages import LLMReply

_THOUGHTS = (
    "thinking",
    "thought",
    "thoughts",
    "think",
    "reasoning",
    "evaluation_previous_goal",
    "memory",
    "next_goal",
)
"""Under these names agents have their LLM put down what it thinks, where it answers in JSON."""
_TEXTS = ("text", "value", "content", "query")
"""Under these names what is to be typed."""


def thought_of(reply: LLMReply) -> str:
    """Return what an LLM has put down as its thought, by where agents commonly have it put that."""
    thinking, said = split_thinking(reply.text)
    try:
        found = load_json(said)
    except ValueError:
        return reply.reasoning or thinking or said
    parts = _parts(found) if isinstance(found, dict) else []
    return reply.reasoning or thinking or "\n".join(dict.fromkeys(parts))


def texts_of(reply: LLMReply) -> Iterator[str]:
    """Yield what an LLM has said to type, in order, by the names that agents commonly have it put that under."""
    for said in (split_thinking(reply.text)[1], *(call.arguments for call in reply.tool_calls)):
        with contextlib.suppress(ValueError):
            yield from _texts(load_json(said))


def _texts(found: Any) -> Iterator[str]:
    if isinstance(found, list):
        for one in found:
            yield from _texts(one)
    elif isinstance(found, dict):
        for name, value in found.items():
            if name in _TEXTS and isinstance(value, str) and value:
                yield value
            else:
                yield from _texts(value)


def _parts(found: dict[str, Any]) -> list[str]:
    parts = [value for name in _THOUGHTS if isinstance(value := found.get(name), str) and value]
    inner = [_parts(value) for value in found.values() if isinstance(value, dict)]
    return [*parts, *(one for part in inner for one in part)]


def said_of(reply: LLMReply) -> str:
    """Return what an answer has the agent do, without the thought: two that differ in that alone say the same."""
    if reply.tool_calls:
        return "; ".join(f"{call.name}({call.arguments})" for call in reply.tool_calls)
    said = split_thinking(reply.text)[1].strip()
    try:
        found = load_json(said)
    except ValueError:
        return said
    rest = _without_thoughts(found)
    return json.dumps(rest, ensure_ascii=False) if rest else said


def _without_thoughts(found: Any) -> Any:
    if isinstance(found, list):
        return [_without_thoughts(one) for one in found]
    if isinstance(found, dict):
        return {name: _without_thoughts(value) for name, value in found.items() if name not in _THOUGHTS}
    return found
