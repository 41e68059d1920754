"""The debug events of a stored run, the same as while it went on."""

from collections.abc import Generator

from core.debugger.breakpoints.debug_event import DebugEvent, EventTracker
from core.schema.events import BrowserEvent
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


def track_stored(tracker: EventTracker, store: TraceStore, run: int, *, before_step: int) -> None:
    """Give `tracker` what is stored of a run up to the end of the step before `before_step`; raises TraceError."""
    for _ in _replay(tracker, store, run, before_step):
        pass


def _replay(
    tracker: EventTracker, store: TraceStore, run: int, before_step: int | None
) -> Generator[DebugEvent, None, None]:
    browser_events = store.events(run)
    for row in store.steps(run):
        if before_step is not None and row.number >= before_step:
            return
        of_step = tuple(one.event for one in browser_events if one.step == row.number)
        yield from _events_of_step(tracker, store.step(run, row.number), of_step)


def _events_of_step(
    tracker: EventTracker, detail: StepDetail, browser_events: tuple[BrowserEvent, ...]
) -> Generator[DebugEvent, None, None]:
    """Yield the events of a step; what happened outside of its action comes before that."""
    records = {record.phase: record for record in detail.records}
    by_phase: dict[Phase, list[CallRecord]] = {}
    for call in detail.calls:
        by_phase.setdefault(_phase_of(call, detail), []).append(call)
    tracker.begin_step(detail.row.number, detail.row.trial)
    due = True
    for phase in PHASES:
        record, calls = records.get(phase), by_phase.get(phase, [])
        if record is not None or calls or due:
            yield tracker.before(phase)
        if phase == "act":
            for one in browser_events:
                yield tracker.browser_event(one)
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
