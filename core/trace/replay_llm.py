"""The LLM that repeats the replies of a stored run: no network, no cost.

A request gets the reply of the recorded call with the same purpose and prompt, in the order of the calls. The
comparison ignores ports of 127.0.0.1, because bundled sites get a new one each time, and also sampling,
pictures, and times, ids and temporary paths of attached agents.
"""

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from core.llm.registry import PREFIX
from core.llm.repair import ReplyFormat
from core.schema.errors import LLMError, UsageError
from core.schema.messages import LLM, LLMReply, LLMRequest, Retry
from core.schema.step import CallRecord
from core.trace.calls import stored_prompt, stored_reply
from core.trace.prompt_words import LOOPBACK, difference, lasting, plain, words_of
from core.trace.store import TraceStore


def read_name(name: str) -> tuple[int, str]:
    """Return the run of ``replay:RUN`` or ``replay:RUN:LLM``, and the LLM that goes on where prompts differ.

    Raises UsageError for another text.
    """
    number, _, live = name.removeprefix(PREFIX).partition(":")
    if not number.isdecimal():
        raise UsageError(
            f'"{name}" is not a run: write replay:12 to repeat run 12, or replay:12:rules to continue with '
            "the LLM rules when a prompt differs."
        )
    return int(number), live


class ReplayLLM:
    """Repeats one run; create a new one for each run that it answers."""

    takes_images = False

    def __init__(self, name: str, database: Path, find: Callable[[str], LLM]) -> None:
        """`find` returns the LLM that goes on.

        Raises UsageError for a name that names none, and TraceError where
        there is no such run.
        """
        self.name = name
        self._run, live = read_name(name)
        self._live = find(live) if live else None
        self._database = database
        with closing(TraceStore.open(database, read_only=True)) as store:
            self._calls = list(store.calls.of(self._run))
            self.reply_format = self._recorded_form(store)
        self._gone_live = False
        self._finding = asyncio.Lock()
        """Equal prompts that are asked at once get their replies in the order of the calls."""

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply:
        """Return the recorded reply, or that of the LLM that goes on.

        Raises LLMError with the difference of the prompts if there is none,
        and TraceError where the run cannot be read.
        """
        if self._gone_live and self._live is not None:
            return await self._live.reply(request, on_text=on_text, on_retry=on_retry)
        async with self._finding:
            found, difference = await asyncio.to_thread(self._find, request)
        if found is not None:
            if on_text is not None and found.text:
                on_text(found.text)
            return found
        if self._live is None:
            raise LLMError(difference)
        self._gone_live = True
        return await self._live.reply(request, on_text=on_text, on_retry=on_retry)

    async def close(self) -> None:
        """Nothing to release: the LLM that goes on belongs to the registry."""

    def _recorded_form(self, store: TraceStore) -> ReplyFormat:
        """Return the form in which the run's actions were asked for."""
        deciding = next((call for call in self._calls if call.purpose in ("decide", "function")), None)
        if deciding is None:
            return "tools"
        prompt = stored_prompt(store, deciding)
        return "tools" if prompt.tools else "json" if prompt.reply_schema is not None else "lines"

    def _find(self, request: LLMRequest) -> tuple[LLMReply | None, str]:
        with closing(TraceStore.open(self._database, read_only=True)) as store:
            return self._find_in(store, request)

    def _find_in(self, store: TraceStore, request: LLMRequest) -> tuple[LLMReply | None, str]:
        asked = words_of(request.messages, request.tools)
        first = ""
        for position, call in enumerate(self._calls):
            if call.purpose != request.purpose:
                continue
            prompt = stored_prompt(store, call)
            recorded = words_of(prompt.messages, prompt.tools)
            same = lasting if request.purpose == "agent" else plain
            if same(recorded) != same(asked):
                first = first or self._difference(call, recorded, asked)
                continue
            reply = stored_reply(store, call)
            if reply is None:
                continue  # It was cancelled, or failed.
            # What came before was not asked for again: it is not due any more.
            del self._calls[: position + 1]
            return _moved(reply, recorded, asked), ""
        return None, first or (
            f"Run {self._run} ended here ({store.run(self._run).outcome}): it has no further call for "
            f"{request.purpose} to repeat. To continue with an LLM, use {PREFIX}{self._run}:NAME."
        )

    def _difference(self, call: CallRecord, recorded: str, asked: str) -> str:
        return (
            f"The prompt for {call.purpose} differs from call {call.number} of run {self._run} "
            f"(to continue with an LLM, use {PREFIX}{self._run}:NAME):\n{difference(recorded, asked)}"
        )


def _moved(reply: LLMReply, recorded: str, asked: str) -> LLMReply:
    """Return the reply as said now: it cost nothing, and names the port that the site has by now."""
    then, now = LOOPBACK.findall(recorded), LOOPBACK.findall(asked)
    text = reply.model_dump_json()
    for old, new in zip(then, now, strict=False):
        text = text.replace(old, new)
    found = LLMReply.model_validate_json(text)
    return found.replace(seconds=0.0, cost=0.0, retries=())
