"""A search field with its count of matches and the usual keys."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from gui.theme.theme import Theme


class SearchField(QLineEdit):
    """Enter and Shift+Enter go to the next and the previous match, Escape empties it.

    Escape in an empty field is left to the window.
    """

    next_wanted = Signal()
    previous_wanted = Signal()

    def __init__(self, theme: Theme, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        self.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition).setText("Search")
        theme.changed.connect(self.update)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.previous_wanted if back else self.next_wanted).emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)

    def event(self, event) -> bool:  # type: ignore[no-untyped-def]
        if event.type() == event.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape and self.text():
            event.accept()
            return True
        return super().event(event)
