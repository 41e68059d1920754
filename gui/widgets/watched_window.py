"""A window beside the main one whose service reads only while somebody looks."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDialog


class WatchedWindow(QDialog):
    """Says when it is looked at, and remembers how it was left; Enter does not close it."""

    watched = Signal(bool)
    """Whether somebody looks now."""

    def keep(self) -> None:
        """Remember how it is left; nothing, unless a subclass does."""

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
            return  # It is no dialog to be answered.
        super().keyPressEvent(event)
