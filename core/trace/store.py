"""The trace: the interface to the database of runs and their steps.

Each method is one transaction, committed when the method returns. If it raises TraceError, nothing of it was
stored, and everything before it is kept.
"""

import json
import time
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from core.schema.changes import Changes
from core.schema.errors import TraceError
from core.schema.events import LogLine
from core.schema.hiding import Secrets
from core.schema.observation import Observation
from core.schema.secrets import Kind, is_text_of, told_by
from core.schema.step import Aligned, BlobHash, PhaseRecord, Recalled, record_of
from core.schema.task import Verdict
from core.storage.database import BUSY_SECONDS
from core.trace import owners, pruning, run_reader
from core.trace import reader as reading
from core.trace import writer as writing
from core.trace.calls import LLMCalls
from core.trace.database import JSON, KIND, NewBlobs, TraceDatabase
from core.trace.hidden_records import hidden_record, types
from core.trace.imports.records import ImportedRun
from core.trace.imports.storage import store_run
from core.trace.pages import StoredPages
from core.trace.pruning import Pruned, PrunePlan, PruneRequest
from core.trace.records import (
    CaseAttempt,
    Intervention,
    RunEnd,
    RunFilter,
    RunOutcome,
    RunRow,
    RunStart,
    StepDetail,
    StepRow,
    StepTimes,
)
from core.trace.repro.rows import Change, Copier, hide_in
from core.trace.stops import Stops
from core.trace.under_way import JUDGED, RunsUnderWay, StepUnderWay

T = TypeVar("T")


class TraceStore:
    """Runs with their steps; what else is stored of them is in the parts `calls`, `pages` and `stops`."""

    def __init__(self, database: TraceDatabase) -> None:
        self.path = database.path
        self._database = database
        self.owner = owners.Owner(database.path)
        """Names this process in what it is at work on."""
        self.left_out: str | None = None
        """What was left out of a copy without secrets, in a sentence; None for another store."""
        self._under_way = RunsUnderWay()
        self.calls = LLMCalls(self, self._under_way)
        self.pages = StoredPages(self, self._under_way)
        self.stops = Stops(self)
        self._noted: dict[int, str] = {}
        self._has_old_words = False
        """Whether the indexes of words may have what was hidden since; to leave it out takes long in a large file."""

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        read_only: bool = False,
        busy_seconds: float = BUSY_SECONDS,
    ) -> "TraceStore":
        """Open the database, made with its folder if there is none and brought up to date where it is old.

        With `read_only` nothing is made or changed, and the file may lie where
        nothing can be written. Another program's lock is waited for
        `busy_seconds` at most, here and in every method. Raises TraceError.
        """
        return cls(TraceDatabase.open(path, KIND, read_only=read_only, busy_seconds=busy_seconds))

    @classmethod
    def of_content(cls, content: bytes) -> "TraceStore":
        """Open a whole file of this version in memory, to be read only; raises TraceError."""
        return cls(TraceDatabase.of_content(content, KIND))

    def close(self) -> None:
        """Close the file; runs still in progress can be recovered from now on. Calling it again does nothing."""
        self._forget_words()
        self._has_old_words = False
        self._database.close()
        self.owner.let_go()

    @property
    def secrets(self) -> Secrets:
        """What is not stored from now on, but a name in its place."""
        return self._database.secrets

    # Writing

    def begin_run(self, start: RunStart) -> int:
        """Store a new run and return its number."""
        with self._write():
            run = writing.insert_run(self._database, start, self.owner.token())
        self._under_way.begin()
        return run

    def import_run(self, imported: ImportedRun, name: str) -> int:
        """Store a whole run read of a foreign file, as ``import/NAME``, and return its number."""
        with self._write():
            return store_run(self._database, imported, name)

    def copy_to(
        self,
        target: "TraceStore",
        run: int,
        change: Change = str,
        *,
        own: Change = str,
        offline: bool = False,
        same_numbers: bool = False,
        attempt: CaseAttempt | None = None,
    ) -> int:
        """Copy a run with those that it branched from into another database, and return its number there.

        `change` is what becomes of all text, and `own` of all but the
        answers of servers. With `offline` the pages of the
        copies get recorded answers only. With `same_numbers`, for an empty
        database, runs and steps keep theirs, what is damaged stays so, and
        the copy tells of this file. As the run of an `attempt` it is
        copied once: if that has one there which has ended, its number is
        returned. Nothing is copied where it raises TraceError.
        """
        with self._database.read(), target._write():
            if attempt is not None and (known := run_reader.run_of(target._database, attempt)) is not None:
                return known
            runs = [part for part, _ in run_reader.path(self._database, run)]
            if same_numbers:
                target.path = target._database.path = self.path
            copier = Copier(
                self._database,
                target._database,
                change,
                own=own,
                same_numbers=same_numbers,
                whole=attempt is not None,
            )
            copies = copier.copy(runs)
            for copy in copies.values() if offline else ():
                target._database.update("runs", {"run": copy}, {"offline": True})
            if attempt is not None:
                writing.insert_attempt(target._database, attempt, run=copies[run])
            return copies[run]

    def begin_step(self, run: int, number: int, trial: int = 1, *, agent: bytes = b"") -> None:
        """Store a new step, with the agent as it is when the step begins, as JSON."""
        with self._write():
            writing.insert_step(self._database, run, number, trial, agent)
        self._under_way.begin_step(StepRow(run=run, number=number, trial=trial))

    def save_agent(self, run: int, step: int, agent: bytes) -> None:
        """Store the agent, as JSON, that a step is started again with when its run is taken up."""
        with self._write():
            kept, _ = self._database.blobs.put(agent, JSON)
            self._database.update("steps", {"run": run, "number": step}, {"agent": kept})

    def put_blob(self, data: bytes, media_type: str) -> BlobHash:
        """Store `data` and return its hash; content that is stored already is left as it is."""
        with self._write():
            name = self._database.blobs.put(data, media_type)[1]
        self._under_way.keep([(name, data)])
        return name

    def save_phase(
        self,
        run: int,
        step: int,
        record: PhaseRecord,
        *,
        blobs: NewBlobs = (),
        begun: float | None = None,
        took: float | None = None,
    ) -> None:
        """Store what a phase left, with the blobs it names that are not stored yet, when it began and what it took.

        A second record of the same phase takes the place of the first: the
        phase was done again.
        """
        record = self._hidden(run, step, record)
        known = self._under_way.of(run)
        with self._write():
            writing.save_phase(self._database, run, step, record, blobs, known.observation(step), begun, took)
        known.save_phase(step, record)
        self._under_way.keep_on(getattr(record, name) for name in record.blobs)

    def hide(self, run: int, kind: Kind, value: str, instead: str = "") -> None:
        """Store a name, or `instead`, in place of a value from now on, also where a run has it already."""
        if self.secrets.add(kind, value, instead):
            self._hide_in(run)

    def _hidden(self, run: int, step: int, record: PhaseRecord) -> PhaseRecord:
        """Return a record without secrets, and hide what they are known by now in what the run has already."""
        writes = types(record)
        if not writes and not self.secrets:
            return record
        seen = self._under_way.of(run).observation(step)
        if writes:
            row = self.run(run)
            self.secrets.public = told_by(row.environment, row.instruction)
        before = len(self.secrets)
        record = hidden_record(record, seen or (self.observed(run, step) if writes else None), self.secrets)
        if len(self.secrets) > before:
            self._hide_in(run)
        return record

    def _hide_in(self, run: int) -> None:
        with self._database.write_unchecked(), self._write():
            path = [part for part, _ in run_reader.path(self._database, run)]
            indexed = hide_in(self._database, path, self.secrets.text)
        self._has_old_words = self._has_old_words or indexed
        self._database.checkpoint()
        self._under_way.forget(run)

    def _forget_words(self) -> None:
        """Leave nothing hidden in the indexes of words; where that fails, it is done when the file is closed."""
        if not self._has_old_words:
            return
        with suppress(TraceError):
            with self._write():
                self._database.forget_words()
            self._has_old_words = False
            self._database.checkpoint()

    def save_intervention(self, intervention: Intervention) -> None:
        """Store what a person changed; the run counts as touched from then on."""
        with self._write(intervention.run):
            values = intervention.model_dump()
            values["time"] = values.pop("when")
            self._database.insert("interventions", values)
            self._database.update("runs", {"run": intervention.run}, {"touched": True})
        self._under_way.of(intervention.run).save_intervention(intervention)

    def save_what_if(self, run: int, step: int, record: str) -> int:
        """Store the result of asking a step's question again, as JSON, and return its number."""
        with self._write(run):
            kept, _ = self._database.blobs.put(record.encode(errors="replace"), JSON)
            values = {"run": run, "step": step, "time": time.time(), "record": kept}
            return self._database.insert("what_ifs", values)

    def save_log(self, run: int | None, line: LogLine) -> None:
        values = {**line.model_dump(), "text": self.secrets.text_of_places(line.text)}
        with self._write(run):
            self._database.insert("log", {"run": run, **values})

    def end_run(
        self,
        run: int,
        *,
        outcome: RunOutcome,
        verdict: Verdict,
        answer: str = "",
        error: str = "",
        seconds: float,
        seconds_in_llm: float,
        own_files: Mapping[str, str] | None = None,
    ) -> None:
        """Store the end of a run.

        Of `own_files`, those of the user as they are now, it is not known what the steps used where one is not as
        it was when the run began.
        """
        values: dict[str, Any] = {
            "outcome": outcome,
            **verdict.model_dump(),
            "answer": answer,
            "error": error,
            "seconds": seconds,
            "seconds_in_llm": seconds_in_llm,
            "ended": time.time(),
            "owner": None,
        }
        if own_files is not None:
            # What is damaged cannot be compared, and the run has ended all the same.
            with suppress(TraceError):
                values |= self._changed_files(run, own_files)
        self._update_run(run, values)

    def _changed_files(self, run: int, now: Mapping[str, str]) -> dict[str, Any]:
        """Return what to store if some of the user's files are not as they were when a run began."""
        begun = self.own_files(run)
        if begun is None:
            return {}
        texts = {
            name: text if text is not None and name in now and is_text_of(text, now[name]) else None
            for name, text in {**dict.fromkeys(now), **begun}.items()
        }
        if texts == begun:
            return {}
        with self._write(run):
            return {"own_files": writing.put_own_files(self._database, texts)}

    def name_run(self, run: int, name: str) -> None:
        """Call a run by a name of the person's; none takes it away."""
        self._update_run(run, {"name": name})

    def note_end(self, run: int, error: str) -> None:
        """Keep beside the file the error that ended a run, where it cannot be stored now.

        The next thing that is written stores it too, or else `recover`.
        """
        self.owner.note(run, error)
        self._noted[run] = error

    def leave_run(self, run: int) -> None:
        """Leave a run as it is, to be taken up again."""
        self._update_run(run, {"outcome": "left", "owner": None, "ended": time.time()})

    def take_up_run(self, run: int) -> None:
        """Continue with a run that was left or interrupted."""
        owner = self.owner.token()
        self._under_way.forget(run)
        self._update_run(run, {"outcome": "running", "owner": owner, "ended": None, "error": ""})

    def move_branch(self, run: int, parent: int, step: int) -> None:
        """Let a branch that has no steps yet begin at another step, of the run that this one was done in."""
        self._update_run(run, {"parent_run": parent, "parent_step": step})

    def set_verdict(self, run: int, verdict: Verdict) -> None:
        """Store how a run ended, in place of what was said of it before."""
        self._update_run(run, verdict.model_dump())

    def recover(self) -> tuple[int, ...]:
        """Mark as interrupted the runs whose process has gone, and return them, oldest first.

        Runs of living processes, this one included, are left alone.
        """
        with self._write():
            gone = [
                (run, owner)
                for run, owner in run_reader.unended(self._database)
                if not self._database.lives(owner)
            ]
            for run, owner in gone:
                writing.mark_ended(self._database, run, *owners.end_of(self.path, owner, run))
        self._has_old_words = self._has_old_words or bool(gone)
        owners.clear(self.path)
        return tuple(run for run, _ in gone)

    def prune(self, plan: PrunePlan, tell: Callable[[int], None] = lambda gone: None) -> Pruned:
        """Delete the runs of a plan for good, and free what only they needed; `tell` gets how many went so far.

        Killed in the middle, it leaves whole runs, and the next time continues.
        Raises UsageError, with nothing deleted, where another process is at
        work on one of the runs, and TraceError.
        """
        return pruning.prune(self._database, plan, self.owner.is_alone, tell)

    # Reading

    def plan_prune(self, wanted: PruneRequest, exemplars: Collection[int] = ()) -> PrunePlan:
        """Return what `prune` would delete; `exemplars` are the runs that exemplars were made of."""
        return self._read(lambda: pruning.plan_prune(self._database, wanted, exemplars))

    def runs(
        self, query: str = "", *, limit: int = 200, task: str = "", outcome: RunFilter = ""
    ) -> tuple[RunRow, ...]:
        """Return runs, newest first, in which all words of `query` occur.

        The words may be spread over task, instruction, answer, thoughts and
        actions; the last may be only begun. `task` and `outcome` must be met
        exactly where they are given. A run whose process has gone reads as
        interrupted, also before `recover`.
        """
        return self._read(
            lambda: run_reader.list_runs(self._database, query, limit=limit, task=task, outcome=outcome)
        )

    def named_runs(self, words: str, *, limit: int) -> tuple[RunRow, ...]:
        """Return runs, newest first, that a person gave a name in which all of `words` occur."""
        return self._read(lambda: run_reader.named_runs(self._database, words, limit=limit))

    def find_runs(self, query: str = "", *, current: int | None = None) -> tuple[int, ...]:
        """Return the numbers of all runs with steps that `runs` would return, newest first.

        Those without steps are among them while they continue, and `current` in any case.
        """
        return self._read(lambda: run_reader.find_runs(self._database, query, current))

    def rows(self, runs: Iterable[int]) -> tuple[RunRow, ...]:
        """Return these runs, newest first; one that is not there is left out."""
        return self._read(lambda: run_reader.rows_of(self._database, runs))

    def recalls(
        self, since: tuple[int, float], *, limit: int
    ) -> tuple[tuple[int, float], list[tuple[int, int, float, Recalled]]]:
        """Return what was recalled for the `limit` steps stored after `since`: run, step, when and what.

        The first of the two is where to continue; a step still in progress is read again then, and all steps are if
        that one is not there any more.
        """
        return self._read(lambda: reading.recalls_since(self._database, since, limit))

    def has_recalls(self) -> bool:
        """Return whether `recalls` may have anything to return."""
        return self._read(lambda: reading.has_recalls(self._database))

    def started(self, runs: Iterable[int]) -> dict[int, float]:
        """Return when these runs began; one that is not there is left out."""
        return self._read(lambda: run_reader.started(self._database, runs))

    def ends(self, runs: Iterable[int]) -> list[RunEnd]:
        """Return how these runs stand; one that is not there is left out."""
        return self._read(lambda: run_reader.ends(self._database, runs))

    def run(self, run: int) -> RunRow:
        """Raises NotInTraceError that names the nearest runs if there is no such run."""
        return self._read(lambda: run_reader.run_row(self._database, run))

    def preset_text(self, run: int) -> str:
        """Return the preset's file as it was when the run began."""
        return self._read(lambda: run_reader.kept_for_run(self._database, run, "preset_text")).decode()

    def own_files(self, run: int) -> dict[str, str | None] | None:
        """Return the user's own files that a run was made with, by their names; None if they are not known.

        A file that was changed during the run has no text: it is not known with which one a step was made.
        """
        data = self._read(lambda: run_reader.kept_for_run(self._database, run, "own_files"))
        try:
            return dict(json.loads(data)) if data else None
        except ValueError as error:
            raise self._database.damaged() from error

    def steps(self, run: int) -> tuple[StepRow, ...]:
        """Return the run's steps in order, the unsealed one included; for a branch, those before it first."""
        return self._read(lambda: reading.steps(self._database, run))

    def own_steps(self, run: int) -> tuple[StepRow, ...]:
        """Return the steps that were done in the run itself, not in those it branched from."""
        return self._read(lambda: reading.own_steps(self._database, run))

    def branches(self, run: int) -> tuple[tuple[int, int], ...]:
        """Return the branches of a run, the oldest first, each with the step at which it left it."""
        return self._read(lambda: run_reader.branches(self._database, run))

    def owner_of(self, run: int, number: int) -> int:
        """Return the run that a step was done in: the run itself, or one that it branched from."""
        return self._read(lambda: reading.owner(self._database, run, number))

    def step(self, run: int, number: int) -> StepDetail:
        """Return everything stored of a step, its records in the order of the phases.

        Raises NotInTraceError that names the steps there are if there is no such step.
        """
        return self._read(lambda: reading.step(self._database, run, number))

    def seen_changes(self) -> int:
        """Return a number that is another one once another process, or another store here, has written."""
        return self._database.seen_changes()

    def under_way(self, run: int) -> StepUnderWay | None:
        """Return the last step of a run as it is now, without reading; None if this process has begun none of it."""
        return self._under_way.step(run)

    def recalled(self, run: int, number: int) -> Recalled | None:
        """Return the exemplars that a step recalled."""
        return record_of(Recalled, self.step(run, number).records)

    def observed(self, run: int, number: int) -> Observation | None:
        """Return the page as a step found it; None if there is no such step, or it has not seen its page."""
        return self._read(lambda: reading.observed(self._database, run, number))

    def agent(self, run: int, number: int) -> bytes:
        """Return the agent as it was when the step began; raises TraceError if that was not kept."""
        return self._read(lambda: reading.agent(self._database, run, number))

    def path_of(self, run: int) -> tuple[int, ...]:
        """Return the runs that a run branched from, the oldest first, and the run itself."""
        return self._read(lambda: tuple(part for part, _ in run_reader.path(self._database, run)))

    def times(self, run: int) -> tuple[StepTimes, ...]:
        """Return when each step was begun and its phases were stored, in order."""
        return self._read(lambda: reading.times(self._database, run))

    def judged(self, run: int, last: int) -> tuple[tuple[int, PhaseRecord], ...]:
        """Return what ``act`` and ``align`` left in the last `JUDGED` steps up to `last`, each with its step."""
        steps = self._read(lambda: reading.judged(self._database, run, last - JUDGED + 1, last))
        return tuple((number, record) for number, records in steps for record in records)

    def judgements(self, run: int) -> tuple[tuple[int, Aligned], ...]:
        """Return what was judged of the steps of a run, each with its step, in order."""
        return self._read(lambda: reading.judgements(self._database, run))

    def interventions(self, run: int) -> tuple[Intervention, ...]:
        return self._read(lambda: reading.interventions(self._database, run))

    def what_ifs(self, run: int, step: int) -> tuple[tuple[int, str], ...]:
        """Return what was asked again of a step, each as its number and JSON, in order."""
        return self._read(lambda: reading.what_ifs(self._database, run, step))

    def changes(self, run: int) -> Changes:
        """Return what was asked of a run and of those that it branched from; the nearest wins."""
        return self._read(lambda: run_reader.changes(self._database, run))

    def log(self, run: int | None = None, *, limit: int = 1000) -> tuple[LogLine, ...]:
        """Return the last lines of a run's log, or of what belongs to no run, oldest first."""
        return self._read(lambda: reading.log(self._database, run, limit))

    def blob(self, name: BlobHash) -> bytes:
        """Raises TraceError if the blob is missing, or damaged: its hash is checked."""
        return self._read(lambda: self._database.blobs.get(name)[0])

    def blob_and_type(self, name: BlobHash) -> tuple[bytes, str]:
        """Return a blob with its media type, as `blob` does."""
        return self._read(lambda: self._database.blobs.get(name))

    def ask(self, question: Callable[[TraceDatabase], T]) -> T:
        """Answer what another module of this package reads of the file."""
        return self._read(lambda: question(self._database))

    def change(self, change: Callable[[TraceDatabase], T], run: int | None = None) -> T:
        """Do what another module of this package writes to the file, of a `run` that must be there."""
        with self._write(run):
            return change(self._database)

    def check(self) -> None:
        """Read the whole file for damage, which takes time in a large one; raises TraceError."""
        rows = self._read(lambda: self._database.rows("PRAGMA quick_check(1)"))
        if rows != [{"quick_check": "ok"}]:
            raise self._database.damaged()

    def _update_run(self, run: int, values: dict[str, Any]) -> None:
        with self._write(run):
            self._database.update("runs", {"run": run}, values)
        if values.get("owner", "") is None:
            self._under_way.end(run)
            self._forget_words()

    @contextmanager
    def _write(self, run: int | None = None) -> Generator[None, None, None]:
        """Write in one transaction; raises NotInTraceError if there is to be such a `run`, and is none."""
        try:
            with self._database.write():
                for noted, error in self._noted.items():
                    writing.mark_ended(self._database, noted, "error", error)
                if run is not None:
                    run_reader.require_run(self._database, run)
                yield
            self._noted.clear()
        except BaseException:
            self._database.blobs.forget()
            raise

    def _read(self, read: Callable[[], T]) -> T:
        with self._database.read():
            return read()
