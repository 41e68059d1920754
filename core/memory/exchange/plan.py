"""What importing would do, before it is done: what is new, there already or faulty, and where it goes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from core.memory.exchange.records import Candidate, Reading, content_of
from core.memory.files import EXEMPLARS, ExemplarFiles
from core.memory.library.records import Filter, Origin, Provenance
from core.memory.library.store import Library
from core.schema.errors import DataError
from core.schema.exemplar import Exemplar
from core.schema.record import Record

Fate = Literal["new", "there already", "id taken"]


class Planned(Record):
    """One candidate with what becomes of it."""

    candidate: Candidate
    fate: Fate
    why: str = ""


class ImportPlan(Record):
    """What importing would do; an exemplar that is not new is not touched."""

    planned: tuple[Planned, ...]
    reading: Reading

    @property
    def new(self) -> tuple[Exemplar, ...]:
        return tuple(one.candidate.exemplar for one in self.planned if one.fate == "new")

    def count(self, fate: Fate) -> int:
        return sum(1 for one in self.planned if one.fate == fate)


def plan_of(reading: Reading, held: Iterable[Exemplar]) -> ImportPlan:
    """Return what becomes of each candidate, given the library."""
    by_id: dict[str, Exemplar] = {}
    by_content: dict[str, str] = {}
    for one in held:
        by_id[one.id] = one
        by_content.setdefault(content_of(one), one.id)
    planned: list[Planned] = []
    for candidate in reading.candidates:
        exemplar = candidate.exemplar
        same = by_content.get(content_of(exemplar))
        if exemplar.id in by_id and content_of(by_id[exemplar.id]) == content_of(exemplar):
            planned.append(Planned(candidate=candidate, fate="there already", why="by id and content"))
        elif same is not None:
            planned.append(
                Planned(candidate=candidate, fate="there already", why=f"the same content as {same}")
            )
        elif exemplar.id in by_id:
            why = "another exemplar has this id; to have both, change one of the ids"
            planned.append(Planned(candidate=candidate, fate="id taken", why=why))
        else:
            planned.append(Planned(candidate=candidate, fate="new"))
    return ImportPlan(planned=tuple(planned), reading=reading)


class LibraryStore:
    """Where imported exemplars go: the user's library, with the exemplars of files next to it, which are only read."""

    def __init__(self, path: Path, files: ExemplarFiles) -> None:
        self._path = path
        self._files = files

    def held(self, origin: Origin | None = None, *, mine: bool = False) -> tuple[Exemplar, ...]:
        """Return all of it, what is archived too; raises DataError if the library cannot be read.

        With an origin only those that came from there, with `mine` none of the installation's.
        """
        found: dict[str, Exemplar] = {}
        for path, one in self._files.placed():
            of_file: Origin = "bundled" if path.parent == EXEMPLARS else "file"
            if origin in (None, of_file) and not (mine and of_file == "bundled"):
                found[one.id] = one
        if self._path.exists():
            library = Library.open(self._path)
            try:
                hidden = {one.id for _, one in library.all(Filter(archived=None))}
                found = {id: one for id, one in found.items() if id not in hidden}
                found |= {one.id: one for _, one in library.all(Filter(archived=None, origin=origin or ""))}
            finally:
                library.close()
        return tuple(found.values())

    def add(self, exemplars: tuple[Exemplar, ...], name: str) -> str:
        """Keep all of them or none, and return where; `name` says where they came from. Raises DataError."""
        library = Library.open(self._path)
        try:
            taken = sorted(library.has(one.id for one in exemplars))
            if taken:
                raise DataError(f"The id {taken[0]} was taken in the meantime; import again.")
            known = Provenance(origin="import")
            library.save_all((one if one.source else one.replace(source=name), known) for one in exemplars)
        finally:
            library.close()
        return str(self._path)
