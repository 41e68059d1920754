"""Reads what is stored of the steps of a run as records; each function works inside the open transaction."""

from collections.abc import Iterator
from typing import Any, TypeVar

from core.schema.errors import NotInTraceError, TraceError
from core.schema.events import LogLine
from core.schema.observation import Observation
from core.schema.step import (
    RECORDS,
    Aligned,
    Committed,
    Observed,
    PhaseRecord,
    PhaseSpec,
    Recalled,
    record_of,
)
from core.trace import encoding
from core.trace.calls import calls_of
from core.trace.database import TraceDatabase
from core.trace.records import (
    Hit,
    Intervention,
    StepDetail,
    StepRow,
    StepTimes,
)
from core.trace.run_reader import path, require_run, rows_of_step, valid, valid_json

R = TypeVar("R", bound=PhaseSpec)
_STEP_COLUMNS = ", ".join(StepRow.model_fields)


_HASHES = {name: f"(SELECT hash FROM blobs WHERE id = {name}) AS {name}" for name in ("html", "screenshot")}


def own_steps(database: TraceDatabase, run: int) -> tuple[StepRow, ...]:
    require_run(database, run)
    rows = database.rows(f"SELECT {_STEP_COLUMNS} FROM steps WHERE run = ? ORDER BY number", (run,))
    return tuple(valid(database, StepRow, row) for row in rows)


def steps(database: TraceDatabase, run: int) -> tuple[StepRow, ...]:
    return tuple(
        row for part, left in path(database, run) for row in own_steps(database, part) if row.number < left
    )


def owner(database: TraceDatabase, run: int, number: int) -> int:
    """Return the run that has a step: the run itself, or one that it branched from."""
    for part, left in reversed(path(database, run)):
        found = database.row("SELECT 1 FROM steps WHERE run = ? AND number = ?", (part, number))
        if number < left and found is not None:
            return part
    raise NotInTraceError(_no_step(database, run, number))


def step(database: TraceDatabase, run: int, number: int) -> StepDetail:
    run = owner(database, run, number)
    row = database.row(f"SELECT id, {_STEP_COLUMNS} FROM steps WHERE run = ? AND number = ?", (run, number))
    if row is None:
        raise NotInTraceError(_no_step(database, run, number))
    key = row.pop("id")
    return StepDetail(
        row=valid(database, StepRow, row),
        records=_records(database, key, f"step {number} of run {run}"),
        calls=calls_of(database, run, number),
        interventions=interventions(database, run, number),
    )


def observed(database: TraceDatabase, run: int, number: int) -> Observation | None:
    try:
        run = owner(database, run, number)
    except NotInTraceError:
        return None
    row = database.row("SELECT id FROM steps WHERE run = ? AND number = ?", (run, number))
    assert row is not None
    found = record_of(Observed, _records(database, row["id"], f"step {number} of run {run}", ("observe",)))
    return found.observation if found is not None else None


def agent(database: TraceDatabase, run: int, number: int) -> bytes:
    kept = kept_for_step(database, run, number, "agent")
    if not kept:
        raise TraceError(
            f"Step {number} of run {run} was recorded without the agent's state, so you cannot go back to it."
        )
    return kept


def kept_for_step(database: TraceDatabase, run: int, number: int, column: str) -> bytes:
    """Return the content of the blob that a column of a step names, or nothing."""
    run = owner(database, run, number)
    row = database.row(f"SELECT {column} AS kept FROM steps WHERE run = ? AND number = ?", (run, number))
    return b"" if row is None or row["kept"] is None else database.blobs.content(row["kept"])


def judged(
    database: TraceDatabase, run: int, first: int, last: int
) -> list[tuple[int, tuple[PhaseRecord, ...]]]:
    """Return what ``act`` and ``align`` left in these steps, by the number of the step."""
    rows = [
        row
        for part, left in path(database, run)
        for row in database.rows(
            "SELECT id, number FROM steps WHERE run = ? AND number BETWEEN ? AND ? AND number < ? ORDER BY number",
            (part, first, last, left),
        )
    ]
    wanted = ("act", "align")
    return [
        (row["number"], _records(database, row["id"], f"step {row['number']} of run {run}", wanted))
        for row in rows
    ]


def times(database: TraceDatabase, run: int) -> tuple[StepTimes, ...]:
    held = {number: one.held for number, one in _left_by(database, run, Committed)}
    found = []
    for part, left in path(database, run):
        phases: dict[int, list[dict[str, Any]]] = {}
        for row in database.rows(
            "SELECT number, phases.phase, phases_begun.begun, saved FROM phases"
            " JOIN steps ON steps.id = phases.step"
            " LEFT JOIN phases_begun ON phases_begun.step = steps.id AND phases_begun.phase = phases.phase"
            " WHERE run = ? AND number < ? ORDER BY number, position",
            (part, left),
        ):
            phases.setdefault(row.pop("number"), []).append(row)
        steps = database.rows(
            "SELECT number, begun FROM steps WHERE run = ? AND number < ? ORDER BY number", (part, left)
        )
        found += [
            valid(
                database,
                StepTimes,
                {**step, "phases": phases.get(number := step["number"], ()), "held": held.get(number, ())},
            )
            for step in steps
        ]
    return tuple(found)


def judgements(database: TraceDatabase, run: int) -> tuple[tuple[int, Aligned], ...]:
    """Return what was judged of the steps, in order; what is damaged is left out."""
    return tuple((number, one) for number, one in _left_by(database, run, Aligned) if one.judged)


def _left_by(database: TraceDatabase, run: int, cls: type[R]) -> Iterator[tuple[int, R]]:
    """Yield what a phase has left of each step, in order; what is damaged is left out."""
    phase = cls.model_fields["phase"].default
    for part, left in path(database, run):
        for row in database.rows(
            "SELECT number, record FROM phases JOIN steps ON steps.id = phases.step"
            " WHERE run = ? AND number < ? AND phases.phase = ? ORDER BY number",
            (part, left, phase),
        ):
            try:
                record = encoding.decode(phase, row["record"], None)
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if isinstance(record, cls):
                yield row["number"], record


def interventions(database: TraceDatabase, run: int, step: int | None = None) -> tuple[Intervention, ...]:
    columns = 'run, step, kind, who, time AS "when", before, after'
    rows = rows_of_step(database, f"SELECT {columns} FROM interventions", run, step, "id")
    return tuple(valid(database, Intervention, row) for row in rows)


def hits(database: TraceDatabase, run: int, step: int | None = None) -> tuple[Hit, ...]:
    rows = rows_of_step(database, f"SELECT {', '.join(Hit.model_fields)} FROM hits", run, step, "id")
    return tuple(valid(database, Hit, row) for row in rows)


def what_ifs(database: TraceDatabase, run: int, step: int) -> tuple[tuple[int, str], ...]:
    rows = rows_of_step(
        database, "SELECT number, record FROM what_ifs", owner(database, run, step), step, "number"
    )
    return tuple((row["number"], database.blobs.content(row["record"]).decode()) for row in rows)


def log(database: TraceDatabase, run: int | None, limit: int) -> tuple[LogLine, ...]:
    rows = database.rows(
        "SELECT time, level, source, text FROM"
        " (SELECT * FROM log WHERE run IS ? ORDER BY id DESC LIMIT ?) ORDER BY id",
        (run, limit),
    )
    return tuple(valid(database, LogLine, row) for row in rows)


def observation(database: TraceDatabase, id: int) -> Observation:
    return valid_json(database, Observation, database.blobs.content(id))


def _records(
    database: TraceDatabase, key: int, where: str, phases: tuple[str, ...] = ()
) -> tuple[PhaseRecord, ...]:
    found: list[PhaseRecord] = []
    observations: dict[int, Observation] = {}
    (names,) = database.rows(
        f"SELECT {_HASHES['html']}, {_HASHES['screenshot']} FROM steps WHERE steps.id = ?", (key,)
    )
    for row in database.rows("SELECT * FROM phases WHERE step = ? ORDER BY position", (key,)):
        if phases and row["phase"] not in phases:
            continue
        base = row["base"]
        if base is not None and base not in observations:
            observations[base] = observation(database, base)
        part = None if row["part"] is None else database.blobs.content(row["part"])
        try:
            extra = {name: names[name] for name in RECORDS[row["phase"]].blobs if names[name]}
            record = encoding.decode(row["phase"], row["record"], part, observations.get(base), extra)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise TraceError(
                f"The record of phase {row['phase']} in {where} cannot be read: the trace database "
                f"{database.path} is damaged."
            ) from error
        if isinstance(record, Observed):
            observations[row["part"]] = record.observation
        found.append(record)
    return tuple(found)


def _no_step(database: TraceDatabase, run: int, number: int) -> str:
    numbers = [row.number for row in steps(database, run)]
    if not numbers:
        return f"Run {run} has no step {number}: it has no steps."
    if numbers[0] == numbers[-1]:
        return f"Run {run} has no step {number}; its only step is {numbers[0]}."
    return f"Run {run} has no step {number}; its steps are {numbers[0]} to {numbers[-1]}."


_RECALL = 3
"""The position of the phase among the ten."""


def has_recalls(database: TraceDatabase) -> bool:
    """Return whether any step may have recalled an exemplar: its record is long, or has a list of them."""
    recalls = "typeof(record) = 'blob' OR record LIKE '%[{%'"
    steps = f"SELECT 1 FROM steps JOIN phases ON step = id WHERE position = ? AND ({recalls}) LIMIT 1"
    return database.row(steps, (_RECALL,)) is not None


def recalls_since(
    database: TraceDatabase, since: tuple[int, float], limit: int
) -> tuple[tuple[int, float], list[tuple[int, int, float, Recalled]]]:
    """Return what was recalled for the next steps after `since` (run, step, when), and where to continue.

    A place to continue is a step's id and when it was begun: without such a step, all are read. A step that is still
    in progress may have more to tell: it is where to continue. What a branch has of a step before it counts as its own.
    """
    if database.row("SELECT 1 FROM steps WHERE id = ? AND begun = ?", since) is None:
        since = (0, 0.0)
    steps = database.rows(
        "SELECT steps.id, begun, run, number, sealed, runs.outcome, owner, parent_step FROM steps"
        " JOIN runs USING (run) WHERE steps.id > ? ORDER BY steps.id LIMIT ?",
        (since[0], limit),
    )
    found: dict[tuple[int, int], tuple[float, Recalled]] = {}
    is_certain = True
    for step in steps:
        is_certain &= bool(
            step["sealed"] or step["outcome"] != "running" or not database.lives(step["owner"] or "")
        )
        since = (step["id"], step["begun"]) if is_certain else since
        row = database.row(
            "SELECT phase, saved, record FROM phases WHERE step = ? AND position = ?", (step["id"], _RECALL)
        )
        if row is None:
            continue
        try:
            record = encoding.decode(row["phase"], row["record"], None)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise database.damaged() from error
        if not isinstance(record, Recalled) or record.recalled_at is None:
            continue
        at, whole = (step["run"], record.recalled_at), record
        if record.recall is None and at not in found and record.recalled_at < (step["parent_step"] or 0):
            whole = _recalled_before(database, *at) or record
        if whole.recall is not None:
            found[at] = (row["saved"], whole)
    return since, [(*at, *what) for at, what in found.items()]


def _recalled_before(database: TraceDatabase, run: int, number: int) -> Recalled | None:
    """Return what a step before a branch recalled; None if that is not there any more."""
    try:
        return record_of(Recalled, step(database, run, number).records)
    except NotInTraceError:
        return None
