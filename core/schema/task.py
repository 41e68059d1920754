"""A task: an instruction, where it starts, and who judges success."""

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from core.schema.record import Record
from core.schema.viewport import Viewport

PARTLY_JUDGED = "partly-judged"
"""The tag of a task whose verdict says what was not judged, shown or done."""
_NUMBER = re.compile(r"[-_ ]?\d+$")


class Task(Record):
    """What an agent is asked to do."""

    id: str
    """Environment and name, as in ``miniwob/book-flight``."""
    environment: str
    instruction: str = ""
    """The instruction, or a sample of it where the seed decides."""
    start_url: str = ""
    """Where it starts; empty if the environment knows."""
    tags: tuple[str, ...] = ()
    seeded: bool = False
    """Whether the seed changes what is asked."""
    judged: bool = True
    """Whether the environment can say how it ended."""
    sites: tuple[str, ...] = ()
    """Hosts that may be opened beside that of the start page, each with those below it; ``*`` for all."""
    upload_folders: tuple[Path, ...] = ()
    """Folders whose files may be given to pages."""
    viewport: Viewport | None = None
    """The size in which its pages are to be seen; None for that of the preset or the settings."""
    secrets: dict[str, str] = Field(default={}, repr=False, exclude=True)
    """By the names that an agent has for them: a value, or ``$NAME`` for what the environment or the keyring has."""
    details: dict[str, Any] = {}
    """What only the task's own environment reads (a WebArena ``eval`` block, say)."""


class Verdict(Record):
    """How a trial ended, as judged by the task's judge."""

    success: bool | None = None
    """None if there is no judge, or it could not tell."""
    reward: float | None = None
    judge: Literal["page", "file", "llm", "person", "agent", "none"] = "none"
    """``agent``: an attached agent's environment, as the agent has told."""
    reason: str = ""


class Episode(Record):
    """An opened task: its instruction at this seed, and its start page."""

    task: Task
    seed: int
    instruction: str
    start_url: str
    session: str = ""
    """Which state of a bundled site the episode works on; empty if the environment keeps none."""


def family_of(task: str) -> str:
    """Return what tasks of one kind have in common: the id without environment and number.

    Such as ``click-tab`` for ``miniwob/click-tab-2``, and ``webarena`` for ``webarena/12``.
    """
    environment, _, name = task.partition("/")
    return _NUMBER.sub("", name) or environment


SourceKind = Literal["tasks", "webarena"]
"""A task file, or WebArena's configuration (a file, or a folder of them)."""


class UnsupportedTask(Record):
    """A task of a file that cannot be run."""

    id: str
    """As a task has it; the name of the file where none can be read."""
    place: str
    """The file and the line of what is not supported."""
    why: str
    """What judges the task, and what it needs that is not there."""

    @property
    def sentence(self) -> str:
        return f"{self.id} is not supported ({self.place}): {self.why}"


class TaskSource(Record):
    """A file or folder of tasks that the user has named."""

    path: Path
    """Absolute."""
    kind: SourceKind
    title: str = ""
    tasks: tuple[str, ...] = ()
    """The ids of its tasks, as they were when it was last read without a problem."""
    unsupported: tuple[UnsupportedTask, ...] = ()
    given: bool = False
    """Whether it was named on the command line."""
    remembered: bool = False
    """Whether the settings name it."""
    problem: str = ""
    """Why it cannot be used as it is now: what, where, and what to do."""

    @property
    def name(self) -> str:
        return self.path.name or str(self.path)
