"""A window next to the main one whose service reads only while the window is visible."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDialog


class WatchedWindow(QDialog):
    """Reports when it becomes visible or hidden, and remembers its state; Enter does not close it."""

    watched = Signal(bool)
    """Whether it is visible now."""

    def keep(self) -> None:
        """Remember the state of the window; does nothing unless a subclass overrides it."""

    def closeEvent(self, event: QCloseEvent) -> None:
        self.keep()
        super().closeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watched.emit(True)

    def done(self, result: int) -> None:
        self.keep()
        super().done(result)
        self.watched.emit(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return  # It is not a dialog that waits for an answer.
        super().keyPressEvent(event)
