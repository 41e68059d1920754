"""The library while the window is open: lists by pages, counts, one exemplar whole, and what is done to them."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, NamedTuple

from core.debugger.background_read import ask_file
from core.debugger.exemplars.library.changes import LibraryChanges
from core.debugger.exemplars.library.importer import ImportDesk
from core.debugger.exemplars.library.jobs import Jobs
from core.debugger.exemplars.library.list_views import counts_of, detail_of, list_of
from core.debugger.exemplars.library.long_work import LibraryWork
from core.debugger.exemplars.library.reader import LibraryReader
from core.debugger.exemplars.library.text import whole_text
from core.debugger.exemplars.library.views import (
    NEAREST,
    PAGE,
    CheckView,
    Chosen,
    ComparedVersions,
    CountsView,
    DetailView,
    ListView,
    PageView,
    Query,
    Told,
    Undo,
)
from core.debugger.session import Session
from core.memory.library.version_diff import differences
from core.memory.memory import Memory
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.memory.library.store import Library

_EVERY = 1.0
"""Seconds between two looks at whether the library has changed, while somebody looks at it."""
_OPENING = "The library is being opened…"


class _Asked(NamedTuple):
    """What the window wants to see."""

    query: Query
    keep: tuple[str, ...] = ()
    anchor: str = ""
    first: int = 0


class LibraryDesk:
    """The `LibraryDeskCommands` of the window."""

    def __init__(self, session: Session) -> None:
        self.listed: Signal[ListView] = Signal()
        self.paged: Signal[PageView] = Signal()
        self.counted: Signal[CountsView] = Signal()
        self.detailed: Signal[DetailView] = Signal()
        self.compared: Signal[ComparedVersions] = Signal()
        self.told: Signal[Told] = Signal()
        self.checked: Signal[CheckView] = Signal()
        self._session = session
        self._jobs = Jobs(self.told)
        self.working = self._jobs.working
        self._work = LibraryWork(
            session, self._jobs, self.told, self.checked, self._with_reader, self._refresh
        )
        self.imports = ImportDesk(session, self._jobs, self.told, self._refresh)
        self._changes = LibraryChanges(self._memory)
        self._rows_reader: LibraryReader | None = None
        self._counts_reader: LibraryReader | None = None
        self._asked: _Asked | None = None
        self._read: Query | None = None
        """What the window has the rows of."""
        self._stamp: object = None
        self._detail = DetailView()
        self._wanted = ""
        """The id of the exemplar that the window asked for last."""
        self._watching: asyncio.Task[None] | None = None
        session.closers.append(self._close)

    # Lists

    def list_rows(self, query: Query, keep: tuple[str, ...] = (), anchor: str = "", first: int = 0) -> None:
        async def work() -> None:
            self._asked = _Asked(query, keep, anchor, first)
            self._watch()
            await self._read_list()

        self._post(work)

    def page(self, query: Query, first: int) -> None:
        async def work() -> None:
            def read(library: "Library") -> PageView | None:
                if self._asked is None or self._asked.query != query:
                    return None  # Another list was asked for while this one waited.
                page = library.page(
                    query.filter, order=query.order, reverse=query.reverse, offset=first, limit=PAGE
                )
                return PageView(query=query, first=first, rows=page.rows)

            try:
                found = await self._with_reader(read)
            except BackstepError as error:
                found = PageView(query=query, first=first, problem=str(error))
            if found is not None:
                self.paged.send(found)

        self._post(work)

    def stand(self, keep: tuple[str, ...], anchor: str, first: int) -> None:
        async def work() -> None:
            if self._asked is not None:
                self._asked = self._asked._replace(keep=keep, anchor=anchor, first=first)

        self._post(work)

    def rest(self) -> None:
        async def work() -> None:
            watching, self._watching = self._watching, None
            if watching is not None:
                watching.cancel()

        self._post(work)

    def look(self) -> None:
        async def work() -> None:
            if self._asked is not None:
                self._watch()
            try:
                workshop = self._session.workshop()
            except UsageError:
                return  # The list says that it waits for it.
            path = workshop.knowledge.memory.library_path
            if path is None or not path.exists():
                return

            def note(traces: TraceStore) -> int:
                from core.memory.library.store import Library
                from core.memory.library.trace_sync import note_retrievals

                library = Library.open(path)
                try:
                    return note_retrievals(library, traces)
                finally:
                    library.close()

            if await ask_file(workshop.store, note):
                await self._refresh()

        self._post(work)

    async def _read_list(self) -> None:
        """Read what was asked for last and send it, then the counts."""
        asked = self._asked
        if asked is None:
            return
        empty = ListView(query=asked.query, first=asked.first)
        try:
            memory = self._memory()
        except UsageError:
            self._stamp = None
            self.listed.send(empty.replace(waiting=_OPENING))
            return
        try:
            self._stamp = _stamp_of(memory)
            if asked.query.like:
                if asked.query != self._read:
                    self.listed.send(empty.replace(waiting="Looking by meaning…"))
                near = await memory.like(asked.query.like, NEAREST, asked.query.filter)
            else:
                near = ()

            def read(library: "Library") -> ListView | None:
                if self._asked is None or self._asked.query != asked.query:
                    return None
                return list_of(library, asked.query, asked.keep, asked.anchor, asked.first, near)

            found = await self._with_reader(read)
        except BackstepError as error:
            found = empty.replace(problem=str(error))
        if found is None or self._asked is None or self._asked.query != asked.query:
            return
        self.listed.send(found)
        self._read = asked.query if found.ready else None
        if found.ready:
            await self._count(asked.query)

    async def _count(self, query: Query) -> None:
        memory = self._memory()
        self._counts_reader = self._counts_reader or LibraryReader(memory)

        def read(library: "Library") -> CountsView | None:
            if self._asked is None or self._asked.query.filter != query.filter:
                return None
            return counts_of(library, query.filter)

        found = await self._counts_reader.ask(read)
        if found is not None:
            self.counted.send(found)

    async def _with_reader(self, question: Callable[["Library"], Any]) -> Any:
        if self._rows_reader is None:
            self._rows_reader = LibraryReader(self._memory())
        return await self._rows_reader.ask(question)

    async def _refresh(self) -> None:
        """Read the list and the details again: something of them has changed."""
        await self._read_list()
        if self._detail.id:
            self._send_detail(self._detail.id)

    def _watch(self) -> None:
        if self._watching is None or self._watching.done():
            self._watching = asyncio.ensure_future(self._look_again())

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            with contextlib.suppress(BackstepError):
                if self._stamp is None or _stamp_of(self._memory()) != self._stamp:
                    await self._refresh()

    # One exemplar

    def show(self, id: str) -> None:
        self._wanted = id

        async def work() -> None:
            if id != self._wanted:
                return  # The person has gone on to another one.
            if not id:
                self._detail = DetailView()
                self.detailed.send(self._detail)
                return
            self._send_detail(id)

        self._post(work)

    def compare(self, id: str, left: int, right: int) -> None:
        async def work() -> None:
            library = self._memory().library()
            before, after = library.at(id, left), library.at(id, right)
            self.compared.send(
                ComparedVersions(
                    id=id,
                    left=left,
                    right=right,
                    left_text=whole_text(before),
                    right_text=whole_text(after),
                    differences=differences(before, after),
                )
            )

        self._post(work)

    def _send_detail(self, id: str) -> None:
        known = self._detail if self._detail.id == id else None
        workshop = self._session.workshop()
        try:
            found = detail_of(workshop, id, self._session.session.preset)
        except BackstepError as error:
            found = DetailView(id=id, problem=str(error))
        if known is not None and known.entry == found.entry:
            found = found.replace(problems=known.problems)
        self._detail = found
        self.detailed.send(found)

    # What is done to them

    def make_current(self, id: str, version: int) -> None:
        async def work() -> None:
            self.told.send(self._changes.make_current(id, version))
            await self._refresh()

        self._post(work)

    def archive(self, chosen: Chosen, archived: bool) -> None:
        async def work() -> None:
            ids = await self._work.ids_of(chosen)
            self.told.send(await self._changes.archive(ids, archived=archived))
            await self._refresh()

        self._post(work)

    def undo(self, undo: Undo) -> None:
        async def work() -> None:
            self.told.send(await self._changes.undo(undo))
            await self._refresh()

        self._post(work)

    def check(self, chosen: Chosen) -> None:
        async def work() -> None:
            shown = self._detail.id
            alone = shown if chosen == Chosen(ids=(shown,)) else ""

            def found(view: CheckView) -> None:
                if alone and self._detail.id == alone and not view.cancelled:
                    self._detail = self._detail.replace(problems=view.problems)
                    self.detailed.send(self._detail)

            self._work.check(chosen, found, tell=not alone)

        self._post(work)

    def export(self, chosen: Chosen, form: str, path: str) -> None:
        async def work() -> None:
            self._work.export(chosen, form, path)

        self._post(work)

    def reindex(self) -> None:
        async def work() -> None:
            self._work.reindex()

        self._post(work)

    def cancel(self) -> None:
        async def work() -> None:
            self._jobs.cancel()

        self._post(work)

    # Within

    def _memory(self) -> Memory:
        """Return the memory; raises UsageError before the session has begun."""
        return self._session.workshop().knowledge.memory

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async def telling() -> None:
            try:
                await work()
            except BackstepError as error:
                self.told.send(Told(text=str(error), bad=True))

        self._session.queue(telling())

    async def _close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        await self._jobs.close()
        for reader in (self._rows_reader, self._counts_reader):
            if reader is not None:
                await reader.close()


def _stamp_of(memory: Memory) -> object:
    """Return what is another one as soon as an exemplar of the library or of a file has changed."""
    library = memory.open_library()
    return (0 if library is None else library.last_change(), memory.file_members())
