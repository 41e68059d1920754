"""How runs become exemplars: saved from the tree of runs or by key, or recorded by hand."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QMessageBox

from core.debugger.exemplars.saving.views import RecordedSteps, RecordingView, SavingView
from core.schema.formats import count
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.widgets.enabled_commands import BUSY

if TYPE_CHECKING:
    # The window is imported when it is opened, so that the main window starts quickly.
    from core.debugger.exemplars.saving.service import RecordingService, SavingService
    from gui.exemplars.saving.window import SavingWindow


class SavingController(FeatureController):
    """Opens the window, passes on the choices, and shows the results."""

    edit_requested = Signal(object, object)
    """An `Exemplar` to edit further, and its `Provenance`."""

    def __init__(self, window: MainWindow, service: "SavingService") -> None:
        super().__init__(window)
        self._service = service
        self._run = 0
        self._is_saved = False
        self.shown: SavingWindow | None = None
        """The window, after it was opened."""
        self.follow(service.changed, self._show_view)

    @Slot(int, object)
    def open(self, run: int, steps: tuple[int, ...] = ()) -> None:
        """Show what can be saved of a run, or of these steps of it, if any are given."""
        if self.shown is None:
            from gui.exemplars.saving.window import SavingWindow

            self.shown = SavingWindow(self.window.theme, self.window.exemplar_history, self.window)
            self.shown.chosen.connect(self._service.choose)
            self.shown.save_requested.connect(
                lambda choice, anyway: self._service.save(choice, anyway=anyway)
            )
            self.shown.replay_requested.connect(self._service.replay)
            self.shown.memory_requested.connect(self._service.use_memory)
            self.shown.edit_requested.connect(self.edit_requested)
            self.shown.rejected.connect(self._on_closed)
        if self.shown.isVisible() and run == self._run and not steps:
            self.window.frame.show_beside(self.shown, "windows/keep")
            return
        self._run, self._is_saved = run, False
        self.shown.wait(run)
        self._service.open(run, steps=tuple(steps))
        self.window.frame.show_beside(self.shown, "windows/keep")

    @Slot(object)
    def _show_view(self, view: SavingView) -> None:
        if self.shown is not None and view.run == self._run:
            self._is_saved = view.saved is not None
            self.shown.show_view(view)

    def _on_closed(self) -> None:
        """End the replay of what was given up."""
        if not self._is_saved:
            self._service.replay(False)


class RecordingController(FeatureController):
    """Starts and ends recordings, and shows over the page that a recording is running."""

    recorded = Signal(int, object)
    """The run, and the numbers of the recorded steps."""

    def __init__(self, window: MainWindow, service: "RecordingService") -> None:
        super().__init__(window)
        self._service = service
        self._view = RecordingView()
        self.asking: QMessageBox | None = None
        """The question where to start, while it is open."""
        window.page.discard_requested.connect(service.cancel)
        self.follow(service.changed, self._show_view)
        self.follow(service.recorded, self._on_recorded, keep="every")
        self._show_view(self._view)

    @Slot(object)
    def _show_view(self, view: RecordingView) -> None:
        self._view = view
        self.window.page.show_recording(view)
        self.window.commands.refresh()

    def _on_recorded(self, ended: tuple[RecordedSteps, ...]) -> None:
        for one in ended:
            self.recorded.emit(one.run, one.steps)

    def toggle(self) -> None:
        """Start a recording if one can start now, or end it."""
        view = self.window.view
        if self._view.recording:
            self._service.finish()
        elif view.run is None:
            self.window.page.messages.say(
                "No task is open",
                "Open the task that you want to demonstrate (Ctrl+N), then record. What you do in its page becomes an "
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
        """Ask where to start, because steps were already taken."""
        taken = count(self.window.view.step - 1, "step of this run is", "steps of this run are")
        box = QMessageBox(self.window)
        box.setWindowTitle("Record by hand")
        box.setText(f"{taken} done already.")
        box.setInformativeText("Record the task from the start, or continue from here?")
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
