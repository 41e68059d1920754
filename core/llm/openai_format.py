"""Requests as chat completions take them, and answers put together from what comes back.

`Dialect` remembers what a server will not take: it starts out assuming all of
OpenAI's form and gives up one part at a time, when the server refuses it.
"""

import base64
import json
import re
from typing import Any, Literal

from core.llm.costs import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, TOKENS_PER_REPLY, count_tokens
from core.schema.messages import LLMRequest, Message, Sampling, ToolCall, Usage

Limit = Literal["max_tokens", "max_completion_tokens", "none"]

_REFUSES = re.compile(
    r"unsupported|not.support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not available"
    r"|not implemented|not enabled|extra_forbidden|extra (?:fields|inputs)|additional propert|input should be"
    r"|no endpoints found|literal_error|deprecated|only .{0,60}(?:allowed|supported)",
    re.IGNORECASE,
)
_INVALID = re.compile(r"invalid|must be|only", re.IGNORECASE)
_FORM = frozenset({"stream_options", "tool_choice", "response_format"})
"""Parts whose value is ours alone; called invalid, they are not taken. A temperature may just be too high."""
_WORDS: dict[str, tuple[str, ...]] = {
    "stream_options": ("stream_options", "include_usage"),
    "tool_choice": ("tool_choice",),
    "response_format": ("response_format", "json_schema"),
    "max_completion_tokens": ("max_completion_tokens",),
    "max_tokens": ("max_tokens",),
    "seed": ("seed",),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
}
_SENTENCES = {
    "stream_options": "The server takes no stream_options; asked again without, and tokens are estimated.",
    "tool_choice": "The server cannot be made to call a tool; asked again with tool_choice auto.",
    "response_format": "The server takes no JSON schema for its reply; asked again without.",
    "seed": "The server takes no seed; asked again without.",
    "temperature": "The server does not take this temperature; asked again without.",
    "top_p": "The server does not take top_p; asked again without.",
}


class Dialect:
    """What of OpenAI's form one server takes."""

    def __init__(self) -> None:
        self.given_up: set[str] = set()
        self.limit: Limit = "max_tokens"

    def arguments(
        self, request: LLMRequest, model: str, defaults: Sampling, *, images: bool
    ) -> dict[str, Any]:
        """Return the arguments of ``chat.completions.create``; the request's own sampling goes first."""
        arguments: dict[str, Any] = {
            "model": model,
            "messages": [_message(message, images=images) for message in request.messages],
            "stream": True,
        }
        if "stream_options" not in self.given_up:
            arguments["stream_options"] = {"include_usage": True}
        if request.tools:
            arguments["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters or {"type": "object", "properties": {}},
                    },
                }
                for tool in request.tools
            ]
            forced = request.tool_choice == "required" and "tool_choice" in self.given_up
            arguments["tool_choice"] = "auto" if forced else request.tool_choice
        elif request.reply_schema is not None and "response_format" not in self.given_up:
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": request.reply_schema},
            }
        for name in ("temperature", "top_p", "seed"):
            own = getattr(request.sampling, name)
            value = getattr(defaults, name) if own is None else own
            if value is not None and name not in self.given_up:
                arguments[name] = value
        limit = defaults.max_tokens if request.sampling.max_tokens is None else request.sampling.max_tokens
        if limit is not None and self.limit != "none":
            arguments[self.limit] = limit
        return arguments

    def give_up(self, message: str, parameter: str, sent: dict[str, Any]) -> str | None:
        """Give up the part of `sent` that the server's message refuses, for good.

        Returns a sentence that says so, or None where the message is about
        something else.
        """
        refuses = bool(_REFUSES.search(message))
        if not refuses and not _INVALID.search(message):
            return None
        named = self._named(message, parameter, sent)
        if named is None or not (refuses or named in _FORM):
            return None
        if named.startswith("max_"):
            self.limit = "max_completion_tokens" if self.limit == "max_tokens" else "none"
            if self.limit == "none":
                return "The server takes no limit on the length of its reply; asked again without."
            return f"The server does not take {named}; asked again with {self.limit}."
        self.given_up.add(named)
        return _SENTENCES[named]

    def _named(self, message: str, parameter: str, sent: dict[str, Any]) -> str | None:
        usable = [name for name in _WORDS if name in sent]
        if sent.get("tool_choice") != "required" and "tool_choice" in usable:
            usable.remove("tool_choice")
        if parameter.partition(".")[0] in usable:
            return parameter.partition(".")[0]
        lowered = message.lower()
        places = {
            name: min(lowered.find(word) for word in words if word in lowered)
            for name, words in _WORDS.items()
            if name in usable and any(word in lowered for word in words)
        }
        return min(places, key=places.__getitem__) if places else None


def _message(message: Message, *, images: bool) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    shaped: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.images and images:
        parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
        for image in message.images:
            data = base64.b64encode(image.data).decode("ascii")
            parts.append({"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{data}"}})
        shaped["content"] = parts
    if message.tool_calls:
        shaped["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(message.tool_calls, start=1)
        ]
        shaped["content"] = message.text or None
    return shaped


class _BuildingCall:
    def __init__(self, index: object, id: str, name: str) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.arguments: list[str] = []


class Assembly:
    """Puts an answer together from chunks, or takes it whole.

    Reads chunks as objects or as plain JSON, and passes over what is not of
    the expected shape: servers differ in what they leave out.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._calls: list[_BuildingCall] = []
        self._usage: Usage | None = None
        self.model = ""
        self.finish_reason = ""

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def begun(self) -> bool:
        """Whether anything of the answer has come."""
        return bool(self._texts or self._calls)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(
                id=call.id or f"call_{number}", name=call.name, arguments="".join(call.arguments) or "{}"
            )
            for number, call in enumerate(self._calls, start=1)
        )

    def add(self, chunk: object) -> str:
        """Take in one chunk, or a whole answer, and return the text that it adds."""
        model = _get(chunk, "model")
        if isinstance(model, str) and model:
            self.model = model
        self._add_usage(_get(chunk, "usage"))
        choices = _get(chunk, "choices")
        if not isinstance(choices, list) or not choices:
            return ""
        choice = choices[0]
        finish = _get(choice, "finish_reason")
        if isinstance(finish, str):
            self.finish_reason = finish
        said = _get(choice, "delta") or _get(choice, "message")
        text = _get(said, "content") or _get(said, "refusal")
        added = text if isinstance(text, str) else ""
        if added:
            self._texts.append(added)
        calls = _get(said, "tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._add_call(call)
        return added

    def usage(self, sent: dict[str, Any]) -> Usage:
        """Return the server's count of tokens, or an estimate marked so."""
        if self._usage is not None:
            return self._usage
        completion = count_tokens(self.text) + sum(
            count_tokens(call.name) + count_tokens("".join(call.arguments)) for call in self._calls
        )
        return Usage(prompt_tokens=estimate_prompt(sent), completion_tokens=completion, estimated=True)

    def _add_usage(self, usage: object) -> None:
        prompt = _get(usage, "prompt_tokens")
        completion = _get(usage, "completion_tokens")
        if not isinstance(prompt, int):
            return
        cached = _get(_get(usage, "prompt_tokens_details"), "cached_tokens")
        self._usage = Usage(
            prompt_tokens=prompt,
            completion_tokens=completion if isinstance(completion, int) else 0,
            cached_tokens=cached if isinstance(cached, int) else 0,
        )

    def _add_call(self, delta: object) -> None:
        index = _get(delta, "index")
        id = _get(delta, "id")
        function = _get(delta, "function")
        name = _get(function, "name")
        arguments = _get(function, "arguments")
        id = id if isinstance(id, str) else ""
        name = name if isinstance(name, str) else ""
        call = self._call_for(index, id, name)
        call.id = call.id or id
        call.name = call.name or name
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        elif isinstance(arguments, dict):
            call.arguments.append(json.dumps(arguments, ensure_ascii=False))

    def _call_for(self, index: object, id: str, name: str) -> _BuildingCall:
        for call in self._calls:
            if id and call.id == id:
                return call
        same = [call for call in self._calls if index is not None and call.index == index]
        # Some servers give every call the index 0, or none at all, and tell calls apart by id and name.
        if same and not (id and same[-1].id and name):
            return same[-1]
        if index is None and self._calls and not name:
            return self._calls[-1]
        new = _BuildingCall(index, id, name)
        self._calls.append(new)
        return new


def estimate_prompt(sent: dict[str, Any]) -> int:
    """Return about how many tokens the arguments of a call make as a prompt."""
    total = TOKENS_PER_REPLY
    for message in sent["messages"]:
        total += TOKENS_PER_MESSAGE + 1
        content = message.get("content")
        for part in content if isinstance(content, list) else [{"text": content or ""}]:
            total += TOKENS_PER_IMAGE if "image_url" in part else count_tokens(part["text"])
        for call in message.get("tool_calls", ()):
            total += count_tokens(json.dumps(call["function"], ensure_ascii=False))
    if tools := sent.get("tools"):
        total += count_tokens(json.dumps(tools, ensure_ascii=False))
    return total


def _get(thing: object, name: str) -> Any:
    if isinstance(thing, dict):
        return thing.get(name)
    return getattr(thing, name, None)
