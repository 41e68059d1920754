"""Questions to the library that take a while, asked in a thread of their own through a connection of their own."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.memory.library.records import Origin
from core.memory.memory import Memory
from core.schema.errors import LibraryError
from core.schema.exemplar import Exemplar

if TYPE_CHECKING:
    from core.memory.library.store import Library

T = TypeVar("T")


class LibraryReader:
    """Asks one question after the other; neither the run nor who writes waits for it."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._turn = asyncio.Lock()
        self._library: Library | None = None
        self._path: Path | None = None

    async def ask(self, question: Callable[["Library"], T]) -> T:
        """Return the answer; the exemplars of files stand beside the library's.

        Raises LibraryError, DataError where a file of exemplars is wrong, and
        what the question raises.
        """
        async with self._turn:
            return await asyncio.to_thread(self._ask, question)

    async def close(self) -> None:
        async with self._turn:
            self._let_go()

    def _ask(self, question: Callable[["Library"], T]) -> T:
        if self._memory.library_path is None:
            return question(self._memory.listing())  # It is kept in memory, and there is only one of it.
        members = self._memory.file_members()
        try:
            return question(self._opened(members))
        except LibraryError:
            # The file may have been moved or made anew: the next question opens what is there then.
            self._let_go()
            raise

    def _opened(self, members: Sequence[tuple[Origin, Exemplar]]) -> "Library":
        from core.memory.library.store import Library

        path = self._memory.library_path
        there = path if path is not None and path.exists() else None
        if self._library is not None and there != self._path:
            self._let_go()
        if self._library is None:
            if there is None:
                self._library = Library.in_memory()
            else:
                self._memory.library()  # An older file is brought up to date by who may write.
                self._library = Library.open(there, read_only=True)
            self._path = there
        self._library.set_beside(members)
        return self._library

    def _let_go(self) -> None:
        library, self._library = self._library, None
        if library is not None:
            with contextlib.suppress(LibraryError):
                library.close()
