"""Rows of lists and trees: one height, one theme, one way to draw a line of text."""

from abc import abstractmethod

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gui.theme.theme import Theme

Index = QModelIndex | QPersistentModelIndex
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RowDelegate(QStyledItemDelegate):
    """Draws each row by `draw`, with a painter that may be left in any state."""

    def __init__(self, theme: Theme, size: QSize, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._size = size

    @abstractmethod
    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        """Draw the row at `index` in `rect`."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self._size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        self.draw(painter, option.rect, option.state, index)
        painter.restore()


def draw_cut(painter: QPainter, room: QRect, text: str, align: Qt.AlignmentFlag = LEFT) -> None:
    """Draw one line of text, cut at the right where the room is too small."""
    line = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(0, room.width()))
    painter.drawText(room, int(align), line)
