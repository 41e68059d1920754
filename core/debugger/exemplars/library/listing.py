"""Reads for the library window: the rows of a list, the choices of its filters, and one whole exemplar."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.debugger.exemplars.known import file_entry
from core.debugger.exemplars.library.views import PAGE, CountsView, DetailView, ListView, Query
from core.debugger.exemplars.prompt import prompt_of
from core.debugger.services import Services
from core.memory.library.records import Filter, LibraryRow, Origin, RetrievalRecord
from core.memory.memory import Memory
from core.schema.errors import LibraryError
from core.schema.exemplar import Exemplar

if TYPE_CHECKING:
    from core.memory.library.store import Library

T = TypeVar("T")
IDS = 1000
"""Rows that are read at once where only their ids are wanted."""
_MOST_KEPT = 500
"""Exemplars whose places are looked up."""
_KINDS: dict[str, str] = {
    "family": "family",
    "environment": "environment",
    "site": "site",
    "origin": "origin",
    "llm": "llm",
    "tag": "tags",
}
"""What counts are by, with the field of the filter."""


class LibraryReader:
    """Runs queries one after another in a thread with its own connection.

    Neither the run nor writers wait for it.
    """

    def __init__(self, memory: Callable[[], Memory]) -> None:
        self._memory = memory
        self._turn = asyncio.Lock()
        self._library: Library | None = None
        self._path: Path | None = None

    async def ask(self, question: Callable[["Library"], T]) -> T:
        """Return the answer; including the exemplars of files.

        Raises LibraryError, and what the question raises.
        """
        async with self._turn:
            return await asyncio.to_thread(self._ask, question)

    async def close(self) -> None:
        async with self._turn:
            self._let_go()

    def _ask(self, question: Callable[["Library"], T]) -> T:
        memory = self._memory()
        if memory.library_path is None:
            return question(memory.listing())  # It is kept in memory, and there is only one of it.
        members = memory.file_members()
        try:
            return question(self._opened(memory, members))
        except LibraryError:
            # The file may have been moved or made again: the next question opens what is there then.
            self._let_go()
            raise

    def _opened(self, memory: Memory, members: Sequence[tuple[Origin, Exemplar]]) -> "Library":
        from core.memory.library.store import Library

        path = memory.library_path
        there = path if path is not None and path.exists() else None
        if self._library is not None and there != self._path:
            self._let_go()
        if self._library is None:
            if there is None:
                self._library = Library.in_memory()
            else:
                memory.library()  # An older file is brought up to date by who may write.
                self._library = Library.open(there, read_only=True)
            self._path = there
        self._library.set_beside(members)
        return self._library

    def _let_go(self) -> None:
        library, self._library = self._library, None
        if library is not None:
            with contextlib.suppress(LibraryError):
                library.close()


def list_of(
    library: "Library",
    query: Query,
    keep: Sequence[str],
    anchor: str,
    first: int,
    near: Sequence[tuple[LibraryRow, float]] = (),
) -> ListView:
    """Return a list with the rows around `anchor`, else around the place `first`."""
    whole = library.total(Filter(archived=query.filter.archived))
    if query.like:
        places = {row.id: place for place, (row, _) in enumerate(near)}
        return ListView(
            query=query,
            ready=True,
            total=len(near),
            whole=whole,
            rows=tuple(row for row, _ in near),
            distances=tuple(distance for _, distance in near),
            places={id: places[id] for id in keep if id in places},
        )

    def place(id: str) -> int | None:
        return library.place(id, query.filter, order=query.order, reverse=query.reverse)

    found = {id: place(id) for id in keep[:_MOST_KEPT]}
    places = {id: at for id, at in found.items() if at is not None}
    where = (place(anchor) if anchor else None) if anchor not in places else places[anchor]
    if where is not None:
        places[anchor] = where
        first = where
    total = library.total(query.filter)
    # Two pages, so that what is in view is there wherever it begins.
    page_before = 1 if first % PAGE < PAGE // 2 else 0
    start = max(0, min(first, max(0, total - 1)) // PAGE - page_before) * PAGE
    page = library.page(query.filter, order=query.order, reverse=query.reverse, offset=start, limit=2 * PAGE)
    return ListView(
        query=query, ready=True, total=page.total, whole=whole, first=start, rows=page.rows, places=places
    )


def ids_of(library: "Library", query: Query, start: int, end: int) -> list[str]:
    """Return the ids of a list from one place on, up to another one."""
    page = library.page(
        query.filter, order=query.order, reverse=query.reverse, offset=start, limit=end - start
    )
    return [row.id for row in page.rows]


def counts_of(library: "Library", wanted: Filter) -> CountsView:
    """Return how many the filter lets through, and what each of its conditions could be instead."""
    counts = library.counts(wanted)
    offers = dict(counts.by)
    for kind, field in _KINDS.items():
        if kind != "tag" and getattr(wanted, field):
            others = _any(wanted, field)
            offers[kind] = library.counts(others, only=(kind,)).by[kind]
    without: list[tuple[str, int]] = []
    if not counts.total:
        for name, loose in _looser(wanted):
            without.append((name, library.total(loose)))
    return CountsView(filter=wanted, counts=counts, offers=offers, without=tuple(without))


def _any(wanted: Filter, field: str) -> Filter:
    """Return a filter that lets any value of `field` through."""
    changes: dict[str, Any] = {field: ""}
    return wanted.replace(**changes)


def _looser(wanted: Filter) -> list[tuple[str, Filter]]:
    """Return each condition of a filter in words, with the filter that does without it."""
    found: list[tuple[str, Filter]] = []
    if wanted.words:
        found.append((f"the words “{wanted.words}”", wanted.replace(words="")))
    for name, title in (
        ("family", "family"),
        ("environment", "environment"),
        ("site", "site"),
        ("origin", "origin"),
        ("llm", "LLM"),
    ):
        if value := getattr(wanted, name):
            found.append((f"the {title} “{value}”", _any(wanted, name)))
    for tag in wanted.tags:
        rest = tuple(one for one in wanted.tags if one != tag)
        found.append((f"the tag “{tag}”", wanted.replace(tags=rest)))
    if wanted.made_from is not None or wanted.made_until is not None:
        found.append(("the dates", wanted.replace(made_from=None, made_until=None)))
    if wanted.archived is not None:
        where = "the archive" if wanted.archived else "those in use"
        found.append((f"looking only at {where}", wanted.replace(archived=None)))
    return found


def detail_of(services: Services, id: str, preset: str) -> DetailView:
    """Return one exemplar whole; raises NotInLibraryError that names the nearest."""
    memory = services.resources.memory
    member = next((one for one in memory.file_members() if one[1].id == id), None)
    entry = file_entry(*member) if member is not None else memory.library().get(id)
    library = memory.open_library()
    own = library is not None and entry.provenance.origin not in ("file", "bundled")
    path = next((str(path) for path, one in memory.files.placed() if one.id == id), "") if not own else ""
    return DetailView(
        id=id,
        entry=entry,
        read_only=not own,
        place=path,
        versions=library.versions(id) if own and library is not None else (),
        retrievals=library.retrievals(id) if library is not None else (),
        standing=library.standing(id) if library is not None else RetrievalRecord(),
        trace=str(services.store.path.absolute()),
        prompt=prompt_of(entry.exemplar, services.resources, preset).text,
        preset=preset,
    )


def stamp_of(memory: Memory) -> object:
    """Return what is another one as soon as an exemplar of the library or of a file has changed."""
    library = memory.open_library()
    return (0 if library is None else library.last_change(), memory.file_members())
