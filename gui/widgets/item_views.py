"""Rows of lists, tables and trees: what a list holds, how a row is drawn, and its context menu."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gui.theme.theme import Theme
from gui.widgets.formats import in_line

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
"""What a row of a `RowsModel` is, as it was given."""
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RowsModel(QAbstractListModel):
    """Holds rows as they were given; `words` tells by role what a row says."""

    def __init__(self, words: Mapping[int, Callable[[Any], str]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.rows: Sequence[Any] = ()

    def show_rows(self, rows: Sequence[Any]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def row(self, index: Index) -> Any:
        return self.rows[index.row()] if 0 <= index.row() < len(self.rows) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index)
        if row is None or role == ROW:
            return row
        return (self._words[role](row) or None) if role in self._words else None


class RowDelegate(QStyledItemDelegate):
    """Draws each row by `draw`, with a painter that may be left in any state."""

    def __init__(self, theme: Theme, size: QSize, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._size = size

    @abstractmethod
    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        """Draw the row at `index` in `rect`."""

    def write(
        self,
        painter: QPainter,
        room: QRect,
        text: str,
        font: QFont,
        tone: str = "text",
        align: Qt.AlignmentFlag = LEFT,
    ) -> int:
        """Write one line of text, cut where the room is too small; returns how wide all of it is."""
        text = in_line(text)
        painter.setFont(font)
        painter.setPen(self.theme.colour(tone))
        draw_cut(painter, room, text, align)
        return painter.fontMetrics().horizontalAdvance(text)

    def draw_focus(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        """Frame the row that has the focus."""
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self.theme.colour("agent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self._size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        self.draw(painter, option.rect, option.state, index)
        painter.restore()

    def draw_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        """Shade what is selected or under the pointer, and frame what has the focus."""
        flags = QStyle.StateFlag
        if state & (flags.State_Selected | flags.State_MouseOver):
            painter.fillRect(
                rect, self.theme.colour("selected" if state & flags.State_Selected else "raised")
            )
        self.draw_focus(painter, rect, state)


def draw_cut(painter: QPainter, room: QRect, text: str, align: Qt.AlignmentFlag = LEFT) -> None:
    """Draw one line of text, cut at the right where the room is too small."""
    line = painter.fontMetrics().elidedText(in_line(text), Qt.TextElideMode.ElideRight, max(0, room.width()))
    painter.drawText(room, int(align), line)


@dataclass(frozen=True)
class MenuEntry:
    """One line of a menu."""

    text: str
    do: Callable[[], object]
    key: str = ""
    """The key that asks for the same where it is heard elsewhere."""
    enabled: bool = True
    why: str = ""
    """What the tooltip says, such as why it cannot be asked for."""


class RowMenu(QObject):
    """Opens a menu for the row under the pointer, or for the current one where the menu key was pressed.

    `entries` says what a row offers; a row that offers nothing has no menu.
    """

    def __init__(
        self, view: QAbstractItemView, entries: Callable[[QModelIndex], Iterable[MenuEntry]]
    ) -> None:
        super().__init__(view)
        self._view = view
        self.entries = entries
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_requested)

    def _on_requested(self, place: QPoint) -> None:
        view = self._view
        index = view.indexAt(place)
        if not index.isValid():
            index = view.currentIndex()
            place = view.visualRect(index).center()
        if index.isValid():
            open_menu(view, self.entries(index), view.viewport().mapToGlobal(place))


def open_menu(parent: QWidget, entries: Iterable[MenuEntry], place: QPoint) -> QMenu | None:
    """Open a menu at a place of the screen; nothing where there are no entries."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    menu.aboutToHide.connect(menu.deleteLater)
    for entry in entries:
        words = entry.text.replace("&", "&&")
        action = menu.addAction(f"{words}\t{entry.key}" if entry.key else words)
        action.setEnabled(entry.enabled)
        action.setToolTip(entry.why or entry.text)
        action.triggered.connect(lambda _on=False, do=entry.do: do())
    if menu.isEmpty():
        menu.deleteLater()
        return None
    menu.popup(place)
    return menu
