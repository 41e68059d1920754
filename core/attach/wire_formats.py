"""Converts an attached agent's requests in OpenAI's two formats to ours, and our replies to its format.

`CHAT` is the format of chat completions, `RESPONSES` that of the Responses API
(https://platform.openai.com/docs/api-reference). Both read requests of any client: parts with an unexpected
shape are skipped, and shown unchanged.
"""

import base64
import binascii
import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, get_args
from uuid import uuid4

from core.llm.openai_format import Assembly, shaped_message
from core.schema.messages import Image, LLMReply, LLMRequest, Message, Role, Sampling, Tool, ToolCall

_DATA_URL = re.compile(r"data:(image/[a-z0-9.+-]+);base64,(.*)", re.DOTALL)
_ROLES: dict[str, Role] = {"developer": "system", "function": "tool", **{one: one for one in get_args(Role)}}
_SAMPLING = {"max_completion_tokens": "max_tokens", "max_output_tokens": "max_tokens"}
ToolChoice = Literal["auto", "required", "none"]


class WireFormat(Protocol):
    """One of OpenAI's formats of requests and replies."""

    path: str
    """Below the base URL."""

    def read(self, body: dict[str, Any]) -> LLMRequest:
        """Return what a request asks."""
        ...

    def rewritten(self, body: dict[str, Any], asked: LLMRequest, sent: LLMRequest) -> dict[str, Any]:
        """Return the request with the messages of `sent`; those that are as in `asked` stay as they came."""
        ...

    def whole(self, reply: LLMReply, body: dict[str, Any]) -> dict[str, Any]:
        """Return a reply in one piece."""
        ...

    def events(self, reply: LLMReply, body: dict[str, Any]) -> Iterator[str]:
        """Yield a reply as the server-sent events of a stream."""
        ...

    def assembly(self) -> Assembly:
        """Return what puts a reply together from its pieces, or takes it whole."""
        ...


def error_body(message: str, kind: str) -> dict[str, Any]:
    """Return a refusal as clients of OpenAI read it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


# Parts of both formats


def _text_of(content: object) -> tuple[str, tuple[Image, ...]]:
    """Return the text and the pictures of a message's content; what is neither is shown as JSON."""
    if content is None:
        return "", ()
    if isinstance(content, str):
        return content, ()
    texts: list[str] = []
    images: list[Image] = []
    for part in content if isinstance(content, list) else [content]:
        text = part if isinstance(part, str) else _field(part, "text", "refusal")
        if isinstance(text, str):
            texts.append(text)
            continue
        url = _field(part, "image_url")
        url = _field(url, "url") if isinstance(url, dict) else url
        if isinstance(url, str) and (image := _image(url)) is not None:
            images.append(image)
        else:
            texts.append(f"[{url}]" if isinstance(url, str) else json.dumps(part, ensure_ascii=False))
    return "\n".join(texts), tuple(images)


def _image(url: str) -> Image | None:
    found = _DATA_URL.fullmatch(url)
    if found is None:
        return None
    try:
        return Image(data=base64.b64decode(found[2], validate=True), mime=found[1])
    except binascii.Error:
        return None


def _field(thing: object, *names: str) -> Any:
    """Return the first of these fields that a JSON object has."""
    if not isinstance(thing, dict):
        return None
    return next((thing[name] for name in names if thing.get(name) is not None), None)


def _words(thing: object, *names: str) -> str:
    value = _field(thing, *names)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _with_items(
    asked: Sequence[Message], items: Sequence[dict[str, Any] | None], sent: Sequence[Message]
) -> list[tuple[Message, dict[str, Any] | None]]:
    """Return each message to send with the item that it was read from; None for one that is new or was changed.

    Equal messages can be of different items: a message that has kept its place has the item of that place.
    """
    places = {at: at for at, (one, other) in enumerate(zip(asked, sent, strict=False)) if one == other}
    left = [at for at in range(len(asked)) if at not in places]
    for at, message in enumerate(sent):
        moved = None if at in places else next((old for old in left if asked[old] == message), None)
        if moved is not None:
            left.remove(moved)
            places[at] = moved
    return [(message, items[places[at]] if at in places else None) for at, message in enumerate(sent)]


def _items(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _tool_call(call: object, id: str) -> ToolCall:
    return ToolCall(id=id, name=_words(call, "name"), arguments=_words(call, "arguments") or "{}")


def _tools(body: dict[str, Any]) -> tuple[Tool, ...]:
    """Return the functions that may be called; tools of the server's own have their type as a name."""
    found = []
    for one in _items(body.get("tools")) + [{"function": item} for item in _items(body.get("functions"))]:
        function = one["function"] if isinstance(one.get("function"), dict) else one
        parameters = function.get("parameters")
        found.append(
            Tool(
                name=_words(function, "name") or _words(one, "type"),
                description=_words(function, "description"),
                parameters=parameters if isinstance(parameters, dict) else {},
            )
        )
    return tuple(found)


def _tool_choice(body: dict[str, Any]) -> ToolChoice:
    choice: Any = body.get("tool_choice")
    if isinstance(choice, dict):
        return "required"  # A function by its name.
    return choice if choice in get_args(ToolChoice) else "auto"


def _sampling(body: dict[str, Any]) -> Sampling:
    values: dict[str, Any] = {}
    for name, value in {**body, "reasoning_effort": _effort(body)}.items():
        field = _SAMPLING.get(name, name)
        if field in Sampling.model_fields and value is not None:
            values[field] = value
    for field in tuple(values):
        try:
            Sampling.model_validate({field: values[field]})
        except ValueError:
            del values[field]  # A number that is none is the server's to refuse.
    return Sampling.model_validate(values)


def _effort(body: dict[str, Any]) -> Any:
    return _field(body, "reasoning_effort") or _field(body.get("reasoning"), "effort")


def _schema(form: object) -> dict[str, Any] | None:
    """Return the JSON schema that a reply is to have."""
    kind = _field(form, "type")
    schema = _field(_field(form, "json_schema") or form, "schema")
    if kind == "json_schema" and isinstance(schema, dict):
        return schema
    return {"type": "object"} if kind == "json_object" else None


def _model(reply: LLMReply, body: dict[str, Any]) -> str:
    return reply.model or _words(body, "model")


def _event(data: dict[str, Any], name: str = "") -> str:
    begin = f"event: {name}\n" if name else ""
    return f"{begin}data: {json.dumps(data, ensure_ascii=False)}\n\n"


# Chat completions


class ChatFormat:
    """Chat completions."""

    path = "/chat/completions"

    def read(self, body: dict[str, Any]) -> LLMRequest:
        return LLMRequest(
            purpose="agent",
            messages=tuple(_chat_message(item) for item in _items(body.get("messages"))),
            tools=_tools(body),
            tool_choice=_tool_choice(body),
            reply_schema=_schema(body.get("response_format")),
            sampling=_sampling(body),
        )

    def rewritten(self, body: dict[str, Any], asked: LLMRequest, sent: LLMRequest) -> dict[str, Any]:
        if sent.messages == asked.messages:
            return body
        came = _with_items(asked.messages, _items(body.get("messages")), sent.messages)
        return {
            **body,
            "messages": [item or shaped_message(message, images=True) for message, item in came],
        }

    def whole(self, reply: LLMReply, body: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        if reply.tool_calls:
            message["tool_calls"] = _chat_calls(reply)
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
        return {
            **self._base(reply, body, "chat.completion"),
            "choices": [choice],
            "usage": _chat_usage(reply),
        }

    def events(self, reply: LLMReply, body: dict[str, Any]) -> Iterator[str]:
        base = self._base(reply, body, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        if reply.reasoning:
            deltas.append({"reasoning_content": reply.reasoning})
        if reply.text:
            deltas.append({"content": reply.text})
        deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(_chat_calls(reply))]
        for delta in deltas:
            yield _event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield _event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]})
        if _field(body.get("stream_options"), "include_usage"):
            yield _event({**base, "choices": [], "usage": _chat_usage(reply)})
        yield "data: [DONE]\n\n"

    def assembly(self) -> Assembly:
        return Assembly()

    @staticmethod
    def _base(reply: LLMReply, body: dict[str, Any], kind: str) -> dict[str, Any]:
        model = _model(reply, body)
        return {"id": f"chatcmpl-{uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _chat_message(message: dict[str, Any]) -> Message:
    text, images = _text_of(_field(message, "content", "refusal"))
    calls = [
        _tool_call(item.get("function"), _words(item, "id")) for item in _items(message.get("tool_calls"))
    ]
    if isinstance(message.get("function_call"), dict):
        calls.append(_tool_call(message["function_call"], ""))
    return Message(
        role=_ROLES.get(_words(message, "role"), "user"),
        text=text,
        images=images,
        tool_calls=tuple(calls),
        tool_call_id=_words(message, "tool_call_id"),
    )


def _chat_calls(reply: LLMReply) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id or f"call_{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for at, call in enumerate(reply.tool_calls, start=1)
    ]


def _finish(reply: LLMReply) -> str:
    if reply.tool_calls:
        return "tool_calls"
    return reply.finish_reason if reply.finish_reason in ("length", "content_filter") else "stop"


def _chat_usage(reply: LLMReply) -> dict[str, Any]:
    used = reply.usage
    return {
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "total_tokens": used.prompt_tokens + used.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
    }


# Responses


class ResponsesFormat:
    """The Responses API."""

    path = "/responses"

    def read(self, body: dict[str, Any]) -> LLMRequest:
        messages = [message for message, _ in self._messages(body)]
        return LLMRequest(
            purpose="agent",
            messages=tuple(messages),
            tools=_tools(body),
            tool_choice=_tool_choice(body),
            reply_schema=_schema(_field(body.get("text"), "format")),
            sampling=_sampling(body),
        )

    @staticmethod
    def _messages(body: dict[str, Any]) -> Iterator[tuple[Message, dict[str, Any] | None]]:
        """Yield each message with the item that it came as; the instructions are none."""
        if instructions := _words(body, "instructions"):
            yield Message(role="system", text=instructions), None
        given = body.get("input")
        for item in [{"role": "user", "content": given}] if isinstance(given, str) else _items(given):
            yield _item_message(item), item

    def rewritten(self, body: dict[str, Any], asked: LLMRequest, sent: LLMRequest) -> dict[str, Any]:
        if sent.messages == asked.messages:
            return body
        came = _with_items(asked.messages, [item for _, item in self._messages(body)], sent.messages)
        instructions = _words(body, "instructions")
        changed = {name: value for name, value in body.items() if name != "instructions"}
        if instructions and came and came[0][0].role == "system":
            changed["instructions"] = came.pop(0)[0].text
        changed["input"] = [
            one for message, item in came for one in (_message_items(message) if item is None else (item,))
        ]
        return changed

    def whole(self, reply: LLMReply, body: dict[str, Any]) -> dict[str, Any]:
        return self._response(reply, body, f"resp_{uuid4().hex}", _output_items(reply), ended=True)

    def events(self, reply: LLMReply, body: dict[str, Any]) -> Iterator[str]:
        id = f"resp_{uuid4().hex}"
        items = _output_items(reply)
        begun = self._response(reply, body, id, [], ended=False)
        told: list[dict[str, Any]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
        ]
        for at, item in enumerate(items):
            told += _item_events(at, item)
        whole = self._response(reply, body, id, items, ended=True)
        told.append({"type": f"response.{whole['status']}", "response": whole})
        for number, event in enumerate(told):
            yield _event({**event, "sequence_number": number}, event["type"])

    def assembly(self) -> Assembly:
        return _ResponsesAssembly()

    @staticmethod
    def _response(
        reply: LLMReply, body: dict[str, Any], id: str, output: list[dict[str, Any]], *, ended: bool
    ) -> dict[str, Any]:
        used = reply.usage
        cut = reply.finish_reason == "length"
        usage = {
            "input_tokens": used.prompt_tokens,
            "input_tokens_details": {"cached_tokens": used.cached_tokens},
            "output_tokens": used.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
            "total_tokens": used.prompt_tokens + used.completion_tokens,
        }
        ending = "incomplete" if cut else "completed"
        return {
            "id": id,
            "object": "response",
            "created_at": int(time.time()),
            "status": ending if ended else "in_progress",
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut and ended else None,
            "instructions": body.get("instructions"),
            "metadata": body.get("metadata") or {},
            "model": _model(reply, body),
            "output": output,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": body.get("previous_response_id"),
            "temperature": body.get("temperature"),
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": body.get("tools") or [],
            "top_p": body.get("top_p"),
            "usage": usage if ended else None,
        }


def _item_message(item: dict[str, Any]) -> Message:
    kind = _words(item, "type")
    if kind == "function_call":
        return Message(role="assistant", tool_calls=(_tool_call(item, _words(item, "call_id", "id")),))
    if kind.endswith("_call_output"):
        text, images = _text_of(item.get("output"))
        return Message(role="tool", text=text, images=images, tool_call_id=_words(item, "call_id"))
    if kind == "reasoning":
        parts = _items(item.get("summary")) + _items(item.get("content"))
        return Message(role="assistant", text="\n".join(_words(part, "text") for part in parts))
    if kind not in ("", "message"):
        return Message(role="assistant", text=json.dumps(item, ensure_ascii=False))
    text, images = _text_of(item.get("content"))
    return Message(role=_ROLES.get(_words(item, "role"), "user"), text=text, images=images)


def _message_items(message: Message) -> Iterable[dict[str, Any]]:
    """Yield the input items that say what a message does."""
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.text}
        return
    if message.text or message.images or not message.tool_calls:
        kind = "output_text" if message.role == "assistant" else "input_text"
        parts: list[dict[str, Any]] = [{"type": kind, "text": message.text}]
        for image in message.images:
            url = f"data:{image.mime};base64,{base64.b64encode(image.data).decode('ascii')}"
            parts.append({"type": "input_image", "image_url": url, "detail": "auto"})
        yield {"type": "message", "role": message.role, "content": parts}
    for at, call in enumerate(message.tool_calls, start=1):
        yield {
            "type": "function_call",
            "call_id": call.id or f"call_{at}",
            "name": call.name,
            "arguments": call.arguments,
        }


def _output_items(reply: LLMReply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        items.append({"type": "reasoning", "id": f"rs_{uuid4().hex}", "summary": summary})
    if reply.text or not reply.tool_calls:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        items.append(
            {
                "type": "message",
                "id": f"msg_{uuid4().hex}",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    for at, call in enumerate(reply.tool_calls, start=1):
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{uuid4().hex}",
                "status": "completed",
                "call_id": call.id or f"call_{at}",
                "name": call.name,
                "arguments": call.arguments,
            }
        )
    return items


def _item_events(at: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a stream tells of one item of the output."""
    place = {"item_id": item["id"], "output_index": at}
    kind = item["type"]
    empty: dict[str, dict[str, Any]] = {"message": {"content": []}, "function_call": {"arguments": ""}}
    begun = empty.get(kind, {})
    status = {"status": "in_progress"} if "status" in item else {}
    yield {"type": "response.output_item.added", "output_index": at, "item": {**item, **begun, **status}}
    if kind == "message":
        (part,) = item["content"]
        inside = {**place, "content_index": 0}
        yield {"type": "response.content_part.added", **inside, "part": {**part, "text": ""}}
        yield {"type": "response.output_text.delta", **inside, "delta": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **inside, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **inside, "part": part}
    elif kind == "function_call":
        arguments = item["arguments"]
        yield {"type": "response.function_call_arguments.delta", **place, "delta": arguments}
        done = {"type": "response.function_call_arguments.done", **place, "arguments": arguments}
        yield {**done, "name": item["name"]}
    yield {"type": "response.output_item.done", "output_index": at, "item": item}


class _ResponsesAssembly(Assembly):
    """Reads a whole response, or the event that ends its stream; text is passed on as it arrives."""

    def add(self, chunk: object) -> str:
        kind = _words(chunk, "type")
        if kind == "response.output_text.delta":
            return _words(chunk, "delta")
        response: Any = chunk if _words(chunk, "object") == "response" else _field(chunk, "response")
        if _words(response, "status") in ("completed", "incomplete"):
            self._take_whole(response)
        return ""

    def _take_whole(self, response: dict[str, Any]) -> None:
        texts: list[str] = []
        reasoning: list[str] = []
        calls: list[ToolCall] = []
        for item in _items(response.get("output")):
            said = _item_message(item)
            if said.tool_calls:
                calls += said.tool_calls
            elif _words(item, "type") == "reasoning":
                reasoning.append(said.text)
            else:
                texts.append(said.text)
        used = _field(response, "usage")
        message = {
            "content": "\n".join(texts) or None,
            "reasoning_content": "\n".join(reasoning) or None,
            "tool_calls": [
                {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
                for call in calls
            ],
        }
        cut = _words(response, "status") == "incomplete"
        finish = "length" if cut else "tool_calls" if calls else "stop"
        usage = {
            "prompt_tokens": _field(used, "input_tokens"),
            "completion_tokens": _field(used, "output_tokens"),
            "prompt_tokens_details": _field(used, "input_tokens_details"),
            "completion_tokens_details": _field(used, "output_tokens_details"),
        }
        choice = {"message": message, "finish_reason": finish}
        super().add({"model": _words(response, "model"), "choices": [choice], "usage": usage})


CHAT, RESPONSES = ChatFormat(), ResponsesFormat()
FORMATS: tuple[WireFormat, ...] = (CHAT, RESPONSES)
