"""What the window may ask of the user's files of tasks: calls that only queue work and return at once."""

from typing import Protocol

from core.schema.record import Record
from core.schema.signal import Signal


class TaskDeskAnswer(Record):
    """What became of adding or removing files of tasks."""

    ok: bool
    text: str
    """What happened, or what is wrong, where, and what to do; a line or more for each file."""
    task: str = ""
    """The first task that was added."""


class TaskDeskCommands(Protocol):
    """The user's files of tasks, seen from the window.

    Safe to call from any thread; new tasks come with `catalogue_changed`, and
    `answered` is sent from the worker's thread.
    """

    answered: Signal[TaskDeskAnswer]

    def add(self, paths: tuple[str, ...]) -> None:
        """Add task files and WebArena configurations, or read them anew, and remember them in the settings."""

    def remove(self, path: str) -> None:
        """Leave out the tasks of a file and forget it; the file itself stays as it is."""

    def refresh(self) -> None:
        """Read the files that have changed since they were last read."""
