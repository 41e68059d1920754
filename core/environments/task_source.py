"""Where a user's own tasks come from: a file or a folder, and what became of reading it."""

from pathlib import Path
from typing import Literal

from core.schema.record import Record

SourceKind = Literal["tasks", "webarena"]
"""A task file, or WebArena's configuration (a file, or a folder of them)."""


class TaskSource(Record):
    """A file or folder of tasks that the user has named."""

    path: Path
    """Absolute."""
    kind: SourceKind
    title: str = ""
    tasks: tuple[str, ...] = ()
    """The ids of its tasks, as they were when it was last read without a problem."""
    given: bool = False
    """Whether it was named on the command line."""
    remembered: bool = False
    """Whether the settings name it."""
    problem: str = ""
    """Why it cannot be used as it is now: what, where, and what to do."""

    @property
    def name(self) -> str:
        return self.path.name or str(self.path)
