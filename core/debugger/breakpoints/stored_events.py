"""The debug events of a stored run, the same as while it ran, and where it would last have stopped."""

from collections import Counter
from collections.abc import Generator, Iterable
from typing import NamedTuple

from core.debugger.breakpoints.collection import hit_of
from core.debugger.breakpoints.debug_event import DebugEvent, EventTracker
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.views import Watch, WatchValue
from core.debugger.breakpoints.watches import differs, value_of
from core.schema.errors import UsageError
from core.schema.events import BrowserEvent
from core.schema.record import Record
from core.schema.step import PHASE_OF_PURPOSE, PHASES, Acted, CallRecord, Phase, calls_of
from core.trace.records import StepDetail
from core.trace.store import TraceStore


def events_of(
    store: TraceStore, run: int, *, before_step: int | None = None
) -> Generator[DebugEvent, None, None]:
    """Yield the events of a stored run in order, up to the end of the step before `before_step`.

    A step is read when its first event is asked for. Calls come within their
    phase; those of a judge after the last. Raises TraceError.
    """
    yield from _replay(EventTracker(store.run(run)), store, run, before_step)


def track_stored(tracker: EventTracker, store: TraceStore, run: int, untold: Record | None) -> None:
    """Give `tracker` what is stored of a run under way; raises TraceError.

    `untold` is what the phase in progress is about to tell, which is left out; None if no phase is in progress.
    """
    steps = store.steps(run)
    if not steps:
        return
    last = store.step(run, steps[-1].number)
    early = (call for call in store.calls.of(run) if call.step > last.row.number)
    number = untold.number if isinstance(untold, CallRecord) else 0
    last = last.replace(
        records=tuple(one for one in last.records if type(one) is not type(untold)),
        calls=tuple(one for one in (*last.calls, *early) if one.number != number),
    )
    for _ in _replay(tracker, store, run, last.row.number):
        pass
    for _ in _events_of_step(tracker, last, (), due=untold is not None):
        pass


def _replay(
    tracker: EventTracker, store: TraceStore, run: int, before_step: int | None
) -> Generator[DebugEvent, None, None]:
    browser_events = store.pages.events(run)
    for row in store.steps(run):
        if before_step is not None and row.number >= before_step:
            return
        of_step = tuple(event.event for event in browser_events if event.step == row.number)
        yield from _events_of_step(tracker, store.step(run, row.number), of_step)


def _events_of_step(
    tracker: EventTracker, detail: StepDetail, browser_events: tuple[BrowserEvent, ...], *, due: bool = True
) -> Generator[DebugEvent, None, None]:
    """Yield the events of a step; what happened outside of its action comes before that.

    `due` tells whether the first phase that has left nothing was about to be done.
    """
    records = {record.phase: record for record in detail.records}
    by_phase: dict[Phase, list[CallRecord]] = {}
    for call in detail.calls:
        by_phase.setdefault(_phase_of(call, detail), []).append(call)
    tracker.begin_step(detail.row.number, detail.row.trial)
    for phase in PHASES:
        record, calls = records.get(phase), by_phase.get(phase, [])
        if record is not None or calls or due:
            yield tracker.before(phase)
        if phase == "act":
            for event in browser_events:
                yield tracker.browser_event(event)
        if phase != "commit":
            yield from _calls(tracker, calls)
        if isinstance(record, Acted):
            for sent in record.sent:
                yield tracker.request(sent)
        if record is not None:
            yield tracker.after(record)
        due = due and record is not None
    yield from _calls(tracker, by_phase.get("commit", []))


def _calls(tracker: EventTracker, calls: list[CallRecord]) -> Generator[DebugEvent, None, None]:
    for call in calls:
        yield tracker.before_call(call)
        yield tracker.after_call(call)


def _phase_of(call: CallRecord, detail: StepDetail) -> Phase:
    for record in detail.records:
        if call.number in calls_of(record):
            return record.phase
    return PHASE_OF_PURPOSE[call.purpose]


class LastHit(NamedTuple):
    """Where a run would have stopped."""

    step: int
    phase: Phase
    sentence: str


def last_hit(
    store: TraceStore, breakpoints: Iterable[Breakpoint], run: int, before_step: int
) -> LastHit | None:
    """Return the last place before `before_step` where one of the breakpoints stops a run, or None.

    The run is read from its beginning, since totals and hits to let pass count
    from there. Breakpoints that only log are left out. No hit is counted or
    stored. Raises TraceError.
    """
    checked = [one for one in breakpoints if one.enabled and one.then == "stop"]
    counts: Counter[int] = Counter()
    last: LastHit | None = None
    for event in events_of(store, run, before_step=before_step) if checked else ():
        for breakpoint in checked:
            hit = hit_of(breakpoint, event)
            if hit is None:
                continue
            sentence, failed = hit
            counts[breakpoint.number] += 1
            if failed or counts[breakpoint.number] > breakpoint.ignore:
                last = LastHit(event.figures.step, event.phase, sentence)
    return last


class WatchChange(NamedTuple):
    """Where the value of a watch changed."""

    step: int
    phase: Phase
    before: WatchValue
    after: WatchValue


def last_change(store: TraceStore, run: int, before_step: int, watch: Watch) -> WatchChange | None:
    """Return where an expression's value last changed before `before_step`, or None if it never did.

    Raises TraceError, and UsageError for a watch of the page, whose values are not stored.
    """
    if watch.kind != "expression":
        raise UsageError(
            f"{watch.text} is read in the live page; its values at earlier steps are not stored."
        )
    known: WatchValue | None = None
    last: WatchChange | None = None
    for event in events_of(store, run, before_step=before_step):
        now = value_of(watch, event, event.previous, known)
        if known is not None and differs(known, now):
            last = WatchChange(event.figures.step, event.phase, known, now)
        known = now
    return last
