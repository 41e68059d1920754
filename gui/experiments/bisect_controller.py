"""Joins the Bisect window to what answers it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.experiments.bisect_records import Wanted
from core.debugger.experiments.bisect_views import BisectDeskCommands, BisectView
from core.debugger.snapshots import Catalogue
from gui.theme.theme import Theme
from gui.widgets.relay import Relay
from gui.widgets.remembered import Remembered

if TYPE_CHECKING:
    from gui.experiments.bisect_window import BisectWindow


class BisectController(QObject):
    """Opens the window, sends what it asks to the desk and shows what comes back."""

    run_opened = Signal(int, int)

    def __init__(
        self, desk: BisectDeskCommands, theme: Theme, remembered: Remembered, window: QWidget
    ) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._remembered = remembered
        self._window = window
        self._catalogue = Catalogue()
        self._run = 0
        self.shown: BisectWindow | None = None
        """The window, once it was opened."""
        self._changed = Relay(desk.changed, keep="latest", parent=self)
        self._changed.received.connect(self._show_view)

    def open(self, run: int) -> None:
        """Show what can be bisected of this run, and what was."""
        from gui.experiments.bisect_window import BisectWindow  # With its plot, which is slow to import.

        if self.shown is None:
            self.shown = BisectWindow(self._theme, self._window)
            self.shown.show_catalogue(self._catalogue)
            self.shown.start_requested.connect(self._on_start)
            self.shown.cancel_requested.connect(self._desk.cancel)
            self.shown.export_requested.connect(self._desk.export)
            self.shown.run_opened.connect(self.run_opened)
            last = self._remembered.bisect
            if last is not None:
                self.shown.form.choose_again(last)
        if run != self._run:
            self._run = run
            self.shown.wait(run)
        self._desk.open(run)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()

    @Slot(object)
    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these presets and LLMs."""
        self._catalogue = catalogue
        if self.shown is not None:
            self.shown.show_catalogue(catalogue)

    def _on_start(self, wanted: Wanted) -> None:
        self._remembered.bisect = wanted
        self._desk.start(wanted)

    @Slot(object)
    def _show_view(self, view: BisectView) -> None:
        if self.shown is not None and view.run == self._run:
            self.shown.show_view(view)
