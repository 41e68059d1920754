"""Cells of the library's table, each drawn by one look at its row: Qt itself asks the model seven times a cell."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QWidget

from gui.exemplars.library.row_model import COLUMNS, RowModel
from gui.theme.theme import Theme
from gui.widgets.row_delegate import LEFT, RIGHT, Index, RowDelegate, draw_cut

_SIDE = 8
"""As headings have it."""
_PLAIN = ("id", "family", "task")


class CellDelegate(RowDelegate):
    """Draws what `RowModel.text` says of a cell."""

    def __init__(self, theme: Theme, model: RowModel, table: QWidget) -> None:
        super().__init__(theme, QSize(80, 24), table)
        self._model = model

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        flags = QStyle.StateFlag
        if state & flags.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
        elif state & flags.State_MouseOver:
            painter.fillRect(rect, self.theme.colour("raised"))
        if state & flags.State_HasFocus:
            painter.setPen(self.theme.colour("agent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        row, column = index.row(), COLUMNS[index.column()]
        text = self._model.text(row, index.column())
        if not text:
            return
        held = self._model.row(row)
        dim = column.name not in _PLAIN or held is None or held.archived
        painter.setPen(self.theme.colour("dim" if dim and not state & flags.State_Selected else "text"))
        align: Qt.AlignmentFlag = RIGHT if column.number else LEFT
        draw_cut(painter, rect.adjusted(_SIDE, 0, -_SIDE, 0), text, align)
