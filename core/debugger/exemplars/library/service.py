"""The library while its window is open: pages of lists, counts, one whole exemplar, and changes."""

import asyncio
import contextlib
import functools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.debugger.background_read import finish_in_thread
from core.debugger.commands import command
from core.debugger.exemplars.changes import ExemplarChanges, Reversal
from core.debugger.exemplars.formats import left_out_words
from core.debugger.exemplars.library.embedding_choice import use_embedding
from core.debugger.exemplars.library.listing import (
    IDS,
    LibraryReader,
    counts_of,
    detail_of,
    ids_of,
    list_of,
)
from core.debugger.exemplars.library.views import (
    NEAREST,
    PAGE,
    SHOWN,
    CheckView,
    Chosen,
    ComparedVersions,
    CountsView,
    DetailView,
    LibraryJob,
    ListView,
    Notice,
    Query,
    compare_versions,
)
from core.debugger.exemplars.trying.views import ReplayResult, replays_in_words
from core.debugger.job_process import JobProcess, shared_flags
from core.debugger.service import JobService
from core.exemplars.checks import Checker, unplayed
from core.exemplars.files import write_files
from core.exemplars.library.records import IN_USE, NEAR_DUPLICATE, Edits, Entry
from core.exemplars.library.trace_sync import note_retrievals, success_of
from core.exemplars.problem import Problem
from core.schema.errors import BackstepError, UsageError
from core.schema.exemplar import Exemplar, RecallSettings, Status
from core.schema.signal import Signal
from core.settings.settings import LOCAL_PREFIX
from core.trace.store import TraceStore

if TYPE_CHECKING:
    # What writes foreign files, and SQLite, take long to load: only who needs them waits for it.
    from core.debugger.exemplars.formats import ExemplarExportFormat
    from core.debugger.session import Session
    from core.exemplars.analysis.records import MemberFound
    from core.exemplars.index import ExemplarIndex
    from core.exemplars.library.bulk import BulkChange
    from core.exemplars.library.store import Library

_EVERY = 1.0
"""Seconds between two looks at whether the library has changed, while somebody looks at it."""
_VERBS: dict[Status, tuple[str, str]] = {
    "new": ("put back to new", "put back to new"),
    "reviewed": ("mark as reviewed", "marked as reviewed"),
    "retired": ("retire", "retired"),
}
_OPENING = "Opening the library…"
_FAILED = 1
"""The exit code of a replay if an exemplar no longer succeeds."""
_MOST_REPLAYED = 1000
_READ = 20
"""Exemplars that are read in one go."""


class _Asked(NamedTuple):
    """What the window has requested."""

    query: Query
    keep: tuple[str, ...] = ()
    anchor: str = ""
    first: int = 0


class LibraryService(JobService[LibraryJob]):
    """Lists, shows, changes, checks, writes and indexes exemplars; its view is the current job."""

    view = LibraryJob()

    def __init__(self, session: "Session", changes: ExemplarChanges) -> None:
        super().__init__(session)
        self.changes = changes
        self.refreshed: Signal[None] = Signal()
        """Exemplars, or what is known of them, have changed, by whomever."""
        self.listed: Signal[ListView] = Signal()
        self.paged: Signal[ListView] = Signal()
        self.counted: Signal[CountsView] = Signal()
        self.detailed: Signal[DetailView] = Signal()
        self.compared: Signal[ComparedVersions] = Signal()
        self.noticed: Signal[Notice] = Signal()
        self.checked: Signal[CheckView] = Signal()
        self._rows_reader, self._counts_reader = (LibraryReader(lambda: self.memory) for _ in range(2))
        self._asked: _Asked | None = None
        self._read: Query | None = None
        """What the window has the rows of."""
        self._stamp: object = None
        self._left_out: tuple[str, ...] = ()
        """What was told of lines of files that are left out."""
        self._wanted = ""
        """The id of the exemplar that the window asked for last."""
        self._watching: asyncio.Task[None] | None = None
        self._last = Notice(text="")
        self.noticed.connect(self._on_noticed)
        changes.reversed.connect(self._on_reversed)

    def _on_noticed(self, notice: Notice) -> None:
        self._last = notice

    @property
    def outcome(self) -> tuple[str, str]:
        return (self._last.text, "") if self._last.bad else ("", self._last.text)

    def failed(self, problem: str) -> None:
        self.noticed.send(Notice(text=problem, bad=True))

    def done(self, text: str, change: str = "") -> None:
        """Say what was done; `change` is its name where it can be undone."""
        self.noticed.send(Notice(text=text, change=change))

    async def close(self) -> None:
        self._unwatch()
        await super().close()
        for reader in (self._rows_reader, self._counts_reader):
            await reader.close()

    # Lists

    @command
    async def list_rows(
        self, query: Query, keep: tuple[str, ...] = (), anchor: str = "", first: int = 0
    ) -> None:
        """Read a list from now on, and again whenever the library changes.

        The rows around the exemplar `anchor`, else around the place `first`,
        come with it, and the places of those in `keep`.
        """
        self._asked = _Asked(query, keep, anchor, first)
        self._watch()
        await self._read_list()

    @command
    async def page(self, query: Query, first: int) -> None:
        """Read more rows of the list that was asked for last."""

        def read(library: "Library") -> ListView | None:
            if not self._is_asked(query):
                return None  # Another list was asked for while this one waited.
            page = library.page(
                query.filter, order=query.order, reverse=query.reverse, offset=first, limit=PAGE
            )
            return ListView(query=query, first=first, rows=page.rows)

        try:
            found = await self._rows_reader.ask(read)
        except BackstepError as error:
            found = ListView(query=query, first=first, problem=str(error))
        if found is not None:
            self.paged.send(found)

    @command
    async def set_position(self, keep: tuple[str, ...], anchor: str, first: int) -> None:
        """Say where the person is in the list, for when it is read again by itself."""
        if self._asked is not None:
            self._asked = self._asked._replace(keep=keep, anchor=anchor, first=first)

    @command
    async def unwatch(self) -> None:
        """Stop watching the library when nobody looks at it."""
        self._unwatch()

    @command
    async def watch(self) -> None:
        """Read from the trace where exemplars were retrieved since, and the list again where it has changed."""
        if self._asked is not None:
            self._watch()
        try:
            memory = self.memory
        except UsageError:
            return  # The list says that it waits for it.

        def note(traces: TraceStore) -> int:
            with memory.connection() as library:
                return note_retrievals(library, traces)

        if await self.read(note):
            await self.refresh()

    def _is_asked(self, query: Query) -> bool:
        return self._asked is not None and self._asked.query == query

    async def _read_list(self) -> None:
        """Read what was asked for last and send it, then the counts."""
        asked = self._asked
        if asked is None:
            return
        query = asked.query
        empty = ListView(query=query, first=asked.first)
        try:
            memory, settings = self.memory, self.services.settings
            servers = tuple(n for n, llm in settings.llms.items() if not llm.model.startswith(LOCAL_PREFIX))
            empty = empty.replace(embedding=settings.embedding, embeddings=servers)
        except UsageError:
            self._stamp = None
            self.listed.send(empty.replace(waiting=_OPENING))
            return
        try:
            self._stamp = memory.library().stamp
            if query.like and query != self._read:
                self.listed.send(empty.replace(waiting="Searching for the nearest…"))
            near = await memory.like(query.like, NEAREST, query.filter) if query.like else ()
            found = await self._rows_reader.ask(
                lambda library: (
                    list_of(library, query, asked.keep, asked.anchor, asked.first, near)
                    if self._is_asked(query)
                    else None
                )
            )
        except BackstepError as error:
            found = empty.replace(problem=str(error))
        if found is None or not self._is_asked(query):
            return
        self.listed.send(found.replace(embedding=empty.embedding, embeddings=empty.embeddings))
        if (left_out := memory.files.problems()) != self._left_out:
            self._left_out = left_out
            for text in left_out[:1]:
                more = f" {len(left_out) - 1} more lines are also left out." if len(left_out) > 1 else ""
                self.failed(f"Left out: {text}{more}")
        self._read = query if found.ready else None
        if found.ready:
            counts = await self._counts_reader.ask(
                lambda library: (
                    counts_of(library, query.filter)
                    if self._asked is not None and self._asked.query.filter == query.filter
                    else None
                )
            )
            if counts is not None:
                self.counted.send(counts)

    async def refresh(self) -> None:
        """Read the list and the details again: something of them has changed."""
        self.refreshed.send(None)
        await self._read_list()
        if self._wanted:
            self._send_detail(self._wanted)

    def _watch(self) -> None:
        if self._watching is None or self._watching.done():
            self._watching = asyncio.ensure_future(self._watch_changes())

    def _unwatch(self) -> None:
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()

    async def _watch_changes(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            with contextlib.suppress(BackstepError):
                if self._stamp is None or self.memory.library().stamp != self._stamp:
                    await self.refresh()

    # One exemplar

    def show_exemplar(self, id: str) -> None:
        """Read one exemplar; none where the id is empty."""
        self._wanted = id
        self._show_exemplar(id)

    @command
    async def _show_exemplar(self, id: str) -> None:
        if id != self._wanted:
            return  # The person has gone on to another one.
        if id:
            self._send_detail(id)
        else:
            self.detailed.send(DetailView())

    @command
    async def compare(self, id: str, left: int, right: int) -> None:
        """Compare two versions of an exemplar."""
        self.compared.send(compare_versions(self.memory.library(), id, left, right))

    def _send_detail(self, id: str) -> None:
        try:
            found = detail_of(self.services, id, self.session.session.preset)
        except BackstepError as error:
            found = DetailView(id=id, problem=str(error))
        self.detailed.send(found)

    # Changes

    @command
    async def make_current(self, id: str, version: int) -> None:
        """Use this version from now on."""
        before = self.changes.before((id,))
        self.memory.library().make_current(id, version)
        words = f"make version {version} of “{id}” current"
        self.changes.made(words, before)
        self.done(f"Version {version} of {id} is the current one.", words)
        await self.refresh()

    @command
    async def review(self, chosen: Chosen, status: Status, although: bool = False) -> None:
        """Give exemplars a status; those with faults are only reviewed where they are to be used `although`."""
        from core.exemplars.library.bulk import review_all

        await self._change_all(
            chosen,
            *_VERBS[status],
            lambda library, ids: review_all(library, ids, status, although=although),
        )

    @command
    async def edit(self, chosen: Chosen, edits: Edits) -> None:
        """Change exemplars; bundled ones stay as they are."""
        await self.edit_all(chosen, edits)

    async def edit_all(self, chosen: Chosen, edits: Edits) -> None:
        """Change exemplars and wait for it."""
        from core.exemplars.library.bulk import edit_all

        is_move = bool(edits.family) and edits == Edits(family=edits.family)
        done = f"moved to the family {edits.family}" if is_move else "changed"
        await self._change_all(
            chosen, "change", done, lambda library, ids: edit_all(library, ids, edits, done)
        )

    async def _change_all(
        self,
        chosen: Chosen,
        verb: str,
        done: str,
        work: Callable[["Library", tuple[str, ...]], "BulkChange"],
    ) -> None:
        """Change exemplars in a thread, all or none, as one change that can be undone."""
        ids = await self._ids_of(chosen)
        memory, before = self.memory, self.changes.before(ids)

        def change() -> "BulkChange":
            with memory.connection() as library:
                return work(library, ids)

        changed, files, faulty = await finish_in_thread(change)
        words = f"{verb} “{changed[0]}”" if len(changed) == 1 else f"{verb} {len(changed)} exemplars"
        texts = []
        if changed:
            self.changes.made(words, before)
            which = f"“{changed[0]}” was" if len(changed) == 1 else f"{len(changed)} exemplars were"
            texts.append(f"{which} {done}.")
        if files:
            whose = f"“{files[0]}” is" if len(files) == 1 else f"{len(files)} are"
            texts.append(f"{whose} bundled and read-only. Make a copy (Ctrl+D).")
        for id, fault in list(faulty.items())[:1]:
            more = f" So do {len(faulty) - 1} more." if len(faulty) > 1 else ""
            texts.append(
                f"“{id}” has a fault: {fault.rstrip('.')}.{more} Mend it (Ctrl+Enter), or use it although it "
                "has one (Shift+Space)."
            )
        self.noticed.send(
            Notice(
                text=" ".join(texts) or "Nothing was changed: they are so already.",
                bad=bool(files or faulty) and not changed,
                change=words if changed else "",
            )
        )
        await self.refresh()

    def _on_reversed(self, reversal: Reversal) -> None:
        self.done(f"{'Undone' if reversal.back else 'Redone'}: {reversal.change.words}.")
        self._refresh()

    @command
    async def _refresh(self) -> None:
        await self.refresh()

    # Jobs

    @command
    async def replay(self, chosen: Chosen) -> None:
        """Replay exemplars in a process of its own; results are kept where it is cancelled or the session closed."""
        services = self.services
        arguments = ("exemplars", "replay", *shared_flags(services), "--on-gate", services.settings.on_gate)
        self.begin("Replaying exemplars", lambda: self._replay(arguments, chosen), importing=False)

    async def _replay(self, arguments: tuple[str, ...], chosen: Chosen) -> None:
        ids, began = await self._ids_of(chosen), time.time()
        if not ids:
            raise UsageError("None of the selected exemplars is there any more. Select some again.")
        if len(ids) > _MOST_REPLAYED:
            raise UsageError(f"At most {_MOST_REPLAYED} exemplars are replayed at once. Select fewer.")

        def fresh() -> list[ReplayResult]:
            contents = self.memory.library().proofs.since("replay", began)
            return [one for one in map(ReplayResult.model_validate_json, contents) if one.id in ids]

        def report(_line: str = "") -> None:
            self.show(done=len(fresh()), of=len(ids))

        report()
        try:
            ended = await JobProcess().run((*arguments, "--", *ids), lambda _line: None, report, keys={})
        except OSError as error:
            raise UsageError(
                f"Replaying could not be started ({error.strerror}); check the installation of Backstep."
            ) from error
        if ended.code not in (0, _FAILED):
            raise UsageError(f"Replaying failed: {ended.error}")
        self.done(replays_in_words(fresh()))
        await self.refresh()

    @command
    async def compare_all(self) -> None:
        """Find the nearest other one of each exemplar, and the family that it would be taken for without itself."""
        self.begin("Comparing exemplars", self._compare_all, importing=False)

    async def _compare_all(self) -> None:
        from core.exemplars.analysis.lookups import each_left_out, keep_neighbours

        report, found = self.reporting(), list["MemberFound"]()

        async def look(index: "ExemplarIndex") -> int:
            found.clear()
            numbers = index.numbers()
            async for one in each_left_out(index, numbers, votes=RecallSettings().votes):
                found.append(one)
                report(len(found), len(numbers))
            return len(numbers)

        try:
            of = await self.memory.looked_up(look, self.reporting("Embedding texts"))
        except asyncio.CancelledError:
            self.done("The comparison was cancelled. What was found before is kept.")
            raise
        memory = self.memory

        def keep() -> None:
            with memory.connection() as library:
                keep_neighbours(library, found)

        await finish_in_thread(keep)
        wrong = sum(bool(one.nearest) and not one.right for one in found)
        near = sum(one.distance <= NEAR_DUPLICATE for one in found)
        self.done(
            f"{of} exemplars were compared: {near} are near duplicates, and {wrong} would be taken for another "
            "family. See the filter Found."
        )
        await self.refresh()

    @command
    async def check(self, chosen: Chosen) -> None:
        """Look in the background for what is wrong."""
        self.begin("Checking exemplars", lambda: self._check(chosen), importing=False)

    async def _check(self, chosen: Chosen) -> None:
        from core.exemplars.analysis.families import misplaced

        ids = await self._ids_of(chosen)
        report = self.reporting()
        problems: list[Problem] = []
        store, policies = self.services.store, self.services.resources.policies.callable_names()
        failed = unplayed(self.memory.library())
        checker = Checker(lambda run: success_of(store, run), policies, unplayed=failed)
        done, cancelled = 0, False
        try:
            async for entry in self._entries(ids):
                problems += await checker.problems(entry)
                done += 1
                report(done, len(ids))
            problems += await self.memory.looked_up(lambda index: misplaced(index, ids))
        except asyncio.CancelledError:
            cancelled = True
        self.checked.send(
            CheckView(
                checked=done,
                of=len(ids),
                problems=tuple(problems[:SHOWN]),
                more=max(0, len(problems) - SHOWN),
                cancelled=cancelled,
            )
        )

    @command
    async def export(self, chosen: Chosen, form: str, path: str, with_new: bool = False) -> None:
        """Write reviewed exemplars as a file, or as a folder where the form has several, in the background.

        New and retired ones are left out, which is told; `with_new` takes new ones, too.
        """
        from core.debugger.exemplars.formats import export_format

        known = export_format(form)
        self.begin(
            "Reading exemplars to export",
            lambda: self._export(chosen, known, Path(path), IN_USE if with_new else ("reviewed",)),
            importing=False,
        )

    async def _export(
        self, chosen: Chosen, form: "ExemplarExportFormat", path: Path, statuses: tuple[Status, ...]
    ) -> None:
        ids = await self._ids_of(chosen)
        report = self.reporting()
        exemplars: list[Exemplar] = []
        left_out: Counter[Status] = Counter()
        try:
            async for entry in self._entries(ids):
                if (status := entry.exemplar.review.status) in statuses:
                    exemplars.append(entry.exemplar)
                else:
                    left_out[status] += 1
                report(len(exemplars) + left_out.total(), len(ids))
        except asyncio.CancelledError:
            self.done("The export was cancelled. Nothing was written.")
            return
        kept, unfit = await asyncio.to_thread(form.fitting, exemplars)
        without = left_out_words(left_out, unfit)
        if not kept:
            why = f"left out are {without}" if without else "choose exemplars, or relax the filter"
            raise UsageError(f"Nothing to export: {why}.")
        self.show(doing="Writing the file", done=0, of=0)
        files = await asyncio.to_thread(form.files, kept, path)
        await finish_in_thread(lambda: write_files(files))
        number = "1 exemplar was" if len(kept) == 1 else f"{len(kept)} exemplars were"
        where = str(path) if len(files) == 1 else f"{path}, in {len(files)} files"
        more = f" Left out: {without}." if without else ""
        self.done(f"{number} written to {where}, as {form.title}.{more}")

    @command
    async def index(self, embedding: str, again: bool) -> None:
        """Index all exemplars in the background by this embedding, which is stored in the settings.

        With `again`, also what was embedded before. What was made is kept where it is cancelled.
        """
        self.begin("Indexing the exemplars", lambda: self._index(embedding, again), importing=False)

    async def _index(self, name: str, again: bool) -> None:
        memory, report, services = self.memory, self.reporting(), self.services
        before = memory.on_progress

        def progress(done: int, of: int) -> None:
            report(done, of)
            if before is not None:
                before(done, of)

        try:
            await use_embedding(name, services, memory)
            memory.on_progress = progress
            index, embedded = await memory.indexed(again=again)
        except asyncio.CancelledError:
            is_set = services.settings.embedding == name
            rest = (
                f"The embedding is {name}; the next lookup continues." if is_set else "Nothing was changed."
            )
            self.done(f"“{self.view.doing}” was cancelled. {rest}")
            raise
        except BackstepError as error:
            if services.settings.embedding != name:
                raise
            raise UsageError(
                f"{error} The embedding is {name}; choose another one (Ctrl+Shift+E)."
            ) from error
        finally:
            memory.on_progress = before
            if services.settings.embedding == name:
                await self.refresh()
        self.done(
            f"{len(index)} exemplars are indexed with {index.embedding.name}; {embedded} texts were embedded."
        )

    async def _entries(self, ids: tuple[str, ...]) -> AsyncIterator[Entry]:
        """Give exemplars in pieces, between which the run continues; one that is not there any more is left out."""
        for at, id in enumerate(ids):
            if at % _READ == 0:
                await asyncio.sleep(0)
            if (entry := self.memory.library().find(id)) is not None:
                yield entry

    async def _ids_of(self, chosen: Chosen) -> tuple[str, ...]:
        """Return the ids of what was chosen, each once, in its order; raises LibraryError."""
        found, query = list(chosen.ids), chosen.query
        for start, end in chosen.ranges:
            assert query is not None
            for at in range(start, end, IDS):
                found += await self._rows_reader.ask(
                    functools.partial(ids_of, query=query, start=at, end=min(at + IDS, end))
                )
        return tuple(dict.fromkeys(found))
