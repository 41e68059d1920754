"""The editor of exemplars: opened from the library, and when saving a run."""

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import ValidationError
from PySide6.QtCore import Signal, Slot

from core.debugger.exemplars.editor.views import EditorView
from core.exemplars.library.records import Provenance
from core.schema.exemplar import Exemplar
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    # The window is imported when it is opened, so that the main window starts quickly.
    from core.debugger.exemplars.editor.service import EditorService
    from gui.exemplars.editor.window import EditorWindow

_PLACE = "exemplar_editor/geometry"


class EditorController(FeatureController):
    """Opens the window, passes on its requests, and shows the results."""

    edited = Signal(object)
    """The exemplar as it would be saved now; None if it is invalid or there is nothing to save."""

    def __init__(self, window: MainWindow, service: "EditorService") -> None:
        super().__init__(window)
        self._service = service
        self._edited: Exemplar | None = None
        self.shown: EditorWindow | None = None
        """The window, after it was opened."""
        self.follow(service.changed, self._show_view)
        window.closed.connect(self._flush)

    def open(self, id: str) -> None:
        """Edit the current version of an exemplar, or its draft; one from a file is copied."""
        shown = self.shown
        if shown is not None and shown.isVisible() and shown.opened is not None and shown.opened.id == id:
            self.window.frame.show_beside(shown, _PLACE)
            return
        self._open(lambda: self._service.open(id))

    def open_copy(self, id: str) -> None:
        self._open(lambda: self._service.open_copy(id))

    def open_new(self) -> None:
        """Write a new exemplar."""
        self._open(self._service.open_new)

    def open_draft(self, exemplar: Exemplar, provenance: Provenance | None = None) -> None:
        """Edit an exemplar that was created elsewhere and is not stored yet."""
        self._open(lambda: self._service.open_draft(exemplar, provenance))

    @Slot()
    def _flush(self) -> None:
        """Store the last edits on disk, because the program exits."""
        if self.shown is not None and self.shown.opened is not None:
            self.shown.flush()

    def _open(self, work: Callable[[], None]) -> None:
        if self.shown is None:
            self.shown = self._make()
        self.window.frame.show_beside(self.shown, _PLACE)
        self.shown.leave(work)

    def _make(self) -> "EditorWindow":
        from gui.exemplars.editor.window import EditorWindow

        shown, service = EditorWindow(self.window.theme, self.window), self._service
        shown.preview.choose(self.window.remembered.preset)
        shown.check_requested.connect(service.check)
        shown.save_requested.connect(service.save)
        shown.test_requested.connect(service.test)
        shown.parser.cancel_requested.connect(service.cancel_test)
        shown.compare_requested.connect(service.compare)
        shown.version_requested.connect(service.take_version)
        shown.take_up_requested.connect(service.take_up)
        shown.forget_requested.connect(service.forget)
        shown.left.connect(self._on_left)
        self.follow(service.compared, shown.versions.show_compared)
        self.follow(service.conflicted, shown.show_conflict)
        self.follow(service.replaced, shown.show_new_text)
        return shown

    def _on_left(self, keep: bool) -> None:
        self._service.leave(keep=keep)
        self._tell(None)

    @Slot(object)
    def _show_view(self, view: EditorView) -> None:
        shown = self.shown
        if shown is None:
            return
        shown.show_view(view)
        exemplar = None
        if shown.modified and view.checked.draft is not None:
            with contextlib.suppress(ValidationError):
                review = view.opened.review if view.opened is not None else None
                exemplar = view.checked.draft.exemplar(review)
        self._tell(exemplar)

    def _tell(self, exemplar: Exemplar | None) -> None:
        if exemplar != self._edited:
            self._edited = exemplar
            self.edited.emit(exemplar)
