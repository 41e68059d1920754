"""Record by hand: the command, the mark over the page, and what is recorded."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMessageBox

from core.debugger.exemplars.saving.views import RecordedSteps, RecordingView
from core.debugger.snapshots import SessionView
from gui.shell.actions import explain
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.widgets.enabled_commands import BUSY
from gui.widgets.formats import count

if TYPE_CHECKING:
    from core.debugger.exemplars.saving.service import RecordingService


class RecordingController(FeatureController):
    """Begins and ends recordings, and shows over the page that one goes on."""

    recorded = Signal(int, object)
    """The run, and the numbers of the steps that were recorded."""

    def __init__(self, window: MainWindow, service: "RecordingService") -> None:
        super().__init__(window)
        self._service = service
        self._session = SessionView()
        self._view = RecordingView()
        self.asking: QMessageBox | None = None
        """The question where to begin, while it is open."""
        self._action: QAction = window.actions_by_name["record"]
        self._action.setCheckable(True)
        self._action.triggered.connect(self._on_record)
        window.page.discard_requested.connect(service.cancel)
        self.follow(service.changed, self._show_view)
        self.follow(service.recorded, self._on_recorded, keep="every")
        self.follow(window.session.session_changed, self._show_session)
        self._show_view(self._view)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        self._session = view

    @Slot(object)
    def _show_view(self, view: RecordingView) -> None:
        self._view = view
        on = view.recording
        self._action.setChecked(on or view.starting)
        self._action.setText("Stop recor&ding" if on else "Recor&d by hand")
        self._action.setIconText("Stop recording" if on else "Record")
        self._action.setIcon(self.window.theme.icon("record", tone="bad" if on else "text"))
        explain(
            self._action,
            "End the recording, and keep it as an exemplar"
            if on
            else "Record how you do the task in the page, step by step, and keep it as an exemplar",
        )
        self.window.page.show_recording(view)

    def _on_recorded(self, ended: tuple[RecordedSteps, ...]) -> None:
        for one in ended:
            self.recorded.emit(one.run, one.steps)

    def _on_record(self) -> None:
        view = self._session
        self._action.setChecked(self._view.recording or self._view.starting)
        if self._view.recording:
            self._service.finish()
        elif view.run is None:
            self.window.page.messages.say(
                "No task is open",
                "Open the task that you want to show (Ctrl+N), then record: what you do in its page becomes an "
                "exemplar.",
            )
        elif view.mode in BUSY:
            self.window.page.messages.say("The agent is acting", "Pause first (F5), then record.")
        elif view.mode == "ended":
            self._service.record(fresh=True)
        elif view.step > 1 and not view.handed_over:
            self._ask()
        else:
            self._service.record(fresh=False)

    def _ask(self) -> None:
        """Ask where to begin, since steps were taken already."""
        taken = count(self._session.step - 1, "step")
        box = QMessageBox(self.window)
        box.setWindowTitle("Record by hand")
        box.setText(
            f"{taken.capitalize()} of this run {'is' if taken.startswith('1 ') else 'are'} done already."
        )
        box.setInformativeText("Record the task from its start, or go on from where it stands?")
        box.setTextFormat(Qt.TextFormat.PlainText)
        start = box.addButton("From the &start", QMessageBox.ButtonRole.AcceptRole)
        here = box.addButton("From &here", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(start)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.asking = box

        def answered() -> None:
            self.asking = None
            if box.clickedButton() in (start, here):
                self._service.record(fresh=box.clickedButton() is start)

        box.finished.connect(answered)
        box.open()
