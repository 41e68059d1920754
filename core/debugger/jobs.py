"""Work in the background, and views that show it."""

from typing import Literal

from core.schema.record import Record


class JobView(Record):
    """A view that shows the current job."""

    busy: bool = False
    doing: str = ""
    """What the job does now."""
    done: int = 0
    of: int = 0
    """0 if it is not known how much there is."""


class Job(Record):
    """Work in the background."""

    title: str
    key: str = ""
    """By which a service that does several at a time knows it."""
    done: int = 0
    of: int = 0
    """0 if it is not known how much there is."""
    opens: Literal["library", "evaluations", "fix", "saving"]
    """The window that shows it."""
    run: int = 0
    """The run that it is about, if it is about one."""
