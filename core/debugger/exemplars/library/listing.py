"""Reads for the library window: the rows of a list, the choices of its filters, and one whole exemplar."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.debugger.exemplars.library.proven import proofs_about
from core.debugger.exemplars.library.views import PAGE, CountsView, DetailView, ListView, Query
from core.debugger.exemplars.prompt import prompt_of
from core.debugger.services import Services
from core.exemplars.checks import fault
from core.exemplars.library.records import ANY, NEW, Filter, LibraryRow
from core.exemplars.memory import Memory
from core.schema.errors import LibraryError

if TYPE_CHECKING:
    from core.exemplars.library.store import Library

T = TypeVar("T")
IDS = 1000
"""Rows that are read at once where only their ids are wanted."""
_MOST_KEPT = 500
"""Exemplars whose places are looked up."""
_VALUES = {
    "family": "family",
    "environment": "environment",
    "site": "site",
    "origin": "origin",
    "llm": "LLM",
    "file": "file",
    "run": "run",
}
"""The fields of a filter that have one value, with their names in words."""


class LibraryReader:
    """Runs queries one after another in a thread with its own connection.

    Neither the run nor writers wait for it.
    """

    def __init__(self, memory: Callable[[], Memory]) -> None:
        self._memory = memory
        self._turn = asyncio.Lock()
        self._library: Library | None = None

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
        path = memory.library_path
        if path is None or not path.exists():
            with memory.connection() as library:
                return question(library)
        try:
            return question(self._opened(memory, path))
        except LibraryError:
            # The file may have been moved or made again: the next question opens what is there then.
            self._let_go()
            raise

    def _opened(self, memory: Memory, path: Path) -> "Library":
        from core.exemplars.library.store import Library

        beside = memory.library().beside.members  # This also brings an older file up to date.
        if self._library is not None and path != self._library.path:
            self._let_go()
        if self._library is None:
            self._library = Library.open(path, read_only=True)
        self._library.set_beside(beside)
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
    whole, new = (library.total(Filter(statuses=one)) for one in (query.filter.statuses, NEW.statuses))
    compared = library.proofs.moment("neighbour")
    view = ListView(
        query=query,
        ready=True,
        whole=whole,
        new=new,
        compared=compared,
        is_compared_old=compared is not None and library.changed() > compared,
    )
    if query.like:
        places = {row.id: place for place, (row, _) in enumerate(near)}
        return view.replace(
            total=len(near),
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
    return view.replace(total=page.total, first=start, rows=page.rows, places=places)


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
    for field in _VALUES:
        if getattr(wanted, field):
            offers[field] = library.counts(_any(wanted, field), only=(field,)).by[field]
    loosened = () if counts.total else _looser(wanted)
    without = tuple((name, library.total(loose)) for name, loose in loosened)
    return CountsView(filter=wanted, counts=counts, offers=offers, without=without)


def _any(wanted: Filter, field: str) -> Filter:
    """Return a filter that lets any value of `field` through."""
    changes: dict[str, Any] = {field: Filter.model_fields[field].default}
    return wanted.replace(**changes)


def _looser(wanted: Filter) -> Iterator[tuple[str, Filter]]:
    """Give each condition of a filter in words, with the filter that does without it."""
    if wanted.words:
        yield f"the words “{wanted.words}”", wanted.replace(words="")
    for field, name in _VALUES.items():
        if value := getattr(wanted, field):
            yield f"the {name} “{value}”", _any(wanted, field)
    for finding in wanted.found:
        others = tuple(other for other in wanted.found if other != finding)
        yield f"the finding “{finding}”", wanted.replace(found=others)
    for tag in wanted.tags:
        rest = tuple(other for other in wanted.tags if other != tag)
        yield f"the tag “{tag}”", wanted.replace(tags=rest)
    if wanted.made_from is not None or wanted.made_until is not None:
        yield "the dates", wanted.replace(made_from=None, made_until=None)
    if wanted.statuses != ANY:
        yield f"looking only at {' and '.join(wanted.statuses)} ones", wanted.replace(statuses=ANY)


def detail_of(services: Services, id: str, preset: str) -> DetailView:
    """Return one exemplar whole; raises NotInLibraryError that names the nearest."""
    library = services.resources.memory.library()
    entry, trace = library.get(id), str(services.store.path.absolute())
    return DetailView(
        id=id,
        entry=entry,
        fault=fault(entry.exemplar),
        versions=() if entry.read_only else library.versions(id),
        retrievals=library.retrievals(id),
        standing=library.standing(id),
        proofs=proofs_about(library, entry, trace),
        trace=trace,
        prompt=prompt_of(entry.exemplar, services.resources, preset).text,
        preset=preset,
    )
