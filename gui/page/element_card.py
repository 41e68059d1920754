"""A small card over the page next to an element, with what is known of the element."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QFrame, QWidget

from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.words import ElidedLabel, set_flag, set_tone

_GAP = 6
_WIDEST = 520


class ElementCard(QFrame):
    """Shows the element's line of the observation and its possible actions. Mouse events pass through it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("elementCard", True)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.line, self.uses = ElidedLabel("", self), ElidedLabel("", self)
        self.line.setFont(theme.machine_font())
        self.uses.setFont(theme.small_font())
        set_tone(self.uses, "dim")
        in_column(self, self.line, self.uses, margins=(9, 6, 9, 6), spacing=2)
        self.hide()

    def show_words(self, line: str, uses: str, *, pinned: bool, beside: QRect, room: QRect) -> None:
        """Show this text below `beside`, or above it if there is no space, inside `room`."""
        self.line.setText(line)
        self.uses.setText(f"{uses} · pinned (Esc unpins it)" if pinned else uses)
        self.setAccessibleName(f"{line}. {uses}")
        set_flag(self, "pinned", pinned)
        widest = max(label.fontMetrics().horizontalAdvance(label.text()) for label in (self.line, self.uses))
        width, height = min(widest + 26, _WIDEST, room.width() - 2 * _GAP), self.sizeHint().height()
        below = beside.bottom() + _GAP
        top = below if below + height <= room.bottom() else beside.top() - _GAP - height
        left = min(max(beside.left(), room.left() + _GAP), room.right() - width - _GAP)
        top = min(max(top, room.top() + _GAP), room.bottom() - height - _GAP)
        self.setGeometry(left, top, width, height)
        self.show()
        self.raise_()
