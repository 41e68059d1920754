"""Where imported exemplars go: what importing asks of a store, and the user's library as one."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from core.memory.files import ExemplarFiles
from core.memory.library.records import Filter, Provenance
from core.memory.library.store import Library
from core.schema.errors import DataError
from core.schema.exemplar import Exemplar


class ExemplarStore(Protocol):
    """What keeps exemplars."""

    def held(self) -> Iterable[Exemplar]:
        """Return all of it, what is archived too; raises DataError where it cannot be read."""
        ...

    def add(self, exemplars: tuple[Exemplar, ...], name: str) -> str:
        """Keep all of them or none, and return where; `name` says where they came from. Raises DataError."""
        ...


class LibraryStore:
    """The user's library, with the exemplars of files beside it, which are only read."""

    def __init__(self, path: Path, files: ExemplarFiles) -> None:
        self._path = path
        self._files = files

    def held(self) -> tuple[Exemplar, ...]:
        found = {one.id: one for _, one in self._files.placed()}
        if self._path.exists():
            library = Library.open(self._path)
            try:
                found |= {one.id: one for _, one in library.all(Filter(archived=None))}
            finally:
                library.close()
        return tuple(found.values())

    def add(self, exemplars: tuple[Exemplar, ...], name: str) -> str:
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
