"""Opening an exemplar to be edited: of the library, of a file as a copy, a new one, or a draft that was kept."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from core.debugger.exemplars.editor.parser_trials import pair_pages, run_pages
from core.debugger.exemplars.editor.views import EditorView, KeptChoice, Opened, PresetChoice, Trial
from core.debugger.exemplars.known import copy_id, entry_of, free_id, of_file
from core.debugger.service import telling
from core.debugger.services import Workshop
from core.memory.editing.draft import EMPTY, Draft
from core.memory.editing.draft_files import FOLDER, Drafts, KeptDraft
from core.memory.library.records import Entry, Provenance
from core.memory.library.store import Library
from core.memory.memory import Memory
from core.schema.errors import BackstepError, UsageError
from core.schema.exemplar import Exemplar
from core.schema.signal import Signal

_BY_HAND = Provenance(origin="by hand")


class EditorOpening:
    """Holds what is open and announces it; `EditorDesk` does the rest."""

    def __init__(
        self, workshop: Callable[[], Workshop], post: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        """`workshop` raises UsageError before the session has begun; `post` queues work on its loop."""
        self.changed: Signal[EditorView] = Signal()
        self._workshop = workshop
        self._queue = post
        self._view = EditorView()
        self._serial = 0
        self._provenance: Provenance | None = None
        self._trying: asyncio.Task[Trial] | None = None

    # Opening

    def open(self, id: str) -> None:
        async def work() -> None:
            kept = self._drafts().get(id)
            if kept is not None:
                self._take_up(kept)
                return
            entry = entry_of(self._memory(), id)
            if entry is None:
                self._copy(
                    of_file(self._memory(), id), "It comes from a file, which is only read: this is a copy."
                )
                return
            self._opened(
                Draft.of(entry.exemplar), entry.provenance, entry=entry, base=Draft.of(entry.exemplar)
            )

        self._post(work)

    def open_version(self, id: str, version: int) -> None:
        async def work() -> None:
            entry, draft = self._library().get(id), Draft.of(self._library().at(id, version))
            kept = self._drafts().get(id)
            if kept is not None:
                # It makes room under the id, where the next draft is kept, and stays among the drafts.
                self._drafts().keep(kept.replace(key=self._drafts().new_key()))
                self._drafts().forget(id)
            is_current = version == entry.version
            note = "" if is_current else f"This is version {version}; saved, it becomes a new one."
            self._opened(draft, entry.provenance, entry=entry, base=Draft.of(entry.exemplar), note=note)

        self._post(work)

    def open_copy(self, id: str) -> None:
        async def work() -> None:
            entry = entry_of(self._memory(), id)
            self._copy(
                entry.exemplar if entry is not None else of_file(self._memory(), id),
                f"This is a copy of {id}.",
            )

        self._post(work)

    def open_new(self) -> None:
        async def work() -> None:
            self._opened(EMPTY, _BY_HAND, base=EMPTY)

        self._post(work)

    def open_draft(self, exemplar: Exemplar, provenance: Provenance | None) -> None:
        async def work() -> None:
            draft = Draft.of(exemplar).replace(id=free_id(self._memory(), exemplar.id))
            self._opened(draft, provenance or _BY_HAND, note="It is not saved yet.")

        self._post(work)

    def take_up(self, key: str) -> None:
        async def work() -> None:
            kept = self._drafts().get(key)
            if kept is None:
                raise UsageError("That draft is not there any more.")
            self._take_up(kept)

        self._post(work)

    def forget(self, key: str) -> None:
        async def work() -> None:
            self._drafts().forget(key)
            self._send(kept=self._kept())

        self._post(work)

    def _copy(self, exemplar: Exemplar, note: str) -> None:
        draft = Draft.of(exemplar).replace(id=copy_id(self._memory(), exemplar.id))
        entry = entry_of(self._memory(), exemplar.id)
        self._opened(draft, entry.provenance if entry is not None else _BY_HAND, note=note)

    def _take_up(self, kept: KeptDraft) -> None:
        entry = entry_of(self._memory(), kept.id) if kept.id else None
        when = time.strftime("%d %b %H:%M", time.localtime(kept.when))
        note = f"This is a draft that was kept, of {when}."
        if entry is not None and entry.version != kept.version:
            note += (
                f" The exemplar is at version {entry.version} by now, the draft was made of {kept.version}."
            )
        base = Draft.of(entry.exemplar) if entry is not None else None
        self._opened(
            kept.draft,
            kept.provenance or (entry.provenance if entry is not None else _BY_HAND),
            entry=entry,
            base=base,
            note=note,
            key=kept.key,
            version=kept.version if entry is not None else 0,
        )

    def _opened(
        self,
        draft: Draft,
        provenance: Provenance,
        *,
        entry: Entry | None = None,
        base: Draft | None = None,
        note: str = "",
        key: str = "",
        version: int = 0,
    ) -> None:
        workshop = self._workshop()
        self._serial += 1
        self._provenance = provenance
        id = entry.exemplar.id if entry is not None else ""
        opened = Opened(
            serial=self._serial,
            key=key or id or self._drafts().new_key(),
            draft=draft,
            base=base,
            id=id,
            version=version or (entry.version if entry is not None else 0),
            saved=entry.changed if entry is not None else 0.0,
            archived=entry is not None and entry.exemplar.archived,
            origin=_origin(provenance),
            run=provenance.run,
            note=note,
        )
        counts = self._memory().listing().counts().by
        pages, pages_note = run_pages(workshop.store, provenance.run, draft.task)
        presets = []
        for name in workshop.knowledge.presets.names():
            try:
                presets.append(PresetChoice(name=name, title=workshop.knowledge.presets.get(name).title))
            except BackstepError:
                continue  # Its file is wrong, which is told where presets are chosen.
        self._view = EditorView(opened=opened, saves=self._view.saves)
        self._send(
            versions=self._library().versions(id) if id else (),
            pages=(*pages, *pair_pages(draft)),
            pages_note=pages_note,
            presets=tuple(presets),
            families=tuple(sorted(name for name in counts.get("family", {}) if name)),
            tags=tuple(sorted(name for name in counts.get("tag", {}) if name)),
            environments=tuple(sorted(name for name in counts.get("environment", {}) if name)),
            kept=self._kept(),
        )

    # Parts

    def _need_opened(self) -> Opened:
        if self._view.opened is None:
            raise UsageError("No exemplar is open; open one from the library.")
        return self._view.opened

    def _need_stored(self) -> str:
        id = self._need_opened().id
        if not id:
            raise UsageError("It is not in the library yet: save it first (Ctrl+S).")
        return id

    def _library(self) -> Library:
        return self._memory().library()

    def _drafts(self) -> Drafts:
        return Drafts(self._workshop().settings.database.parent / FOLDER)

    def _kept(self, key: str = "") -> tuple[KeptChoice, ...]:
        opened = self._view.opened
        own = key or (opened.key if opened is not None else "")
        return tuple(
            KeptChoice(key=one.key, title=one.draft.task or one.draft.id or "without a task", when=one.when)
            for one in self._drafts().all()
            if one.key != own
        )

    def _memory(self) -> Memory:
        return self._workshop().knowledge.memory

    def _send(self, **changes: Any) -> None:
        self._view = self._view.replace(**changes)
        self.changed.send(self._view)

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._queue(telling(work, lambda words: self._send(problem=words)))


def _origin(provenance: Provenance) -> str:
    where = f"run {provenance.run}" if provenance.run is not None else ""
    return ", ".join(part for part in (provenance.origin, where, provenance.llm, provenance.site) if part)
