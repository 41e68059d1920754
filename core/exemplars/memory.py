"""The memory: exemplars of files and of the library, their index, and its embedding."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from core.exemplars.files import EXEMPLARS, ExemplarFiles, free_id
from core.exemplars.library.records import Filter, LibraryRow
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar, Recall, RecallSettings

if TYPE_CHECKING:
    # Loading FAISS and SQLite takes long, which only a run that recalls has to wait for.
    from core.exemplars.index import ExemplarIndex
    from core.exemplars.library.store import Library
    from core.llm.embedding import Embedding, OnProgress

T = TypeVar("T")
_AS_THEY_ARE: Mapping[str, int] = MappingProxyType({})
_LONGEST_ID = 110


class Memory:
    """Finds exemplars; the index is made at the first use, and updated with changes."""

    def __init__(
        self,
        folders: Iterable[Path] = (EXEMPLARS,),
        *,
        index_folder: Path | None = None,
        embedding: "Callable[[], Embedding] | None" = None,
        library: Path | None = None,
        shared: Path | None = None,
    ) -> None:
        """`embedding` gives the one to be used, the built-in one without it; it is asked for only when needed.

        `library` is the database of the user's own exemplars; it need not be
        there. Where the folder `shared` is under git, new exemplars become files
        in it.
        """
        self._shared = shared
        self.files = ExemplarFiles(folders)
        self._index_folder = index_folder
        self._embedding = embedding
        self._library_path = library
        self._whole: Memory | None = None
        """The memory that this one is a part of."""
        self._left_out: frozenset[str] = frozenset()
        self._left_out_families: frozenset[str] = frozenset()
        self._versions: dict[str, int] = {}
        self._library: Library | None = None
        self._index: ExemplarIndex | None = None
        self._renewals = [0]
        """How often another embedding was set, which the memories that are made of this one share."""
        self._renewed = 0
        self.on_progress: OnProgress | None = None
        """Called with how many of how many texts are embedded, while the index is made."""

    def instead(self, place: Path | None) -> "Memory":
        """Return a memory of the exemplars of a folder or a file in place of these; None is of none.

        Raises UsageError if there are none.
        """
        own = None
        if place is not None and self._index_folder is not None:
            own = self._index_folder / "others" / sha256(str(place).encode()).hexdigest()[:16]
        made = Memory(() if place is None else (place,), index_folder=own, embedding=self._embedding)
        made.on_progress = self.on_progress
        made._renewals, made._renewed = self._renewals, self._renewals[0]
        if place is not None and not made.files.all():
            hint = "choose a file that ends in .jsonl, or a folder of such files."
            wrong = "".join(f" {problem}" for problem in made.files.problems()[:1])
            raise UsageError(f"{place} contains no exemplars: {hint}{wrong}")
        return made

    def altered(
        self,
        *,
        without: Iterable[str] = (),
        families: Iterable[str] = (),
        versions: Mapping[str, int] = _AS_THEY_ARE,
    ) -> "Memory":
        """Return this memory as it would be without some exemplars, or with some at another version of theirs.

        Only what is recalled is other; lists show the whole. `families` are
        left out with all their exemplars. It lives as long as this one.
        """
        made = Memory(
            (), index_folder=self._index_folder, embedding=self._embedding, library=self._library_path
        )
        made.files, made.on_progress = self.files, self.on_progress
        made._renewals, made._renewed = self._renewals, self._renewals[0]
        made._whole = self
        made._left_out = self._left_out | frozenset(without)
        made._left_out_families = self._left_out_families | frozenset(families)
        made._versions = {**self._versions, **versions}
        return made

    async def recall(self, query: str, settings: RecallSettings, *, environment: str = "") -> Recall:
        """Look `query` up.

        Lines of files that are no exemplars are left out and told. Raises
        DataError where the index cannot be kept, LibraryError where the library
        cannot be read and LLMError where the embedding's server fails.
        """
        from core.exemplars.retrieval import recall

        found = await self.looked_up(lambda index: recall(query, index, settings, environment=environment))
        return found.replace(problems=self.files.problems())

    async def like(
        self, text: str, count: int, wanted: Filter | None = None
    ) -> tuple[tuple[LibraryRow, float], ...]:
        """Return the exemplars that the filter lets through nearest to `text` by the embedding, with distances.

        Retired ones have no place in the index. Raises as `recall` does.
        """
        return await self.looked_up(lambda index: self._like(index, text, count, wanted or Filter()))

    async def looked_up(
        self, look: "Callable[[ExemplarIndex], Awaitable[T]]", on_progress: "OnProgress | None" = None
    ) -> T:
        """Return what is found in the fresh index, which is made again where it turns out to be damaged."""
        from core.exemplars.vectors import Damaged

        index = await self.refreshed(on_progress)
        try:
            return await look(index)
        except Damaged:
            index.discard()
        try:
            return await look(await self.refreshed(on_progress))
        except Damaged as error:
            raise DataError(
                f"The vectors of {index.embedding.name} cannot be compared, even after the index was rebuilt; "
                "check the disk, and whether the embedding returns the same vectors at each call."
            ) from error

    async def _like(
        self, index: "ExemplarIndex", text: str, count: int, wanted: Filter
    ) -> tuple[tuple[LibraryRow, float], ...]:
        vector = await index.vector(text)
        library = self.library()
        reach = count
        while True:
            near = index.nearest_numbers(vector, reach)
            shown = library.shows(wanted, [number for number, _ in near])
            found = [(number, far) for number, far in near if number in shown]
            if len(found) >= count or len(near) < reach:
                break
            reach *= 4
        rows = ((library.row(number), far) for number, far in found[:count])
        return tuple((row, far) for row, far in rows if row is not None)

    async def refreshed(self, on_progress: "OnProgress | None" = None) -> "ExemplarIndex":
        """Return the index as it is after all that has changed; raises as `recall` does.

        `on_progress` is called in place of the memory's own.
        """
        index = await asyncio.to_thread(self._ready)  # A model of this machine is loaded.
        await self._refresh(index, on_progress)
        return index

    async def indexed(self, *, again: bool = False) -> "tuple[ExemplarIndex, int]":
        """Return the index with how many texts had to be embedded; `again` throws it away first.

        What was made is kept where it is cancelled, and the next use continues
        from there. Raises as `recall` does.
        """
        index = await asyncio.to_thread(self._ready)
        if again:
            index.discard(others=True)
        return index, await self._refresh(index)

    async def _refresh(self, index: "ExemplarIndex", on_progress: "OnProgress | None" = None) -> int:
        library = index.library = await asyncio.to_thread(self.library)
        members = library.files_in_use()
        # What stands at another version has no number of its own: it comes after the files.
        after = -len(library.beside.members) - 1
        members |= {
            after - place: library.at(id, number) for place, (id, number) in enumerate(self._versions.items())
        }
        wanted = {
            number: exemplar
            for number, exemplar in members.items()
            if not self._leaves_out(exemplar.id, exemplar.family)
        }
        return await index.refresh(wanted, on_progress or self.on_progress)

    def renew(self) -> None:
        """Ask for the embedding again at the next use: another one is set, or its server has another key."""
        self._renewals[0] += 1

    def _ready(self) -> "ExemplarIndex":
        if self._index is None or self._renewed != self._renewals[0]:
            self._renewed = self._renewals[0]
            from core.exemplars.index import ExemplarIndex
            from core.llm.embedding import HashedWords

            embedding = self._embedding() if self._embedding is not None else HashedWords()
            self._index = ExemplarIndex(
                embedding,
                self._index_folder,
                hides=lambda id, family: id in self._versions or self._leaves_out(id, family),
            )
        return self._index

    def _leaves_out(self, id: str, family: str) -> bool:
        return id in self._left_out or family in self._left_out_families

    # Members

    def library(self) -> "Library":
        """Return the library with the exemplars of files beside it; raises LibraryError.

        Where there is none yet, it is made when something is first written.
        """
        if self._whole is not None:
            return self._whole.library()
        library = self._library
        if library is not None and not library.is_current:
            library.close()  # What is saved in it would be lost.
            library = None
        if library is None:
            library = self._library = self._opened()
        return self._with_files(library)

    @contextmanager
    def connection(self) -> "Generator[Library, None, None]":
        """Give the library as `library` does, by a connection of this thread's own; raises LibraryError."""
        if self._library_path is None:
            yield self.library()
            return
        library = self._opened()
        try:
            yield self._with_files(library)
        finally:
            library.close()

    def _with_files(self, library: "Library") -> "Library":
        library.set_beside(self.files.members())
        library.folder = (
            self._shared if self._shared is not None and (self._shared / ".git").exists() else None
        )
        return library

    def _opened(self) -> "Library":
        from core.exemplars.library.store import Library

        return Library.in_memory() if self._library_path is None else Library.at_path(self._library_path)

    @property
    def library_path(self) -> Path | None:
        """The database of the library, which need not be there; None if it is kept nowhere."""
        return self._library_path

    def exemplar(self, id: str) -> Exemplar | None:
        """Return one of the library or of the files, of any status; raises LibraryError."""
        entry = self.library().find(id)
        return None if entry is None else entry.exemplar

    def taken(self, ids: Iterable[str]) -> set[str]:
        """Return those of the ids that the library or a file has."""
        ids = set(ids)
        return self.library().has(ids) | {member.exemplar.id for member in self.files.members()} & ids

    def free_id(self, wanted: str) -> str:
        """Return an id that no exemplar has: the one that is wanted, or with a number behind it."""
        return free_id(wanted[:_LONGEST_ID], lambda id: bool(self.taken((id,))))

    def copy_id(self, id: str) -> str:
        """Return a free id for a copy: ``order-copy``, ``order-copy-2``."""
        stem = re.sub(r"-copy(-[0-9]+)?$", "", id)[: _LONGEST_ID - len("-copy")]
        return self.free_id(f"{stem}-copy")

    def close(self) -> None:
        """Close the library; it is opened again when it is needed."""
        library, self._library = self._library, None
        if library is not None:
            library.close()
