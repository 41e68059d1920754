"""The window of the evaluations, connected to its service."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMessageBox

from core.debugger.evaluations.records import EvalRequest
from core.debugger.evaluations.views import EvaluationsView, OpenedRun, RequestPreview
from core.debugger.snapshots import Catalogue
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.widgets.formats import count

if TYPE_CHECKING:
    # The window is imported when it is opened, so that the main window starts quickly.
    from core.debugger.evaluations.service import EvaluationsService
    from gui.evaluations.asking import AskingDialog, Mode
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
        self.follow(window.session.catalogue_changed, self._on_catalogue)
        window.actions_by_name["evaluations"].triggered.connect(lambda: self.open())
        window.deciding_step_requested.connect(service.open_run)
        window.closing.connect(self._on_closing)

    def open(self) -> None:
        """Show the window as it was left."""
        if self.shown is None:
            self.shown = self._make()
        self.window.frame.show_beside(self.shown, "evaluations/geometry")

    def _make(self) -> "EvaluationsWindow":
        from gui.evaluations.window import EvaluationsWindow

        service = self._service
        shown = EvaluationsWindow(self.window.theme, self.window.remembered, self.window)
        shown.watched.connect(lambda on: service.watch() if on else service.unwatch())
        shown.chosen.connect(service.choose)
        shown.end_requested.connect(service.end)
        shown.delete_requested.connect(service.delete)
        shown.run_wanted.connect(service.open_run)
        shown.new_wanted.connect(lambda: self._ask("new"))
        shown.resume_wanted.connect(lambda name: self._ask("resume", name))
        shown.failures_wanted.connect(lambda name: self._ask("failures", name))
        shown.show_view(self._view)
        return shown

    def _ask(self, mode: "Mode", name: str = "") -> None:
        from gui.evaluations.asking import AskingDialog

        if self.asking is not None:
            self.asking.deleteLater()
        self.asking = dialog = AskingDialog(self.window.theme, mode, name, self.shown)
        dialog.preview_wanted.connect(self._service.preview)
        dialog.asked.connect(self._on_asked)
        view = self.window.view
        dialog.choose(
            self.window.remembered.evaluation, self._catalogue, view.preset, view.llm, self._view.suites
        )
        dialog.open()

    @Slot(object)
    def _on_asked(self, request: EvalRequest) -> None:
        if self.asking is not None and self.asking.mode == "resume":
            self._service.resume(request)
            return
        if self.asking is not None and self.asking.mode == "new":
            self.window.remembered.evaluation = request.replace(name="")
        self._service.begin(request)

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
