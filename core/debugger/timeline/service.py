"""The times of a run, for running and old runs alike, and the logs of its pages by step."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from core.browser.log.records import LogPart
from core.debugger.commands import command
from core.debugger.service import Service
from core.debugger.timeline.pictures import film_pictures, restored_pictures, step_pictures
from core.debugger.timeline.views import (
    CallSpan,
    CostPoint,
    FilmPictures,
    HeldSpan,
    MarkKind,
    PageLogView,
    PhaseSpan,
    StepPictures,
    StepSpan,
    TimeMark,
    TimeView,
)
from core.schema.errors import TraceError
from core.schema.signal import Signal
from core.schema.step import Acted, BlobHash, CallRecord, record_of
from core.trace.records import Hit, Intervention, StepRow, StepTimes
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_NOT_KEPT = "This step was recorded by a version without page logs. Run the task again (Ctrl+R) to get one."
_NOT_YET = "The page has not been observed in this step yet. Its log begins with the first observation (F10)."
_IMPORTED = "The run was imported from a file without a page log."
_HELD = 0.15
"""Seconds between two phases from which on something held the run; storing takes less."""
_LONGEST = 300
"""Characters of a mark's words."""


class TimelineService(Service[TimeView]):
    """Reads the times of a run (`changed`), the page's log of a step (`logged`) and pictures of steps."""

    view = TimeView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.logged: Signal[PageLogView] = Signal()
        self.pictured: Signal[FilmPictures] = Signal()
        self.looked: Signal[StepPictures] = Signal()
        self.hovered: Signal[StepPictures] = Signal()

    @command
    async def read_times(self, run: int) -> None:
        """Read where the time of a run went."""
        await self.answer(
            "times",
            lambda store: time_view(store, run),
            self.send,
            lambda problem: TimeView(run=run, problem=problem),
        )

    @command
    async def read_pictures(self, names: tuple[BlobHash, ...]) -> None:
        """Read pictures for the filmstrip; each question is answered, even if it cannot be."""
        await self.answer(
            "film",
            lambda store: film_pictures(store, names),
            self.pictured.send,
            lambda _problem: FilmPictures(pictures=tuple((name, b"") for name in names)),
        )

    @command
    async def look(self, run: int, step: int) -> None:
        """Read the page before and after a step, to be shown large."""
        await self._read_step(run, step, self.looked)

    @command
    async def hover(self, run: int, step: int) -> None:
        """Read the page before and after a step, to be shown next to the pointer."""
        await self._read_step(run, step, self.hovered)

    @command
    async def look_restored(self, run: int) -> None:
        """Read the page that a branch begins in as it was recorded and as it was brought back, to be shown large."""
        await self.answer(
            "restored",
            lambda store: restored_pictures(store, run),
            self.looked.send,
            lambda problem: StepPictures(
                run=run, number=0, no_before=problem, no_after=problem, restored=True
            ),
        )

    async def _read_step(self, run: int, step: int, signal: Signal[StepPictures]) -> None:
        await self.answer(
            f"step {id(signal)}",
            lambda store: step_pictures(store, run, step),
            signal.send,
            lambda problem: StepPictures(run=run, number=step, no_before=problem, no_after=problem),
        )

    @command
    async def read_log(self, run: int, step: int) -> None:
        """Read what the pages logged in a step."""
        await self.answer(
            "log",
            lambda store: _log_view(store, run, step),
            self.logged.send,
            lambda problem: PageLogView(run=run, step=step, message=problem),
        )


def _log_view(store: TraceStore, run: int, step: int) -> PageLogView:
    parts: tuple[LogPart, ...] | None = store.page_log(run, step)
    if parts is not None:
        return PageLogView(run=run, step=step, parts=parts)
    if store.run(run).environment == "import":
        return PageLogView(run=run, step=step, message=_IMPORTED)
    begun = store.step(run, step).records
    return PageLogView(run=run, step=step, message=_NOT_KEPT if begun else _NOT_YET)


def time_view(store: TraceStore, run: int) -> TimeView:
    """Return a run on the line of time, the steps before a branch first; raises TraceError."""
    row = store.run(run)
    rows = {one.number: one for one in store.steps(run)}
    times = store.times(run)
    calls = store.calls(run)
    if not times:
        return TimeView(run=run, begun=row.started, ended=row.started)
    by_step = {
        number: tuple(of_it)
        for number, of_it in groupby(sorted(calls, key=lambda call: call.step), lambda call: call.step)
    }
    pictures = store.pictures(run)
    steps = tuple(
        _step(rows[one.number], one, by_step.get(one.number, ()), pictures.get(one.number, ""))
        for one in times
        if one.number in rows
    )
    imported = row.environment == "import"
    if imported:
        steps = _apart(steps)
    marks = [
        *_of_hits(store.hits(run), steps),
        *_of_interventions(store.interventions(run)),
        *_of_steps(store, run, steps),
        *_of_calls(calls),
        *_of_judgements(store, run, steps),
        *_of_branches(store, run, steps),
    ]
    own = next((one for one in steps if one.run == run), None)
    if row.parent_run is not None and own is not None:
        grade = f", the page {row.grade}" if row.grade else ""
        text = f"Run {run} branches off run {row.parent_run} before step {own.number}{grade}"
        marks.append(TimeMark(time=own.begun, step=own.number, kind="branch", text=text))
    return TimeView(
        run=run,
        begun=steps[0].begun,
        ended=max(one.ended for one in steps),
        steps=steps,
        held=() if imported else _held(steps),
        marks=tuple(sorted(marks, key=lambda mark: (mark.time, mark.step))),
        costs=_costs(calls),
        phases_known=imported or all(phase.begun_known for step in steps for phase in step.phases),
        untimed="imported from a file without times of phases and calls" if imported else "",
    )


def _step(row: StepRow, times: StepTimes, calls: Sequence[CallRecord], picture: BlobHash) -> StepSpan:
    begun_of = dict(times.phases_begun)
    phases = []
    before = times.begun
    for phase, saved in sorted(times.saved, key=lambda one: one[1]):
        known = phase in begun_of
        begun = min(begun_of.get(phase, before), saved)
        phases.append(PhaseSpan(phase=phase, begun=begun, ended=saved, begun_known=known))
        before = max(saved, before)
    spans = tuple(_call(one) for one in calls)
    ended = max((times.ended, *(one.ended for one in spans)))
    return StepSpan(
        **dict(row), begun=times.begun, ended=ended, phases=tuple(phases), calls=spans, picture=picture
    )


def _call(call: CallRecord) -> CallSpan:
    return CallSpan(
        number=call.number,
        purpose=call.purpose,
        llm=call.llm,
        begun=call.started,
        seconds=call.seconds,
        prompt_tokens=call.usage.prompt_tokens,
        cached_tokens=call.usage.cached_tokens,
        completion_tokens=call.usage.completion_tokens,
        estimated=call.usage.estimated,
        cost=call.cost,
        error=call.error,
    )


def _apart(steps: tuple[StepSpan, ...]) -> tuple[StepSpan, ...]:
    """Return steps of which the times are not known one behind the other, each as long as any other."""
    if len({step.begun for step in steps}) == len(steps) and all(step.ended > step.begun for step in steps):
        return steps
    begun = steps[0].begun
    return tuple(
        step.replace(begun=begun + at, ended=begun + at + 1, phases=(), calls=())
        for at, step in enumerate(steps)
    )


def _held(steps: Sequence[StepSpan]) -> tuple[HeldSpan, ...]:
    """Return if nothing ran: between phases whose beginning is known, and between two steps."""
    busy: list[tuple[float, float, int, str]] = []
    for step in steps:
        busy += [(one.begun, one.ended, step.number, one.phase) for one in step.phases]
        # Remedies may be asked for while the action runs: a call outside the phases is work as well.
        busy += [(call.begun, call.ended, step.number, "") for call in step.calls]
    busy.sort()
    found: list[HeldSpan] = []
    until = steps[0].begun
    last = steps[0].number
    for begun, ended, number, phase in busy:
        if begun - until >= _HELD:
            found.append(
                HeldSpan(begun=until, ended=begun, step=number, before=phase, why=_why(last, number, phase))
            )
        until = max(until, ended)
        last = number
    return tuple(found)


def _why(last: int, number: int, phase: str) -> str:
    if last != number:
        return (
            f"Nothing ran between step {last} and step {number}: held by a person, a breakpoint or the pace"
        )
    where = "at the review, for the person" if phase in ("review", "act") else f"before {phase or 'a call'}"
    return f"Step {number} was held {where}"


def _of_hits(hits: Iterable[Hit], steps: Sequence[StepSpan]) -> list[TimeMark]:
    return [
        TimeMark(
            time=hit.time,
            step=hit.step,
            kind="breakpoint",
            text=_short(
                f"{'Stopped' if hit.stopped else 'Reported, not stopped'} at {hit.phase}: {hit.sentence}"
            ),
        )
        for hit in hits
    ]


def _of_interventions(interventions: Iterable[Intervention]) -> list[TimeMark]:
    found = []
    for one in interventions:
        found.append(TimeMark(time=one.when, step=one.step, kind="person", text=_short(one.in_words)))
    return found


def _of_steps(store: TraceStore, run: int, steps: Sequence[StepSpan]) -> list[TimeMark]:
    found = []
    trial = steps[0].trial
    for step in steps:
        words = _short(f"{step.action or 'no action'} {step.target}".rstrip())
        at = _act_of(step)

        def mark(kind: MarkKind, text: str, time: float, number: int = step.number) -> None:
            found.append(TimeMark(time=time, step=number, kind=kind, text=_short(text)))

        if step.trial != trial:
            mark("trial", f"Trial {step.trial} begins", step.begun)
            trial = step.trial
        if step.origin == "person":
            mark("person", f"A person's action: {words}", at)
        if step.origin == "remedy":
            mark("remedy", f"Remedy: {words}", at)
        if step.effect == "go back":
            mark("went back", _grade(store, run, step), at)
        elif step.outcome == "failed":
            mark("error", f"Failed: {words}. {step.message}", at)
    return found


def _of_calls(calls: Iterable[CallRecord]) -> list[TimeMark]:
    return [
        TimeMark(
            time=call.started + call.seconds,
            step=call.step,
            kind="error",
            text=_short(f"Call {call.number} ({call.purpose}) failed: {call.error}"),
        )
        for call in calls
        if call.error
    ]


def _of_judgements(store: TraceStore, run: int, steps: Sequence[StepSpan]) -> list[TimeMark]:
    ends = {step.number: step.ended for step in steps}
    found = []
    for number, judged in store.judgements(run):
        if judged.aligned is None or number not in ends:
            continue
        by = "a person" if judged.overruled else "rule" if judged.by_rule else "the LLM"
        kind: MarkKind = "right" if judged.aligned else "wrong"
        text = f"Judged {kind} by {by}. {judged.by_rule} {judged.sentence}"
        found.append(TimeMark(time=ends[number], step=number, kind=kind, text=_short(text)))
    return found


def _of_branches(store: TraceStore, run: int, steps: Sequence[StepSpan]) -> list[TimeMark]:
    """Return where other runs left this one, or those that it branched from."""
    begins = {(step.run, step.number): step.begun for step in steps}
    own = store.path_of(run)
    return [
        TimeMark(
            time=begins[left, number],
            step=number,
            kind="branch",
            text=f"Run {branch} branches off run {left} before step {number}",
        )
        for left in own
        for branch, number in store.branches(left)
        if branch not in own and (left, number) in begins
    ]


def _act_of(step: StepSpan) -> float:
    return next((phase.ended for phase in step.phases if phase.phase == "act"), step.ended)


def _grade(store: TraceStore, run: int, step: StepSpan) -> str:
    try:
        records = store.step(run, step.number).records
    except TraceError:
        return f"Went back: {step.action}; its grade cannot be read"
    acted = record_of(Acted, records)
    restored = acted.restored if acted is not None else None
    if restored is None:
        failed = f" {step.message}" if step.message else ""
        return f"Going back ({step.action}), no grade.{failed}"
    return f"Went back to step {restored.step}, the page {restored.grade}, by {restored.strategy}"


def _costs(calls: Iterable[CallRecord]) -> tuple[CostPoint, ...]:
    total = 0.0
    found = []
    for call in sorted(calls, key=lambda one: one.started + one.seconds):
        if call.cost is not None:
            total += call.cost
            found.append(CostPoint(time=call.started + call.seconds, cost=round(total, 8)))
    return tuple(found)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


make_service = TimelineService
