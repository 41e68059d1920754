"""Prompts and replies as the blobs that a call names, and back.

A prompt is JSON of messages, tools, tool choice, reply schema and sampling, with
what the messages say as data, and which of them came from an exemplar or a policy.
Its pictures are blobs of their own, so that a screenshot which the LLM was
sent is stored once.
"""

import json
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from core.schema.messages import LLMReply, LLMRequest, Message, PromptPart, PromptView, Sampling, Tool
from core.schema.record import Record
from core.schema.step import BlobHash
from core.trace.blobs import hash_of
from core.trace.encoding import from_json, to_json


class Prompt(Record):
    """What was sent to the LLM."""

    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: Literal["auto", "required", "none"] = "auto"
    reply_schema: dict[str, Any] | None = None
    sampling: Sampling = Sampling()
    view: PromptView | None = None
    """What the messages say, as data; None where that was not recorded."""
    parts: tuple[PromptPart, ...] = ()
    """The exemplars and the policy in the messages; only to be trusted where there is a view."""


class EncodedPrompt(NamedTuple):
    """A prompt ready to be stored."""

    hash: BlobHash
    """What `CallRecord.messages` is to say."""
    blobs: tuple[tuple[bytes, str], ...]
    """The prompt's own blob, and those of its pictures."""


def encode_prompt(request: LLMRequest) -> EncodedPrompt:
    """Return what `TraceStore.save_call` needs of a request."""
    pictures: list[tuple[bytes, str]] = []
    messages: list[dict[str, Any]] = []
    for message in request.messages:
        values = message.model_dump(exclude={"images"}, exclude_defaults=True)
        if message.images:
            values["images"] = [{"blob": hash_of(image.data), "mime": image.mime} for image in message.images]
            pictures += [(image.data, image.mime) for image in message.images]
        messages.append(values)
    rest = LLMRequest(
        purpose=request.purpose,
        messages=(),
        tools=request.tools,
        tool_choice=request.tool_choice,
        reply_schema=request.reply_schema,
        sampling=request.sampling,
        view=request.view,
        parts=request.parts,
    ).model_dump(exclude={"purpose", "messages", "permissible"}, exclude_defaults=True, mode="json")
    try:
        data = json.dumps({"messages": messages, **rest}, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        data = json.dumps({"messages": messages, **rest}).encode()
    return EncodedPrompt(hash_of(data), ((data, "application/json"), *pictures))


def decode_prompt(data: bytes, blob: Callable[[BlobHash], bytes]) -> Prompt:
    """Read a stored prompt, its pictures by `blob`; raises ValueError where it is none."""
    values = json.loads(data)
    if not isinstance(values, dict):
        raise ValueError("a prompt is a JSON object with messages")
    for message in values.get("messages", ()):
        message["images"] = tuple(
            {"data": blob(image["blob"]), "mime": image["mime"]} for image in message.get("images", ())
        )
    return Prompt.model_validate(values)


def encode_reply(reply: LLMReply) -> tuple[BlobHash, tuple[bytes, str]]:
    """Return what `CallRecord.reply` is to say, and the blob that goes with it."""
    data = to_json(reply)
    return hash_of(data), (data, "application/json")


def decode_reply(data: bytes) -> LLMReply:
    """Read a stored reply; raises ValueError where it is none."""
    return from_json(LLMReply, data)
