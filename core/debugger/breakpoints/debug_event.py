"""Moments: the points where a run could stop, each with all that is known there.

A run under way and a stored one are told to the same `Moments`, so a moment
says the same of both.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from core.agent.policies.frame import place_of_page
from core.agent.reflection.remedies import in_words
from core.schema.action import Action, Backtrack, NewTrial, Note, Stop
from core.schema.browser_event import BrowserEvent
from core.schema.recall import Recall
from core.schema.record import Record
from core.schema.restore import Sent
from core.schema.step import (
    PHASES,
    Acted,
    Aligned,
    Anticipated,
    CallRecord,
    Committed,
    Decided,
    Observed,
    Phase,
    PhaseRecord,
    Recalled,
    ReflectionTold,
    Reviewed,
)
from core.trace.records import RunRow

Where = Literal[
    "before",  # a phase
    "after",  # a phase, which is stored
    "before call",  # an LLM call
    "after call",
    "request",  # the page begins to send something
    "event",  # something happened in the browser beside what was asked of it
]

R = TypeVar("R")


class Figures(Record):
    """What the run has come to at a moment."""

    step: int = 0
    trial: int = 1
    cost: float | None = None
    """US dollars; None where no call had a price."""
    tokens: int = 0
    seconds: float = 0.0
    """Time at work: of the sealed steps, and of the calls and the action of the step under way."""
    llm_calls: int = 0
    """Calls made, one that is out among them."""
    page_actions: int = 0
    """Actions carried out in the page."""


@dataclass(frozen=True)
class StepSoFar:
    """What the phases of a step have left by a moment."""

    number: int
    records: tuple[PhaseRecord, ...] = ()

    def get(self, cls: type[R]) -> R | None:
        """Return the record of that class, where the phase has left it."""
        return next((record for record in self.records if isinstance(record, cls)), None)

    @property
    def reflection(self) -> ReflectionTold | None:
        """Plan and remedies as the last phase left them that tells of them."""
        return reflection_in(self.records)

    @property
    def action(self) -> Action | None:
        """The action that is next or was taken: the reviewed one, or else the proposed one."""
        reviewed, decided = self.get(Reviewed), self.get(Decided)
        if reviewed is not None:
            return reviewed.action
        return decided.proposal.action if decided is not None else None

    def with_record(self, record: PhaseRecord) -> "StepSoFar":
        """Return the step with `record`; what an earlier try at its phase and later ones left is gone."""
        position = PHASES.index(record.phase)
        kept = tuple(one for one in self.records if PHASES.index(one.phase) < position)
        return StepSoFar(self.number, (*kept, record))


@dataclass(frozen=True)
class Moment:
    """A point where the run could stop."""

    where: Where
    phase: Phase
    run: RunRow
    """Its row, which is to be asked only for what was known when it began: the rest is in `figures`."""
    figures: Figures
    step: StepSoFar
    before: StepSoFar | None = None
    """The step before, whole; None at the first."""
    call: CallRecord | None = None
    request: Sent | None = None
    event: BrowserEvent | None = None
    recall: Recall | None = None
    """The exemplars in use, fetched at this step or at an earlier one."""
    tried: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The last step of this trial that did an action on a page, by the page's fingerprint and the action in words."""
    previous: "Moment | None" = None
    """The moment before this one, without its own previous one."""
    parts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What expressions were shown of it, kept for the next that asks."""

    def latest(self, cls: type[R]) -> R | None:
        """Return the record of that class: this step's, or until there is one that of the step before."""
        found = self.step.get(cls)
        return self.before.get(cls) if found is None and self.before is not None else found

    def is_at(self, where: Where, phase: Phase) -> bool:
        return self.where == where and self.phase == phase


class Moments:
    """Follows one run: is told what happens, in order, and returns the moment each time."""

    def __init__(self, run: RunRow) -> None:
        self._run = run
        self._figures = Figures()
        self._step = StepSoFar(0)
        self._before: StepSoFar | None = None
        self._phase: Phase = "observe"
        self._sealed_seconds = 0.0
        self._calls_of_step: dict[int, float] = {}
        self._recalls: dict[int, Recall] = {}
        self._tried: dict[tuple[str, str], int] = {}
        self._last: Moment | None = None

    @property
    def last(self) -> Moment | None:
        """The moment that was returned last."""
        return self._last

    def begin_step(self, number: int, trial: int = 1) -> None:
        """A step begins; nothing is a moment before its first phase is."""
        if self._step.number:
            self._before = self._step
        self._step = StepSoFar(number)
        self._sealed_seconds = self._figures.seconds
        self._calls_of_step = {}
        self._figures = self._figures.replace(step=number, trial=trial)

    def before(self, phase: Phase) -> Moment:
        """A phase is about to be done."""
        self._phase = phase
        return self._moment("before")

    def after(self, record: PhaseRecord) -> Moment:
        """A phase has left its record; done again, it takes the place of the first."""
        self._phase = record.phase
        self._step = self._step.with_record(record)
        match record:
            case Recalled():
                if record.recall is not None:
                    self._recalls[self._step.number] = record.recall
            case Acted():
                self._acted(record)
            case Committed():
                self._count_seconds(record.seconds)
        return self._moment("after")

    def before_call(self, call: CallRecord) -> Moment:
        """A call is about to be made."""
        self._figures = self._figures.replace(llm_calls=self._figures.llm_calls + 1)
        return self._moment("before call", call=call)

    def after_call(self, call: CallRecord) -> Moment:
        """A call has ended, with a reply or without one."""
        figures = self._figures
        cost = figures.cost if call.cost is None else (figures.cost or 0.0) + call.cost
        tokens = figures.tokens + call.usage.prompt_tokens + call.usage.completion_tokens
        self._figures = figures.replace(cost=cost, tokens=tokens)
        self._calls_of_step[call.number] = call.seconds
        self._count_seconds(self._seconds_known())
        return self._moment("after call", call=call)

    def request(self, request: Sent) -> Moment:
        """The page begins to send something."""
        return self._moment("request", request=request)

    def event(self, event: BrowserEvent) -> Moment:
        """Something happened in the browser outside of an action."""
        return self._moment("event", event=event)

    def _acted(self, record: Acted) -> None:
        if record.effect == "page action":
            actions = self._figures.page_actions + 1
            self._figures = self._figures.replace(page_actions=actions)
        self._count_seconds(self._seconds_known())
        action = self._step.action
        if isinstance(action, NewTrial) and record.outcome == "done":
            self._tried = {}
        elif key := trial_of(self._step):
            self._tried = {**self._tried, key: self._step.number}

    def _seconds_known(self) -> float:
        acted = self._step.get(Acted)
        milliseconds = sum(acted.milliseconds.values()) if acted is not None else 0.0
        return sum(self._calls_of_step.values()) + milliseconds / 1000

    def _count_seconds(self, of_step: float) -> None:
        """Take what the step has taken so far; calls made at once may know more than the step does."""
        seconds = max(self._figures.seconds, self._sealed_seconds + of_step)
        self._figures = self._figures.replace(seconds=seconds)

    def _recall(self) -> Recall | None:
        recalled = self._step.get(Recalled)
        if recalled is None:
            return self._last.recall if self._last is not None else None
        if recalled.recalled_at is None:
            return None
        return self._recalls.get(recalled.recalled_at)

    def _moment(
        self,
        where: Where,
        *,
        call: CallRecord | None = None,
        request: Sent | None = None,
        event: BrowserEvent | None = None,
    ) -> Moment:
        moment = Moment(
            where=where,
            phase=self._phase,
            run=self._run,
            figures=self._figures,
            step=self._step,
            before=self._before,
            call=call,
            request=request,
            event=event,
            recall=self._recall(),
            tried=self._tried,
            previous=None if self._last is None else replace(self._last, previous=None),
        )
        self._last = moment
        return moment


def reflection_in(records: Iterable[PhaseRecord]) -> ReflectionTold | None:
    """Return plan and remedies as the last of the records has them."""
    told: ReflectionTold | None = None
    for record in records:
        if isinstance(record, Decided | Anticipated | Aligned) and record.reflection is not None:
            told = record.reflection
    return told


def trial_of(step: StepSoFar) -> tuple[str, str] | None:
    """Return the page's fingerprint and the step's action in words; None where it does nothing to be repeated."""
    action, observed = step.action, step.get(Observed)
    if action is None or observed is None or isinstance(action, Note | Stop | Backtrack | NewTrial):
        return None
    page = place_of_page(observed.observation)
    return page.fingerprint, in_words(action, observed.observation)
