"""Joins Save as exemplar to what answers it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.saving.views import Choice, KeepDeskCommands, KeepView
from gui.theme.theme import Theme
from gui.widgets.relay import Relay
from gui.widgets.remembered import Remembered

if TYPE_CHECKING:
    # The window is loaded when it is opened: the main window is to come quickly.
    from gui.exemplars.saving.window import KeepWindow


class KeepController(QObject):
    """Opens the window, sends what is chosen to the desk and shows what comes back."""

    saved = Signal(str)
    """The id of an exemplar that has just been saved, or taken back."""
    edit_requested = Signal(object, object)
    """An `Exemplar` that is to be gone on with in the editor, and its `Provenance`."""

    def __init__(self, desk: KeepDeskCommands, theme: Theme, remembered: Remembered, window: QWidget) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._remembered = remembered
        self._window = window
        self._run = 0
        self._told: tuple[str, int, bool] | None = None
        """What was said of the last one saved: id, version, and whether it was taken back."""
        self.shown: KeepWindow | None = None
        """The window, once it was opened."""
        self._changed = Relay(desk.changed, keep="latest", parent=self)
        self._changed.received.connect(self._show_view)

    def open(self, run: int, first: int = 1, last: int | None = None, steps: tuple[int, ...] = ()) -> None:
        """Show what can be kept of a run, of these steps of it where there are any."""
        if self.shown is None:
            from gui.exemplars.saving.window import KeepWindow

            self.shown = KeepWindow(self._theme, self._window)
            self.shown.chosen.connect(self._desk.choose)
            self.shown.save_requested.connect(self._on_save)
            self.shown.undo_requested.connect(self._desk.undo)
            self.shown.edit_requested.connect(self.edit_requested)
            self.shown.finished.connect(self._on_closed)
            geometry = self._remembered.geometry("keep")
            if geometry is not None:
                self.shown.restoreGeometry(geometry)
        self._run, self._told = run, None
        self.shown.wait(run)
        self._desk.open(run, first, last, steps)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()

    def _on_save(self, choice: Choice, anyway: bool) -> None:
        self._desk.save(choice, anyway=anyway)

    def _on_closed(self) -> None:
        assert self.shown is not None
        self._remembered.keep_geometry("keep", self.shown.saveGeometry())

    @Slot(object)
    def _show_view(self, view: KeepView) -> None:
        if self.shown is None or view.run != self._run:
            return
        self.shown.show_view(view)
        if view.saved is not None:
            told = (view.saved.id, view.saved.version, view.saved.undone)
            if told != self._told:
                self._told = told
                self.saved.emit(view.saved.id)
