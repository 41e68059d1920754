"""What the window draws of an import of exemplars, and what it may ask for."""

from typing import Literal, Protocol

from core.schema.record import Record
from core.schema.signal import Signal

Taken = Literal["leave", "new id", "new version"]
"""What becomes of one whose id another exemplar has."""

SHOWN = 2000
"""Entries that are told one by one."""


class ImportChoices(Record):
    """What the person may choose of an import."""

    paths: tuple[str, ...]
    form: str = ""
    """The format; empty where each file tells it."""
    family: str = ""
    """Given to all in place of their own."""
    least_reward: float = 1.0
    """What a trajectory that was judged must have got."""
    leave_faulty: bool = True
    """Whether the rest is imported where an entry is faulty."""
    taken: Taken = "leave"


class ImportEntry(Record):
    """One entry of what was read, with what would become of it."""

    position: str
    fate: Literal["new", "new version", "there already", "id taken", "left out", "faulty"]
    id: str = ""
    family: str = ""
    why: str = ""


class ImportView(Record):
    """What an import would do, before it is done."""

    choices: ImportChoices = ImportChoices(paths=())
    ready: bool = False
    """Whether the files were read."""
    formats: tuple[str, ...] = ()
    """What the files are, in words."""
    counts: dict[str, int] = {}
    """How many have which fate."""
    entries: tuple[ImportEntry, ...] = ()
    """What is faulty first, then whose id is taken, then the rest; the first thousands."""
    coming: int = 0
    """How many would be kept."""
    done: bool = False
    """Whether they were."""
    problem: str = ""
    """Why nothing can be imported."""


class ImportDeskCommands(Protocol):
    """Importing, seen from the window; safe to call from any thread."""

    planned: Signal[ImportView]

    def read(self, choices: ImportChoices) -> None:
        """Read the files in the background and say what an import would do; nothing in them is run."""

    def plan(self, choices: ImportChoices) -> None:
        """Say what an import of the files that were read last would do by other choices."""

    def carry_out(self, choices: ImportChoices) -> None:
        """Import what was read last as these choices have it: all of it or nothing."""
