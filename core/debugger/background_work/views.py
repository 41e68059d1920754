"""The views of background work."""

from typing import Literal

from core.debugger.jobs import Job
from core.schema.record import Record


class WorkRow(Record):
    """A job that is running or has ended."""

    number: int
    """Counts up from 1 in the order in which they began."""
    job: Job
    state: Literal["under way", "ending", "ended", "failed", "cancelled"] = "under way"
    words: str = ""
    """The result, or why it failed."""


class BackgroundWorkView(Record):
    """The latest first."""

    rows: tuple[WorkRow, ...] = ()

    @property
    def under_way(self) -> tuple[WorkRow, ...]:
        return tuple(row for row in self.rows if row.state in ("under way", "ending"))
