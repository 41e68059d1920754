"""Editing of exemplars: opens, checks while typing, tries and saves them, and stores drafts on disk."""

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

from core.debugger.commands import command
from core.debugger.editing.words import words_of_exemplar
from core.debugger.exemplars.changes import ExemplarChange, ExemplarChanges, Reversal
from core.debugger.exemplars.editor.checking import (
    checked,
    conflict_with,
    pair_pages,
    parts_that_differ,
    run_pages,
    try_parser,
)
from core.debugger.exemplars.editor.views import (
    EditorView,
    NewText,
    OpenedExemplar,
    PageChoice,
    ParserTrial,
    SaveWay,
)
from core.debugger.exemplars.library.views import ComparedVersions, compare_versions
from core.debugger.publisher import preset_options
from core.debugger.service import Service
from core.exemplars.checks import check_whole
from core.exemplars.editing.changes import with_id
from core.exemplars.editing.draft_files import Drafts, KeptDraft
from core.exemplars.editing.reading import DraftReading, read
from core.exemplars.editing.toml_text import NEW_TEXT, text_of
from core.exemplars.library.records import Entry, Provenance, first_review
from core.exemplars.library.trace_sync import success_of
from core.schema.errors import BackstepError, DataError, UsageError
from core.schema.exemplar import Draft, Exemplar, ExemplarReview
from core.schema.signal import Signal

if TYPE_CHECKING:
    from core.debugger.session import Session
    from core.exemplars.library.store import Library

_BY_HAND = Provenance(origin="by hand")


class EditorService(Service[EditorView]):
    """Holds the open exemplar and saves it; its job is the trial of a parser."""

    view = EditorView()

    def __init__(self, session: "Session", changes: ExemplarChanges) -> None:
        super().__init__(session)
        self._changes = changes
        changes.reversed.connect(self._on_reversed)
        self.compared: Signal[ComparedVersions] = Signal()
        self.conflicted: Signal[str] = Signal()
        """Why an exemplar was not saved: another one has its place."""
        self.replaced: Signal[NewText] = Signal()
        self._serial = 0
        self._provenance: Provenance | None = None
        self._checking = (0, -1)
        """What is being checked: the serial of what is open, and the edit."""
        self._texts: dict[Draft, str] = {}
        """What is stored of the open exemplar, as it was typed."""
        self._families: tuple[str, ...] = ()
        self._draft_problem = ""
        """Why the draft could not be written last."""

    @property
    def _library(self) -> "Library":
        return self.memory.library()

    @property
    def _drafts(self) -> Drafts:
        return self._changes.drafts

    # Opening

    @command
    async def open(self, id: str) -> None:
        """Open an exemplar as it is now, or its draft if one was kept; a bundled one opens as a copy."""
        kept = self._drafts.get(id)
        if kept is not None:
            self._take_up(kept)
            return
        entry = self._library.get(id)
        if entry.read_only:
            self._copy(entry, "The original is bundled and read-only; this is a copy.")
            return
        text = text_of(entry.exemplar)
        self._opened(text, entry.provenance, entry=entry, base=text)

    @command
    async def open_copy(self, id: str) -> None:
        """Open a copy of an exemplar under a free id."""
        self._copy(self._library.get(id), f"This is a copy of {id}.")

    @command
    async def open_new(self) -> None:
        """Open one that has nothing yet."""
        self._opened(NEW_TEXT, _BY_HAND, base=NEW_TEXT)

    @command
    async def open_draft(self, exemplar: Exemplar, provenance: Provenance | None) -> None:
        """Open one that was made elsewhere and is not stored."""
        text = text_of(exemplar.replace(id=self.memory.free_id(exemplar.id)))
        self._opened(text, provenance or _BY_HAND, note="Not saved yet.")

    @command
    async def take_up(self, key: str) -> None:
        """Open a draft that was kept."""
        kept = self._drafts.get(key)
        if kept is None:
            raise UsageError("That draft no longer exists.")
        self._take_up(kept)

    @command
    async def forget(self, key: str) -> None:
        """Delete a draft that was kept."""
        kept = self._drafts.get(key)
        self._drafts.forget(key)
        if kept is not None:
            self._changes.send(ExemplarChange(words=f"delete the draft “{kept.title}”", draft=kept))
        self.show(drafts=self._other_drafts())

    def _copy(self, entry: Entry, note: str) -> None:
        text = text_of(entry.exemplar.replace(id=self.memory.copy_id(entry.exemplar.id)))
        self._opened(text, _BY_HAND if entry.read_only else entry.provenance, note=note)

    def _own(self, id: str) -> Entry | None:
        """Return what the library itself has of an id."""
        entry = self._library.find(id)
        return None if entry is None or entry.read_only else entry

    def _take_up(self, kept: KeptDraft) -> None:
        entry = self._own(kept.id) if kept.id else None
        when = time.strftime("%d %b %H:%M", time.localtime(kept.when))
        note = f"This is a draft from {when}."
        if entry is not None and entry.version != kept.version:
            note += f" The exemplar is now at version {entry.version}; the draft is based on version {kept.version}."
        base = text_of(entry.exemplar) if entry is not None else None
        self._opened(
            kept.text,
            kept.provenance or (entry.provenance if entry is not None else _BY_HAND),
            entry=entry,
            base=base,
            note=note,
            key=kept.key,
            version=kept.version if entry is not None else 0,
        )

    def _opened(
        self,
        text: str,
        provenance: Provenance,
        *,
        entry: Entry | None = None,
        base: str | None = None,
        note: str = "",
        key: str = "",
        version: int = 0,
    ) -> None:
        self._serial += 1
        self._provenance = provenance
        id = entry.exemplar.id if entry is not None else ""
        opened = OpenedExemplar(
            serial=self._serial,
            key=key or id or self._drafts.new_key(),
            text=text,
            base=base,
            id=id,
            version=version or (entry.version if entry is not None else 0),
            saved=entry.changed if entry is not None else 0.0,
            review=entry.exemplar.review if entry is not None else ExemplarReview(),
            origin=_origin(provenance),
            run=provenance.run,
            note=note,
        )
        self._texts = {}
        families = self._library.counts().by.get("family", {})
        self._families = tuple(sorted(name for name in families if name))
        # Wrong files are reported where presets are chosen.
        presets, _ = preset_options(self.services.resources.presets)
        self.view = EditorView(opened=opened)
        self.show(
            versions=self._library.versions(id) if id else (),
            presets=presets,
            drafts=self._other_drafts(),
            words=words_of_exemplar(self._families),
        )

    # While it is edited

    @command
    async def check(self, text: str, serial: int, edit: int, preset: str) -> None:
        """Store the text on disk as a draft, and check its problems and its prompt.

        Here and in `save`, nothing happens if another exemplar than that of `serial` is open.
        """
        opened = self.view.opened
        if opened is None or opened.serial != serial:
            return
        self._checking = (opened.serial, edit)
        problem = self._write_draft(opened, text)
        if problem != self._draft_problem:
            self._draft_problem = problem
            self.show(problem=problem)
        services = self.services
        name = preset or services.settings.preset
        is_success = None if opened.run is None else success_of(services.store, opened.run)
        # A long exemplar takes a second, which nobody else is to wait for.
        found = await asyncio.to_thread(
            checked,
            services.resources,
            text,
            self.view.checked,
            edit,
            name,
            opened=opened,
            is_success=is_success,
            families=self._families,
        )
        if self._checking != (opened.serial, edit):
            return  # It was edited meanwhile, or another one was opened.
        if found.draft is not None:
            pages, note = run_pages(services.store, opened.run, found.draft.task)
            self.show(pages=(*pages, *pair_pages(found.draft)), pages_note=note, checked=found)
        else:
            self.show(checked=found)

    def _write_draft(self, opened: OpenedExemplar, text: str) -> str:
        """Write the text to the disk where it is not what is stored; returns what went wrong."""
        try:
            if text == opened.base:
                self._drafts.forget(opened.key)
                return ""
            self._drafts.keep(
                KeptDraft(
                    key=opened.key,
                    text=text,
                    id=opened.id,
                    version=opened.version,
                    provenance=self._provenance,
                    when=time.time(),
                )
            )
        except DataError as error:
            return str(error)
        return ""

    @command
    async def test(self, text: str, page: PageChoice) -> None:
        """Run the program of a text on a page, confined."""
        opened = self._need_opened()
        draft = _need_draft(_read(text), "The program cannot be run")
        busy = "The program is already running. Wait for it, or cancel it."
        self.start(partial(self._test, draft, opened, page), busy)

    async def _test(self, draft: Draft, opened: OpenedExemplar, page: PageChoice) -> None:
        self.show(trial=ParserTrial(page=page.title, running=True), problem="")
        try:
            trial = await try_parser(self.services.store, draft, opened.run, page)
        except asyncio.CancelledError:
            trial = ParserTrial(page=page.title, error="The run was cancelled.")
        except BackstepError as error:
            trial = ParserTrial(page=page.title, error=str(error))
        if self.view.opened is not None and self.view.opened.serial == opened.serial:
            self.show(trial=trial)

    @command
    async def cancel_test(self) -> None:
        """Kill the program where it still runs."""
        await self.stop()

    # Saving

    @command
    async def save(self, text: str, serial: int, way: SaveWay) -> None:
        """Save what a text says; a conflict is sent as `conflicted`."""
        opened = self._need_opened()
        if opened.serial != serial:
            return
        draft = _need_draft(read(text, check_whole), "It cannot be saved yet")
        id = draft.id if way != "copy" else self.memory.copy_id(draft.id)
        exemplar = draft.replace(id=id).exemplar(
            opened.review if opened.id and way != "copy" else first_review("by hand")
        )
        is_own = bool(opened.id) and id == opened.id
        there = self._own(id)
        expected = opened.version if is_own else None
        if there is not None and way == "save" and (not is_own or there.version != opened.version):
            self.conflicted.send(conflict_with(opened, there, draft, is_own=is_own))
            self.show(problem="")
            return
        if there is not None and way == "over":
            expected = there.version
            exemplar = exemplar.replace(review=there.exemplar.review)
        provenance = None if is_own else self._provenance
        why = "" if there is None else f"changed {parts_that_differ(there.exemplar, exemplar)}"
        before = self._changes.before((id,))
        self._library.save(exemplar, provenance, why=why, expected=expected)
        self._changes.made(f"save “{id}”", before)
        self._saved(opened, with_id(text, id), Draft.of(exemplar))

    def _saved(self, opened: OpenedExemplar, text: str, draft: Draft) -> None:
        library = self._library
        entry = library.get(draft.id)
        self._drafts.forget(opened.key)
        self._texts[Draft.of(entry.exemplar)] = text
        self._provenance = entry.provenance
        self._show_stored(opened, entry, base=text, notice=_saved_words(entry))

    def _show_stored(self, opened: OpenedExemplar, entry: Entry, *, base: str, notice: str) -> None:
        """Show the state in which the open exemplar is stored now."""
        id = entry.exemplar.id
        now = opened.replace(
            key=id,
            id=id,
            base=base,
            version=entry.version,
            saved=entry.changed,
            review=entry.exemplar.review,
            note="",
        )
        self.show(
            opened=now,
            versions=self._library.versions(id),
            notice=notice,
            problem="",
            drafts=self._other_drafts(id),
        )

    # Versions

    @command
    async def compare(self, left: int, right: int | None, text: str) -> None:
        """Compare two versions, or one with what the text says; they come as `compared`."""
        id = self._need_stored()
        draft = _need_draft(_read(text), "The draft cannot be compared") if right is None else None
        self.compared.send(compare_versions(self._library, id, left, right, draft))
        self.show(problem="")

    @command
    async def take_version(self, version: int) -> None:
        """Put the text of a version in place of the one on screen; it comes as `replaced`."""
        text = text_of(self._library.at(self._need_stored(), version))
        note = f"This is version {version}. Saving it makes a new version; Ctrl+Z brings your text back."
        self.replaced.send(NewText(text, note))
        self.show(problem="")

    def _on_reversed(self, reversal: Reversal) -> None:
        """Follow what was undone or redone, here or elsewhere."""
        opened = self.view.opened
        if opened is None:
            return
        if reversal.change.draft is not None:
            self.show(drafts=self._other_drafts())
        if opened.id in {one.id for one in reversal.now}:
            entry = self._library.get(opened.id)
            draft = Draft.of(entry.exemplar)
            notice = f"{'Undone' if reversal.back else 'Redone'}: {reversal.change.words}."
            self._show_stored(opened, entry, base=self._texts.get(draft) or text_of(draft), notice=notice)

    @command
    async def leave(self, *, keep: bool) -> None:
        """Put away what is in view; its draft stays on the disk only with `keep`."""
        opened = self.view.opened
        await self.stop()
        if opened is not None and not keep:
            self._drafts.forget(opened.key)
        self.send(EditorView())

    # Parts

    def _need_opened(self) -> OpenedExemplar:
        if self.view.opened is None:
            raise UsageError("No exemplar is open. Open one from the library.")
        return self.view.opened

    def _need_stored(self) -> str:
        id = self._need_opened().id
        if not id:
            raise UsageError("It is not in the library yet. Save it first (Ctrl+S).")
        return id

    def _other_drafts(self, key: str = "") -> tuple[KeptDraft, ...]:
        opened = self.view.opened
        own = key or (opened.key if opened is not None else "")
        return tuple(one for one in self._drafts.all() if one.key != own)


def _saved_words(entry: Entry) -> str:
    if entry.provenance.origin == "file":
        return f"Saved in {entry.provenance.file}."
    return f"Saved as version {entry.version} of {entry.exemplar.id}."


def _origin(provenance: Provenance) -> str:
    where = f"run {provenance.run}" if provenance.run is not None else ""
    return ", ".join(part for part in (provenance.origin, where, provenance.llm, provenance.site) if part)


def _read(text: str) -> DraftReading:
    return read(text, lambda _draft: ())


def _need_draft(reading: DraftReading, what: str) -> Draft:
    """Return what was read; raises UsageError with the first problem that stops it."""
    if reading.draft is None or reading.stopping:
        first = reading.stopping[0]
        raise UsageError(f"{what}. Line {first.line}: {first.text}")
    return reading.draft
