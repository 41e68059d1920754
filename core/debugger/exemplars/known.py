"""The exemplars of the library and of files, free ids, and work on many exemplars at once."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from typing import TypeVar

from core.memory.checks import Problem, check
from core.memory.library.records import Entry, Origin, Provenance
from core.memory.memory import Memory
from core.schema.errors import NotInLibraryError, NotInTraceError, UsageError
from core.schema.exemplar import Exemplar
from core.trace.store import TraceStore

T = TypeVar("T")
_LONGEST = 110
_TRIES = 500
_READ = 20
"""Exemplars that are read in one go."""
_CHANGED = 50
"""Exemplars that are changed in one go."""


def entry_of(memory: Memory, id: str) -> Entry | None:
    """Return what the library has of an id; None if that is nothing."""
    library = memory.open_library()
    if library is None:
        return None
    try:
        return library.get(id)
    except NotInLibraryError:
        return None


def file_entry(origin: Origin, exemplar: Exemplar) -> Entry:
    """Return an exemplar of a file as the library would have it."""
    from core.memory.library.tables import tokens_of

    return Entry(exemplar=exemplar, provenance=Provenance(origin=origin), tokens=tokens_of(exemplar))


def of_file(memory: Memory, id: str) -> Exemplar:
    """Return an exemplar of a file; raises UsageError if there is none of that id."""
    for _, one in memory.files.placed():
        if one.id == id:
            return one
    raise UsageError(f"There is no exemplar {id}. Search the library (Ctrl+L).")


def free_id(memory: Memory, wanted: str) -> str:
    """Return an id that no exemplar has: the one that is wanted, or with a number behind it."""
    stem = wanted[:_LONGEST]
    tries = (stem, *(f"{stem}-{number}" for number in range(2, _TRIES)))
    taken = taken_ids(memory, tries)
    return next((one for one in tries if one not in taken), stem)


def copy_id(memory: Memory, id: str) -> str:
    """Return a free id for a copy: ``order-copy``, ``order-copy-2``."""
    return free_id(memory, f"{re.sub(r'-copy(-[0-9]+)?$', '', id)[: _LONGEST - 5]}-copy")


def taken_ids(memory: Memory, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that the library or a file has."""
    wanted = set(ids)
    library = memory.open_library()
    own = library.has(wanted) if library is not None else set()
    return own | {one.id for _, one in memory.files.placed() if one.id in wanted}


async def entries(memory: Memory, ids: tuple[str, ...]) -> AsyncIterator[Entry]:
    """Give exemplars in pieces, between which the run continues; one that is not there any more is left out."""
    members = {one.id: (origin, one) for origin, one in memory.file_members()}
    for at, id in enumerate(ids):
        if at % _READ == 0:
            await asyncio.sleep(0)
        if id in members:
            yield file_entry(*members[id])
            continue
        try:
            entry = memory.library().get(id)
        except NotInLibraryError:
            continue
        yield entry


async def archive(
    memory: Memory, ids: tuple[str, ...], *, archived: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Put exemplars into the archive, or restore them.

    Returns those that were changed, and those that are of files. Raises LibraryError.
    """
    if not ids:
        return (), ()
    of_files = {one.id for _, one in memory.file_members()}
    own = [id for id in ids if id not in of_files]
    done: list[str] = []
    for at in range(0, len(own), _CHANGED):
        library = memory.library()
        for id in own[at : at + _CHANGED]:
            if library.get(id).exemplar.archived != archived:
                library.archive(id, archived=archived)
                done.append(id)
        await asyncio.sleep(0)
    return tuple(done), tuple(id for id in ids if id in of_files)


class Checker:
    """Checks exemplars one after another; the same parser on the same page runs only once."""

    def __init__(self, store: TraceStore, policies: Collection[str]) -> None:
        """`policies` are the names of those that actions may call."""
        self._store = store
        self._policies = policies
        self._tried: dict[tuple[str, str], bool] = {}

    async def problems(self, entry: Entry) -> tuple[Problem, ...]:
        """Return what is wrong with one."""
        exemplar = entry.exemplar
        page = exemplar.abstraction[0].state if exemplar.abstraction else ""
        key = (exemplar.parser, page if "<" in page else "")
        problems = await check(
            exemplar,
            run=entry.provenance.run,
            is_success=lambda run: is_success_of(self._store, run),
            with_parser=not self._tried.get(key, False),
            policies=self._policies,
        )
        self._tried[key] = not any(one.kind == "parser" for one in problems)
        return problems


def is_success_of(store: TraceStore, run: int) -> bool | None:
    """Return whether a run was a success; None if that is not known, or if the trace does not have it."""
    try:
        return store.run(run).verdict.success
    except NotInTraceError:
        return None


async def finish_in_thread(work: Callable[[], T], on_cancel: Callable[[], None] = lambda: None) -> T:
    """Do work in a thread, and wait for its end even where the task is cancelled: it leaves nothing half done."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        on_cancel()
        return await working
