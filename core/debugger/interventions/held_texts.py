"""A held prompt or reply as one text: a heading for each message or tool call, with its text below."""

import json
import re
from collections.abc import Sequence

from core.llm.replies import load_json
from core.schema.errors import UsageError
from core.schema.messages import LLMReply, Message, ToolCall

TITLE = "The prompt of call {number} ({purpose}), which has not been sent"
HINT = (
    "The text below each heading is a message. Keep the headings. Pictures and tool calls are sent unchanged."
)
REPLY_TITLE = "The reply to call {number} ({purpose}), which has not been read"
REPLY_HINT = (
    "The text of the reply. A tool call is a heading ### tool_call NAME, with its arguments below as JSON."
)
_HEADING = re.compile(r"### (system|user|assistant|tool)\s*")
_LIKE_ONE = re.compile(r"^(\\*### (?:system|user|assistant|tool)\s*)$", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*### (?:system|user|assistant|tool)\s*)$", re.MULTILINE)


def as_text(messages: Sequence[Message]) -> str:
    """Return messages as one text; a line of theirs that looks like a heading gets a backslash."""
    return "\n\n".join(f"### {message.role}\n" + _LIKE_ONE.sub(r"\\\1", message.text) for message in messages)


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


_TOOL_CALL = re.compile(r"### tool_call (\S+)\s*")
_LIKE_A_CALL = re.compile(r"^(\\*### tool_call\b.*)$", re.MULTILINE)
_ESCAPED_CALL = re.compile(r"^\\(\\*### tool_call\b.*)$", re.MULTILINE)


def reply_as_text(reply: LLMReply) -> str:
    """Return a reply as one text."""
    parts = [_LIKE_A_CALL.sub(r"\\\1", reply.text)] if reply.text else []
    for call in reply.tool_calls:
        parts.append(f"### tool_call {call.name}\n{_indented(call.arguments)}")
    return "\n\n".join(parts)


def reply_with_text(reply: LLMReply, text: str) -> LLMReply:
    """Return the reply with the text and the tool calls that `text` has; raises UsageError with the line.

    The n-th tool call keeps its id; what the LLM thought stays, because it was said.
    """
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("### tool_call")]
    said = "\n".join(lines[: starts[0]] if starts else lines).rstrip("\n")
    calls = []
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)][: len(starts)], strict=True)):
        heading = _TOOL_CALL.fullmatch(lines[start])
        if heading is None:
            raise UsageError(f"Line {start + 1}: a tool call begins with ### tool_call NAME.")
        body = "\n".join(lines[start + 1 : end]).strip()
        try:
            fits = isinstance(load_json(body), dict)
        except ValueError as error:
            raise UsageError(
                f"Line {start + 2}: the arguments of {heading[1]} are not JSON: {error}."
            ) from error
        if not fits:
            raise UsageError(f"Line {start + 2}: the arguments of {heading[1]} are not a JSON object.")
        known = reply.tool_calls[number] if number < len(reply.tool_calls) else None
        id = known.id if known is not None else f"call_edited_{number + 1}"
        unchanged = known is not None and _indented(known.arguments) == body
        arguments = known.arguments if known is not None and unchanged else body
        calls.append(ToolCall(id=id, name=heading[1], arguments=arguments))
    return reply.replace(text=_ESCAPED_CALL.sub(r"\1", said), tool_calls=tuple(calls))


def _indented(arguments: str) -> str:
    """Return arguments as they are edited: indented where they are JSON."""
    try:
        return json.dumps(load_json(arguments), ensure_ascii=False, indent=2)
    except ValueError:
        return arguments.strip()
