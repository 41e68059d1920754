"""Converts requests to chat completions, and assembles the answers.

`Dialect` remembers what a server does not accept: it starts with all of OpenAI's format and drops one part at
a time when the server refuses it.
"""

import base64
import json
import re
from typing import Any

from core.llm.costs import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, TOKENS_PER_REPLY, count_tokens
from core.llm.errors import LLMFailure, clean
from core.llm.honoured import SCHEMA_LEVELS, Honoured, Part, SchemaLevel
from core.llm.json_schema import count_values, fits_json, strict
from core.llm.replies import CUT, MOST_ACTIONS, load_json, plain, split_thinking
from core.schema.messages import LLMRequest, Message, Sampling, ToolCall, Usage

DEFAULT_MAX_TOKENS = 4096
"""What a reply may be long if nothing says: a model that goes round in a loop ends there."""
REASONING_MAX_TOKENS = 16_384
"""The same for a model that reasons first."""
LONGEST_TEXT = 200_000
"""Characters of a reply's text, and of what it reasoned, that are taken."""
LONGEST_ARGUMENTS = 100_000
"""Characters of the arguments of all its tool calls together."""
_LONGEST_NAME = 200
_MOST_TOKENS = 1_000_000_000
"""No call takes more; a server that counts more cannot count."""

_REFUSES = re.compile(
    r"unsupported|(?:not|n't).support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not available"
    r"|not implemented|not enabled|extra_forbidden|extra (?:fields|inputs)|additional propert|input should be"
    r"|no endpoints found|literal_error|deprecated|only .{0,60}(?:allowed|supported)|at most 0 image"
    r"|not a (?:multi-?modal|vision)",
    re.IGNORECASE,
)
_INVALID = re.compile(r"invalid|must be|only", re.IGNORECASE)
_FORM = frozenset({"stream_options", "tool_choice"})
"""Parts whose value is ours alone; called invalid, they are not taken. A temperature may just be too high."""
_WORDS: dict[Part, tuple[str, ...]] = {
    "stream_options": ("stream_options", "include_usage"),
    "tool_choice": ("tool_choice",),
    "response_format": ("response_format", "json_schema", "json_object", "schema", "grammar"),
    "max_completion_tokens": ("max_completion_tokens",),
    "max_tokens": ("max_tokens",),
    "seed": ("seed",),
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "reasoning_effort": ("reasoning_effort", "reasoning.effort"),
    "parallel_tool_calls": ("parallel_tool_calls",),
    "images": ("image", "mmproj", "multimodal", "multi-modal", "vision"),
}
_SENTENCES: dict[Part, str] = {
    "stream_options": "The server does not accept stream_options; asked again without it, and tokens are estimated.",
    "tool_choice": "The server cannot be forced to call a tool; asked again with tool_choice auto.",
    "seed": "The server does not accept a seed; asked again without it.",
    "temperature": "The server does not accept this temperature; asked again without it.",
    "top_p": "The server does not accept top_p; asked again without it.",
    "reasoning_effort": "The server does not accept this reasoning_effort; asked again without it.",
    "parallel_tool_calls": "The server does not accept parallel_tool_calls; asked again without it.",
    "images": "The server does not accept pictures; asked again without the picture.",
    "max_completion_tokens": "The server does not accept a limit on the length of its reply; asked again without it.",
}
_ASKED_WITH: dict[SchemaLevel, str] = {
    "strict": "a strict JSON schema",
    "schema": "a JSON schema that is not strict",
    "object with schema": "json_object with a schema",
    "object": "json_object without a schema",
    "none": "no response_format",
}
_STRICT_VALUES = 1000
"""Values of all enums that OpenAI takes in a strict schema."""


class Dialect:
    """The parts of OpenAI's format that a server accepts for one model; `honoured` is what is known of them."""

    def __init__(self, honoured: Honoured | None = None) -> None:
        self.honoured = honoured or Honoured()

    def arguments(
        self,
        request: LLMRequest,
        model: str,
        defaults: Sampling,
        *,
        images: bool,
        limited: bool = True,
    ) -> dict[str, Any]:
        """Return the arguments of ``chat.completions.create``; the request's own sampling goes first.

        Without `limited` there is no limit where none is set, or where one is set that is meant for what is said,
        while the model reasons first.
        """
        given_up = self.honoured.given_up
        shows = images and "images" not in given_up
        arguments: dict[str, Any] = {
            "model": model,
            "messages": [shaped_message(message, images=shows) for message in request.messages],
            "stream": True,
        }
        if "stream_options" not in given_up:
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
            forced = request.tool_choice == "required" and "tool_choice" in given_up
            arguments["tool_choice"] = "auto" if forced else request.tool_choice
        elif request.reply_schema is not None and (form := self._form(request.reply_schema)):
            arguments["response_format"] = form
        for name in ("temperature", "top_p", "seed", "reasoning_effort", "parallel_tool_calls"):
            value = _first(getattr(request.sampling, name), getattr(defaults, name))
            if value is None or name in given_up or (name == "parallel_tool_calls" and not request.tools):
                continue
            arguments[name] = value
        reasons = self.honoured.reasons or arguments.get("reasoning_effort", "none") != "none"
        limit = roomy_limit(request, defaults, reasons=reasons)
        if limit != own_limit(request, defaults) and (not limited or "default_limit" in given_up):
            limit = None
        name = "max_completion_tokens" if "max_tokens" in given_up else "max_tokens"
        if limit and name not in given_up:
            arguments[name] = limit
        return arguments

    def _form(self, schema: dict[str, Any]) -> dict[str, Any] | None:
        """Return the response_format that asks for a reply of this schema, or None if none is taken."""
        level = self.honoured.schema_level
        if level == "strict" and count_values(schema) > _STRICT_VALUES:
            level = "schema"
        if level == "none":
            return None
        if level == "strict":
            named = {"name": "reply", "strict": True, "schema": strict(schema)}
            return {"type": "json_schema", "json_schema": named}
        if level == "schema":
            return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        return {"type": "json_object", **({"schema": schema} if level == "object with schema" else {})}

    def give_up(
        self, failure: LLMFailure, request: LLMRequest, defaults: Sampling, sent: dict[str, Any]
    ) -> str | None:
        """Give up the part of `sent` that the server's words refuse, for good.

        Returns a sentence that says so, or None if the failure is about
        something else.
        """
        if failure.kind not in ("status", "stream"):
            return None
        message = failure.reason
        refuses = bool(_REFUSES.search(message))
        named = self._named(message, failure.parameter, sent)
        if named == "response_format":
            return self._step_down("The server does not accept", self._level_of(sent), "asked again")
        if named is None:
            return None
        if not (refuses or (named in _FORM and _INVALID.search(message))):
            limit = named in ("max_tokens", "max_completion_tokens")
            if limit and failure.status in (400, 422) and sent[named] != own_limit(request, defaults):
                self.honoured = self.honoured.without("default_limit")
                return f"The server does not accept {sent[named]} as {named}; asked again without a limit."
            return None
        self.honoured = self.honoured.without(named)
        if named == "max_tokens":
            return "The server does not accept max_tokens; asked again with max_completion_tokens."
        return _SENTENCES[named]

    def keeps(self, answer: "Assembly", sent: dict[str, Any]) -> bool | None:
        """Return whether an answer keeps to its response_format.

        None if that says nothing of the server: no such form was asked for, it is asked for otherwise by now, or
        the answer is empty, refused, filtered or cut.
        """
        if "response_format" not in sent or answer.finish_reason != "stop" or answer.refused:
            return None
        text = split_thinking(answer.text)[1]
        levels = (self.honoured.schema_level, self._level_of(sent))
        if not text.strip() or SCHEMA_LEVELS.index(levels[1]) < SCHEMA_LEVELS.index(levels[0]):
            return None
        form = sent["response_format"]
        return fits_json(text, form.get("json_schema", form).get("schema", {"type": "object"}))

    def not_kept(self, sent: dict[str, Any], *, step_down: bool) -> str:
        """Return a sentence on an answer that does not keep to its response_format, and step down where so told."""
        level = self._level_of(sent)
        if step_down:
            return self._step_down("The reply does not follow", level, "from now on, the server is asked")
        return f"The reply does not follow {_ASKED_WITH[level]}."

    @staticmethod
    def _level_of(sent: dict[str, Any]) -> SchemaLevel:
        form = sent["response_format"]
        if form["type"] == "json_object":
            return "object with schema" if "schema" in form else "object"
        return "strict" if form["json_schema"].get("strict") else "schema"

    def _step_down(self, why: str, level: SchemaLevel, then: str) -> str:
        """Ask in a less exact way than that of `level`; another call may have come to it, or further, meanwhile."""
        lower = SCHEMA_LEVELS[SCHEMA_LEVELS.index(level) + 1]
        now = max(lower, self.honoured.schema_level, key=SCHEMA_LEVELS.index)
        self.honoured = self.honoured.replace(schema_level=now)
        return f"{why} {_ASKED_WITH[level]}; {then} with {_ASKED_WITH[now]}."

    @staticmethod
    def _named(message: str, parameter: str, sent: dict[str, Any]) -> Part | None:
        usable = [name for name in _WORDS if name in sent]
        if sent.get("tool_choice") != "required" and "tool_choice" in usable:
            usable.remove("tool_choice")
        if any(isinstance(one.get("content"), list) for one in sent["messages"]):
            usable.append("images")
        for name in usable:
            if parameter.partition(".")[0] == name:
                return name
        lowered = message.lower()
        places: dict[Part, int] = {
            name: min(lowered.find(word) for word in _WORDS[name] if word in lowered)
            for name in usable
            if any(word in lowered for word in _WORDS[name])
        }
        if not places:
            return None
        first: Part = min(places, key=lambda part: places[part])
        return first


def sent_limit(sent: dict[str, Any]) -> int | None:
    """Return how many tokens a reply may have by the arguments of a call, or None if they set no limit."""
    limit: int | None = sent.get("max_tokens", sent.get("max_completion_tokens"))
    return limit


def own_limit(request: LLMRequest, defaults: Sampling) -> int | None:
    """Return the limit that the request or the LLM's settings set; 0 is none, None says nothing."""
    limit: int | None = _first(request.sampling.max_tokens, defaults.max_tokens)
    return limit


def roomy_limit(request: LLMRequest, defaults: Sampling, *, reasons: bool) -> int | None:
    """Return the limit of a reply with room for reasoning: the default, or what is set; 0 is none.

    What an agent's prompt sets is meant for what is said. What the user has set for the LLM holds for all of a
    reply, and so does the limit of a question without a view.
    """
    limit = own_limit(request, defaults)
    if limit is None:
        return REASONING_MAX_TOKENS if reasons else DEFAULT_MAX_TOKENS
    if reasons and limit and request.view is not None and request.sampling.max_tokens:
        longer = limit + REASONING_MAX_TOKENS
        return max(limit, min(longer, defaults.max_tokens or longer))
    return limit


def _first(own: Any, default: Any) -> Any:
    return default if own is None else own


def shaped_message(message: Message, *, images: bool) -> dict[str, Any]:
    """Return a message in the form of chat completions, with its pictures where `images` are wanted."""
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

    @property
    def is_whole(self) -> bool:
        """Whether its arguments are a complete JSON object already."""
        if not self.arguments or not self.arguments[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(load_json("".join(self.arguments)), dict)
        except ValueError:
            return False


class Assembly:
    """Assembles an answer from chunks, or reads it whole.

    Passes over what is not of the expected shape: servers differ in what they
    leave out. Of an answer that is too long the beginning is kept, and `cut`
    says what was left out.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._reasoning: list[str] = []
        self.reasoning_tokens = 0
        self._calls: list[_BuildingCall] = []
        self._left = {"text": LONGEST_TEXT, "reasoning": LONGEST_TEXT, "arguments": LONGEST_ARGUMENTS}
        """Characters that are still taken of each."""
        self._usage: Usage | None = None
        self.model = ""
        self.finish_reason = ""
        self.refused = False
        """Whether the server marks what was said as a refusal."""
        self.unread = ""
        """Why the server could not read what its model wrote, where it broke off over that."""
        self.cut = ""
        """What of the answer was left out, as a sentence."""

    @property
    def text(self) -> str:
        return plain("".join(self._texts))

    @property
    def reasoning(self) -> str:
        """What the model thought, where the server tells it apart from the text."""
        return plain("".join(self._reasoning))

    @property
    def begun(self) -> bool:
        """Whether anything of the answer has come."""
        return bool(self._texts or self._calls or self._reasoning)

    @property
    def said_anything(self) -> bool:
        """Whether anything besides reasoning has come."""
        return bool(self._texts or self._calls)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        ids = [call.id for call in self._calls]
        return tuple(
            ToolCall(
                id=plain(call.id) if call.id and ids.index(call.id) == place else f"call_{place + 1}",
                name=plain(call.name),
                arguments=plain("".join(call.arguments)) or "{}",
            )
            for place, call in enumerate(self._calls)
        )

    def add(self, chunk: object) -> str:
        """Take in one chunk, or a whole answer, as plain JSON, and return the text that it adds."""
        model = _get(chunk, "model")
        if isinstance(model, str) and model:
            self.model = clean(model, length=_LONGEST_NAME)
        self._add_usage(_get(chunk, "usage"))
        choices = _get(chunk, "choices")
        if not isinstance(choices, list) or not choices:
            return ""
        choice = choices[0]
        finish = _get(choice, "finish_reason")
        if isinstance(finish, str):
            self.finish_reason = clean(finish, length=_LONGEST_NAME)
        said = _get(choice, "delta") or _get(choice, "message")
        refusal = _get(said, "refusal")
        self.refused = self.refused or bool(refusal)
        content = _get(said, "content")
        text = _words_of(content, "text") or refusal
        added = self._take("text", text) if isinstance(text, str) else ""
        if added:
            self._texts.append(added)
        # DeepSeek, llama.cpp, vLLM and LiteLLM have the first name; OpenRouter and newer vLLM the second.
        reasoning = (
            _get(said, "reasoning_content") or _get(said, "reasoning") or _words_of(content, "thinking")
        )
        if isinstance(reasoning, str):
            self._reasoning.append(self._take("reasoning", reasoning))
        calls = _get(said, "tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._add_call(call, is_whole=not _get(choice, "delta"))
        if self.cut:
            self.finish_reason = CUT
        return plain(added)

    def _take(self, what: str, text: str) -> str:
        """Return as much of a piece as is still taken."""
        left = self._left[what]
        self._left[what] = max(left - len(text), 0)
        if len(text) > left:
            most = LONGEST_ARGUMENTS if what == "arguments" else LONGEST_TEXT
            self.cut = f"The reply was cut: at most {most} characters of {what} are read."
        return text[:left]

    def usage(self, sent: dict[str, Any]) -> Usage:
        """Return the server's count of tokens, or an estimate marked so."""
        if self._usage is not None:
            return self._usage
        completion = (
            count_tokens(self.text)
            + count_tokens(self.reasoning)
            + sum(count_tokens(call.name) + count_tokens("".join(call.arguments)) for call in self._calls)
        )
        return Usage(prompt_tokens=estimate_prompt(sent), completion_tokens=completion, estimated=True)

    def _add_usage(self, usage: object) -> None:
        prompt = counted_tokens(usage, "prompt_tokens")
        if prompt is None:
            return
        cached = counted_tokens(_get(usage, "prompt_tokens_details"), "cached_tokens")
        if cached is None:
            cached = counted_tokens(usage, "prompt_cache_hit_tokens")  # DeepSeek's own name
        self.reasoning_tokens = (
            counted_tokens(_get(usage, "completion_tokens_details"), "reasoning_tokens") or 0
        )
        self._usage = Usage(
            prompt_tokens=prompt,
            completion_tokens=counted_tokens(usage, "completion_tokens") or 0,
            cached_tokens=cached or 0,
        )

    def _add_call(self, delta: object, *, is_whole: bool) -> None:
        index = _get(delta, "index")
        id = _get(delta, "id")
        function = _get(delta, "function")
        name = _get(function, "name")
        arguments = _get(function, "arguments")
        id = id[:_LONGEST_NAME] if isinstance(id, str) else ""
        name = name[:_LONGEST_NAME] if isinstance(name, str) else ""
        call = None if is_whole else self._call_of(index, id, name, arguments)
        if call is None and len(self._calls) < MOST_ACTIONS:
            call = _BuildingCall(index, id, name)
            self._calls.append(call)
        if call is None:
            self.cut = f"The reply was cut: at most {MOST_ACTIONS} tool calls are read."
            return
        call.id = call.id or id
        call.name = call.name or name
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str):
            call.arguments.append(self._take("arguments", arguments))

    def _call_of(self, index: object, id: str, name: str, arguments: object) -> _BuildingCall | None:
        """Return the call that a piece continues; None if it begins one.

        Servers differ: some give every call the same index or the same id, some neither, and some repeat id and
        name with every piece.
        """
        here = [call for call in self._calls if index is None or call.index == index]
        if not here:
            return None
        last = next((call for call in reversed(here) if id and call.id == id), here[-1])
        if not name or not last.name:
            return last
        is_other = name != last.name or (id and last.id and id != last.id) or (arguments and last.is_whole)
        return None if is_other else last


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
    return thing.get(name) if isinstance(thing, dict) else None


def _words_of(content: object, name: str) -> str:
    """Return a text, or what the parts of one have under `name`: Mistral's own server sends its thinking as a part."""
    if isinstance(content, list):
        return "".join(_words_of(_get(part, name), "text") for part in content)
    return content if isinstance(content, str) and name == "text" else ""


def counted_tokens(thing: object, name: str) -> int | None:
    """Return a count of tokens, or None if there is none that can be right."""
    count = _get(thing, name)
    fits = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS
    return count if fits else None
