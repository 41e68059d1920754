"""Reads the rows of runs: one, lists of them, and their branches; each function works inside the open transaction."""

import json
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from core.schema.changes import Changes
from core.schema.errors import NotInTraceError
from core.storage.database import phrases_of
from core.trace import encoding, owners
from core.trace.database import TraceDatabase
from core.trace.records import (
    CaseAttempt,
    RunEnd,
    RunRow,
)

_RUN_COLUMNS = ", ".join(
    name
    for field in RunRow.model_fields
    for name in (("success", "reward", "judge", "reason") if field == "verdict" else (field,))
)


M = TypeVar("M", bound=BaseModel)


def list_runs(
    database: TraceDatabase,
    query: str,
    *,
    limit: int,
    task: str,
    outcome: str,
) -> tuple[RunRow, ...]:
    where, words = _condition(query)
    parameters: list[int | str] = [*words]
    if task:
        where, parameters = f"{where} AND task = ?", [*parameters, task]
    if outcome:
        went, more = _went(database, outcome)
        where, parameters = f"{where} AND {went}", [*parameters, *more]
    rows = database.rows(
        f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE {where} ORDER BY run DESC LIMIT ?",
        [*parameters, limit],
    )
    return tuple(_run_row(database, row) for row in rows)


def named_runs(database: TraceDatabase, words: str, *, limit: int) -> tuple[RunRow, ...]:
    parts = words.split() or [""]
    where = " AND ".join(["instr(lower(name), lower(?))"] * len(parts))
    rows = database.rows(
        f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE name <> '' AND {where} ORDER BY run DESC LIMIT ?",
        [*parts, limit],
    )
    return tuple(_run_row(database, row) for row in rows)


def find_runs(database: TraceDatabase, query: str, current: int | None) -> tuple[int, ...]:
    where, parameters = _condition(query)
    found = database.execute(
        f"SELECT run FROM runs WHERE (steps OR outcome = 'running' OR run = ?) AND {where} ORDER BY run DESC",
        [current, *parameters],
    )
    return tuple(run for (run,) in found)


def rows_of(database: TraceDatabase, runs: Iterable[int]) -> tuple[RunRow, ...]:
    rows = database.rows(
        f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE run IN (SELECT value FROM json_each(?)) ORDER BY run DESC",
        (json.dumps(list(runs)),),
    )
    return tuple(_run_row(database, row) for row in rows)


def run_row(database: TraceDatabase, run: int) -> RunRow:
    row = database.row(f"SELECT {_RUN_COLUMNS}, owner FROM runs WHERE run = ?", (run,))
    if row is None:
        raise NotInTraceError(_no_run(database, run))
    return _run_row(database, row)


def require_run(database: TraceDatabase, run: int) -> None:
    if database.row("SELECT 1 FROM runs WHERE run = ?", (run,)) is None:
        raise NotInTraceError(_no_run(database, run))


def kept_for_run(database: TraceDatabase, run: int, column: str) -> bytes:
    """Return the content of the blob that a column of a run names, or nothing."""
    require_run(database, run)
    (row,) = database.rows(f"SELECT {column} AS kept FROM runs WHERE run = ?", (run,))
    return b"" if row["kept"] is None else database.blobs.content(row["kept"])


def changes(database: TraceDatabase, run: int) -> Changes:
    """Return what was asked of a run and of those that it branched from; the nearest wins."""
    whole = Changes()
    for part, _ in path(database, run):
        if data := kept_for_run(database, part, "changes"):
            whole = valid_json(database, Changes, data).over(whole)
    return whole


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


def unended(database: TraceDatabase) -> list[tuple[int, str]]:
    """Return the runs that nobody has ended, oldest first, with the tokens of their owners."""
    rows = database.rows("SELECT run, owner FROM runs WHERE outcome = 'running' ORDER BY run")
    return [(row["run"], row["owner"] or "") for row in rows]


def _run_row(database: TraceDatabase, row: dict[str, Any]) -> RunRow:
    owner = row.pop("owner")
    verdict = {name: row.pop(name) for name in ("success", "reward", "judge", "reason")}
    if row["outcome"] == "running" and not database.lives(owner or ""):
        row["outcome"], row["error"] = owners.end_of(database.path, owner or "", row["run"])
    try:
        row["differences"] = encoding.parsed(row["differences"])
    except (ValueError, TypeError) as error:
        raise database.damaged() from error
    return valid(database, RunRow, {**row, "verdict": verdict})


def valid(database: TraceDatabase, cls: type[M], values: dict[str, Any]) -> M:
    try:
        return cls.model_validate(values)
    except ValidationError as error:
        raise database.damaged() from error


def valid_json(database: TraceDatabase, cls: type[M], data: bytes) -> M:
    """Read a model of this class from JSON as it is stored; raises TraceError if it is damaged."""
    try:
        return encoding.from_json(cls, data)
    except ValueError as error:
        raise database.damaged() from error


def rows_of_step(
    database: TraceDatabase, select: str, run: int, step: int | None, order: str
) -> list[dict[str, Any]]:
    """Return the rows of a step, or of all steps of a run; for a branch, those of the steps before it first."""
    if step is None:
        return [
            row
            for part, left in path(database, run)
            for row in database.rows(f"{select} WHERE run = ? AND step < ? ORDER BY {order}", (part, left))
        ]
    return database.rows(f"{select} WHERE run = ? AND step = ? ORDER BY {order}", (run, step))


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


def _went(database: TraceDatabase, outcome: str) -> tuple[str, list[int | str]]:
    """Return an SQL condition on ``runs`` for how they went, as it reads, and its parameters."""
    if outcome in ("success", "no success"):
        return "success = ?", [int(outcome == "success")]
    if outcome not in ("running", "interrupted"):
        return "outcome = ?", [outcome]
    alive = [run for run, owner in unended(database) if database.lives(owner)]
    among = "run IN (SELECT value FROM json_each(?)) AND outcome = 'running'"
    if outcome == "running":
        return among, [json.dumps(alive)]
    return f"(outcome = 'interrupted' OR (outcome = 'running' AND NOT ({among})))", [json.dumps(alive)]


def ends(database: TraceDatabase, runs: Iterable[int]) -> list[RunEnd]:
    """Return how each of these runs stands that there is."""
    found: list[RunEnd] = []
    measured = "EXISTS (SELECT 1 FROM attempts a WHERE a.run = r.run) AS measured"
    for run in runs:
        row = database.row(f"SELECT outcome, success, owner, {measured} FROM runs r WHERE run = ?", (run,))
        if row is not None:
            gone = row["outcome"] == "running" and not database.lives(row["owner"] or "")
            success = None if row["success"] is None else bool(row["success"])
            outcome = "interrupted" if gone else row["outcome"]
            found.append(RunEnd(run, outcome, success, measured=bool(row["measured"])))
    return found


def started(database: TraceDatabase, runs: Iterable[int]) -> dict[int, float]:
    """Return when each of these runs began that there is."""
    among = "SELECT run, started FROM runs WHERE run IN (SELECT value FROM json_each(?))"
    return {row["run"]: row["started"] for row in database.rows(among, (json.dumps([*runs]),))}
