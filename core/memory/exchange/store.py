"""Where imported exemplars go: what importing asks of a store, and the one of the user's folder of files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from core.errors import DataError
from core.memory.exchange.ids import id_of
from core.memory.exemplar import Exemplar
from core.memory.files import read_exemplars, write_exemplars


class ExemplarStore(Protocol):
    """What keeps exemplars."""

    def held(self) -> Iterable[Exemplar]:
        """Return all of it, what is archived too; raises DataError where it cannot be read."""
        ...

    def add(self, exemplars: tuple[Exemplar, ...], name: str) -> str:
        """Keep all of them or none, and return where; `name` says where they came from. Raises DataError."""
        ...


class FolderStore:
    """A folder of JSON lines: what is imported at once is a new file."""

    def __init__(self, folder: Path, others: Iterable[Path] = ()) -> None:
        """`others` are folders that are only read, such as that of the installation."""
        self._folder = folder
        self._folders = (*others, folder)

    def held(self) -> tuple[Exemplar, ...]:
        found: dict[str, Exemplar] = {}
        for folder in self._folders:
            for path in sorted(folder.glob("*.jsonl")):
                found |= {one.id: one for one in read_exemplars(path)}
        return tuple(found.values())

    def add(self, exemplars: tuple[Exemplar, ...], name: str) -> str:
        stem = id_of(name).replace("/", "-")
        path = self._folder / f"{stem}.jsonl"
        number = 2
        while path.exists():
            path = self._folder / f"{stem}-{number}.jsonl"
            number += 1
        held = {one.id for one in self.held()}
        taken = next((one.id for one in exemplars if one.id in held), "")
        if taken:
            raise DataError(f"The id {taken} was taken in the meantime; import again.")
        write_exemplars(path, exemplars)
        return str(path)
