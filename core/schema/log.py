"""One line of the log."""

from typing import Literal

from core.schema.record import Record


class LogLine(Record):
    """One line of the log."""

    time: float
    """Seconds since the epoch."""
    level: Literal["info", "warning", "error"] = "info"
    source: str
    text: str
