"""What runs recalled of the exemplars, read across runs."""

from collections.abc import Callable, Iterable

from core.schema.errors import TraceError
from core.schema.recall import Recall
from core.schema.step import Recalled
from core.trace import encoding
from core.trace.database import TraceDatabase, damaged

_RECALL = 3
"""The position of the phase among the ten."""


def since(
    database: TraceDatabase, last: int, limit: int, living: Callable[[str], bool]
) -> tuple[int, list[tuple[int, int, float, Recall]]]:
    """Return what was recalled in the next steps after `last` (run, step, when), and where to go on.

    A step that is still under way may have more to tell: it is where to go on.
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
            raise TraceError(damaged(database.path)) from error
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
