"""Rows of lists, tables and trees: their content, how they are drawn, and their context menu."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QContextMenuEvent, QFont, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QListView,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from core.schema.formats import in_line
from gui.theme.theme import Theme
from gui.widgets.copying import CopyEntry, as_json, chosen_rows, record_of, text_of, to_clipboard

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
"""The row of a `RowsModel` as it was given."""
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RowsModel(QAbstractListModel):
    """Holds rows as they were given; `words` returns a row's text for each role."""

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


class FittedList(QListView):
    """A list of rows of one height, as high as its rows need up to a limit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, uniformItemSizes=True)
        self._limit = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def limit(self, height: int) -> None:
        """Set the largest height in pixels; at least four rows are shown."""
        self._limit = height
        self.fit()

    def fit(self) -> None:
        """Take the height that the rows need."""
        row = self.sizeHintForRow(0)
        rows = self.model().rowCount()
        self.setFixedHeight(max(0, min(rows * row, max(self._limit, 4 * row))) + 2 * self.frameWidth())


class RowDelegate(QStyledItemDelegate):
    """Draws each row with `draw`, which may leave the painter in any state.

    `size` is the size of a row at normal text size; rows grow with the text.
    """

    def __init__(self, theme: Theme, size: QSize, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._size = size
        theme.text_resized.connect(self._on_text_resized)

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
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> int:
        """Draw one line of text, elided if the space is too small; return the full width of the text."""
        text = in_line(text)
        painter.setFont(font)
        painter.setPen(self.theme.colour(tone))
        draw_cut(painter, room, text, align, mode)
        return painter.fontMetrics().horizontalAdvance(text)

    def draw_focus(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        """Frame the focused row."""
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self.theme.colour("agent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(self._size.width(), self.theme.scaled(self._size.height()))

    def _on_text_resized(self) -> None:
        self.sizeHintChanged.emit(QModelIndex())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        self.draw(painter, option.rect, option.state, index)
        painter.restore()

    def draw_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        """Shade the row if it is selected or under the pointer, and frame it if it has the focus."""
        flags = QStyle.StateFlag
        if state & (flags.State_Selected | flags.State_MouseOver):
            painter.fillRect(
                rect, self.theme.colour("selected" if state & flags.State_Selected else "raised")
            )
        self.draw_focus(painter, rect, state)


class TableRows(QObject):
    """Sets a table up, with rows of this `height`, given for normal text size; rows and columns grow with the text."""

    def __init__(self, theme: Theme, height: int, table: QTableView) -> None:
        super().__init__(table)
        self._theme = theme
        self._height = height
        self._table = table
        self.resizing = False
        """Whether columns are being resized now because the text size changed."""
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        table.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.horizontalHeader().setHighlightSections(False)
        theme.text_resized.connect(self._on_text_resized)
        self._on_text_resized(1.0)

    def _on_text_resized(self, ratio: float) -> None:
        table = self._table
        table.verticalHeader().setDefaultSectionSize(self._theme.scaled(self._height))
        self.resizing = True
        for column in range(table.horizontalHeader().count() if ratio != 1 else 0):
            if not table.isColumnHidden(column):
                table.setColumnWidth(column, round(table.columnWidth(column) * ratio))
        self.resizing = False


def draw_cut(
    painter: QPainter,
    room: QRect,
    text: str,
    align: Qt.AlignmentFlag = LEFT,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> None:
    """Draw one line of text, elided if the space is too small."""
    line = painter.fontMetrics().elidedText(in_line(text), mode, max(0, room.width()))
    painter.drawText(room, int(align), line)


@dataclass(frozen=True)
class MenuEntry:
    """One entry of a menu."""

    text: str
    do: Callable[[], object]
    key: str = ""
    """The key for the same command, if it is handled elsewhere."""
    enabled: bool = True
    why: str = ""
    """The tooltip, for example why the entry is disabled."""
    begins: bool = False
    """Whether a separator is above it."""


class RowMenu(QObject):
    """The context menu of the rows of a view; a new one replaces the previous one.

    It opens for the row under the pointer, or for the current one if the menu key was pressed. It contains the
    `entries`, then the actions of the view, then the formats for copying the row: as text (Ctrl+C), the `copies`,
    and as JSON of `record`.
    """

    def __init__(
        self,
        view: QAbstractItemView,
        entries: Callable[[QModelIndex], Iterable[MenuEntry]] = lambda _: (),
        *,
        copies: Callable[[QModelIndex], Iterable[CopyEntry]] = lambda _: (),
        record: Callable[[QModelIndex], object] | None = None,
    ) -> None:
        for before in view.findChildren(RowMenu, options=Qt.FindChildOption.FindDirectChildrenOnly):
            view.removeEventFilter(before)
            before.deleteLater()
            before.setParent(None)
        super().__init__(view)
        self._view = view
        self.entries = entries
        self._copies = copies
        self._record = record or (lambda index: record_of(view, index))
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.DefaultContextMenu)
        view.installEventFilter(self)
        view.viewport().installEventFilter(self)

    def all_entries(self, index: QModelIndex) -> list[MenuEntry]:
        """Return all entries of a row's menu, with those for copying last."""
        own = list(self.entries(index))
        keys = {entry.key for entry in own}
        rows = chosen_rows(self._view, index)
        copies_otherwise = any(entry.text == "Copy" for entry in own)
        text = "Copy the text" if copies_otherwise else "Copy"
        copy = MenuEntry(text, lambda: self._copy(rows), "" if "Ctrl+C" in keys else "Ctrl+C", begins=True)
        more = [
            MenuEntry(one.text, partial(to_clipboard, [one.what]), enabled=not one.why_not, why=one.why_not)
            for one in self._copies(index)
        ]
        found = [self._record(row) for row in rows]
        as_text = MenuEntry(
            "Copy as JSON", lambda: to_clipboard([as_json(found if len(found) > 1 else found[0])])
        )
        return [*own, copy, *more, as_text]

    def copy(self) -> bool:
        """Copy the selected rows, or else the current one; return whether there is any."""
        index = self._view.currentIndex()
        selected = self._view.selectionModel().selectedIndexes()
        if selected and index not in selected:
            index = selected[0]
        if not index.isValid():
            return False
        self._copy(chosen_rows(self._view, index))
        return True

    def open(self, place: QPoint, *, by_key: bool = False) -> QMenu | None:
        """Open the menu of the row at a position of the view's viewport, or else of the current row."""
        view = self._view
        index = QModelIndex() if by_key else view.indexAt(place)
        if not index.isValid():
            index = view.currentIndex()
            place = view.visualRect(index).center()
        if not index.isValid():
            return None
        menu = open_menu(view, self.all_entries(index), view.viewport().mapToGlobal(place))
        if menu is not None and view.actions():
            before = next((action for action in menu.actions() if action.isSeparator()), menu.actions()[0])
            menu.insertActions(before, view.actions())
            menu.insertSeparator(before)
        return menu

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        view = self._view
        if isinstance(event, QContextMenuEvent) and event.type() == QEvent.Type.ContextMenu:
            by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
            place = event.pos() if watched is view.viewport() else view.viewport().mapFrom(view, event.pos())
            self.open(place, by_key=by_key)
            return True
        if (
            watched is view
            and isinstance(event, QKeyEvent)
            and event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)
            and event.matches(QKeySequence.StandardKey.Copy)
        ):
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            return self.copy()
        return super().eventFilter(watched, event)

    def _copy(self, rows: Sequence[QModelIndex]) -> None:
        to_clipboard([text_of(self._view, row) for row in rows])


def open_menu(parent: QWidget, entries: Iterable[MenuEntry], place: QPoint) -> QMenu | None:
    """Open a menu at a screen position; does nothing if there are no entries."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    menu.aboutToHide.connect(menu.deleteLater)
    for entry in entries:
        if entry.begins and not menu.isEmpty():
            menu.addSeparator()
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
