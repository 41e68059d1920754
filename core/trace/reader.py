"""Reads rows as records; each function works inside the open transaction."""

import itertools
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from core.browser.log.records import LogPart, PageLog
from core.browser.recorded.exchange import Exchange
from core.schema.errors import NotInTraceError, TraceError
from core.schema.events import BrowserEvent, LogLine
from core.schema.exemplar import Recall
from core.schema.messages import Usage
from core.schema.observation import Observation
from core.schema.record import Record
from core.schema.step import RECORDS, Aligned, CallRecord, Observed, PhaseRecord, Recalled, record_of
from core.storage.database import phrases_of
from core.trace import encoding, owners
from core.trace.database import TraceDatabase
from core.trace.records import (
    BreakpointRow,
    CaseAttempt,
    Hit,
    Intervention,
    RunRow,
    StepDetail,
    StepRow,
    StepTimes,
    WatchRow,
)

_RUN_COLUMNS = ", ".join(
    name
    for field in RunRow.model_fields
    for name in (("success", "reward", "judge", "reason") if field == "verdict" else (field,))
)
_STEP_COLUMNS = ", ".join(StepRow.model_fields)
_HASHES = {
    name: f"(SELECT hash FROM blobs WHERE id = {name}) AS {name}"
    for name in ("messages", "reply", "html", "screenshot")
}
_CALL_COLUMNS = ", ".join(
    name
    for field in CallRecord.model_fields
    for name in (tuple(Usage.model_fields) if field == "usage" else (_HASHES.get(field, field),))
)

M = TypeVar("M", bound=BaseModel)


class RunEvent(Record):
    """Something that happened in the browser, with its place in the run."""

    step: int
    """The current step; 0 before the first."""
    time: float
    """Seconds since the epoch."""
    event: BrowserEvent


def list_runs(
    database: TraceDatabase,
    query: str,
    *,
    limit: int,
    task: str,
    outcome: str,
    living: Callable[[str], bool],
) -> tuple[RunRow, ...]:
    where, words = _condition(query)
    parameters: list[int | str] = [*words]
    if task:
        where, parameters = f"{where} AND task = ?", [*parameters, task]
    if outcome:
        went, more = _went(database, outcome, living)
        where, parameters = f"{where} AND {went}", [*parameters, *more]
    rows = database.rows(
        f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE {where} ORDER BY run DESC LIMIT ?",
        [*parameters, limit],
    )
    return tuple(_run_row(database, row, living) for row in rows)


def named_runs(
    database: TraceDatabase, words: str, *, limit: int, living: Callable[[str], bool]
) -> tuple[RunRow, ...]:
    parts = words.split() or [""]
    where = " AND ".join(["instr(lower(name), lower(?))"] * len(parts))
    rows = database.rows(
        f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE name <> '' AND {where} ORDER BY run DESC LIMIT ?",
        [*parts, limit],
    )
    return tuple(_run_row(database, row, living) for row in rows)


def find_runs(database: TraceDatabase, query: str, current: int | None) -> tuple[int, ...]:
    where, parameters = _condition(query)
    found = database.execute(
        f"SELECT run FROM runs WHERE (steps OR outcome = 'running' OR run = ?) AND {where} ORDER BY run DESC",
        [current, *parameters],
    )
    return tuple(run for (run,) in found)


def rows_of(
    database: TraceDatabase, runs: Iterable[int], living: Callable[[str], bool]
) -> tuple[RunRow, ...]:
    rows = database.rows(
        f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE run IN (SELECT value FROM json_each(?)) ORDER BY run DESC",
        (json.dumps(list(runs)),),
    )
    return tuple(_run_row(database, row, living) for row in rows)


def count_runs(database: TraceDatabase, query: str) -> int:
    where, parameters = _condition(query)
    (row,) = database.rows(f"SELECT count(*) AS count FROM runs WHERE {where}", parameters)
    return int(row["count"])


def run_row(database: TraceDatabase, run: int, living: Callable[[str], bool]) -> RunRow:
    row = database.row(f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE run = ?", (run,))
    if row is None:
        raise NotInTraceError(_no_run(database, run))
    return _run_row(database, row, living)


def require_run(database: TraceDatabase, run: int) -> None:
    if database.row("SELECT 1 FROM runs WHERE run = ?", (run,)) is None:
        raise NotInTraceError(_no_run(database, run))


def kept_for_run(database: TraceDatabase, run: int, column: str) -> bytes:
    """Return the content of the blob that a column of a run names, or nothing."""
    require_run(database, run)
    (row,) = database.rows(f"SELECT {column} AS kept FROM runs WHERE run = ?", (run,))
    return b"" if row["kept"] is None else database.blobs.content(row["kept"])


def changes(database: TraceDatabase, run: int) -> tuple[bytes, ...]:
    """Return what was asked of a run and of those that it branched from, the oldest first."""
    found = (kept_for_run(database, part, "changes") for part, _ in path(database, run))
    return tuple(data for data in found if data)


def run_of(database: TraceDatabase, attempt: CaseAttempt) -> int | None:
    """Return the run of an attempt, if one has ended by itself."""
    case = {**attempt.case.model_dump(), "evaluation": attempt.evaluation, "attempt": attempt.number}
    same = " AND ".join(f"attempts.{name} = :{name}" for name in case)
    row = database.row(
        f"SELECT run FROM attempts JOIN runs USING (run) WHERE {same}"
        " AND outcome NOT IN ('running', 'interrupted')",
        case,
    )
    return None if row is None else int(row["run"])


def path(database: TraceDatabase, run: int) -> list[tuple[int, int]]:
    """Return the runs that a run's steps are in, the oldest first, each with the step at which it was left.

    The run itself comes last, and is never left.
    """
    require_run(database, run)
    found: list[tuple[int, int]] = []
    limit, at = sys.maxsize, run
    while at not in [number for number, _ in found]:
        found.append((at, limit))
        row = database.row("SELECT parent_run, parent_step FROM runs WHERE run = ?", (at,))
        if row is None or row["parent_run"] is None or row["parent_step"] is None:
            break
        at, limit = row["parent_run"], min(row["parent_step"], limit)
    return found[::-1]


def branches(database: TraceDatabase, run: int) -> tuple[tuple[int, int], ...]:
    """Return the branches of a run, the oldest first, each with the step at which it left it."""
    rows = database.rows(
        "SELECT run, parent_step FROM runs WHERE parent_run = ? AND parent_step IS NOT NULL ORDER BY run",
        (run,),
    )
    return tuple((row["run"], row["parent_step"]) for row in rows)


def own_steps(database: TraceDatabase, run: int) -> tuple[StepRow, ...]:
    require_run(database, run)
    rows = database.rows(f"SELECT {_STEP_COLUMNS} FROM steps WHERE run = ? ORDER BY number", (run,))
    return tuple(_valid(database, StepRow, row) for row in rows)


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
        row=_valid(database, StepRow, row),
        records=_records(database, key, f"step {number} of run {run}"),
        calls=calls(database, run, number),
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
    found: dict[int, StepTimes] = {}
    for part, left in path(database, run):
        begun = {
            row["number"]: row["begun"]
            for row in database.rows(
                "SELECT number, begun FROM steps WHERE run = ? AND number < ? ORDER BY number", (part, left)
            )
        }
        saved = database.rows(
            "SELECT number, phases.phase, saved, phases_begun.begun FROM phases"
            " JOIN steps ON steps.id = phases.step"
            " LEFT JOIN phases_begun ON phases_begun.step = steps.id AND phases_begun.phase = phases.phase"
            " WHERE run = ? AND number < ? ORDER BY number, position",
            (part, left),
        )
        by_step = {
            number: tuple(rows) for number, rows in itertools.groupby(saved, key=lambda row: row["number"])
        }
        for number, since in begun.items():
            phases = by_step.get(number, ())
            values = {
                "number": number,
                "begun": since,
                "saved": tuple((row["phase"], row["saved"]) for row in phases),
                "phases_begun": tuple(
                    (row["phase"], row["begun"]) for row in phases if row["begun"] is not None
                ),
            }
            found[number] = _valid(database, StepTimes, values)
    return tuple(found.values())


def pictures(database: TraceDatabase, run: int) -> dict[int, str]:
    """Return the hashes of the steps' pictures by the number of the step; a step without one is left out."""
    return {
        row["number"]: row["hash"]
        for part, left in path(database, run)
        for row in database.rows(
            "SELECT number, hash FROM steps JOIN blobs ON blobs.id = screenshot WHERE run = ? AND number < ?",
            (part, left),
        )
    }


def judgements(database: TraceDatabase, run: int) -> tuple[tuple[int, Aligned], ...]:
    """Return what was judged of the steps, in order; what is damaged is left out."""
    found: list[tuple[int, Aligned]] = []
    for part, left in path(database, run):
        for row in database.rows(
            "SELECT number, record FROM phases JOIN steps ON steps.id = phases.step"
            " WHERE run = ? AND number < ? AND phases.phase = 'align' ORDER BY number",
            (part, left),
        ):
            try:
                record = encoding.decode("align", row["record"], None)
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if isinstance(record, Aligned) and record.judged:
                found.append((row["number"], record))
    return tuple(found)


def calls(database: TraceDatabase, run: int, step: int | None = None) -> tuple[CallRecord, ...]:
    rows = _rows_of_step(database, f"SELECT {_CALL_COLUMNS} FROM calls", run, step, "number")
    return tuple(_call(database, row) for row in rows)


def interventions(database: TraceDatabase, run: int, step: int | None = None) -> tuple[Intervention, ...]:
    columns = 'run, step, kind, who, time AS "when", before, after'
    rows = _rows_of_step(database, f"SELECT {columns} FROM interventions", run, step, "id")
    return tuple(_valid(database, Intervention, row) for row in rows)


def events(database: TraceDatabase, run: int) -> tuple[RunEvent, ...]:
    rows = _rows_of_step(database, "SELECT step, time, kind, text, tab, url FROM events", run, None, "id")
    return tuple(
        RunEvent(step=row.pop("step"), time=row.pop("time"), event=_valid(database, BrowserEvent, row))
        for row in rows
    )


def breakpoints(database: TraceDatabase) -> tuple[BreakpointRow, ...]:
    rows = database.rows("SELECT number, kind, definition, hits FROM breakpoints ORDER BY number")
    return tuple(_valid(database, BreakpointRow, row) for row in rows)


def watches(database: TraceDatabase) -> tuple[WatchRow, ...]:
    rows = database.rows("SELECT number, kind, text, on_change FROM watches ORDER BY number")
    return tuple(_valid(database, WatchRow, row) for row in rows)


def hits(database: TraceDatabase, run: int, step: int | None = None) -> tuple[Hit, ...]:
    rows = _rows_of_step(database, f"SELECT {', '.join(Hit.model_fields)} FROM hits", run, step, "id")
    return tuple(_valid(database, Hit, row) for row in rows)


def what_ifs(database: TraceDatabase, run: int, step: int) -> tuple[tuple[int, str], ...]:
    rows = _rows_of_step(
        database, "SELECT number, record FROM what_ifs", owner(database, run, step), step, "number"
    )
    return tuple((row["number"], database.blobs.content(row["record"]).decode()) for row in rows)


def page_log(database: TraceDatabase, run: int, number: int) -> tuple[LogPart, ...] | None:
    """Return what the pages reported in a step; None if the step was stored before that was kept."""
    rows = _rows_of_step(
        database, "SELECT moment, log FROM page_logs", owner(database, run, number), number, "id"
    )
    if not rows:
        return None
    try:
        logs = [
            PageLog()
            if row["log"] is None
            else encoding.from_json(PageLog, database.blobs.content(row["log"]))
            for row in rows
        ]
    except ValueError as error:
        raise database.damaged() from error
    return tuple(
        _valid(database, LogPart, {"moment": row["moment"], "log": log})
        for row, log in zip(rows, logs, strict=True)
    )


def network(database: TraceDatabase, run: int) -> tuple[Exchange, ...]:
    """Return what servers answered in a run, and before it in those that it branched from, in order."""
    columns = "step, opening, method, url, kind, sent, status, headers, blobs.hash AS body, missing, error"
    try:
        return tuple(
            Exchange.model_validate(
                {**row, "headers": encoding.parsed(row["headers"]), "body": row["body"] or ""}
            )
            for part, left in path(database, run)
            for row in database.rows(
                f"SELECT {columns} FROM exchanges LEFT JOIN blobs ON blobs.id = exchanges.body"
                " WHERE run = ? AND step < ? ORDER BY exchanges.id",
                (part, left),
            )
        )
    except ValueError as error:
        raise database.damaged() from error


def log(database: TraceDatabase, run: int | None, limit: int) -> tuple[LogLine, ...]:
    rows = database.rows(
        "SELECT time, level, source, text FROM"
        " (SELECT * FROM log WHERE run IS ? ORDER BY id DESC LIMIT ?) ORDER BY id",
        (run, limit),
    )
    return tuple(_valid(database, LogLine, row) for row in rows)


def observation(database: TraceDatabase, id: int) -> Observation:
    data = database.blobs.content(id)
    try:
        return encoding.from_json(Observation, data)
    except ValueError as error:
        raise database.damaged() from error


def unended(database: TraceDatabase) -> list[tuple[int, str]]:
    """Return the runs that nobody has ended, oldest first, with the tokens of their owners."""
    rows = database.rows("SELECT run, owner FROM runs WHERE outcome = 'running' ORDER BY run")
    return [(row["run"], row["owner"] or "") for row in rows]


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


def _run_row(database: TraceDatabase, row: dict[str, Any], living: Callable[[str], bool]) -> RunRow:
    owner = row.pop("owner")
    verdict = {name: row.pop(name) for name in ("success", "reward", "judge", "reason")}
    if row["outcome"] == "running" and not living(owner or ""):
        row["outcome"], row["error"] = owners.end_of(database.path, owner or "", row["run"])
    try:
        row["differences"] = encoding.parsed(row["differences"])
    except (ValueError, TypeError) as error:
        raise database.damaged() from error
    return _valid(database, RunRow, {**row, "verdict": verdict})


def _call(database: TraceDatabase, row: dict[str, Any]) -> CallRecord:
    usage = {name: row.pop(name) for name in Usage.model_fields}
    try:
        row["retries"] = encoding.parsed(row["retries"])
    except (ValueError, TypeError) as error:
        raise database.damaged() from error
    return _valid(database, CallRecord, {**row, "reply": row["reply"] or "", "usage": usage})


def _rows_of_step(
    database: TraceDatabase, select: str, run: int, step: int | None, order: str
) -> list[dict[str, Any]]:
    if step is None:
        return [
            row
            for part, left in path(database, run)
            for row in database.rows(f"{select} WHERE run = ? AND step < ? ORDER BY {order}", (part, left))
        ]
    return database.rows(f"{select} WHERE run = ? AND step = ? ORDER BY {order}", (run, step))


def _valid(database: TraceDatabase, cls: type[M], values: dict[str, Any]) -> M:
    try:
        return cls.model_validate(values)
    except ValidationError as error:
        raise database.damaged() from error


def _no_run(database: TraceDatabase, run: int) -> str:
    before, after = (
        database.row(f"SELECT {pick}(run) AS run FROM runs WHERE run {sign} ?", (run,))
        for pick, sign in (("max", "<"), ("min", ">"))
    )
    nearest = [str(row["run"]) for row in (before, after) if row and row["run"] is not None]
    if not nearest:
        return f"There is no run {run} in the trace database {database.path}: it contains no runs yet."
    hint = f"the nearest is {nearest[0]}" if len(nearest) == 1 else f"the nearest are {' and '.join(nearest)}"
    return f"There is no run {run} in the trace database {database.path}; {hint}."


def _no_step(database: TraceDatabase, run: int, number: int) -> str:
    numbers = [row.number for row in steps(database, run)]
    if not numbers:
        return f"Run {run} has no step {number}: it has no steps."
    if numbers[0] == numbers[-1]:
        return f"Run {run} has no step {number}; its only step is {numbers[0]}."
    return f"Run {run} has no step {number}; its steps are {numbers[0]} to {numbers[-1]}."


_ONE_WORD = (
    "(EXISTS (SELECT 1 FROM steps WHERE steps.run = runs.run"
    " AND steps.id IN (SELECT rowid FROM steps_fts WHERE steps_fts MATCH ?))"
    " OR run IN (SELECT rowid FROM runs_fts WHERE runs_fts MATCH ?))"
)
"""For a run, its first step with the word ends the search: a word of every step is found as fast as a rare one."""


def _condition(query: str) -> tuple[str, list[str]]:
    """Return an SQL condition on ``runs`` and its parameters; always true where `query` has no words.

    Words beyond the fortieth are not looked at.
    """
    phrases = phrases_of(query)
    if not phrases:
        return "1", []
    return " AND ".join([_ONE_WORD] * len(phrases)), [phrase for phrase in phrases for _ in range(2)]


def _went(
    database: TraceDatabase, outcome: str, living: Callable[[str], bool]
) -> tuple[str, list[int | str]]:
    """Return an SQL condition on ``runs`` for how they went, as it reads, and its parameters."""
    if outcome in ("success", "no success"):
        return "success = ?", [int(outcome == "success")]
    if outcome not in ("running", "interrupted"):
        return "outcome = ?", [outcome]
    alive = [run for run, owner in unended(database) if living(owner)]
    among = "run IN (SELECT value FROM json_each(?)) AND outcome = 'running'"
    if outcome == "running":
        return among, [json.dumps(alive)]
    return f"(outcome = 'interrupted' OR (outcome = 'running' AND NOT ({among})))", [json.dumps(alive)]


_RECALL = 3
"""The position of the phase among the ten."""


def recalls_since(
    database: TraceDatabase, last: int, limit: int, living: Callable[[str], bool]
) -> tuple[int, list[tuple[int, int, float, Recall]]]:
    """Return what was recalled in the next steps after `last` (run, step, when), and where to continue.

    A step that is still in progress may have more to tell: it is where to continue.
    """
    steps = database.rows(
        "SELECT steps.id, run, number, sealed, runs.outcome, owner FROM steps JOIN runs USING (run)"
        " WHERE steps.id > ? ORDER BY steps.id LIMIT ?",
        (last, limit),
    )
    found: list[tuple[int, int, float, Recall]] = []
    is_certain = True
    for step in steps:
        is_certain &= bool(step["sealed"] or step["outcome"] != "running" or not living(step["owner"] or ""))
        last = step["id"] if is_certain else last
        row = database.row(
            "SELECT phase, saved, record FROM phases WHERE step = ? AND position = ?", (step["id"], _RECALL)
        )
        if row is None:
            continue
        try:
            record = encoding.decode(row["phase"], row["record"], None)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise database.damaged() from error
        if isinstance(record, Recalled) and record.recall is not None:
            found.append((step["run"], step["number"], row["saved"], record.recall))
    return last, found


def ends(
    database: TraceDatabase, runs: Iterable[int], living: Callable[[str], bool]
) -> list[tuple[int, str, bool | None]]:
    """Return the outcome of each of these runs that there is, and whether it was a success."""
    found: list[tuple[int, str, bool | None]] = []
    for run in runs:
        row = database.row("SELECT outcome, success, owner FROM runs WHERE run = ?", (run,))
        if row is not None:
            gone = row["outcome"] == "running" and not living(row["owner"] or "")
            success = None if row["success"] is None else bool(row["success"])
            found.append((run, "interrupted" if gone else row["outcome"], success))
    return found
