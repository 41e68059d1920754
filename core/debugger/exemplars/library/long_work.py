"""The long work on the library: checking, exporting and indexing, in pieces between which the run goes on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.debugger.exemplars.library.jobs import Job, Jobs
from core.debugger.exemplars.library.views import CheckView, Chosen, Told
from core.debugger.session import Session
from core.memory.checks import Problem, check
from core.memory.library.records import Entry, Provenance
from core.schema.errors import NotInLibraryError, NotInTraceError, UsageError
from core.schema.exemplar import Exemplar
from core.schema.signal import Signal

if TYPE_CHECKING:
    # What writes foreign files, and SQLite, take long to load: only who needs them waits for it.
    from core.memory.exchange.registry import ExportFormat
    from core.memory.library.store import Library

_PAGE = 1000
"""Rows that are read at once where only their ids are wanted."""
_PIECE = 20
"""Exemplars that are read in one go."""
_TOLD = 2000
"""Problems that are told one by one."""

Ask = Callable[[Callable[["Library"], Any]], Awaitable[Any]]


class LibraryWork:
    """Begins pieces of work as jobs."""

    def __init__(
        self,
        session: Session,
        jobs: Jobs,
        told: Signal[Told],
        checked: Signal[CheckView],
        ask: Ask,
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        """`ask` puts a question to a reader of the library; `refresh` has the window's list read again."""
        self._session = session
        self._jobs = jobs
        self._told = told
        self._checked = checked
        self._ask = ask
        self._refresh = refresh

    async def ids_of(self, chosen: Chosen) -> tuple[str, ...]:
        """Return the ids of what was chosen, each once, in its order; raises LibraryError."""
        found = list(chosen.ids)
        query = chosen.query
        for start, end in chosen.ranges if query is not None else ():
            for offset in range(start, end, _PAGE):
                limit = min(_PAGE, end - offset)
                assert query is not None

                def read(library: "Library", offset: int = offset, limit: int = limit) -> list[str]:
                    page = library.page(
                        query.filter, order=query.order, reverse=query.reverse, offset=offset, limit=limit
                    )
                    return [row.id for row in page.rows]

                found += await self._ask(read)
        return tuple(dict.fromkeys(found))

    def check(self, chosen: Chosen, found: Callable[[CheckView], None], *, tell: bool) -> None:
        """Check them; what is found goes to `found`, and with `tell` to the list of problems."""

        async def work(job: Job) -> None:
            ids = await self.ids_of(chosen)
            problems: list[Problem] = []
            more = done = 0
            tried: dict[tuple[str, str], bool] = {}
            async for entry in self._entries(ids, job):
                for one in await self._check(entry, tried):
                    if len(problems) < _TOLD:
                        problems.append(one)
                    else:
                        more += 1
                done += 1
                job.tell(done, len(ids))
            view = CheckView(
                checked=done, of=len(ids), problems=tuple(problems), more=more, cancelled=job.cancelled
            )
            found(view)
            if tell:
                self._checked.send(view)

        self._jobs.start("check", "Checking exemplars", work)

    async def _check(self, entry: Entry, tried: dict[tuple[str, str], bool]) -> tuple[Problem, ...]:
        """Return what is wrong with one; the same parser on the same page is run once."""
        exemplar = entry.exemplar
        page = exemplar.abstraction[0].state if exemplar.abstraction else ""
        key = (exemplar.parser, page if "<" in page else "")
        problems = await check(
            exemplar,
            run=entry.provenance.run,
            is_success=self._is_success,
            with_parser=not tried.get(key, False),
        )
        tried[key] = not any(one.kind == "parser" for one in problems)
        return problems

    def _is_success(self, run: int) -> bool | None:
        try:
            return self._session.workshop().store.run(run).verdict.success
        except NotInTraceError:
            return None

    def export(self, chosen: Chosen, form: str, path: str) -> None:
        """Write them; raises UsageError for an unknown form."""
        from core.memory.exchange.registry import export_format

        known = export_format(form)

        async def work(job: Job) -> None:
            ids = await self.ids_of(chosen)
            exemplars: list[Exemplar] = []
            async for entry in self._entries(ids, job):
                exemplars.append(entry.exemplar)
                job.tell(len(exemplars), len(ids))
            if job.cancelled:
                self._told.send(Told(text="The export was cancelled; nothing was written."))
                return
            if not exemplars:
                raise UsageError("There is nothing to export: choose exemplars, or loosen the filter.")
            job.tell(0, 0, "Writing the file")
            names = await asyncio.to_thread(_write, known, tuple(exemplars), Path(path))
            number = "1 exemplar was" if len(exemplars) == 1 else f"{len(exemplars)} exemplars were"
            where = path if len(names) == 1 else f"{path}, in {len(names)} files"
            self._told.send(Told(text=f"{number} written to {where}, as {known.title}."))

        self._jobs.start("export", "Reading exemplars to export", work)

    def reindex(self) -> None:
        """Make the index anew; what was made is kept where it is cancelled."""
        memory = self._session.workshop().knowledge.memory

        async def work(job: Job) -> None:
            before = memory.on_progress

            def progress(done: int, of: int) -> None:
                job.tell(done, of)
                if before is not None:
                    before(done, of)

            memory.on_progress = progress
            try:
                embedded = await memory.reindex()
                index = await memory.refreshed()
            finally:
                memory.on_progress = before
            self._told.send(
                Told(
                    text=f"{len(index)} exemplars are indexed by {index.embedding.name}; "
                    f"{embedded} texts were embedded."
                )
            )
            await self._refresh()

        self._jobs.start("index", "Making the index anew", work)

    async def _entries(self, ids: tuple[str, ...], job: Job) -> AsyncIterator[Entry]:
        """Give exemplars until the job is cancelled; one that is not there any more is left out."""
        from core.memory.library.rows import tokens_of

        memory = self._session.workshop().knowledge.memory
        members = {one.id: (origin, one) for origin, one in memory.file_members()}
        for at, id in enumerate(ids):
            if at % _PIECE == 0:
                await asyncio.sleep(0)
            if job.cancelled:
                return
            if id in members:
                origin, exemplar = members[id]
                yield Entry(
                    exemplar=exemplar, provenance=Provenance(origin=origin), tokens=tokens_of(exemplar)
                )
                continue
            try:
                entry = memory.library().get(id)
            except NotInLibraryError:
                continue
            yield entry


def _write(form: "ExportFormat", exemplars: tuple[Exemplar, ...], path: Path) -> tuple[str, ...]:
    from core.memory.exchange.writer import write_files

    files = {path / name if name else path: text for name, text in form.write(exemplars).items()}
    write_files(files)
    return tuple(str(one) for one in files)
