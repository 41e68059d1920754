"""What an import would do, before it is done: what is new, there already, left out or faulty, and why."""

from collections import Counter
from typing import Literal, get_args

from core.schema.exemplar import Exemplar
from core.schema.record import Record

Fate = Literal["faulty", "id taken", "new version", "merged", "new", "there already", "left out"]
"""What becomes of an entry; what asks for a decision comes first."""
FATES: tuple[Fate, ...] = get_args(Fate)


class ReadOptions(Record):
    """What whoever imports may choose of how files are read."""

    form: str = ""
    """The name of the format; empty if each file tells it."""
    family: str = ""
    """Given to all in place of their own."""
    least_reward: float = 1.0
    """What a trajectory that was judged must have got, to be an exemplar."""


class ImportChoices(ReadOptions):
    """The choices of an import."""

    paths: tuple[str, ...] = ()
    leave_faulty: bool = True
    """Whether the rest is imported where an entry is faulty."""
    taken: Literal["leave", "refuse", "new id", "new version"] = "leave"
    """What becomes of one whose id another exemplar has; if it is refused, nothing is imported."""

    @property
    def reading(self) -> tuple[object, ...]:
        """What decides how the files are read."""
        return self.paths, self.form, self.family, self.least_reward


class PlannedEntry(Record):
    """One entry of the files, with what becomes of it."""

    position: str
    fate: Fate
    file: str = ""
    """The path of the file that it is in."""
    why: str = ""
    exemplar: Exemplar | None = None
    """As it would be kept; None for an entry that is no exemplar."""
    remarks: tuple[str, ...] = ()
    """What could not be said in this program's words, a sentence each."""
    has_own_id: bool = False
    """Whether the file itself gives the id; otherwise it was made up and may be changed."""


class ImportPlan(Record):
    """What an import would do; an exemplar that is not new is not touched."""

    formats: tuple[str, ...] = ()
    """The names of those that were met."""
    entries: tuple[PlannedEntry, ...] = ()
    problem: str = ""
    """Why nothing can be imported: the first entry that hinders it, and how many do."""

    @property
    def counts(self) -> dict[Fate, int]:
        """How many entries have which fate."""
        counts = Counter(entry.fate for entry in self.entries)
        return {fate: counts[fate] for fate in FATES if counts[fate]}

    def those(self, *fates: Fate) -> tuple[PlannedEntry, ...]:
        return tuple(entry for entry in self.entries if entry.fate in fates)

    @property
    def exemplars(self) -> tuple[tuple[PlannedEntry, Exemplar], ...]:
        return tuple((entry, entry.exemplar) for entry in self.entries if entry.exemplar is not None)

    @property
    def coming(self) -> tuple[tuple[PlannedEntry, Exemplar], ...]:
        """Those that would be kept."""
        return tuple(
            planned for planned in self.exemplars if planned[0].fate in ("new", "new version", "merged")
        )

    @property
    def is_possible(self) -> bool:
        """Whether anything would be kept."""
        return bool(self.coming) and not self.problem
