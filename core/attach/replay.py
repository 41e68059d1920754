"""Goes back to a step of an attached agent: runs its program again and gives it the recorded answers.

As long as its questions are the recorded ones, they get the recorded answers, and its acts in the page are
carried out, up to the step.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from core.attach.attachment import Arrival, Attachment, HeldAct
from core.attach.gateway import AgentQuestion
from core.attach.heard import ToldAt
from core.attach.wire_formats import error_body
from core.browser.channel import PageGone
from core.browser.checkpoints.checkpoint import (
    Checkpoint,
    RestoreContext,
    RestoreError,
    RestoreOutcome,
    Strategy,
    WouldRepeat,
)
from core.schema.errors import ActionError, UsageError
from core.schema.messages import LLMReply
from core.schema.restore import Parted
from core.schema.step import Acted, CallRecord, Reviewed, record_of
from core.trace.calls import stored_prompt, stored_reply
from core.trace.prompt_words import lasting, plain, words_of
from core.trace.records import StepDetail
from core.trace.store import TraceStore

HARMLESS = "Nothing that is read of the page changed: this script is let through from now on."
"""Is in the message of the step of a script that only read."""
_SKIPPED = "The person who debugged this agent refused it."


class RecordedCall(NamedTuple):
    """A call of a stored step."""

    call: CallRecord
    words: str
    """What was asked; empty if a person had changed it, and anything is taken for it."""
    reply: LLMReply | None
    """None if it had failed."""

    def asks_the_same(self, words: str) -> bool:
        """Return whether a question in these words is this one, put again."""
        return not self.words or lasting(self.words) == lasting(words)


def recorded_calls(store: TraceStore, detail: StepDetail) -> list[RecordedCall]:
    """Return the calls of a step, in order."""
    edited = any(intervention.kind == "prompt" for intervention in detail.interventions)
    calls = []
    for call in detail.calls:
        prompt = stored_prompt(store, call)
        words = "" if edited else words_of(prompt.messages, prompt.tools)
        calls.append(RecordedCall(call, words, stored_reply(store, call)))
    return calls


class _RecordedStep(NamedTuple):
    number: int
    calls: list[RecordedCall]
    acted: Acted | None
    reviewed: Reviewed | None

    @property
    def has_act(self) -> bool:
        """Whether the agent did something in the page, or was about to."""
        return self.acted is not None and (self.acted.effect == "page action" or self.acted.outcome != "done")


class ProgramReplay(Strategy):
    """Runs the program again, up to a step of a recorded run."""

    name = "the agent's program, answered from the record"

    def __init__(
        self, store: TraceStore, run: int, attachment: Attachment, start: Callable[[], Awaitable[None]]
    ) -> None:
        """`start` starts the program; it is called once the task was started again."""
        self._store = store
        self._run = run
        self._attachment = attachment
        self._start = start
        self.told: list[ToldAt] = []
        """What the program has said of itself on the way, as it did before."""

    async def restore(self, checkpoint: Checkpoint, ground: RestoreContext) -> RestoreOutcome:
        """Lead the program back; raises RestoreError if it asks or does something else than it did.

        Raises UsageError if the program cannot be started or ends before the step: no run can continue then.
        """
        if reason := ground.repeats(checkpoint.inputs):
            raise WouldRepeat(reason)
        try:
            if not ground.fresh:
                await ground.reopen()
            await self._start()
        except (ActionError, PageGone) as error:
            raise UsageError(
                str(error) or "The page went away before the agent's program was started."
            ) from error
        for row in self._store.steps(self._run):
            if row.number >= checkpoint.step:
                break
            step = self._recorded(row.number)
            await self._answer(step)
            if step.has_act:
                await self._act(step, ground)
        await self._attachment.arrival()  # Now it stands where the step began.
        return RestoreOutcome()

    async def _arrival(self, step: int) -> Arrival:
        """Return what the agent asks or does next; what it has said by then belongs to `step`.

        Raises UsageError if it has ended.
        """
        arrival = await self._attachment.arrival()
        self.told += [ToldAt(step, one) for one in self._attachment.take_told()]
        if arrival is None:
            raise UsageError(f"The agent did not get past step {step}. {self._attachment.ended}")
        return arrival

    def _recorded(self, number: int) -> _RecordedStep:
        detail = self._store.step(self._run, number)
        calls = recorded_calls(self._store, detail)
        return _RecordedStep(
            number, calls, record_of(Acted, detail.records), record_of(Reviewed, detail.records)
        )

    async def _answer(self, step: _RecordedStep) -> None:
        """Answer the questions of a step; of several that were out at once each finds its own."""
        left = list(step.calls)
        while left:
            arrival = await self._arrival(step.number)
            if not isinstance(arrival, AgentQuestion):
                why = f"the agent did something ({arrival.act}); in the recorded run it asked its LLM."
                raise _parted(step, why)
            asked = words_of(arrival.request.messages, arrival.request.tools)
            same = next((one for one in left if one.asks_the_same(asked)), None)
            if same is None:
                why = f"the agent sends another request than in call {left[0].call.number}."
                raise _parted(step, why, recorded=plain(left[0].words), asked=plain(asked))
            left.remove(same)
            self._attachment.take(arrival)
            if same.reply is None:
                arrival.refuse(
                    502, error_body(same.call.error or "The recorded call failed.", "upstream_error")
                )
            else:
                arrival.answer(same.reply)

    async def _act(self, step: _RecordedStep, ground: RestoreContext) -> None:
        arrival = await self._arrival(step.number)
        if not isinstance(arrival, HeldAct):
            raise _parted(step, "the agent asked its LLM; in the recorded run it did something in the page.")
        acted, reviewed = step.acted, step.reviewed
        assert acted is not None
        if acted.outcome == "skipped":
            self._attachment.refuse(arrival, _SKIPPED)
            return
        before = ground.tabs.mark()
        if reviewed is not None and reviewed.edited:
            for one in acted.inputs:
                await ground.actor.act(one.action)
            self._attachment.swallow(arrival)
        else:
            self._attachment.release(arrival)
            await arrival.over()
        await ground.tabs.settle(before)
        if HARMLESS in acted.message:
            self._attachment.learn_harmless(arrival.act)


def _parted(step: _RecordedStep, why: str, *, recorded: str = "", asked: str = "") -> RestoreError:
    parted = Parted(step=step.number, why=f"At step {step.number} {why}", recorded=recorded, asked=asked)
    return RestoreError(parted.why, parted)
