"""The views of the command palette."""

from core.exemplars.library.records import LibraryRow
from core.schema.record import Record
from core.trace.records import RunRow


class MatchingRuns(Record):
    """The runs that match the words, the best matches first."""

    words: str = ""
    rows: tuple[RunRow, ...] = ()
    problem: str = ""
    """Why they could not be searched."""


class MatchingExemplars(Record):
    """The exemplars that match the words, the latest first."""

    words: str = ""
    rows: tuple[LibraryRow, ...] = ()
    problem: str = ""
    """Why they could not be searched."""


class PolicyRow(Record):
    """A policy whose file can be opened."""

    id: str
    path: str


class SettingRow(Record):
    """A key of the settings file."""

    name: str
    value: str
    """What holds now."""
    meaning: str = ""


class ResourcesView(Record):
    """Entries besides commands and tasks, and the runs that were chosen before."""

    policies: tuple[PolicyRow, ...] = ()
    settings: tuple[SettingRow, ...] = ()
    runs: tuple[RunRow, ...] = ()
