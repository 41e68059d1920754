"""The moments of a stored run, as they would be those of the run under way."""

from collections.abc import Generator

from core.debugger.breakpoints.debug_event import Moment, Moments
from core.schema.browser_event import BrowserEvent
from core.schema.messages import Purpose
from core.schema.step import PHASES, Abstracted, Acted, Aligned, Anticipated, CallRecord, Decided, Phase
from core.trace.records import StepDetail
from core.trace.store import TraceStore

_PHASE_OF: dict[Purpose, Phase] = {
    "abstract": "abstract",
    "parser": "abstract",
    "remedies": "anticipate",
    "choose": "act",
    "aligned": "align",
    "subtask": "align",
    "task": "align",
    "judgement": "align",
    "summarise": "align",
    "judge": "commit",
}
"""Where a call belongs that no record names; all others to decide."""


def moments_of(
    store: TraceStore, run: int, *, before_step: int | None = None
) -> Generator[Moment, None, None]:
    """Yield the moments of a stored run in order, up to the end of the step before `before_step`.

    A step is read when its first moment is asked for. Calls come within their
    phase; those of a judge after the last. Raises TraceError.
    """
    yield from _told(Moments(store.run(run)), store, run, before_step)


def follow_stored(moments: Moments, store: TraceStore, run: int, *, before_step: int) -> None:
    """Tell `moments` what is stored of a run up to the end of the step before `before_step`; raises TraceError."""
    for _ in _told(moments, store, run, before_step):
        pass


def _told(
    moments: Moments, store: TraceStore, run: int, before_step: int | None
) -> Generator[Moment, None, None]:
    events = store.events(run)
    for row in store.steps(run):
        if before_step is not None and row.number >= before_step:
            return
        beside = tuple(one.event for one in events if one.step == row.number)
        yield from _moments_of_step(moments, store.step(run, row.number), beside)


def _moments_of_step(
    moments: Moments, detail: StepDetail, beside: tuple[BrowserEvent, ...]
) -> Generator[Moment, None, None]:
    """Yield the moments of a step; what happened outside of its action comes before that."""
    records = {record.phase: record for record in detail.records}
    by_phase: dict[Phase, list[CallRecord]] = {}
    for call in detail.calls:
        by_phase.setdefault(_phase_of(call, detail), []).append(call)
    moments.begin_step(detail.row.number, detail.row.trial)
    due = True
    for phase in PHASES:
        record, calls = records.get(phase), by_phase.get(phase, [])
        if record is not None or calls or due:
            yield moments.before(phase)
        if phase == "act":
            for event in beside:
                yield moments.event(event)
        if phase != "commit":
            yield from _calls(moments, calls)
        if isinstance(record, Acted):
            for sent in record.sent:
                yield moments.request(sent)
        if record is not None:
            yield moments.after(record)
        due = due and record is not None
    yield from _calls(moments, by_phase.get("commit", []))


def _calls(moments: Moments, calls: list[CallRecord]) -> Generator[Moment, None, None]:
    for call in calls:
        yield moments.before_call(call)
        yield moments.after_call(call)


def _phase_of(call: CallRecord, detail: StepDetail) -> Phase:
    for record in detail.records:
        if isinstance(record, Abstracted | Decided | Anticipated | Aligned) and call.number in record.calls:
            return record.phase
    return _PHASE_OF.get(call.purpose, "decide")
