"""The latest data of the current runs, kept in memory so that it can be shown without reading the file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, Self

from core.schema.observation import Observation
from core.schema.step import (
    PHASES,
    Acted,
    Aligned,
    BlobHash,
    CallRecord,
    Observed,
    PhaseRecord,
    Recalled,
    record_of,
)
from core.trace.records import Intervention, StepDetail, StepRow

JUDGED = 50
"""Steps back from one whose actions and judgements are shown with it."""


class StepSource(Protocol):
    """The source of a step's view: the trace's file, or the data of the current step in memory."""

    def steps(self, run: int) -> tuple[StepRow, ...]: ...

    def judged(self, run: int, last: int) -> tuple[tuple[int, PhaseRecord], ...]: ...

    def recalled(self, run: int, number: int) -> Recalled | None: ...

    def observed(self, run: int, number: int) -> Observation | None: ...

    @property
    def path(self) -> Path: ...

    def blob(self, name: BlobHash) -> bytes: ...


class StepUnderWay:
    """The current step so far, with what is shown of the steps before it.

    Data that this process has not stored is read from the file: the steps before a branch, or before a run
    was continued.
    """

    def __init__(self, run: "RunUnderWay", contents: dict[BlobHash, bytes]) -> None:
        self.detail = run.detail
        self.own_steps = tuple(run.rows.values())
        """The run's own steps as far as this process has begun them."""
        self._judged = tuple(run.judged.items())
        self._recalled = dict(run.recalled)
        self._observed_before = run.observed_before
        self._contents = contents
        self._first = self.own_steps[0].number
        self._file: StepSource

    def over(self, file: StepSource) -> Self:
        """Take the rest from `file`; to be called before anything is asked."""
        self._file = file
        return self

    def steps(self, run: int) -> tuple[StepRow, ...]:
        before = self._file.steps(run) if self._first > 1 else ()
        return (*(row for row in before if row.number < self._first), *self.own_steps)

    def judged(self, run: int, last: int) -> tuple[tuple[int, PhaseRecord], ...]:
        first = max(self._first, last - JUDGED + 1)
        before = self._file.judged(run, last) if first == self._first > 1 else ()
        own = ((number, record) for number, records in self._judged for record in records if number >= first)
        return (*(one for one in before if one[0] < first), *own)

    def recalled(self, run: int, number: int) -> Recalled | None:
        return self._recalled.get(number) or self._file.recalled(run, number)

    def observed(self, run: int, number: int) -> Observation | None:
        if number >= self._first:
            return self._observed_before
        return self._file.observed(run, number) if number else None

    @property
    def path(self) -> Path:
        return self._file.path

    def blob(self, name: BlobHash) -> bytes:
        kept = self._contents.get(name)
        return self._file.blob(name) if kept is None else kept


class RunUnderWay:
    """What this process has stored of a run; of steps before the last, only what later steps show."""

    def __init__(self) -> None:
        self.rows: dict[int, StepRow] = {}
        self.judged: dict[int, tuple[PhaseRecord, ...]] = {}
        """What ``act`` and ``align`` left in the last steps."""
        self.recalled: dict[int, Recalled] = {}
        """The exemplars, by the step at which they were recalled."""
        self.observed_before: Observation | None = None
        """What was observed in the step before the last."""
        self._records: dict[str, PhaseRecord] = {}
        self._calls: dict[int, CallRecord] = {}
        self._interventions: list[Intervention] = []

    @property
    def row(self) -> StepRow:
        """The current step."""
        return next(reversed(self.rows.values()))

    @property
    def detail(self) -> StepDetail:
        number = self.row.number
        return StepDetail(
            row=self.row,
            records=tuple(self._records[phase] for phase in PHASES if phase in self._records),
            calls=tuple(call for _, call in sorted(self._calls.items()) if call.step == number),
            interventions=tuple(
                intervention for intervention in self._interventions if intervention.step == number
            ),
        )

    def observation(self, step: int) -> Observation | None:
        """Return what was observed in a step, if that is the current one."""
        observed = record_of(Observed, self._records.values())
        return observed.observation if observed is not None and step == self.row.number else None

    def begin_step(self, row: StepRow) -> None:
        observed = record_of(Observed, self._records.values())
        if not self.rows or row.number > self.row.number:
            self.observed_before = observed.observation if observed is not None else None
        self.rows[row.number] = row
        self._records = {}
        # What is asked ahead of a step, or changed before it has begun, is the step's all the same.
        self._calls = {number: call for number, call in self._calls.items() if call.step >= row.number}
        self._interventions = [
            intervention for intervention in self._interventions if intervention.step >= row.number
        ]
        self.judged = {step: kept for step, kept in self.judged.items() if step > row.number - JUDGED}

    def save_phase(self, step: int, record: PhaseRecord) -> None:
        if isinstance(record, Acted | Aligned):
            others = (one for one in self.judged.get(step, ()) if one.phase != record.phase)
            both = sorted((*others, record), key=lambda one: PHASES.index(one.phase))
            self.judged[step] = tuple(both)
        if isinstance(record, Recalled) and record.recall is not None:
            self.recalled[step] = record
        if step in self.rows:
            self.rows[step] = self.rows[step].replace(phase=record.phase, **record.columns())
        if self.rows and step == self.row.number:
            self._records[record.phase] = record

    def save_call(self, call: CallRecord) -> None:
        if not self.rows or call.step >= self.row.number:
            self._calls[call.number] = call

    def save_intervention(self, intervention: Intervention) -> None:
        self._interventions.append(intervention)


class RunsUnderWay:
    """The runs that this process writes, and the contents of the blobs that it has written lately."""

    def __init__(self) -> None:
        self._runs: dict[int, RunUnderWay] = {}
        self._over: set[int] = set()
        self._now: dict[BlobHash, bytes] = {}
        self._before: dict[BlobHash, bytes] = {}
        """Contents written before the last step began: the page of one may be that of the next."""

    def of(self, run: int) -> RunUnderWay:
        return self._runs.setdefault(run, RunUnderWay())

    def step(self, run: int) -> StepUnderWay | None:
        """Return the last step that was begun of a run, as it is now; None if this process has begun none."""
        found = self._runs.get(run)
        return StepUnderWay(found, self._before | self._now) if found is not None and found.rows else None

    def begin_step(self, row: StepRow) -> None:
        self._before, self._now = self._now, {}
        self.of(row.run).begin_step(row)

    def keep(self, contents: Iterable[tuple[BlobHash, bytes]]) -> None:
        """Keep what was written until the step after the next begins."""
        self._now.update(contents)

    def keep_on(self, names: Iterable[BlobHash]) -> None:
        """Keep what was written before and is used again."""
        self._now.update((name, self._before[name]) for name in names if name in self._before)

    def end(self, run: int) -> None:
        """Keep a run that is over only until another one begins: its last step is still shown."""
        self._over.add(run)

    def begin(self) -> None:
        """A run begins."""
        for run in self._over:
            self._runs.pop(run, None)
        self._over.clear()

    def forget(self, run: int) -> None:
        """Keep nothing of a run: others may have changed it, or will."""
        self._runs.pop(run, None)
