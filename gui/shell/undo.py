"""Undo and redo of the person's changes: a stack for the main window, and one for the windows of exemplars.

The session or a service carries a change out and answers later. So only one undo or redo runs at a time, and
requests made during it wait.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from core.debugger.session_view import EditMade, SessionView
from core.schema.formats import cut, in_line
from core.trace.records import InterventionKind
from gui.widgets.enabled_commands import why_no_edit

Done = Callable[[str], None]
"""Is called when a change was undone or redone. If it was refused, the argument is a sentence with the reason."""
_MOST = 200
"""Maximum number of changes that are kept."""
_LONGEST = 44
"""Maximum number of characters of a change in the menu."""
_EDITS: dict[InterventionKind, str] = {
    "edit": "edit the next action",
    "replace": "replace the next action",
    "queue": "edit the action queue",
    "plan": "edit the plan",
    "judgement": "overrule the judgement",
    "remedy": "try a remedy",
    "remedies": "edit the remedies",
    "trial": "edit the trials",
    "stack": "edit the policy stack",
    "state": "edit the state",
    "observation": "edit the observation",
    "exemplars": "edit the exemplars",
    "prompt": "edit the held prompt",
    "reply": "edit the held reply",
    "ask again": "ask again",
}
_OTHER_RUN = "the run that it belongs to is not open any more"
_NOT_UNDONE, _NOT_REDONE = "Not undone", "Not redone"
_WENT_ON = "the run has continued, or its preset, LLM or mechanisms were changed"


@dataclass
class Reversible:
    """A change, with functions that undo and redo it."""

    words: str
    """What was done, for example ``edit the plan``."""
    undo: Callable[[Done], None]
    redo: Callable[[Done], None]
    run: int | None = None
    """The run that it belongs to; None if it belongs to none."""
    edit: str = ""
    """The key of the edit, if the change is an edit of the run."""
    expired: str = ""
    """Why it can no longer be undone."""


@dataclass
class Setting:
    """A setting of the session that is chosen in the window."""

    name: str
    """Its name, for example ``preset``."""
    read: Callable[[SessionView], Any]
    write: Callable[[Any], None]
    of_run: bool = False
    """Whether it belongs to the current run."""


class _Command(QUndoCommand):
    """A change on the stack; `UndoHistory` carries it out."""

    def __init__(self, change: Reversible) -> None:
        super().__init__(change.words)
        self.change = change


@dataclass
class _Wish:
    """A setting that was requested and that the session does not show yet."""

    setting: Setting
    before: Any
    after: Any
    words: str


class UndoHistory(QObject):
    """The changes in their order; `show_session` keeps those of a run in sync with the session."""

    changed = Signal()
    """What can be undone or redone has changed."""
    said = Signal(str, str)
    """A title, and why a change could not be undone or redone."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stack = QUndoStack(self)
        self._stack.setUndoLimit(_MOST)
        self.view = SessionView()
        """The last view that the session sent."""
        self._edits: set[str] = set()
        """Keys of the edits that could be undone in the last view."""
        self._wishes: list[_Wish] = []
        self._under_way: _Command | None = None
        """The change that is currently being undone or redone."""
        self._waiting: deque[Callable[[], None]] = deque()
        """What to do when the current undo or redo has finished."""
        self._awaited: tuple[SessionView, Callable[[SessionView], bool], Done] | None = None
        """The previous view, what the session should show, and the callback."""
        self._undo_edit: Callable[[str], None] = lambda _key: None
        self._redo_edit: Callable[[str], None] = lambda _key: None

    def begin(self, undo_edit: Callable[[str], None], redo_edit: Callable[[str], None]) -> None:
        """From now on, undo and redo edits of the run with these functions, called with the key of an edit."""
        self._undo_edit, self._redo_edit = undo_edit, redo_edit

    # Changes

    def record(self, change: Reversible) -> None:
        """Push a change onto the stack; changes that were undone before it can no longer be redone."""
        self._queue(lambda: self._stack.push(_Command(change)))

    def choose(self, setting: Setting, value: Any, words: str) -> None:
        """Request a value of a setting, and record the change when the session shows it."""
        asked = [wish.after for wish in self._wishes if wish.setting.name == setting.name]
        before = asked[-1] if asked else setting.read(self.view)
        if value != before:
            self._wishes.append(_Wish(setting, before, value, words))
        setting.write(value)

    # Undo and redo

    @property
    def next_undo(self) -> str:
        """The change that would be undone, in full; empty if there is none."""
        change = self._next(undo=True)
        return "" if change is None else change.words

    @property
    def undo_words(self) -> str:
        """The change that would be undone, as shown in the menu; empty if there is none."""
        change = self._next(undo=True)
        if change is None:
            return ""
        return f"{_short(change.words)}{' (no longer possible)' if change.expired else ''}"

    @property
    def redo_words(self) -> str:
        """The change that would be redone, as shown in the menu; empty if there is none."""
        change = self._next(undo=False)
        return "" if change is None else _short(change.words)

    def why_no_undo(self, *, live: bool) -> str:
        """Return why nothing can be undone now, or an empty string; `live` means that the current step is in view."""
        change = self._next(undo=True)
        if change is None:
            return "There is nothing to undo"
        if change.expired or not change.edit or self.view.held_edits:
            return ""
        return why_no_edit(self.view, live=live)

    def why_no_redo(self, *, live: bool) -> str:
        """Return why nothing can be redone now, or an empty string."""
        change = self._next(undo=False)
        if change is None:
            return "There is nothing to redo"
        if not change.edit or self.view.held_undone:
            return ""
        return why_no_edit(self.view, live=live)

    def undo(self) -> None:
        """Undo the last change, or report why it can no longer be undone."""
        self._queue(self._undo)

    def redo(self) -> None:
        """Redo the change that was undone last."""
        self._queue(self._redo)

    def _undo(self) -> None:
        command = self._command(undo=True)
        if command is None:
            return
        if command.change.expired:
            self._drop_expired(command.change)
            return
        self._stack.undo()
        self._under_way = command
        command.change.undo(partial(self._finish, command, _NOT_UNDONE))

    def _redo(self) -> None:
        command = self._command(undo=False)
        if command is None:
            return
        self._stack.redo()
        self._under_way = command
        command.change.redo(partial(self._finish, command, _NOT_REDONE))

    def _finish(self, command: _Command, title: str, problem: str) -> None:
        self._under_way = None
        if problem:
            edit = command.change.edit
            if title == _NOT_UNDONE and edit in self._edits:
                self._stack.redo()  # This moment was the wrong one; the edit can still be undone.
            elif title == _NOT_REDONE and edit in _undone(self.view):
                self._stack.undo()
            else:
                command.setObsolete(True)
                self._drop_obsolete()
            self.said.emit(title, f"{_sentence(command.change.words)}: {problem}")
        self._go_on()

    def _queue(self, work: Callable[[], None]) -> None:
        self._waiting.append(work)
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting and self._under_way is None:
            self._waiting.popleft()()
            self._drop_obsolete()
        if self._under_way is None:
            self._drop_obsolete()
        self.changed.emit()

    # The session

    def show_session(self, view: SessionView) -> None:
        """Record the changes that the session has applied, and mark those that can no longer be undone."""
        before, self.view = self.view, view
        refused = _refusal(before, view)
        edits = (*view.edits, *view.held_edits)
        redone = "" if self._under_way is None else self._under_way.change.edit
        new = [edit for edit in edits if edit.key not in {*self._edits, redone}]
        self._edits = {edit.key for edit in edits}
        self._expire(view)
        if view.run != before.run:
            self._wishes = [wish for wish in self._wishes if not wish.setting.of_run]
        self._take_wishes(view, refused)
        for edit in new:
            self.record(self._change_of(edit, view.run))
        if self._awaited is not None:
            self._settle(view)
        self.changed.emit()

    def _change_of(self, edit: EditMade, run: int | None) -> Reversible:
        def undo(done: Done) -> None:
            self._await(lambda view: edit.key not in _keys(view), done)
            self._undo_edit(edit.key)

        def redo(done: Done) -> None:
            self._await(lambda view: edit.key in _keys(view), done)
            self._redo_edit(edit.key)

        return Reversible(_EDITS.get(edit.kind, "edit the run"), undo, redo, run=run, edit=edit.key)

    def _take_wishes(self, view: SessionView, refused: str) -> None:
        """Record the settings that the session shows as requested; drop those that it refused."""
        while (
            taken := next((one for one in self._wishes if one.setting.read(view) == one.after), None)
        ) is not None:
            # Earlier requests for this setting were fulfilled too: of views in quick succession, some are skipped.
            same = [one for one in self._wishes if one.setting.name == taken.setting.name]
            for wish in same[: same.index(taken) + 1]:
                self._wishes.remove(wish)
                self.record(self._change_of_setting(wish, view.run))
        if refused:
            self._wishes.clear()

    def _change_of_setting(self, wish: _Wish, run: int | None) -> Reversible:
        def put(value: Any, expected: Any, done: Done) -> None:
            setting = wish.setting
            if setting.read(self.view) != expected:
                done("It was changed by something else meanwhile.")
                return
            self._await(lambda view: setting.read(view) == value, done)
            setting.write(value)

        return Reversible(
            wish.words,
            partial(put, wish.before, wish.after),
            partial(put, wish.after, wish.before),
            run=run if wish.setting.of_run else None,
        )

    def _expire(self, view: SessionView) -> None:
        """Mark the changes that cannot be undone in this view, and drop those that cannot be redone."""
        can_redo = _undone(view)
        for at in range(self._stack.count()):
            command = self._stack.command(at)
            assert isinstance(command, _Command)
            if command is self._under_way:
                continue
            change, undone = command.change, at >= self._stack.index()
            if change.run is not None and change.run != view.run:
                change.expired = change.expired or _OTHER_RUN
            elif change.edit and change.edit not in (can_redo if undone else self._edits):
                change.expired = change.expired or _WENT_ON
            if change.expired and undone:
                command.setObsolete(True)
        if self._under_way is None:
            self._drop_obsolete()

    def _await(self, shown: Callable[[SessionView], bool], done: Done) -> None:
        self._awaited = (self.view, shown, done)

    def _settle(self, view: SessionView) -> None:
        """Finish the current undo or redo if the session shows its result or refuses it."""
        assert self._awaited is not None
        before, shown, done = self._awaited
        if shown(view):
            problem = ""
        elif not (problem := _refusal(before, view)) and view.run == before.run:
            return
        self._awaited = None
        done(problem or ("" if shown(view) else f"It was not carried out: {_OTHER_RUN}."))

    # The stack

    def _command(self, *, undo: bool) -> _Command | None:
        at = self._stack.index() - 1 if undo else self._stack.index()
        command = self._stack.command(at) if 0 <= at < self._stack.count() else None
        assert command is None or isinstance(command, _Command)
        return command

    def _next(self, *, undo: bool) -> Reversible | None:
        command = self._command(undo=undo)
        return None if command is None else command.change

    def _drop_expired(self, first: Reversible) -> None:
        """Remove changes that can no longer be undone from the top, and report why."""
        words = first.words
        why = first.expired
        while (command := self._command(undo=True)) is not None and command.change.expired:
            command.setObsolete(True)
            self._stack.undo()
        self.said.emit(_NOT_UNDONE, f"{_sentence(words)}: it cannot be undone any more, because {why}.")

    def _drop_obsolete(self) -> None:
        """Remove refused changes from both sides of the stack; Qt deletes one when it would be next."""
        for undo in (False, True):
            while (command := self._command(undo=undo)) is not None and command.isObsolete():
                (self._stack.undo if undo else self._stack.redo)()


def _keys(view: SessionView) -> Iterable[str]:
    return (edit.key for edit in (*view.edits, *view.held_edits))


def _undone(view: SessionView) -> set[str]:
    return {edit.key for edit in (*view.undone, *view.held_undone)}


def _refusal(before: SessionView, view: SessionView) -> str:
    """Return what the session refused between these two views, or why it failed."""
    if view.told is not None and not view.told.done and view.told != before.told:
        return view.told.text
    failed = view.mode == "failed" and (before.mode, before.message) != (view.mode, view.message)
    return view.message if failed else ""


def _short(words: str) -> str:
    return cut(in_line(words), _LONGEST)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"
