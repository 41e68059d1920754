"""Calls of the LLM: each request and reply is stored in the trace, counted, streamed and cancellable."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from core.agent.presets import Preset
from core.agent.state import Overlap, RunState
from core.llm.costs import estimate_usage
from core.llm.errors import mistake
from core.llm.repair import ReplyFormat
from core.schema.errors import BackstepError, UsageError
from core.schema.messages import LLMReply, LLMRequest, Message, Purpose, Retry
from core.schema.record import Record
from core.schema.step import CallRecord
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.store import TraceStore

_TELL_EVERY = 0.03
"""Seconds between two updates of a reply; each contains the whole text so far."""


class Answerer(Protocol):
    """Something that answers prompts for a run: any `LLM`, or one that passes purposes on to others."""

    @property
    def name(self) -> str: ...

    @property
    def takes_images(self) -> bool: ...

    async def reply(
        self,
        request: LLMRequest,
        *,
        on_text: Callable[[str], None] | None = None,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> LLMReply: ...


def answerer_of(llm: Answerer, purpose: Purpose) -> Answerer:
    """Return who answers a purpose, where `llm` sends purposes to others."""
    route: Callable[[Purpose], Answerer] | None = getattr(llm, "llm_for", None)
    return llm if route is None else route(purpose)


class Asked(Record):
    """A call in progress or ended, as observers see it."""

    record: CallRecord
    text: str = ""
    """What the LLM has said so far, in this attempt."""
    attempt: int = 1
    why_again: str = ""
    """Why the attempt before this one failed, or what the call has waited for."""
    retry: Retry | None = None
    """Set when an attempt has just failed, or the call begins to wait."""
    ended: bool = False


class HeldCall:
    """A held call that was not sent yet: its messages can still be rewritten."""

    def __init__(self, store: TraceStore, run: int, record: CallRecord, request: LLMRequest) -> None:
        """`record` lacks the messages until `rewrite` has stored them."""
        self._store = store
        self._run = run
        self.record = record
        self.request = request
        self._before: list[LLMRequest] = []
        self._undone: list[LLMRequest] = []
        self._keep()

    @property
    def rewritten(self) -> int:
        """How often its messages were rewritten; 0 if they are sent as the agent asked with them."""
        return len(self._before)

    @property
    def undone(self) -> int:
        """How often `put_again` can be called."""
        return len(self._undone)

    def rewrite(self, messages: tuple[Message, ...]) -> None:
        """Send these messages instead, and store them as those of the call; raises TraceError."""
        self._before.append(self.request)
        self._undone.clear()
        # Where exemplars and policy stand in other messages is not known.
        self.request = self.request.replace(messages=messages, parts=())
        self._keep()

    def take_back(self) -> None:
        """Send the messages as they were before they were last rewritten; raises TraceError."""
        self._undone.append(self.request)
        self.request = self._before.pop()
        self._keep()

    def put_again(self) -> None:
        """Send the messages that were taken back last; raises TraceError."""
        self._before.append(self.request)
        self.request = self._undone.pop()
        self._keep()

    def _keep(self) -> None:
        prompt = encode_prompt(self.request, self._store.secrets.data)
        self.record = self.record.replace(messages=prompt.hash)
        self._store.calls.save(self._run, self.record, blobs=prompt.blobs)


class HeldReply:
    """A held reply that was not read yet: it can still be rewritten."""

    def __init__(
        self, store: TraceStore, run: int, record: CallRecord, reply: LLMReply, *, gone: bool = False
    ) -> None:
        """`gone`: the caller already has it, piece by piece as it arrived."""
        self._store = store
        self._run = run
        self._gone = gone
        self.record = record
        self.reply = reply
        self._before: list[LLMReply] = []
        self._undone: list[LLMReply] = []

    @property
    def rewritten(self) -> int:
        """How often it was rewritten; 0 if it is the reply that came."""
        return len(self._before)

    @property
    def undone(self) -> int:
        """How often `put_again` can be called."""
        return len(self._undone)

    def rewrite(self, reply: LLMReply) -> None:
        """Put this reply in place of the one there is, and store it as that of the call.

        Raises UsageError if it is read already, and TraceError.
        """
        if self._gone:
            raise UsageError("The agent already has this reply: it was passed on before a stop was set.")
        self._before.append(self.reply)
        self._undone.clear()
        self._keep(reply)

    def take_back(self) -> None:
        """Put the reply back that was last rewritten; raises TraceError."""
        self._undone.append(self.reply)
        self._keep(self._before.pop())

    def put_again(self) -> None:
        """Put the reply there that was taken back last; raises TraceError."""
        self._before.append(self.reply)
        self._keep(self._undone.pop())

    def _keep(self, reply: LLMReply) -> None:
        kept, blob = encode_reply(reply, self._store.secrets.data)
        self.reply, self.record = reply, self.record.replace(reply=kept)
        self._store.calls.save(self._run, self.record, blobs=(blob,))


Hold = Callable[[HeldCall | HeldReply], Awaitable[None]]
"""Awaited with each call before it is made, and with its reply when that has arrived; a debugger stops there."""

Failed = Callable[[CallRecord], object]
"""Called with each call that is stored without a reply, cancelled ones among them."""


async def _no_hold(held: HeldCall | HeldReply) -> None:
    return


_why: WeakKeyDictionary[asyncio.Task[Any], str] = WeakKeyDictionary()
"""Why tasks were cancelled: the message of `Task.cancel` is lost where a client's own task group takes it."""


def cancel_call(task: asyncio.Task[Any], why: str) -> None:
    """Cancel a task that asks an LLM; its call is stored with `why`."""
    _why[task] = why
    task.cancel()


def why_cancelled(otherwise: str) -> str:
    """Return why the current task is being cancelled, if that was said."""
    task = asyncio.current_task()
    return otherwise if task is None else _why.get(task, otherwise)


async def together(*questions: Awaitable[Any]) -> list[Any]:
    """Return the results of several concurrent questions; if one fails, the others are cancelled."""
    tasks = [asyncio.ensure_future(question) for question in questions]
    try:
        # Unlike `await task` it leaves the tasks alone when it is cancelled: they are told why below.
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        return [task.result() for task in (done if pending else tasks)]
    except BaseException:
        why = why_cancelled("cancelled")
        for task in tasks:
            cancel_call(task, why)
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


class Asker:
    """Sends requests to the LLM and stores the calls."""

    def __init__(self, store: TraceStore, llm: Answerer, listener: Callable[[Asked], None]) -> None:
        self._store = store
        self.llm = llm
        self._open: dict[int, CallRecord] = {}
        self._out = Overlap()
        self._early: list[tuple[LLMRequest, asyncio.Task[tuple[LLMReply, int]]]] = []
        """Calls that were made before they were needed."""
        self._rewritten: dict[int, LLMRequest] = {}
        """What was sent with other messages than it was asked with, by the number of the call."""
        self._listener = listener
        self.hold: Hold = _no_hold
        self.failed: Failed = lambda call: None
        self.may_hold_replies: Callable[[], bool] = lambda: False
        """Whether a reply may be held: then nobody is to be given any of it before."""

    @property
    def asking(self) -> CallRecord | None:
        """The call that is out; of several the one that was made last."""
        return next(reversed(self._open.values()), None)

    async def ask(
        self, state: RunState, request: LLMRequest, *, by: Answerer | None = None
    ) -> tuple[LLMReply, int]:
        """Return the reply and the number of its call; an equal one that was made early answers for it.

        `by` answers instead of the LLM. Raises LLMError. A cancelled call is
        stored with the time it took, as cancelled or with what `cancel_call`
        was given. The budget of calls is the caller's to look at.
        """
        if by is not None:
            return await self._ask(state, request, state.number, by)
        early = next((task for asked, task in self._early if asked == request), None)
        if early is None:
            return await self._ask(state, request, state.number)
        self._early = [one for one in self._early if one[1] is not early]
        reply: tuple[LLMReply, int] = (await together(early))[0]
        return reply

    def sent(self, request: LLMRequest, number: int) -> LLMRequest:
        """Return a request as its call was sent: with the messages that a person has rewritten."""
        return self._rewritten.get(number, request)

    def ask_early(self, state: RunState, request: LLMRequest, *, step: int) -> None:
        """Make a call that a later step will need."""
        self._early.append((request, asyncio.ensure_future(self._ask(state, request, step))))

    def withdraw_early(self, why: str, *, but: LLMRequest | None = None) -> None:
        """Cancel the calls that were made early and are not needed after all."""
        withdrawn = [task for asked, task in self._early if but is None or asked != but]
        self._early = [one for one in self._early if one[1] not in withdrawn]
        for task in withdrawn:
            # How it ends is of no interest any more.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            cancel_call(task, why)

    async def _ask(
        self, state: RunState, request: LLMRequest, step: int, by: Answerer | None = None
    ) -> tuple[LLMReply, int]:
        state.totals.llm_calls += 1
        record = CallRecord(
            number=state.totals.llm_calls,
            step=step,
            purpose=request.purpose,
            llm=(by or self.answerer(request.purpose)).name,
            messages="",
            started=time.time(),
        )
        held = HeldCall(self._store, state.run, record, request)
        self._listener(Asked(record=held.record))
        await self._held(state, held)
        request, record = held.request, held.record.replace(started=time.time())
        if held.rewritten:
            self._rewritten[record.number] = request
        began = time.perf_counter()
        said: list[str] = []
        said_in_vain: list[str] = []
        retries: list[Retry] = []
        held_until = 0.0
        due: asyncio.TimerHandle | None = None

        def on_text(piece: str) -> None:
            nonlocal due
            said.append(piece)
            if due is None:
                due = asyncio.get_running_loop().call_later(_TELL_EVERY, tell)

        def tell() -> None:
            nonlocal due
            due = None
            said[:] = ["".join(said)]
            self._listener(so_far())

        def so_far() -> Asked:
            why = retries[-1].reason if retries else ""
            attempt = 1 + sum(retry.attempt for retry in retries)
            return Asked(record=record, text="".join(said), attempt=attempt, why_again=why)

        def on_retry(retry: Retry) -> None:
            nonlocal held_until
            retries.append(retry)
            if not retry.attempt:
                held_until = math.inf if retry.held else time.perf_counter() + retry.waited
            said_in_vain.extend(said)
            said.clear()
            self._listener(so_far().replace(retry=retry))

        self._open[record.number] = record
        try:
            with state.in_calls.span(), self._out.span():
                reply = await (by or self.llm).reply(request, on_text=on_text, on_retry=on_retry)
        except (Exception, asyncio.CancelledError) as error:
            seconds = time.perf_counter() - began
            why = str(error) if isinstance(error, BackstepError) else mistake(error)
            failed = record.replace(seconds=seconds, retries=tuple(retries), error=why)
            if isinstance(error, asyncio.CancelledError):
                failed = failed.replace(error=why_cancelled("cancelled"))
                words = "".join((*said_in_vain, *said))
                if words or time.perf_counter() >= held_until or any(one.attempt for one in retries):
                    # The server has worked on it all the same.
                    used = estimate_usage(request.messages, words)
                    failed = failed.replace(usage=used)
                    state.totals.prompt_tokens += used.prompt_tokens
                    state.totals.completion_tokens += used.completion_tokens
            self._store.calls.save(state.run, failed)
            self.failed(failed)
            self._listener(Asked(record=failed, text="".join(said), ended=True))
            raise
        finally:
            if due is not None:
                due.cancel()
            del self._open[record.number]
            state.totals.seconds_in_llm += self._out.take()
        self._store.secrets.add_keys(getattr(by or self.answerer(request.purpose), "hidden", ()))
        state.totals.prompt_tokens += reply.usage.prompt_tokens
        state.totals.completion_tokens += reply.usage.completion_tokens
        if reply.cost is not None:
            state.totals.cost = (state.totals.cost or 0.0) + reply.cost
        kept, blob = encode_reply(reply, self._store.secrets.data)
        done = record.replace(
            model=reply.model,
            reply=kept,
            usage=reply.usage,
            cost=reply.cost,
            seconds=reply.seconds,
            retries=reply.retries,
        )
        self._store.calls.save(state.run, done, blobs=(blob,))
        self._listener(Asked(record=done, text=reply.text, ended=True))
        gone: bool = getattr(by, "passed_on", False)
        read = HeldReply(self._store, state.run, done, reply, gone=gone)
        await self._held(state, read)
        return read.reply, record.number

    async def _held(self, state: RunState, held: HeldCall | HeldReply) -> None:
        """Let a debugger stop here."""
        call = held.record
        self._open[call.number] = call
        try:
            await self.hold(held)
        except asyncio.CancelledError:
            if isinstance(held, HeldCall):
                failed = held.record.replace(error=why_cancelled("cancelled before it was made"))
                self._store.calls.save(state.run, failed)
                self.failed(failed)
            raise
        finally:
            del self._open[call.number]

    def takes_images(self, purpose: Purpose) -> bool:
        """Return whether whoever answers this purpose takes pictures."""
        return self.answerer(purpose).takes_images

    def settled(self, preset: Preset) -> Preset:
        """Return the preset with the form of replies that the LLM answers best where the file leaves it open."""
        answerer = self.answerer("function" if preset.calls == 2 else "decide")
        best: ReplyFormat = getattr(answerer, "reply_format", "tools")
        return preset.answered_in(best, by_schema=getattr(answerer, "follows_schema", False) is True)

    def other_format(self) -> ReplyFormat | None:
        """Return the form of replies that a server can enforce; None where the LLM is known not to do so."""
        return "json" if getattr(self.answerer("decide"), "follows_schema", False) is not False else None

    def at_once(self, purpose: Purpose) -> bool:
        """Return whether whoever answers this purpose may be asked something else meanwhile; a person may not."""
        return self.answerer(purpose).name != "person"

    def answerer(self, purpose: Purpose) -> Answerer:
        """Return who answers this purpose, where the LLM sends purposes to others."""
        return answerer_of(self.llm, purpose)
