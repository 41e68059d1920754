"""Joins the editor of exemplars to what answers it."""

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import ValidationError
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.editor.views import EditorDeskCommands, EditorView
from core.memory.editing.draft import Draft
from core.memory.library.records import Provenance
from core.schema.exemplar import Exemplar
from gui.theme.theme import Theme
from gui.widgets.relay import Relay
from gui.widgets.remembered import Remembered

if TYPE_CHECKING:
    # The window is loaded when it is opened: the main window is to come quickly.
    from gui.exemplars.editor.window import EditorWindow


class EditorController(QObject):
    """Opens the window, sends what it asks to the desk and shows what comes back."""

    saved = Signal(str)
    """The id of an exemplar that was saved, archived, brought back, or put to another version."""

    edited = Signal(object)
    """The exemplar as it would be saved now; None while there is none that could be, or nothing to be saved."""

    def __init__(
        self, desk: EditorDeskCommands, theme: Theme, remembered: Remembered, window: QWidget
    ) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._remembered = remembered
        self._window = window
        self._saves = 0
        self.shown: EditorWindow | None = None
        """The window, once it was opened."""
        self._changed = Relay(desk.changed, keep="latest", parent=self)
        self._changed.received.connect(self._show_view)

    def open(self, id: str) -> None:
        """Edit an exemplar as it is now, or its draft; one of a file is copied."""
        opened = self.shown.opened if self.shown is not None and self.shown.isVisible() else None
        if opened is not None and opened.id == id:
            self._raise()
            return
        self._open(lambda: self._desk.open(id))

    def open_version(self, id: str, version: int) -> None:
        """Edit an exemplar from an earlier version on."""
        self._open(lambda: self._desk.open_version(id, version))

    def open_copy(self, id: str) -> None:
        """Edit a copy of an exemplar."""
        self._open(lambda: self._desk.open_copy(id))

    def open_new(self) -> None:
        """Write one from nothing."""
        self._open(self._desk.open_new)

    def open_draft(self, exemplar: Exemplar, provenance: Provenance | None = None) -> None:
        """Edit one that was made elsewhere and is not stored yet."""
        self._open(lambda: self._desk.open_draft(exemplar, provenance))

    @Slot()
    def flush(self) -> None:
        """Have what was typed last kept on the disk: the program ends."""
        if self.shown is not None and self.shown.opened is not None:
            self.shown.flush()

    def _open(self, work: Callable[[], None]) -> None:
        self._made()
        self._raise()
        assert self.shown is not None
        self.shown.leave(work)

    def _made(self) -> None:
        if self.shown is not None:
            return
        from gui.exemplars.editor.window import EditorWindow

        shown = self.shown = EditorWindow(self._theme, self._window)
        shown.choose_preset(self._remembered.preset)
        shown.check_requested.connect(self._desk.check)
        shown.check_requested.connect(self._on_edited)
        shown.save_requested.connect(self._desk.save)
        shown.test_requested.connect(self._desk.test)
        shown.cancel_test_requested.connect(self._desk.cancel_test)
        shown.compare_requested.connect(self._desk.compare)
        shown.current_requested.connect(self._desk.make_current)
        shown.version_requested.connect(self._desk.open_version)
        shown.archive_requested.connect(self._desk.archive)
        shown.take_up_requested.connect(self._desk.take_up)
        shown.forget_requested.connect(self._desk.forget)
        shown.left.connect(self._on_left)

    def _raise(self) -> None:
        assert self.shown is not None
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()

    def _on_left(self, keep: bool) -> None:
        self._desk.close(keep=keep)
        self.edited.emit(None)

    def _on_edited(self, draft: Draft) -> None:
        opened = self.shown.opened if self.shown is not None else None
        exemplar = None
        if opened is not None and draft != opened.base:
            with contextlib.suppress(ValidationError):
                exemplar = draft.exemplar()
        self.edited.emit(exemplar)

    @Slot(object)
    def _show_view(self, view: EditorView) -> None:
        if view.saves != self._saves:
            self._saves = view.saves
            if view.opened is not None and view.opened.id:
                self.saved.emit(view.opened.id)
                self.edited.emit(None)
        if self.shown is not None:
            self.shown.show_view(view)
