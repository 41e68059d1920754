"""The window of the evaluations, connected to its service."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMessageBox

from core.debugger.catalogue import Catalogue
from core.debugger.evaluations.records import BisectRequest, EvalRequest, Request, Subject, WorthRequest
from core.debugger.evaluations.views import BisectChoices, EvaluationsView, OpenedRun, RequestPreview
from core.schema.formats import count
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    # The window is imported when it is opened, so that the main window starts quickly.
    from core.debugger.evaluations.service import EvaluationsService
    from gui.evaluations.asking import AskingDialog
    from gui.evaluations.window import EvaluationsWindow


class EvaluationsController(FeatureController):
    """Opens the window, passes on its requests, and shows the results."""

    def __init__(self, window: MainWindow, service: "EvaluationsService") -> None:
        super().__init__(window)
        self._service = service
        self._catalogue = Catalogue()
        self._view = EvaluationsView()
        self._leaving = False
        self.shown: EvaluationsWindow | None = None
        """The window, after it was opened."""
        self.asking: AskingDialog | None = None
        self.question: QMessageBox | None = None
        """Whether to close the main window although evaluations are running."""
        self.follow(service.changed, self._show_view)
        self.follow(service.previewed, self._show_preview)
        self.follow(service.opened, self._on_opened)
        self.follow(service.bisect_read, self._ask_bisect)
        self.follow(window.session.catalogue_changed, self._on_catalogue)
        window.deciding_step_requested.connect(service.open_run)
        window.runs.bisect_requested.connect(service.read_bisect)
        window.worth_requested.connect(self.ask_worth)
        window.evaluation_requested.connect(self.open_evaluation)
        window.closing.connect(self._on_closing)

    def open(self) -> None:
        """Show the window as it was left."""
        if self.shown is None:
            self.shown = self._make()
        self.window.frame.show_beside(self.shown, "evaluations/geometry")

    @Slot(int)
    def open_evaluation(self, number: int) -> None:
        """Show this evaluation."""
        self.open()
        self._service.choose(number)

    def _make(self) -> "EvaluationsWindow":
        from gui.evaluations.window import EvaluationsWindow

        service = self._service
        shown = EvaluationsWindow(self.window.theme, self.window.remembered, self.window)
        shown.watched.connect(lambda on: service.watch() if on else service.unwatch())
        shown.chosen.connect(service.choose)
        shown.end_requested.connect(service.end)
        shown.delete_requested.connect(service.delete)
        shown.run_wanted.connect(service.open_run)
        shown.new_wanted.connect(self._ask_new)
        shown.resume_wanted.connect(self._ask_resume)
        shown.failures_wanted.connect(self._ask_failures)
        shown.show_view(self._view)
        return shown

    # What is asked

    def _ask_new(self) -> None:
        from gui.evaluations.asking import NewDialog

        dialog, view = NewDialog(self.window.theme, self.shown), self.window.view
        remembered = self.window.remembered.evaluation
        dialog.choose(remembered, self._catalogue, view.preset, view.llm, self._view.suites)
        self._ask(dialog, self._service.begin)

    def _ask_failures(self, of: str) -> None:
        from gui.evaluations.asking import FailuresDialog

        self._ask(FailuresDialog(self.window.theme, of, self.shown), self._service.begin)

    def _ask_resume(self, name: str) -> None:
        from gui.evaluations.asking import ResumeDialog

        self._ask(ResumeDialog(self.window.theme, name, self.shown), self._service.resume)

    @Slot(object)
    def _ask_bisect(self, choices: BisectChoices) -> None:
        from gui.evaluations.measuring import BisectDialog

        dialog = BisectDialog(self.window.theme, choices, self._catalogue, self.window)
        if (last := self.window.remembered.bisect) is not None:
            dialog.choose(last)
        self._ask(dialog, self._begin_and_show)

    @Slot(object)
    def ask_worth(self, subject: Subject | None) -> None:
        """Ask how to measure a subject, or any."""
        from gui.evaluations.measuring import WorthDialog

        dialog = WorthDialog(self.window.theme, self._catalogue, self.window)
        dialog.choose(self.window.remembered.worth, subject)
        self._ask(dialog, self._begin_and_show)

    def _ask(self, dialog: "AskingDialog", then: Callable[[Request], None]) -> None:
        if self.asking is not None:
            self.asking.deleteLater()
        self.asking = dialog
        dialog.preview_wanted.connect(self._service.preview)
        dialog.asked.connect(self._remember)
        dialog.asked.connect(then)
        dialog.open()

    def _begin_and_show(self, request: Request) -> None:
        self.open()
        self._service.begin(request)

    def _remember(self, request: Request) -> None:
        remembered = self.window.remembered
        match request.replace(name=""):
            case EvalRequest(failures_of="") as asked:
                remembered.evaluation = asked
            case BisectRequest() as asked:
                remembered.bisect = asked
            case WorthRequest() as asked:
                remembered.worth = asked

    @Slot(object)
    def _show_view(self, view: EvaluationsView) -> None:
        self._view = view
        if self.shown is not None:
            self.shown.show_view(view)

    @Slot(object)
    def _show_preview(self, preview: RequestPreview) -> None:
        if self.asking is not None and self.asking.isVisible():
            self.asking.show_preview(preview)

    @Slot(object)
    def _on_opened(self, opened: OpenedRun) -> None:
        self.window.show_run(opened.run, opened.step)

    @Slot(object)
    def _on_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    # Closing the main window

    @Slot(object)
    def _on_closing(self, event: QCloseEvent) -> None:
        """Ask first if evaluations that were started here are running."""
        going = len(self._view.started)
        if self._leaving or not going:
            if self.shown is not None:
                self.shown.keep()
            return
        event.ignore()
        one = going == 1
        box = QMessageBox(
            QMessageBox.Icon.Question,
            "Evaluations are running",
            f"{count(going, 'evaluation')} started here {'is' if one else 'are'} running. Quit?",
            QMessageBox.StandardButton.Cancel,
            self.window,
        )
        box.setInformativeText(
            f"{'It' if one else 'They'} will be interrupted. Finished runs are kept, and you can resume the rest."
        )
        leave = box.addButton("&Interrupt and quit", QMessageBox.ButtonRole.AcceptRole)
        leave.clicked.connect(self._leave)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.open()
        self.question = box

    def _leave(self) -> None:
        self._leaving = True
        self.window.close()


install = EvaluationsController
