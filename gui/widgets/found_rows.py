"""Rows of search results: a title, and the text around the match with the match highlighted."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
)
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyleOptionViewItem, QWidget

from gui.theme.theme import Theme
from gui.widgets.item_views import LEFT, RIGHT, ROW, Index, RowDelegate, RowMenu, RowsModel, draw_cut
from gui.widgets.rows import wrapped

_SIDE = 12
_GROUP = 24


@dataclass(frozen=True)
class FoundRow:
    """One result, or the heading of a group if there is no excerpt."""

    title: str
    word: str = ""
    """At the right of the title."""
    excerpt: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    """The highlighted ranges of the excerpt."""
    key: Any = None
    """What it stands for; None for a heading."""

    @property
    def natural(self) -> str:
        """The text of the row, for copying."""
        first = "  ".join(part for part in (self.title, self.word) if part)
        return f"{first}\n{self.excerpt}" if self.excerpt else first

    @property
    def spoken(self) -> str:
        return ". ".join(part for part in (self.title, self.word, self.excerpt) if part)


class _FoundModel(RowsModel):
    """Headings among the rows cannot be selected."""

    def flags(self, index: Index) -> Qt.ItemFlag:
        chosen = 0 <= index.row() < len(self.rows) and self.rows[index.row()].key is not None
        both = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return both if chosen else Qt.ItemFlag.NoItemFlags


class _Painter(RowDelegate):
    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(theme, QSize(120, _GROUP), view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: FoundRow | None = index.data(ROW)
        width = max(80, self._view.viewport().width())
        if row is None or row.key is None:
            return QSize(width, self.theme.scaled(_GROUP))
        height = self._laid_out(row, width).boundingRect().height()
        return QSize(width, int(QFontMetrics(self.theme.small_font()).height() + height + 12))

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        row: FoundRow = index.data(ROW)
        room = rect.adjusted(_SIDE, 0, -_SIDE, 0)
        if row.key is None:
            painter.fillRect(rect, self.theme.colour("raised"))
            painter.setFont(self.theme.heading_font())
            painter.setPen(self.theme.colour("text"))
            draw_cut(painter, room, row.title)
            painter.setFont(self.theme.small_font())
            painter.setPen(self.theme.colour("dim"))
            draw_cut(painter, room, row.word, RIGHT)
            return
        self.draw_ground(painter, rect, state & ~QStyle.StateFlag.State_HasFocus)
        painter.setFont(self.theme.small_font())
        line = painter.fontMetrics().height()
        head = QRect(room.left(), rect.top() + 4, room.width(), line)
        beside = painter.fontMetrics().horizontalAdvance(row.word) + 8
        painter.setPen(self.theme.colour("dim"))
        draw_cut(painter, head, row.word, RIGHT)
        painter.setPen(self.theme.colour("agent"))
        draw_cut(painter, head.adjusted(0, 0, -beside, 0), row.title, LEFT)
        painter.setPen(self.theme.colour("text"))
        layout = self._laid_out(row, rect.width())
        layout.draw(painter, QPointF(room.left(), head.bottom() + 3))

    def _laid_out(self, row: FoundRow, width: int) -> QTextLayout:
        look = QTextCharFormat()
        look.setBackground(self.theme.colour("found"))
        look.setFontUnderline(True)
        marks = []
        for start, end in row.spans:
            mark = QTextLayout.FormatRange()
            mark.start, mark.length = _length(row.excerpt[:start]), _length(row.excerpt[start:end])
            mark.format = look
            marks.append(mark)
        return wrapped(self.theme.machine_font(), row.excerpt, max(40, width - 2 * _SIDE), marks)


class FoundRows(QListView):
    """Shows rows; a click or Enter chooses one."""

    chosen = Signal(object)
    """The key of the row."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        self.rows_model = _FoundModel(dict.fromkeys(roles, attrgetter("spoken")), self)
        self.setModel(self.rows_model)
        self.setItemDelegate(_Painter(theme, self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._on_chosen)
        RowMenu(self)
        theme.changed.connect(self.viewport().update)

    @property
    def rows(self) -> Sequence[FoundRow]:
        return self.rows_model.rows

    def show_rows(self, rows: tuple[FoundRow, ...]) -> None:
        """Replace the rows; the first result becomes the current one."""
        self.rows_model.show_rows(rows)
        first = next((at for at, row in enumerate(rows) if row.key is not None), None)
        if first is not None:
            self.setCurrentIndex(self.rows_model.index(first))
        self.scrollToTop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_chosen(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def _on_chosen(self, index: Index) -> None:
        row: FoundRow | None = index.data(ROW)
        if row is not None and row.key is not None:
            self.chosen.emit(row.key)


def _length(text: str) -> int:
    """Return the length of a text as Qt counts it: characters outside the basic plane count as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
