"""Joins Save as exemplar and Record to the main window."""

from PySide6.QtCore import QObject

from core.debugger.exemplars.saving.views import KeepDeskCommands, RecordDeskCommands
from gui.exemplars.saving.controller import KeepController
from gui.exemplars.saving.recording import RecordController
from gui.shell.main_window import MainWindow


class KeepWindows(QObject):
    """Opens them from the tree of runs and by their keys; what was recorded is opened to be saved."""

    def __init__(self, keeps: KeepDeskCommands, records: RecordDeskCommands, window: MainWindow) -> None:
        super().__init__(window)
        self.keeping = KeepController(keeps, window.theme, window.remembered, window)
        self.recording = RecordController(records, window)
        window.runs.keep_requested.connect(self._on_keep)
        self.recording.recorded.connect(self._on_keep)

    def _on_keep(self, run: int, steps: tuple[int, ...]) -> None:
        self.keeping.open(run, steps=tuple(steps))
