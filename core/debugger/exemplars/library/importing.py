"""Imports exemplars: first shows a preview, then imports everything or nothing."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from core.debugger.commands import command
from core.debugger.exemplars.known import finish_in_thread
from core.debugger.exemplars.library.service import LibraryService
from core.debugger.exemplars.library.views import SHOWN, Fate, ImportChoices, ImportEntry, ImportView
from core.debugger.service import Service
from core.memory.library.records import Provenance
from core.memory.memory import Memory
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar

if TYPE_CHECKING:
    # What reads foreign files takes long to load, which only an import has to wait for.
    from core.memory.exchange.plan import ImportPlan
    from core.memory.exchange.reader import FoundExemplars

_FIRST = ("faulty", "id taken", "new version", "new", "there already", "left out")
"""In which order entries are listed: what asks for a decision first."""
_NUMBERS = 200
"""Numbers behind an id that are looked at for a free one."""


class _Cancelled(Exception):
    """The import was cancelled, and nothing was stored."""


class _Read(NamedTuple):
    """What was read last, and what the library already has of it."""

    choices: ImportChoices
    found: "FoundExemplars"
    plan: "ImportPlan"
    own: frozenset[str]
    """Ids that the library itself has."""
    taken: frozenset[str]
    """Ids that are taken, with the numbered ones."""


class ImportService(Service[ImportView]):
    """Previews an import, and then imports everything or nothing, as a job of the library."""

    view = ImportView()

    def __init__(self, library: LibraryService) -> None:
        super().__init__(library.session)
        self._library = library
        self._read: _Read | None = None

    @command
    async def read_files(self, choices: ImportChoices) -> None:
        """Read the files in the background and say what an import would do; nothing in them is run."""
        self._read = None
        self.send(ImportView(choices=choices))
        memory = self._library.memory

        async def work() -> None:
            try:
                self._read = await asyncio.to_thread(_read_files, choices, memory)
            except asyncio.CancelledError:
                self.failed("“Reading the files” was cancelled.")
                raise
            self.send(_view_of(self._read, choices))

        self._library.begin("Reading the files", work, self.failed, importing=True)

    @command
    async def plan(self, choices: ImportChoices) -> None:
        """Say what an import of the files that were read last would do by other choices."""
        if self._read is not None and _same_files(self._read.choices, choices):
            self.send(_view_of(self._read, choices))

    @command
    async def carry_out(self, choices: ImportChoices) -> None:
        """Import what was read last as these choices have it: all of it or nothing."""
        self.view = self.view.replace(choices=choices)
        read = self._read
        if read is None or not _same_files(read.choices, choices):
            raise UsageError("The files must be read first. Choose them again.")
        view = _view_of(read, choices)
        if view.problem or not view.coming:
            self.send(view)
            return
        self._library.begin(
            "Importing exemplars", lambda: self._store(read, view), self.failed, importing=True
        )

    async def _store(self, read: _Read, view: ImportView) -> None:
        coming = _coming(read, view.choices)
        name, memory = Path(view.choices.paths[0]).stem, self._library.memory
        report, cancelled = self._library.reporting(), Event()
        changes = self._library.changes
        before = changes.before(one.id for one, _ in coming)
        stored = await finish_in_thread(
            lambda: _store(memory, coming, name, report, cancelled), on_cancel=cancelled.set
        )
        if not stored:
            self._library.done("The import was cancelled. Nothing was imported.")
            self.send(view)
            return
        number = "1 exemplar" if len(coming) == 1 else f"{len(coming)} exemplars"
        self.send(view.replace(done=True))
        words = f"import {number}"
        changes.made(words, before)
        self._library.done(f"{number} {'was' if len(coming) == 1 else 'were'} imported.", words)
        await self._library.refresh()

    def failed(self, problem: str) -> None:
        self.send(ImportView(choices=self.view.choices, problem=problem))


def _same_files(before: ImportChoices, after: ImportChoices) -> bool:
    return before.replace(leave_faulty=after.leave_faulty, taken=after.taken) == after


def _read_files(choices: ImportChoices, memory: Memory) -> _Read:
    """Read the files and compare them with the library; raises UsageError, DataError and LibraryError."""
    from core.memory.exchange.plan import plan_of
    from core.memory.exchange.reader import read_several
    from core.memory.exchange.records import ReadOptions
    from core.memory.library.store import Library

    options = ReadOptions(family=choices.family, least_reward=choices.least_reward)
    found = read_several([Path(path) for path in choices.paths], choices.form, options)
    exemplars = [one.exemplar for one in found.reading.candidates]
    held = {one.id: one for _, one in memory.files.placed()}
    own: set[str] = set()
    taken = set(held)
    path = memory.library_path
    if path is not None and path.exists():
        memory.library()  # It may be of an older version.
        library = Library.open(path, read_only=True)
        try:
            own = library.has(one.id for one in exemplars)
            held |= {one.id: one for one in library.kin(exemplars)}
            doubled = own | {one.id for one in exemplars if one.id in taken}
            taken |= own | library.has(f"{id}-{number}" for id in doubled for number in range(2, _NUMBERS))
        finally:
            library.close()
    plan = plan_of(found.reading, held.values())
    return _Read(choices, found, plan, frozenset(own), frozenset(taken))


def _coming(read: _Read, choices: ImportChoices) -> tuple[tuple[Exemplar, bool], ...]:
    """Return what would be kept, each with whether it is a new version of one that is there."""
    from core.memory.exchange.records import free_id

    found: list[tuple[Exemplar, bool]] = []
    taken = set(read.taken) | {one.id for one in read.plan.new}
    for one in read.plan.planned:
        exemplar = one.candidate.exemplar
        if one.fate == "new":
            found.append((exemplar, False))
        elif one.fate == "id taken" and choices.taken == "new id":
            id = free_id(exemplar.id, taken)
            taken.add(id)
            found.append((exemplar.replace(id=id), False))
        elif one.fate == "id taken" and choices.taken == "new version" and exemplar.id in read.own:
            found.append((exemplar, True))
    return tuple(found)


def _view_of(read: _Read, choices: ImportChoices) -> ImportView:
    from core.memory.exchange.reader import IMPORTS

    kept = _coming(read, choices)
    versions = {one.id for one, later in kept if later}
    new = {one.id for one in read.plan.new}
    renamed = iter(one.id for one, later in kept if not later and one.id not in new)
    entries: list[ImportEntry] = []
    for planned in read.plan.planned:
        exemplar, fate, why = planned.candidate.exemplar, planned.fate, planned.why
        shown: Fate = fate
        id = exemplar.id
        if fate == "id taken" and id in versions:
            shown, why = "new version", "it becomes a new version; the previous one is kept"
        elif fate == "id taken" and choices.taken == "new id":
            id = next(renamed)
            shown, why = "new", f"as {id}, because another exemplar has the id {exemplar.id}"
        elif fate == "id taken" and choices.taken == "new version":
            why = "an exemplar in a read-only file has this id"
        if planned.candidate.remarks and not why:
            why = " ".join(planned.candidate.remarks)
        entries.append(
            ImportEntry(
                position=planned.candidate.position, fate=shown, id=id, family=exemplar.family, why=why
            )
        )
    reading = read.plan.reading
    entries += [ImportEntry(position=one.position, fate="faulty", why=one.why) for one in reading.faulty]
    entries += [ImportEntry(position=one.position, fate="left out", why=one.why) for one in reading.left_out]
    counts = {fate: sum(1 for one in entries if one.fate == fate) for fate in _FIRST}
    entries.sort(key=lambda one: _FIRST.index(one.fate))
    problem = ""
    if reading.faulty and (not choices.leave_faulty or not read.plan.planned):
        first = reading.faulty[0]
        more = f" ({len(reading.faulty)} entries in all)" if len(reading.faulty) > 1 else ""
        hint = "Correct it, or tick the box to leave out faulty entries." if read.plan.planned else ""
        problem = f"{first.position}: {first.why}{more}. {hint}".strip()
    return ImportView(
        choices=choices,
        ready=True,
        formats=tuple(one.title for one in IMPORTS if one.name in read.found.formats),
        counts={fate: number for fate, number in counts.items() if number},
        entries=tuple(entries[:SHOWN]),
        coming=len(kept),
        problem=problem,
    )


def _store(
    memory: Memory,
    coming: tuple[tuple[Exemplar, bool], ...],
    name: str,
    report: Callable[[int, int], None],
    cancelled: Event,
) -> bool:
    """Store all or nothing; return False if it was cancelled.

    Raises DataError and LibraryError.
    """
    from core.memory.library.store import Library

    path = memory.library_path
    library = memory.library() if path is None else Library.open(path)

    def each() -> Iterator[tuple[Exemplar, Provenance | None]]:
        for at, (exemplar, later) in enumerate(coming):
            if cancelled.is_set():
                raise _Cancelled
            report(at, len(coming))
            exemplar = exemplar if exemplar.source else exemplar.replace(source=name)
            yield exemplar, None if later else Provenance(origin="import")

    try:
        taken = sorted(library.has(one.id for one, later in coming if not later))
        if taken:
            raise DataError(f"The id {taken[0]} was taken in the meantime. Read the files again.")
        library.save_all(each())
    except _Cancelled:
        return False
    finally:
        if path is not None:
            library.close()
    return True
