"""Work on many exemplars at once, in pieces between which the run goes on."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from core.debugger.exemplars.known import file_entry
from core.memory.checks import Problem, check
from core.memory.library.records import Entry
from core.memory.memory import Memory
from core.schema.errors import NotInLibraryError, NotInTraceError
from core.schema.exemplar import Exemplar
from core.trace.store import TraceStore

if TYPE_CHECKING:
    # What writes foreign files takes long to load: only who needs it waits for it.
    from core.memory.exchange.registry import ExemplarExportFormat

T = TypeVar("T")
_READ = 20
"""Exemplars that are read in one go."""
_CHANGED = 50
"""Exemplars that are changed in one go."""


async def entries(memory: Memory, ids: tuple[str, ...]) -> AsyncIterator[Entry]:
    """Give exemplars in pieces, between which the run goes on; one that is not there any more is left out."""
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
    """Put exemplars into the archive, or bring them back.

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
    """Checks one exemplar after the other; the same parser on the same page is run once."""

    def __init__(self, store: TraceStore) -> None:
        self._store = store
        self._tried: dict[tuple[str, str], bool] = {}

    async def problems(self, entry: Entry) -> tuple[Problem, ...]:
        """Return what is wrong with one."""
        exemplar = entry.exemplar
        page = exemplar.abstraction[0].state if exemplar.abstraction else ""
        key = (exemplar.parser, page if "<" in page else "")
        problems = await check(
            exemplar,
            run=entry.provenance.run,
            is_success=self._is_success,
            with_parser=not self._tried.get(key, False),
        )
        self._tried[key] = not any(one.kind == "parser" for one in problems)
        return problems

    def _is_success(self, run: int) -> bool | None:
        try:
            return self._store.run(run).verdict.success
        except NotInTraceError:
            return None


def write(form: "ExemplarExportFormat", exemplars: tuple[Exemplar, ...], path: Path) -> int:
    """Write the files and return how many there are."""
    from core.memory.exchange.writer import write_files

    files = {path / name if name else path: text for name, text in form.write(exemplars).items()}
    write_files(files)
    return len(files)


async def finish_in_thread(work: Callable[[], T], on_cancel: Callable[[], None] = lambda: None) -> T:
    """Do work in a thread, and wait for its end even where the task is cancelled: it leaves nothing half done."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        on_cancel()
        return await working
