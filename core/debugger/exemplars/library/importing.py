"""Imports exemplars at the window: first shows a plan, then imports everything or nothing."""

import asyncio
from threading import Event
from typing import TYPE_CHECKING

from core.debugger.background_read import finish_in_thread
from core.debugger.commands import command
from core.debugger.exemplars.library.service import LibraryService
from core.debugger.exemplars.library.views import ImportView
from core.debugger.service import Service
from core.exemplars.exchange.plan import ImportChoices, ImportPlan
from core.schema.errors import UsageError
from core.schema.formats import count

if TYPE_CHECKING:
    # What reads foreign files takes long to load, which only an import has to wait for.
    from core.exemplars.exchange.importing import FilesRead


class ImportService(Service[ImportView]):
    """Plans an import and carries it out, as a job of the library."""

    view = ImportView()

    def __init__(self, library: LibraryService) -> None:
        super().__init__(library.session)
        self._library = library
        self._read: FilesRead | None = None

    @command
    async def read_files(self, choices: ImportChoices) -> None:
        """Read the files in the background and say what an import would do; nothing in them is run."""
        from core.exemplars.exchange.importing import FilesRead

        self._read = None
        self.send(ImportView(choices=choices))
        memory = self._library.memory

        async def work() -> None:
            try:
                self._read = await asyncio.to_thread(FilesRead, choices, memory)
            except asyncio.CancelledError:
                self.failed("“Reading the files” was cancelled.")
                raise
            self._plan(self._read, choices)

        self._library.begin("Reading the files", work, self.failed, importing=True)

    @command
    async def plan(self, choices: ImportChoices) -> None:
        """Say what an import of the files that were read last would do by other choices."""
        if self._read is not None and self._read.choices.reading == choices.reading:
            self._plan(self._read, choices)

    @command
    async def carry_out(self, choices: ImportChoices) -> None:
        """Import what was read last as these choices have it: all of it or nothing."""
        self.view = self.view.replace(choices=choices)
        if self._read is None or self._read.choices.reading != choices.reading:
            raise UsageError("The files must be read first. Choose them again.")
        plan = self._plan(self._read, choices)
        if plan.is_possible:
            self._library.begin("Importing exemplars", lambda: self._store(plan), self.failed, importing=True)

    def _plan(self, read: "FilesRead", choices: ImportChoices) -> ImportPlan:
        plan = read.plan(choices)
        self.send(ImportView(choices=choices, plan=plan))
        return plan

    async def _store(self, plan: ImportPlan) -> None:
        from core.exemplars.exchange.importing import keep

        library, changes, cancelled = self._library, self._library.changes, Event()
        memory, report = library.memory, library.reporting()
        before = changes.before(exemplar.id for _, exemplar in plan.coming)
        stored = await finish_in_thread(
            lambda: keep(plan, memory, report, cancelled), on_cancel=cancelled.set
        )
        if not stored:
            library.done("The import was cancelled. Nothing was imported.")
            return
        self.show(done=True)
        number = count(len(plan.coming), "exemplar")
        words = f"import {number}"
        changes.made(words, before)
        library.done(f"{number} {'was' if len(plan.coming) == 1 else 'were'} imported.", words)
        await library.refresh()

    def failed(self, problem: str) -> None:
        self.send(ImportView(choices=self.view.choices, problem=problem))
