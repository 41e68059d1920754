"""Try again from here: opened for a step, from the tree of runs; closed when the branch has started."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.branching.views import ForkView
from core.debugger.catalogue import Catalogue
from core.schema.changes import Changes
from gui.branching.dialog import ForkDialog
from gui.shell.feature import FeatureController, present
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.branching.service import ForkService


class ForkController(FeatureController):
    """Opens the dialog, passes on the fork, and shows the results."""

    def __init__(self, window: MainWindow, service: "ForkService") -> None:
        super().__init__(window)
        self._service = service
        self._catalogue = Catalogue()
        self._step = (0, 0)
        self.dialog: ForkDialog | None = None
        """The dialog, after it was opened."""
        self.follow(service.changed, self._show_view)
        self.follow(window.session.catalogue_changed, self._show_catalogue)
        window.runs.fork_requested.connect(self.open)

    @Slot(int, int)
    def open(self, run: int, step: int) -> None:
        """Show the choices for a fork at this step; earlier choices are kept if it is the step in view."""
        if self.dialog is None:
            self.dialog = ForkDialog(self.window.theme, self.window)
            self.dialog.fork_requested.connect(self._on_fork)
            self.dialog.cancel_requested.connect(self._service.cancel)
            self.dialog.bisect_requested.connect(self.window.runs.bisect_requested)
            self.dialog.form.show_catalogue(self._catalogue)
        self.dialog.last_time = self.window.remembered.fork
        self._step = (run, step)
        self.dialog.wait(run, step)
        self._service.open(run, step)
        present(self.dialog)

    @Slot(object)
    def _show_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        if self.dialog is not None:
            self.dialog.form.show_catalogue(catalogue)

    def _on_fork(self, run: int, step: int, changes: Changes, confirmed: bool) -> None:
        if changes != Changes():
            self.window.remembered.fork = changes
        self._service.fork(run, step, changes, confirmed=confirmed)

    @Slot(object)
    def _show_view(self, view: ForkView) -> None:
        if self.dialog is None or (view.run, view.step) != self._step:
            return
        self.dialog.show_view(view)
        if view.made is not None:
            self.dialog.accept()


install = ForkController
