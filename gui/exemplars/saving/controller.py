"""Save as exemplar: opened from the tree of runs, by its key, and where a recording has ended."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot

from core.debugger.exemplars.saving.views import SavingChoice, SavingView
from gui.shell.feature import FeatureController, present
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    # The window is loaded when it is opened: the main window is to come quickly.
    from core.debugger.exemplars.saving.service import SavingService
    from gui.exemplars.saving.window import SavingWindow


class SavingController(FeatureController):
    """Opens the window, passes on what is chosen, and shows what comes back."""

    edit_requested = Signal(object, object)
    """An `Exemplar` that is to be edited further, and its `Provenance`."""

    def __init__(self, window: MainWindow, service: "SavingService") -> None:
        super().__init__(window)
        self._service = service
        self._run = 0
        self.shown: SavingWindow | None = None
        """The window, once it was opened."""
        self.follow(service.changed, self._show_view)

    @Slot(int, object)
    def open(self, run: int, steps: tuple[int, ...] = ()) -> None:
        """Show what can be saved of a run, of these steps of it where there are any."""
        if self.shown is None:
            from gui.exemplars.saving.window import SavingWindow

            self.shown = SavingWindow(self.window.theme, self.window)
            self.shown.chosen.connect(self._service.choose)
            self.shown.save_requested.connect(self._on_save)
            self.shown.undo_requested.connect(self._service.undo)
            self.shown.edit_requested.connect(self.edit_requested)
            self.shown.finished.connect(self._on_closed)
            geometry = self.window.remembered.geometry("keep")
            if geometry is not None:
                self.shown.restoreGeometry(geometry)
        self._run = run
        self.shown.wait(run)
        self._service.open(run, steps=tuple(steps))
        present(self.shown)

    def _on_save(self, choice: SavingChoice, anyway: bool) -> None:
        self._service.save(choice, anyway=anyway)

    def _on_closed(self) -> None:
        assert self.shown is not None
        self.window.remembered.keep_geometry("keep", self.shown.saveGeometry())

    @Slot(object)
    def _show_view(self, view: SavingView) -> None:
        if self.shown is not None and view.run == self._run:
            self.shown.show_view(view)
