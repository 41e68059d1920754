"""Joins the fork dialog to what answers it."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.branching.views import ForkDeskCommands, ForkView
from core.debugger.snapshots import Catalogue
from core.schema.changes import Changes
from gui.branching.dialog import ForkDialog
from gui.theme.theme import Theme
from gui.widgets.relay import Relay
from gui.widgets.remembered import Remembered


class ForkController(QObject):
    """Opens the dialog, sends the fork to the desk, and closes the dialog once the branch has begun."""

    def __init__(self, desk: ForkDeskCommands, theme: Theme, remembered: Remembered, window: QWidget) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._remembered = remembered
        self._window = window
        self._catalogue = Catalogue()
        self.dialog: ForkDialog | None = None
        """The dialog, once it was opened."""
        self._changed = Relay(desk.changed, keep="latest", parent=self)
        self._changed.received.connect(self._show_view)
        self._step = (0, 0)

    def open(self, run: int, step: int) -> None:
        """Show what can be chosen for a fork at this step; choices are kept where it is the step in view."""
        if self.dialog is None:
            self.dialog = ForkDialog(self._theme, self._window)
            self.dialog.fork_requested.connect(self._on_fork)
            self.dialog.cancel_requested.connect(self._desk.cancel)
            self.dialog.form.show_catalogue(self._catalogue)
        self.dialog.last_time = self._remembered.fork
        self._step = (run, step)
        self.dialog.wait(run, step)
        self._desk.open(run, step)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    @Slot(object)
    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs."""
        self._catalogue = catalogue
        if self.dialog is not None:
            self.dialog.form.show_catalogue(catalogue)

    def _on_fork(self, run: int, step: int, changes: Changes, told: bool) -> None:
        if changes != Changes():
            self._remembered.fork = changes
        self._desk.fork(run, step, changes, told=told)

    @Slot(object)
    def _show_view(self, view: ForkView) -> None:
        if self.dialog is None or (view.run, view.step) != self._step:
            return
        self.dialog.show_view(view)
        if view.made is not None:
            self.dialog.accept()
