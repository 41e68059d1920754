"""Editing an exemplar at the window: opened, checked while it is typed, tried, saved, and kept from getting lost."""

import asyncio
import time
from functools import lru_cache

from pydantic import ValidationError

from core.agent.resources import Knowledge
from core.debugger.exemplars.editor.opening import EditorOpening
from core.debugger.exemplars.editor.parser_trials import pair_pages, try_parser
from core.debugger.exemplars.editor.views import (
    Checked,
    Conflict,
    EditorView,
    Opened,
    PageChoice,
    SaveWay,
    Trial,
    VersionTexts,
)
from core.debugger.exemplars.known import copy_id, entry_of
from core.debugger.exemplars.prompt import told_by
from core.llm.tokens import count_tokens
from core.memory.editing.draft import Draft
from core.memory.editing.draft_files import KeptDraft
from core.memory.editing.faults import faults
from core.memory.library.records import Entry
from core.memory.library.version_diff import differences
from core.schema.errors import BackstepError, DataError, TraceError, UsageError

_tokens = lru_cache(maxsize=512)(count_tokens)
"""Most looks are as they were at the edit before."""
_MOST_PARTS = 4
"""Parts that differ which a conflict names."""


class EditorDesk(EditorOpening):
    """The `EditorDeskCommands` of the window."""

    _checking = (0, -1)
    """What is being checked: the serial of what is open, and the edit."""
    _conflicts = 0
    _not_kept = ""
    """Why the draft could not be kept on the disk last."""

    # While it is edited

    def check(self, draft: Draft, serial: int, edit: int, preset: str) -> None:
        async def work() -> None:
            opened = self._view.opened
            if opened is None or opened.serial != serial:
                return
            self._checking = (opened.serial, edit)
            problem = self._keep(opened, draft)
            if problem != self._not_kept:
                self._not_kept = problem
                self._send(problem=problem)
            workshop = self._workshop()
            name = preset or workshop.settings.preset
            is_success = self._is_success(opened.run)
            # A long exemplar takes a second, which nobody else is to wait for.
            checked = await asyncio.to_thread(
                _checked, workshop.knowledge, draft, edit, name, opened.run, is_success
            )
            if self._checking != (opened.serial, edit):
                return  # It was edited meanwhile, or another one was opened.
            steps = tuple(one for one in self._view.pages if one.kind == "step")
            self._send(checked=checked, pages=(*steps, *pair_pages(draft)))

        self._post(work)

    def _is_success(self, run: int | None) -> bool | None:
        if run is None:
            return None
        try:
            return self._workshop().store.run(run).verdict.success
        except TraceError:
            return None

    def _keep(self, opened: Opened, draft: Draft) -> str:
        """Keep the draft on the disk where it is not what is stored; returns what went wrong."""
        try:
            if draft == opened.base:
                self._drafts().forget(opened.key)
                return ""
            self._drafts().keep(
                KeptDraft(
                    key=opened.key,
                    draft=draft,
                    id=opened.id,
                    version=opened.version,
                    provenance=self._provenance,
                    when=time.time(),
                )
            )
        except DataError as error:
            return str(error)
        return ""

    def test(self, draft: Draft, page: PageChoice) -> None:
        async def work() -> None:
            if self._trying is not None:
                raise UsageError("The program runs already: wait for it, or cancel it.")
            opened = self._need_opened()
            self._send(trial=Trial(page=page.title, running=True), problem="")
            trying = try_parser(self._workshop().store, draft, opened.run, page)
            self._trying = asyncio.ensure_future(trying)
            try:
                await asyncio.wait([self._trying])
                cancelled = self._trying.cancelled()
                trial = (
                    Trial(page=page.title, error="The run was cancelled.")
                    if cancelled
                    else self._trying.result()
                )
            except BackstepError as error:
                trial = Trial(page=page.title, error=str(error))
            finally:
                self._trying.cancel()
                self._trying = None
            if self._view.opened is not None and self._view.opened.serial == opened.serial:
                self._send(trial=trial)

        self._post(work)

    def cancel_test(self) -> None:
        async def work() -> None:
            if self._trying is not None:
                self._trying.cancel()

        self._post(work)

    # Saving

    def save(self, draft: Draft, serial: int, way: SaveWay, why: str) -> None:
        async def work() -> None:
            opened = self._need_opened()
            if opened.serial != serial:
                return
            library = self._library()
            id = draft.id if way != "copy" else copy_id(self._memory(), draft.id)
            draft_to_save = draft.replace(id=id)
            try:
                exemplar = draft_to_save.exemplar(archived=opened.archived and way != "copy")
            except ValidationError as error:
                raise UsageError("It cannot be saved yet: the Problems tab says what is missing.") from error
            is_own = bool(opened.id) and id == opened.id
            there = entry_of(self._memory(), id)
            expected = opened.version if is_own else None
            if there is not None and way == "save" and (not is_own or there.version != opened.version):
                self._conflicts += 1
                conflict = _conflict(opened, there, draft, is_own=is_own)
                self._send(conflict=conflict.replace(number=self._conflicts), problem="")
                return
            if there is not None and way == "over":
                expected = there.version
                exemplar = exemplar.replace(archived=there.exemplar.archived)
            provenance = None if is_own else self._provenance
            library.save(exemplar, provenance, why=why, expected=expected)
            self._saved(opened, draft_to_save)

        self._post(work)

    def _saved(self, opened: Opened, draft: Draft) -> None:
        library = self._library()
        entry = library.get(draft.id)
        self._drafts().forget(opened.key)
        now = opened.replace(
            key=draft.id,
            id=draft.id,
            base=draft,
            version=entry.version,
            saved=entry.changed,
            archived=entry.exemplar.archived,
            note="",
        )
        self._provenance = entry.provenance
        self._send(
            opened=now,
            versions=library.versions(draft.id),
            conflict=None,
            saves=self._view.saves + 1,
            notice=f"Saved as version {entry.version} of {draft.id}.",
            problem="",
            kept=self._kept(now.key),
        )

    # Versions

    def compare(self, left: int, right: int | None) -> None:
        async def work() -> None:
            id, library = self._need_stored(), self._library()
            texts = VersionTexts(
                left=left,
                right=right,
                left_draft=Draft.of(library.at(id, left)),
                right_draft=Draft.of(library.at(id, right)) if right is not None else None,
            )
            self._send(texts=texts, problem="")

        self._post(work)

    def make_current(self, version: int) -> None:
        async def work() -> None:
            id, library = self._need_stored(), self._library()
            library.make_current(id, version)
            entry = library.get(id)
            draft = Draft.of(entry.exemplar)
            self._opened(draft, entry.provenance, entry=entry, base=draft)
            self._send(notice=f"Version {version} is current.", saves=self._view.saves + 1)

        self._post(work)

    def archive(self, archived: bool) -> None:
        async def work() -> None:
            id = self._need_stored()
            self._library().archive(id, archived=archived)
            opened = self._need_opened()
            words = (
                "is in the archive: it is not recalled, and nothing of it is lost" if archived else "is back"
            )
            self._send(
                opened=opened.replace(archived=archived),
                saves=self._view.saves + 1,
                notice=f"{id} {words}.",
                problem="",
            )

        self._post(work)

    def close(self, *, keep: bool) -> None:
        async def work() -> None:
            opened = self._view.opened
            if self._trying is not None:
                self._trying.cancel()
            if opened is not None and not keep:
                self._drafts().forget(opened.key)
            self._view = EditorView(saves=self._view.saves)
            self._send()

        self._post(work)


def _checked(
    knowledge: Knowledge, draft: Draft, edit: int, preset: str, run: int | None, is_success: bool | None
) -> Checked:
    told = told_by(knowledge, preset, draft.as_far_as_it_goes())
    looks = tuple(sum(map(_tokens, (one.observation, one.thought, *one.actions))) for one in draft.steps)
    contrasts = sum(
        _tokens(text) for one in draft.contrasts for text in (one.observation, one.tried, one.right, one.why)
    )
    return Checked(
        edit=edit,
        faults=faults(draft, run=run, is_success=lambda _run: is_success),
        tokens=sum(looks) + contrasts + _tokens(draft.task),
        look_tokens=looks,
        preset=preset,
        messages=told.messages,
        prompt_tokens=told.tokens,
        prompt_note=told.note,
    )


def _conflict(opened: Opened, there: Entry, draft: Draft, *, is_own: bool) -> Conflict:
    id = there.exemplar.id
    if not is_own:
        return Conflict(id=id, text=f"The library has an exemplar {id} already: “{there.exemplar.task}”")
    ours = draft.exemplar()
    parts = [one.part for one in differences(there.exemplar, ours)]
    named = ", ".join(parts[:_MOST_PARTS]) + (" and more" if len(parts) > _MOST_PARTS else "")
    differs = f"It differs from yours in {named}." if parts else "It is the same as yours."
    return Conflict(
        id=id,
        text=f"{id} was saved by somebody else since it was opened: it is at version {there.version}, "
        f"yours was made of {opened.version}. {differs}",
    )
