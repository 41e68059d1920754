"""The times of a run, for running and old runs alike, and the logs of its pages by step."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from core.browser.log.records import LogPart
from core.debugger.commands import command
from core.debugger.service import Service
from core.debugger.steps.view import picture
from core.debugger.steps.views import ScreenshotView
from core.debugger.timeline.pictures import restored_pictures, step_pictures
from core.debugger.timeline.views import (
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
from core.schema.formats import cut
from core.schema.signal import Signal
from core.schema.step import Acted, BlobHash, CallRecord, record_of
from core.trace.records import RunRow, StepRow, StepTimes
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
        self.pictured: Signal[dict[BlobHash, bytes]] = Signal()
        """Pictures of the filmstrip by the name of their blob; those that cannot be read have no bytes."""
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
            lambda store: {name: picture(store, name) for name in names},
            self.pictured.send,
            lambda _problem: dict.fromkeys(names, b""),
        )

    @command
    async def look(self, run: int, step: int) -> None:
        """Read the page before and after a step, to be shown large."""
        blank = StepPictures(run=run, number=step)
        await self._show_pictures("look", lambda store: step_pictures(store, run, step), self.looked, blank)

    @command
    async def hover(self, run: int, step: int) -> None:
        """Read the page before and after a step, to be shown next to the pointer."""
        blank = StepPictures(run=run, number=step)
        await self._show_pictures("hover", lambda store: step_pictures(store, run, step), self.hovered, blank)

    @command
    async def look_restored(self, run: int) -> None:
        """Read the page that a branch begins in as it was recorded and as it was brought back, to be shown large."""
        blank = StepPictures(run=run, number=0, restored=True)
        await self._show_pictures("look", lambda store: restored_pictures(store, run), self.looked, blank)

    async def _show_pictures(
        self,
        topic: str,
        question: Callable[[TraceStore], StepPictures],
        signal: Signal[StepPictures],
        blank: StepPictures,
    ) -> None:
        """Send pictures of a step, or without them `blank` with what is wrong."""

        def without(problem: str) -> StepPictures:
            missing = ScreenshotView(missing=problem)
            return blank.replace(before=missing, after=missing)

        await self.answer(topic, question, signal.send, without)

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
    parts: tuple[LogPart, ...] | None = store.pages.log(run, step)
    if parts is not None:
        return PageLogView(run=run, step=step, parts=parts)
    if store.run(run).environment == "import":
        return PageLogView(run=run, step=step, message=_IMPORTED)
    begun = store.step(run, step).records
    return PageLogView(run=run, step=step, message=_NOT_KEPT if begun else _NOT_YET)


def time_view(store: TraceStore, run: int) -> TimeView:
    """Return a run on the line of time, the steps before a branch first; raises TraceError."""
    row = store.run(run)
    rows = {step.number: step for step in store.steps(run)}
    times = store.times(run)
    if not times:
        return TimeView(run=run, row=row, begun=row.started, ended=row.started)
    calls = store.calls.of(run)
    by_step: dict[int, list[CallRecord]] = {}
    for call in calls:
        by_step.setdefault(call.step, []).append(call)
    pictures = store.pages.pictures(run)
    steps = tuple(
        _step(rows[one.number], one, by_step.get(one.number, []), pictures.get(one.number, ""))
        for one in times
        if one.number in rows
    )
    imported = row.environment == "import"
    if imported:
        steps = _apart(steps)
    marks = [*_of_events(store, run, calls), *_of_steps(store, run, steps), *_of_branches(store, row, steps)]
    return TimeView(
        run=run,
        row=row,
        begun=steps[0].begun,
        ended=max(step.ended for step in steps),
        steps=steps,
        held=() if imported else tuple(_held(steps)),
        marks=tuple(sorted(marks, key=lambda mark: (mark.time, mark.step))),
        costs=tuple(_costs(calls)),
        phases_known=imported or all(phase.begun_known for step in steps for phase in step.phases),
        untimed="imported from a file without times of phases and calls" if imported else "",
    )


def _step(row: StepRow, times: StepTimes, calls: Sequence[CallRecord], picture: BlobHash) -> StepSpan:
    phases = []
    before = times.begun
    for phase in sorted(times.phases, key=lambda phase: phase.saved):
        known = phase.begun is not None
        begun = min(before if phase.begun is None else phase.begun, phase.saved)
        phases.append(PhaseSpan(phase=phase.phase, begun=begun, ended=phase.saved, begun_known=known))
        before = max(phase.saved, before)
    ended = max((times.ended, *(call.ended for call in calls)))
    return StepSpan(
        **dict(row),
        begun=times.begun,
        ended=ended,
        phases=tuple(phases),
        calls=tuple(calls),
        picture=picture,
        held=times.held,
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


def _held(steps: Sequence[StepSpan]) -> Iterator[HeldSpan]:
    """Yield when nothing ran: between phases whose beginning is known, within them, and between two steps."""
    busy: list[tuple[float, float, int, str]] = []
    for step in steps:
        for one in step.phases:
            begun, where = one.begun, f"before {one.phase}"
            if one.phase in ("review", "act"):
                where = "at the review, for the person"
            for since, until in sorted(step.held):
                if one.begun <= since < one.ended:
                    if since > begun:
                        busy.append((begun, since, step.number, where))
                    begun, where = max(begun, min(until, one.ended)), f"in {one.phase}"
            busy.append((begun, one.ended, step.number, where))
        # Remedies may be asked for while the action runs: a call outside the phases is work as well.
        busy += [(call.started, call.ended, step.number, "before a call") for call in step.calls]
    until = steps[0].begun
    last = steps[0].number
    for begun, ended, number, where in sorted(busy):
        if begun - until >= _HELD:
            yield HeldSpan(begun=until, ended=begun, step=number, why=_why(last, number, where))
        until = max(until, ended)
        last = number


def _why(last: int, number: int, where: str) -> str:
    if last != number:
        return (
            f"Nothing ran between step {last} and step {number}: held by a person, a breakpoint or the pace"
        )
    return f"Step {number} was held {where}"


def _mark(kind: MarkKind, time: float, step: int, text: str) -> TimeMark:
    return TimeMark(time=time, step=step, kind=kind, text=cut(" ".join(text.split()), _LONGEST))


def _of_events(store: TraceStore, run: int, calls: Iterable[CallRecord]) -> Iterator[TimeMark]:
    """Yield hits of breakpoints, what a person did, and calls that failed."""
    for hit in store.stops.hits(run):
        how = "Stopped" if hit.stopped else "Reported, not stopped"
        yield _mark("breakpoint", hit.time, hit.step, f"{how} at {hit.phase}: {hit.sentence}")
    for intervention in store.interventions(run):
        yield _mark("person", intervention.when, intervention.step, intervention.in_words)
    for call in calls:
        if call.error:
            text = f"Call {call.number} ({call.purpose}) failed: {call.error}"
            yield _mark("error", call.ended, call.step, text)


def _of_steps(store: TraceStore, run: int, steps: Sequence[StepSpan]) -> Iterator[TimeMark]:
    """Yield what the steps themselves were, and how they were judged."""
    judgements = dict(store.judgements(run))
    trial = steps[0].trial
    for step in steps:
        number = step.number
        at = next((phase.ended for phase in step.phases if phase.phase == "act"), step.ended)
        if step.trial != trial:
            yield _mark("trial", step.begun, number, f"Trial {step.trial} begins")
            trial = step.trial
        if step.origin == "person":
            yield _mark("person", at, number, f"A person's action: {step.in_words}")
        if step.origin == "remedy":
            yield _mark("remedy", at, number, f"Remedy: {step.in_words}")
        if step.effect == "go back":
            yield _mark("went back", at, number, _grade(store, run, step))
        elif step.outcome == "failed":
            yield _mark("error", at, number, f"Failed: {step.in_words}. {step.message}")
        judged = judgements.get(number)
        if judged is not None and judged.aligned is not None:
            kind: MarkKind = "right" if judged.aligned else "wrong"
            by = "a person" if judged.overruled else "rule" if judged.by_rule else "the LLM"
            text = f"Judged {kind} by {by}. {judged.by_rule} {judged.sentence}"
            yield _mark(kind, step.ended, number, text)


def _of_branches(store: TraceStore, row: RunRow, steps: Sequence[StepSpan]) -> Iterator[TimeMark]:
    """Yield where other runs left this one or those that it branched from, and where it left its parent."""
    begins = {(step.run, step.number): step.begun for step in steps}
    path = store.path_of(row.run)
    found = [
        (branch, left, number, begins[left, number], "")
        for left in path
        for branch, number in store.branches(left)
        if branch not in path and (left, number) in begins
    ]
    first = next((step for step in steps if step.run == row.run), None)
    if row.parent_run is not None and first is not None:
        grade = f", the page {row.grade}" if row.grade else ""
        found.append((row.run, row.parent_run, first.number, first.begun, grade))
    for branch, left, number, begun, more in found:
        text = f"Run {branch} branches off run {left} before step {number}{more}"
        yield _mark("branch", begun, number, text)


def _grade(store: TraceStore, run: int, step: StepSpan) -> str:
    try:
        acted = record_of(Acted, store.step(run, step.number).records)
    except TraceError:
        return f"Went back: {step.action}; its grade cannot be read"
    restored = acted.restored if acted is not None else None
    if restored is None:
        failed = f" {step.message}" if step.message else ""
        return f"Going back ({step.action}), no grade.{failed}"
    return f"Went back to step {restored.step}, the page {restored.grade}, by {restored.strategy}"


def _costs(calls: Iterable[CallRecord]) -> Iterator[tuple[float, float]]:
    total = 0.0
    for call in sorted(calls, key=lambda one: one.ended):
        if call.cost is not None:
            total += call.cost
            yield call.ended, round(total, 8)


make_service = TimelineService
