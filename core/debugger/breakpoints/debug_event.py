"""Debug events: the points where a run can stop, each with the data available there.

The same `EventTracker` follows live and stored runs, so their events are the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from core.agent.policies.stack import place_of_page
from core.agent.reflection.remedies import in_words
from core.schema.action import Action, Backtrack, NewTrial, Note, Stop
from core.schema.events import BrowserEvent
from core.schema.exemplar import Recall
from core.schema.record import Record
from core.schema.restore import Sent
from core.schema.step import (
    PHASES,
    Acted,
    CallRecord,
    Committed,
    Observed,
    Phase,
    PhaseRecord,
    Recalled,
    ReflectionRecord,
    action_of,
    last_reflection,
    record_of,
)
from core.trace.records import RunRow

Where = Literal[
    "before",  # a phase
    "after",  # a phase, which is stored
    "before call",  # an LLM call
    "after call",
    "request",  # the page begins to send a request
    "event",  # something happened in the browser outside of an action
]

R = TypeVar("R")


class Figures(Record):
    """Totals of the run up to an event."""

    step: int = 0
    trial: int = 1
    cost: float | None = None
    """US dollars; None if no call had a price."""
    tokens: int = 0
    seconds: float = 0.0
    """Time at work: of the sealed steps, and of the calls and the action of the current step."""
    llm_calls: int = 0
    """Calls made, one that is out among them."""
    page_actions: int = 0
    """Actions carried out in the page."""


@dataclass(frozen=True)
class StepSoFar:
    """The records of a step up to an event."""

    number: int
    records: tuple[PhaseRecord, ...] = ()

    def get(self, cls: type[R]) -> R | None:
        """Return the record of that class, where the phase has left it."""
        return record_of(cls, self.records)

    @property
    def reflection(self) -> ReflectionRecord | None:
        """Plan and remedies as the last phase that records them left them."""
        return last_reflection(self.records)

    @property
    def action(self) -> Action | None:
        """The action that is next or was taken: the reviewed one, else the proposed one."""
        return action_of(self.records)

    def with_record(self, record: PhaseRecord) -> "StepSoFar":
        """Return the step with `record`; what an earlier try at its phase and later ones left is gone."""
        position = PHASES.index(record.phase)
        kept = tuple(one for one in self.records if PHASES.index(one.phase) < position)
        return StepSoFar(self.number, (*kept, record))


@dataclass(frozen=True)
class DebugEvent:
    """A point where the run can stop."""

    where: Where
    phase: Phase
    run: RunRow
    """Its row; only what was known when the run began may be read from it. Totals are in `figures`."""
    figures: Figures
    step: StepSoFar
    before: StepSoFar | None = None
    """The step before, whole; None at the first."""
    call: CallRecord | None = None
    request: Sent | None = None
    browser_event: BrowserEvent | None = None
    overruled: bool = False
    """Before the review: whether the person has replaced or skipped the proposed action already."""
    recall: Recall | None = None
    """The exemplars in use, fetched at this step or at an earlier one."""
    actions_done: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The last step of this trial that did an action on a page, by `repeat_key`."""
    previous: "DebugEvent | None" = None
    """The event before this one, without its own `previous`."""
    parts: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Parts of the subject of expressions that were built for this event, by name."""

    def latest(self, cls: type[R]) -> R | None:
        """Return the record of that class: this step's, or until there is one that of the step before."""
        found = self.step.get(cls)
        return self.before.get(cls) if found is None and self.before is not None else found

    def completed(self, cls: type[R]) -> R | None:
        """Return the record of the phase that has just ended, if it is of that class."""
        last = self.step.records[-1] if self.where == "after" else None
        return last if isinstance(last, cls) else None

    def is_at(self, where: Where, phase: Phase) -> bool:
        return self.where == where and self.phase == phase


class EventTracker:
    """Follows one run. Its methods are called in the order of the run, and each returns the event."""

    def __init__(self, run: RunRow) -> None:
        self._run = run
        self._figures = Figures()
        self._step = StepSoFar(0)
        self._before: StepSoFar | None = None
        self._phase: Phase = "observe"
        self._sealed_seconds = 0.0
        self._calls_of_step: dict[int, float] = {}
        self._recalls: dict[int, Recall] = {}
        self._actions_done: dict[tuple[str, str], int] = {}
        self._last: DebugEvent | None = None

    @property
    def last(self) -> DebugEvent | None:
        """The event returned last."""
        return self._last

    def begin_step(self, number: int, trial: int = 1) -> None:
        """A step begins, unless it has. This is not an event; the first one is before its first phase."""
        if self._step.number == number:
            return
        if self._step.number:
            self._before = self._step
        self._step = StepSoFar(number)
        self._sealed_seconds = self._figures.seconds
        self._calls_of_step = {}
        self._figures = self._figures.replace(step=number, trial=trial)

    def revise(self, record: PhaseRecord) -> None:
        """The record of a completed phase was replaced without doing the phase again; this is not an event."""
        records = tuple(record if one.phase == record.phase else one for one in self._step.records)
        self._step = StepSoFar(self._step.number, records)

    def before(self, phase: Phase, *, overruled: bool = False) -> DebugEvent:
        """A phase is about to be done."""
        self._phase = phase
        return self._event("before", overruled=overruled)

    def after(self, record: PhaseRecord) -> DebugEvent:
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
        return self._event("after")

    def before_call(self, call: CallRecord) -> DebugEvent:
        """A call is about to be made."""
        self._figures = self._figures.replace(llm_calls=self._figures.llm_calls + 1)
        return self._event("before call", call=call)

    def after_call(self, call: CallRecord) -> DebugEvent:
        """A call has ended, with a reply or without one."""
        figures = self._figures
        cost = figures.cost if call.cost is None else (figures.cost or 0.0) + call.cost
        tokens = figures.tokens + call.usage.prompt_tokens + call.usage.completion_tokens
        self._figures = figures.replace(cost=cost, tokens=tokens)
        self._calls_of_step[call.number] = call.seconds
        self._count_seconds(self._seconds_known())
        return self._event("after call", call=call)

    def request(self, request: Sent) -> DebugEvent:
        """The page begins to send something."""
        return self._event("request", request=request)

    def browser_event(self, event: BrowserEvent) -> DebugEvent:
        """Something happened in the browser outside of an action."""
        return self._event("event", browser_event=event)

    def _acted(self, record: Acted) -> None:
        if record.effect == "page action":
            actions = self._figures.page_actions + 1
            self._figures = self._figures.replace(page_actions=actions)
        self._count_seconds(self._seconds_known())
        action = self._step.action
        if isinstance(action, NewTrial) and record.outcome == "done":
            self._actions_done = {}
        elif key := repeat_key(self._step):
            self._actions_done = {**self._actions_done, key: self._step.number}

    def _seconds_known(self) -> float:
        acted = self._step.get(Acted)
        milliseconds = sum(acted.milliseconds.values()) if acted is not None else 0.0
        return sum(self._calls_of_step.values()) + milliseconds / 1000

    def _count_seconds(self, of_step: float) -> None:
        """Update the seconds of the run; parallel calls may add up to more than the step took."""
        seconds = max(self._figures.seconds, self._sealed_seconds + of_step)
        self._figures = self._figures.replace(seconds=seconds)

    def _recall(self) -> Recall | None:
        recalled = self._step.get(Recalled)
        if recalled is None:
            return self._last.recall if self._last is not None else None
        if recalled.recalled_at is None:
            return None
        return self._recalls.get(recalled.recalled_at)

    def _event(
        self,
        where: Where,
        *,
        call: CallRecord | None = None,
        request: Sent | None = None,
        browser_event: BrowserEvent | None = None,
        overruled: bool = False,
    ) -> DebugEvent:
        event = DebugEvent(
            where=where,
            phase=self._phase,
            run=self._run,
            figures=self._figures,
            step=self._step,
            before=self._before,
            call=call,
            request=request,
            browser_event=browser_event,
            overruled=overruled,
            recall=self._recall(),
            actions_done=self._actions_done,
            previous=None if self._last is None else replace(self._last, previous=None),
        )
        self._last = event
        return event


def repeat_key(step: StepSoFar) -> tuple[str, str] | None:
    """Return the page's fingerprint and the step's action in words; None if nothing can be repeated."""
    action, observed = step.action, step.get(Observed)
    if action is None or observed is None or isinstance(action, Note | Stop | Backtrack | NewTrial):
        return None
    page = place_of_page(observed.observation)
    return page.fingerprint, in_words(action, observed.observation)
