"""Where exemplars were looked up, and how the runs ended: the rows of the library."""

from collections.abc import Iterable

from core.memory.library.records import Retrieval, RetrievalRecord
from core.storage.database import DatabaseFile


def save(database: DatabaseFile, trace: str, told: int, found: Iterable[Retrieval]) -> None:
    for one in found:
        database.execute(
            'INSERT OR REPLACE INTO retrievals (id, trace, run, step, "when", distance, voted, used)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (one.id, trace, one.run, one.step, one.when, one.distance, one.voted, one.used),
        )
    database.execute(
        "INSERT INTO traces (trace, told) VALUES (?, ?)"
        " ON CONFLICT (trace) DO UPDATE SET told = max(told, excluded.told)",
        (trace, told),
    )


def settle(database: DatabaseFile, trace: str, ends: Iterable[tuple[int, str, bool | None]]) -> None:
    known = {
        row["run"]: (row["outcome"], row["success"])
        for row in database.rows("SELECT run, outcome, success FROM outcomes WHERE trace = ?", (trace,))
    }
    for run, outcome, success in ends:
        if known.get(run) != (outcome, success):
            database.execute(
                "INSERT OR REPLACE INTO outcomes (trace, run, outcome, success) VALUES (?, ?, ?, ?)",
                (trace, run, outcome, success),
            )


def runs(database: DatabaseFile, trace: str) -> tuple[int, ...]:
    rows = database.rows("SELECT DISTINCT run FROM retrievals WHERE trace = ? ORDER BY run", (trace,))
    return tuple(row["run"] for row in rows)


def of(database: DatabaseFile, id: str, limit: int) -> tuple[Retrieval, ...]:
    rows = database.rows(
        "SELECT r.*, coalesce(o.outcome, '') AS outcome, o.success FROM retrievals r"
        " LEFT JOIN outcomes o ON o.trace = r.trace AND o.run = r.run"
        ' WHERE r.id = ? ORDER BY r."when" DESC, r.run DESC, r.step DESC LIMIT ?',
        (id, limit),
    )
    return tuple(Retrieval.model_validate(row) for row in rows)


def standing(database: DatabaseFile, id: str) -> RetrievalRecord:
    row = database.rows(
        "SELECT count(*) AS retrieved, coalesce(sum(r.used), 0) AS used,"
        " coalesce(sum(r.used AND o.success = 1), 0) AS successes,"
        " coalesce(sum(r.used AND o.success = 0), 0) AS failures FROM retrievals r"
        " LEFT JOIN outcomes o ON o.trace = r.trace AND o.run = r.run WHERE r.id = ?",
        (id,),
    )[0]
    return RetrievalRecord.model_validate(row)
