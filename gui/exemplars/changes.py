"""The person's changes to exemplars, on the undo stack of the main window."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from gui.shell.feature import AskingController
from gui.shell.main_window import MainWindow
from gui.shell.undo import Done, Reversible

if TYPE_CHECKING:
    from core.debugger.exemplars.changes import ExemplarChange, ExemplarChanges


class ChangesController(AskingController):
    """Records each change, and lets it be undone and redone."""

    def __init__(self, window: MainWindow, service: "ExemplarChanges") -> None:
        super().__init__(window, service.answered)
        self._service = service
        self.follow(service.changed, self._on_made, keep="every")

    @Slot(object)
    def _on_made(self, changes: "tuple[ExemplarChange, ...]") -> None:
        for one in changes:
            undo, redo = partial(self._exchange, one, True), partial(self._exchange, one, False)
            self.window.history.record(Reversible(one.words, undo, redo))

    def _exchange(self, change: "ExemplarChange", back: bool, done: Done) -> None:
        self.ask(self._service.exchange, change, back=back, answer=done)
