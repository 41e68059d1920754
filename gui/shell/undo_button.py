"""Undo and redo in the windows of exemplars, which share a stack."""

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QPushButton, QWidget

from gui.shell.undo import UndoHistory

_UNDO, _REDO = "Ctrl+Z", "Ctrl+Shift+Z"


def add_undo_keys(window: QWidget, history: UndoHistory) -> None:
    """Make Ctrl+Z and Ctrl+Shift+Z undo and redo in a window."""
    QShortcut(QKeySequence(_UNDO), window).activated.connect(history.undo)
    QShortcut(QKeySequence(_REDO), window).activated.connect(history.redo)


class UndoButton(QPushButton):
    """Undoes the next change; the tooltip names it. The keys are set by `add_undo_keys`."""

    def __init__(self, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__("Undo", parent, autoDefault=False)
        self._history = history
        self._only: str | None = None
        self.clicked.connect(history.undo)
        history.changed.connect(self._refresh)
        self._refresh()

    def offer(self, words: str) -> None:
        """Show the button only while this change is the next one."""
        self._only = words
        self._refresh()

    def _refresh(self) -> None:
        words = self._history.next_undo
        self.setEnabled(bool(words))
        self.setToolTip(f"Undo {words} ({_UNDO})" if words else "There is nothing to undo")
        if self._only is not None:
            self.setVisible(bool(self._only) and words == self._only)
