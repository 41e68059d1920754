"""Deletes runs that are no longer needed, and then the blobs that nothing refers to.

Runs are deleted a few at a time, each group in one transaction, and then the blobs in another one. If the
program is killed in between, each run is either complete or gone, and the next pruning deletes the remaining
blobs.
"""

import fnmatch
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Literal

from core.schema.errors import TraceError, UsageError
from core.schema.record import Record
from core.trace.database import TraceDatabase
from core.trace.records import RunFilter

Kept = Literal["named", "exemplar", "branched", "evaluated", "newest", "last"]
"""Why a run stays that is looked for: it has a name, an exemplar was made of it, branches need it,
an evaluation counts it, it is among the newest that are to stay, or it has the last numbers, which would be given
again.
"""

_AT_ONCE = 50
"""Runs that are deleted in one transaction: others wait for it no longer than a moment."""
_WORTH_COMPACTING = 0.1
"""What part of the file must be free for the file to be written again without it."""
_HASH = re.compile(rb"\b[0-9a-f]{64}\b")


class PruneRequest(Record):
    """Which runs to delete: those that meet all conditions."""

    before: float | None = None
    """Those begun before this time, in seconds since the epoch."""
    outcome: RunFilter = ""
    task: str = ""
    """The id of a task, with * for any characters."""
    keep: int = 0
    """How many of the newest of these are kept."""
    named: bool = False
    """Also those that a person has named."""
    exemplars: bool = False
    """Also those that exemplars were made of."""
    branched: bool = False
    """Also those with branches, where all of their branches go too."""
    evaluated: bool = False
    """Also those that evaluations count, which then do them again where they are resumed."""


class PruneRun(Record):
    """A run that would be deleted."""

    run: int
    task: str
    outcome: str
    started: float
    steps: int


class PrunePlan(Record):
    """The runs that would be deleted, and matching runs that are kept."""

    runs: tuple[PruneRun, ...] = ()
    """Newest first."""
    kept: dict[Kept, int] = {}
    """How many runs stay for each reason."""
    at_work: tuple[int, ...] = ()
    """Runs that would go, on which another process is at work: nothing can be deleted until they have ended."""
    steps: int = 0
    share: float = 0.0
    """What part of all steps these are."""


class Pruned(Record):
    """The result of deleting runs."""

    runs: int
    room: int
    """Bytes of the file that are free now; new runs use them where the file has not become smaller."""
    smaller: int
    """Bytes by which the file has become smaller."""
    waits: bool
    """Whether blobs were left for the next time, since another process is at work on runs."""
    failed: str = ""
    """Why the file could not be made smaller, in a sentence."""


def plan_prune(database: TraceDatabase, wanted: PruneRequest, exemplars: Collection[int]) -> PrunePlan:
    """Return what would go; `exemplars` are the runs that exemplars were made of."""
    rows = database.rows(
        "SELECT run, task, outcome, success, started, steps, name, parent_run, owner FROM runs ORDER BY run DESC"
    )
    evaluated = {row["run"] for row in database.rows("SELECT run FROM attempts WHERE run IS NOT NULL")}
    matching = [row for row in rows if _matches(database, row, wanted)]
    reasons: dict[int, Kept] = {row["run"]: "newest" for row in matching[: wanted.keep]}
    last = {
        row["run"] for row in (*rows[:1], *database.rows("SELECT run FROM steps ORDER BY id DESC LIMIT 1"))
    }
    parents = {row["parent_run"] for row in rows}
    going: dict[int, dict[str, Any]] = {}
    # By a branch that stays. Branches have higher numbers than the run that they left.
    needed: set[int] = set()
    asked = {row["run"] for row in matching}
    for row in rows:
        run, why = row["run"], reasons.get(row["run"])
        if run in asked and why is None:
            if run in last:
                why = "last"
            elif row["name"] and not wanted.named:
                why = "named"
            elif run in exemplars and not wanted.exemplars:
                why = "exemplar"
            elif run in needed or (run in parents and not wanted.branched):
                why = "branched"
            elif run in evaluated and not wanted.evaluated:
                why = "evaluated"
        if run in asked and why is None:
            going[run] = row
        else:
            needed.add(row["parent_run"])
            if why is not None:
                reasons[run] = why
    (all_steps,) = database.rows("SELECT total(steps) AS steps FROM runs")
    steps = sum(row["steps"] for row in going.values())
    return PrunePlan(
        runs=tuple(
            PruneRun(
                run=run,
                task=row["task"],
                outcome=_went(database, row),
                started=row["started"],
                steps=row["steps"],
            )
            for run, row in going.items()
        ),
        kept=dict(Counter(reasons.values())),
        at_work=tuple(run for run, row in going.items() if _went(database, row) == "running"),
        steps=steps,
        share=steps / (all_steps["steps"] or 1),
    )


def _went(database: TraceDatabase, row: dict[str, Any]) -> str:
    if row["outcome"] == "running" and not database.lives(row["owner"] or ""):
        return "interrupted"
    return str(row["outcome"])


def _matches(database: TraceDatabase, row: dict[str, Any], wanted: PruneRequest) -> bool:
    if wanted.before is not None and row["started"] >= wanted.before:
        return False
    if wanted.task and not fnmatch.fnmatchcase(row["task"], wanted.task):
        return False
    if wanted.outcome in ("success", "no success"):
        return row["success"] is not None and bool(row["success"]) == (wanted.outcome == "success")
    return not wanted.outcome or _went(database, row) == wanted.outcome


def prune(
    database: TraceDatabase,
    plan: PrunePlan,
    is_alone: Callable[[], bool],
    tell: Callable[[int], None],
) -> Pruned:
    """Delete the runs of a plan; `tell` gets how many went so far. Raises UsageError and TraceError.

    `is_alone` tells whether no other process is at work on runs of the database.
    """
    if plan.at_work:
        raise UsageError(
            f"Another process is working on run {plan.at_work[0]}, which would be deleted. Wait for it to "
            "end, or choose other runs."
        )
    room, size, gone = database.free_room, database.path.stat().st_size, 0
    database.execute("PRAGMA secure_delete = ON").fetchall()
    for runs in _batches(plan):
        with database.write():
            gone += _delete_runs(database, runs)
        tell(gone)
    with database.write():
        database.forget_words()
    # A run that goes on has blobs that nothing refers to yet.
    alone = is_alone()
    if alone:
        with database.write_unchecked():
            free_blobs(database)
        database.blobs.forget()
    freed, failed = database.free_room - room, ""
    if alone and database.free_room > size * _WORTH_COMPACTING:
        try:
            database.compact()
        except TraceError as error:  # The runs are gone for all that.
            failed = str(error)
    database.checkpoint()
    return Pruned(
        runs=gone,
        room=freed,
        smaller=max(0, size - database.path.stat().st_size),
        waits=not alone,
        failed=failed,
    )


def _batches(plan: PrunePlan) -> Iterator[tuple[int, ...]]:
    """Return the runs of a plan in the order in which they can go: branches before the runs that they left."""
    runs = [run.run for run in plan.runs]
    return (tuple(runs[at : at + _AT_ONCE]) for at in range(0, len(runs), _AT_ONCE))


def _delete_runs(database: TraceDatabase, runs: Iterable[int]) -> int:
    """Delete these runs with all that belongs to them, and return how many went.

    One that was taken up or branched from since the plan was made stays.
    """
    numbers = json.dumps(list(runs))
    rows = database.rows(
        "SELECT run, outcome, owner FROM runs WHERE run IN (SELECT value FROM json_each(?))", (numbers,)
    )
    ready = [row["run"] for row in rows if _went(database, row) != "running"]
    deleted = database.execute(
        "DELETE FROM runs WHERE run IN (SELECT value FROM json_each(:runs)) AND NOT EXISTS"
        " (SELECT 1 FROM runs AS branch WHERE branch.parent_run = runs.run"
        "  AND branch.run NOT IN (SELECT value FROM json_each(:runs)))",
        {"runs": json.dumps(ready)},
    )
    return deleted.rowcount


def free_blobs(database: TraceDatabase) -> int:
    """Delete the blobs that nothing refers to, and return how many bytes they took."""
    database.execute("CREATE TEMP TABLE used (id INTEGER PRIMARY KEY)")
    try:
        for table, column in references(database):
            database.execute(
                f'INSERT OR IGNORE INTO used SELECT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL'
            )
        _use_what_is_named(database)
        database.execute(
            "INSERT OR IGNORE INTO used SELECT dictionary FROM blobs"
            " WHERE dictionary IS NOT NULL AND id IN (SELECT id FROM used)"
        )
        unused = "FROM blobs WHERE id NOT IN (SELECT id FROM used)"
        (row,) = database.rows(f"SELECT coalesce(sum(length(data)), 0) AS bytes {unused}")
        database.execute(f"DELETE {unused}")
        return int(row["bytes"])
    finally:
        database.execute("DROP TABLE used")


def references(database: TraceDatabase) -> list[tuple[str, str]]:
    """Return the tables and columns that refer to blobs, but for dictionaries."""
    return [
        (table["name"], reference["from"])
        for table in database.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'blobs'")
        for reference in database.rows(f'PRAGMA foreign_key_list("{table["name"]}")')
        if reference["table"] == "blobs"
    ]


def _use_what_is_named(database: TraceDatabase) -> None:
    """Count as used the blobs that others name by their hashes.

    Prompts, and questions asked again, name their pictures; the agents of long runs name what they share.
    """
    loose = {
        row["hash"].encode(): row["id"]
        for row in database.rows("SELECT id, hash FROM blobs WHERE id NOT IN (SELECT id FROM used)")
    }
    if not loose:
        return
    texts = (
        "SELECT DISTINCT messages AS id FROM calls UNION SELECT record FROM what_ifs"
        " UNION SELECT agent FROM steps WHERE agent IS NOT NULL"
    )
    for row in database.rows(texts):
        try:
            text = database.blobs.content(row["id"])
        except TraceError:
            continue  # What is damaged names nothing that could be shown.
        for name in _HASH.findall(text):
            if name in loose:
                database.execute("INSERT OR IGNORE INTO used VALUES (?)", (loose[name],))
