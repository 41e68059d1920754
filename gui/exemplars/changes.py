"""The person's changes to exemplars, on the undo stack of the main window."""

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.shell.undo import Done, Reversible

if TYPE_CHECKING:
    from core.debugger.exemplars.changes import ExemplarChange, ExemplarChanges


class ChangesController(FeatureController):
    """Records each change, and lets it be undone and redone."""

    def __init__(self, window: MainWindow, service: "ExemplarChanges") -> None:
        super().__init__(window)
        self._service = service
        self._asked: deque[Done] = deque()
        self.follow(service.changed, self._on_made, keep="every")
        self.follow(service.answered, self._show_answers, keep="every")

    @Slot(object)
    def _on_made(self, changes: "tuple[ExemplarChange, ...]") -> None:
        for one in changes:
            undo, redo = partial(self._exchange, one, True), partial(self._exchange, one, False)
            self.window.history.record(Reversible(one.words, undo, redo))

    def _exchange(self, change: "ExemplarChange", back: bool, done: Done) -> None:
        self._asked.append(done)
        self._service.exchange(change, back=back)

    @Slot(object)
    def _show_answers(self, answers: tuple[str, ...]) -> None:
        for answer in answers:
            self._asked.popleft()(answer)
