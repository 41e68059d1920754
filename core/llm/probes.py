"""Tests what a server supports for one model: tools, schema, streaming, counting, pictures, cancelling.

The required form cannot be guessed from the prompt, so a reply in this form shows that the server enforced
it. A test takes a few hundred tokens, or a few thousand if a model does not stop.
"""

import asyncio
import contextlib
import io
import secrets
import time
from collections.abc import Callable
from typing import Any

from core.llm.honoured import SCHEMA_LEVELS, Honoured, SchemaLevel
from core.llm.json_schema import fits_json
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.replies import split_thinking
from core.schema.errors import LLMError
from core.schema.messages import Image, LLMReply, LLMRequest, Message, Sampling, Tool

_REPLY_TOKENS = 1024
"""A reasoning model has to think before it says a word."""
_TRIES = 2
"""Questions for a JSON reply at one level; what is odd once says little."""
_LONGEST = 90.0
"""Seconds that one question may take in all."""
_CANCEL_AFTER = 5.0
"""Seconds until a reply that has not begun is cancelled all the same."""
_COLOURS = {
    "red": (220, 20, 20),
    "green": (20, 160, 40),
    "blue": (30, 60, 220),
    "yellow": (250, 220, 20),
    "black": (0, 0, 0),
    "orange": (255, 140, 0),
}


class Prober:
    """Tests one LLM; its findings are stored with the LLM at once."""

    def __init__(self, llm: OpenAICompatibleLLM, on_progress: Callable[[str], None]) -> None:
        """`llm` sends pictures and tries each call once; `on_progress` gets what is asked for next."""
        self._llm = llm
        self._tell = on_progress
        self.tokens = 0
        """Spent so far."""
        self.cost: float | None = None

    async def probe(self) -> Honoured:
        """Return what the server honours; raises LLMError if it answers not even a plain question."""
        self._llm.use_honoured(Honoured())
        self._tell("a plain reply")
        pieces: list[str] = []
        plain = await self._ask("Count from one to twelve in words.", on_text=pieces.append)
        # A word or two may come in one piece from a server that streams.
        streams = len(pieces) > 1 if len(plain.text) >= 20 else None
        self._found(streams=streams, counts=not plain.usage.estimated)
        for what, work in (
            ("a reply by a JSON schema", self._schema),
            ("a tool call", self._tools),
            ("a picture", self._images),
            ("a reply that is cancelled", self._cancelling),
        ):
            self._tell(what)
            await work()
        self._found(tested=time.time())
        return self._llm.honoured

    def _found(self, **values: Any) -> None:
        self._llm.use_honoured(self._llm.honoured.replace(**values))

    async def _schema(self) -> None:
        """Walk down the levels until a reply keeps to what was asked for; an odd reply is asked for once more."""
        words = [secrets.token_hex(4), secrets.token_hex(4)]
        schema = {
            "type": "object",
            "properties": {"kind": {"type": "string", "enum": words}, "count": {"type": "integer"}},
            "required": ["kind", "count"],
            "additionalProperties": False,
        }

        async def kept(level: SchemaLevel) -> bool:
            try:
                reply = await self._ask(
                    "Describe a bowl of four apples as a JSON object.", reply_schema=schema
                )
            except LLMError:
                return False
            sent = {"type": "object"} if level == "object" else schema
            # A refusal steps down within the call: what was asked then was asked at another level.
            return self._llm.honoured.schema_level == level and fits_json(split_thinking(reply.text)[1], sent)

        while (level := self._llm.honoured.schema_level) != "none":
            for _ in range(_TRIES):
                if await kept(level):
                    return
                if self._llm.honoured.schema_level != level:
                    break
            else:
                self._found(schema_level=SCHEMA_LEVELS[SCHEMA_LEVELS.index(level) + 1])

    async def _tools(self) -> None:
        lamp = Tool(
            name="switch_lamp",
            description="Switches the lamp.",
            parameters={
                "type": "object",
                "properties": {"on": {"type": "boolean"}},
                "required": ["on"],
                "additionalProperties": False,
            },
        )

        async def called(text: str, **more: Any) -> bool:
            try:
                reply = await self._ask(text, tools=(lamp,), **more)
                return any(
                    call.name == lamp.name and fits_json(call.arguments, lamp.parameters)
                    for call in reply.tool_calls
                )
            except LLMError:
                return False

        if (
            await called("Say hello.", tool_choice="required")
            and "tool_choice" not in self._llm.honoured.given_up
        ):
            self._found(tools="forced")
        elif await called("Switch the lamp on: call the tool switch_lamp."):
            self._found(tools="offered")
        else:
            self._found(tools="no")

    async def _images(self) -> None:
        colour = secrets.choice(list(_COLOURS))
        image = Image(data=await asyncio.to_thread(_picture, colour), mime="image/png")
        try:
            reply = await self._ask("Which colour fills this picture? Answer with one word.", images=(image,))
        except LLMError:
            self._found(images="no")
            return
        refused = "images" in self._llm.honoured.given_up
        self._found(
            images="no" if refused else "seen" if colour in split_thinking(reply.text)[1].lower() else "taken"
        )

    async def _cancelling(self) -> None:
        begun = asyncio.Event()
        text = "Write the numbers from one to five hundred in words."
        long = asyncio.ensure_future(self._ask(text, on_text=lambda piece: begun.set(), max_tokens=4096))
        begins = asyncio.ensure_future(begun.wait())
        await asyncio.wait({long, begins}, timeout=_CANCEL_AFTER, return_when=asyncio.FIRST_COMPLETED)
        begins.cancel()
        ended = long.done()
        long.cancel()
        with contextlib.suppress(LLMError, asyncio.CancelledError):
            await long
        if ended:
            return  # It was over before it could be cancelled.
        began = time.perf_counter()
        with contextlib.suppress(LLMError):
            await self._ask("Say yes.", max_tokens=16)
        self._found(next_after_cancel=round(time.perf_counter() - began, 2))

    async def _ask(
        self,
        text: str,
        *,
        images: tuple[Image, ...] = (),
        max_tokens: int = _REPLY_TOKENS,
        on_text: Callable[[str], None] | None = None,
        **more: object,
    ) -> LLMReply:
        request = LLMRequest.model_validate(
            {
                "purpose": "judge",
                "messages": (Message(role="user", text=text, images=images),),
                "sampling": Sampling(max_tokens=max_tokens),
                **more,
            }
        )
        try:
            async with asyncio.timeout(_LONGEST):
                reply = await self._llm.reply(request, on_text=on_text)
        except TimeoutError:
            raise LLMError(f"{self._llm.server} did not end its reply within {_LONGEST:g} seconds.") from None
        self.tokens += reply.usage.prompt_tokens + reply.usage.completion_tokens
        if reply.cost is not None:
            self.cost = (self.cost or 0.0) + reply.cost
        return reply


def _picture(colour: str) -> bytes:
    from PIL import Image as Picture

    out = io.BytesIO()
    Picture.new("RGB", (64, 64), _COLOURS[colour]).save(out, "PNG")
    return out.getvalue()


_SCHEMAS = {
    "strict": "follows a strict JSON schema",
    "schema": "follows a JSON schema, but does not accept a strict one",
    "object with schema": "follows a schema sent with json_object",
    "object": "writes JSON when asked, but follows no schema",
    "none": "follows no JSON schema",
}
_TOOLS = {
    "forced": "calls a tool when forced to",
    "offered": "calls a tool when asked, but cannot be forced to",
    "no": "calls no tools",
}
_IMAGES = {
    "seen": "sees pictures",
    "taken": "accepts pictures, but did not see the right colour",
    "no": "does not accept pictures",
}
_SLOW = 5.0
"""Seconds after a cancelled call from which the next one waits noticeably."""


def in_words(found: Honoured) -> str:
    """Return what was found, as sentences for a person."""
    parts = [_TOOLS.get(found.tools, ""), _SCHEMAS[found.schema_level], _IMAGES.get(found.images, "")]
    if found.streams is not None:
        parts.append("streams" if found.streams else "sends the whole reply at once, not as a stream")
    if found.counts is not None:
        parts.append("counts tokens" if found.counts else "does not count tokens, so they are estimated")
    left_out = [part for part in found.given_up if part not in ("images", "tool_choice", "response_format")]
    if left_out:
        parts.append(f"does not accept {' and '.join(left_out)}")
    text = f"It {'; '.join(filter(None, parts))}."
    if found.next_after_cancel is not None:
        waits = (
            "stops when a call is cancelled"
            if found.next_after_cancel < _SLOW
            else "continues a cancelled call"
        )
        text += f" It {waits}: the next one was answered after {found.next_after_cancel:.1f} s."
    return f'{text} Presets with reply_format = "auto" ask it for {found.reply_format}.'
