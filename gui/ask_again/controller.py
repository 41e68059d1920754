"""Ask again: opened for a step, from the tree of runs."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.ask_again.views import AskView
from core.debugger.catalogue import Catalogue
from core.debugger.session_view import SessionView
from gui.ask_again.window import AskAgain
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.ask_again.service import AskAgainService


class AskAgainController(FeatureController):
    """Opens the dialog, passes on its questions, and shows the results."""

    def __init__(self, window: MainWindow, service: "AskAgainService") -> None:
        super().__init__(window)
        self._service = service
        self._step = (0, 0)
        self._under_review: tuple[int, int] | None = None
        self._catalogue = Catalogue()
        self.dialog: AskAgain | None = None
        """The dialog, after it was opened."""
        self.follow(service.changed, self._show_view)
        self.follow(window.session.catalogue_changed, self._show_catalogue)
        self.follow(window.session.session_changed, self._show_session)
        window.runs.ask_requested.connect(self.open)

    @Slot(int, int)
    def open(self, run: int, step: int) -> None:
        """Show what can be asked again for this step; edits are kept if it is the step in view."""
        if self.dialog is None:
            self.dialog = AskAgain(self.window.theme, self.window)
            self.dialog.ask_requested.connect(self._service.ask)
            self.dialog.credit_requested.connect(self._service.ask_credit)
            self.dialog.cancel_requested.connect(self._service.cancel)
            self.dialog.exemplar_requested.connect(self._service.write_exemplar)
            self.dialog.adopt_requested.connect(self.window.session.edits.edit_action)
            self.dialog.go_on_requested.connect(self._service.go_on_with)
            self.dialog.show_llms(self._catalogue.llms)
        if (run, step) != self._step:
            self._step = (run, step)
            self.dialog.wait(run, step)
        if not self.dialog.busy:
            self._service.open(run, step)
        self._show_adoptable()
        self.window.frame.show_beside(self.dialog, "ask_again/geometry")

    @Slot(object)
    def _show_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        if self.dialog is not None:
            self.dialog.show_llms(catalogue.llms)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        """An action from the answers can be adopted while its step is under review."""
        under_review = view.mode == "waiting" and view.phase == "review" and view.run is not None
        self._under_review = (view.run, view.step) if under_review and view.run is not None else None
        self._show_adoptable()

    def _show_adoptable(self) -> None:
        if self.dialog is not None:
            self.dialog.set_adoptable(self._step == self._under_review)

    @Slot(object)
    def _show_view(self, view: AskView) -> None:
        """Show results for the step in view; for others, only show errors."""
        if self.dialog is None:
            return
        if (view.run, view.step) == self._step:
            self.dialog.show_view(view)
        elif view.problem:
            self.dialog.show_problem(view.problem)


install = AskAgainController
