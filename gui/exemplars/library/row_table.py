"""The table of the library: sorted by its headings, with multiple selection, and its keys."""

from typing import NamedTuple

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QTableView, QWidget

from core.debugger.exemplars.library.views import Chosen, ListView, Query
from core.exemplars.library.records import DESCENDING, LibraryRow
from gui.exemplars.library.row_model import COLUMNS, HIDDEN, CellDelegate, RowModel
from gui.theme.theme import Theme
from gui.widgets.item_views import TableRows

_ROW = 24
_IDLE_MS = 120
_MOST = 500
"""Maximum number of selected rows that are remembered individually."""


class ListPosition(NamedTuple):
    """The person's position in the list."""

    keep: tuple[str, ...]
    anchor: str
    first: int


class RowTable(QTableView):
    """Shows the rows; the details are those of the current row."""

    sort_wanted = Signal(str, bool)
    """The order, and whether it is reversed."""
    row_chosen = Signal(str)
    """The id of the row that is now current; empty for none."""
    opened = Signal(str)
    """Enter, or a double click."""
    selection_changed = Signal()
    position_changed = Signal(object, str, int)
    """A `ListPosition`, sent when the person pauses."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows_model = RowModel(self)
        self.rows_model.visible = self._visible
        self.setModel(self.rows_model)
        self.setItemDelegate(CellDelegate(theme, self.rows_model, self))
        self.setAccessibleName("Exemplars")
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.ExtendedSelection)
        self.setFont(theme.text_font())
        TableRows(theme, _ROW, self)
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_menu)
        header.sectionClicked.connect(self._on_heading)
        for at, column in enumerate(COLUMNS):
            self.setColumnWidth(at, theme.scaled(column.width))
            self.setColumnHidden(at, column.name in HIDDEN)
        self._current = ""
        self._wanted = ""
        self._places: dict[str, int] = {}
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(lambda: self.position_changed.emit(*self.position))
        self._showing = False
        self.selectionModel().currentRowChanged.connect(self._on_current)
        self.selectionModel().selectionChanged.connect(self._on_selected)
        self.verticalScrollBar().valueChanged.connect(self._on_moved)
        self.doubleClicked.connect(self._on_opened)
        self.rows_model.dataChanged.connect(self._on_came)

    # Content

    def show_list(self, view: ListView, *, same: bool) -> None:
        """Replace the rows; for the `same` list, selection and position stay, by id."""
        before, everything = self.position, self.everything
        top = self._offset_of(before.anchor)
        current = self._wanted or (self._current if same else "")
        # A selection that is newer than the question for this list has its place in the rows alone.
        places = {row.id: place for place, row in enumerate(view.rows, view.first)} | dict(view.places)
        self._showing = True
        value = self.verticalScrollBar().value()
        self.rows_model.show_list(view)
        self.doItemsLayout()
        self.setColumnHidden(0, not view.query.like)
        self._show_sort(view.query)
        if same and everything:
            self.selectAll()
        elif same:
            self._select([places[id] for id in before.keep if id in places])
        place = places.get(current)
        self._showing = False
        if place is not None:
            self._go_to(place, select=bool(self._wanted) or not same)
        if self._wanted and place is not None:
            self.scrollTo(self.rows_model.index(place, 1), QTableView.ScrollHint.PositionAtCenter)
        elif same and before.anchor in places:
            self.verticalScrollBar().setValue(max(0, places[before.anchor] * self._row_height - top))
        else:
            self.verticalScrollBar().setValue(value if same else 0)
        self._wanted = ""
        if place is None:
            self._set_current(self._id_at(self.currentIndex().row()))
        self.selection_changed.emit()

    def want(self, id: str) -> None:
        """Select this exemplar and show it with the next list."""
        self._wanted = id

    def choose_first(self) -> None:
        if self.rows_model.total and not self.currentIndex().isValid():
            self._go_to(0, select=True)

    def _go_to(self, place: int, *, select: bool) -> None:
        flags = QItemSelectionModel.SelectionFlag
        how = flags.ClearAndSelect | flags.Rows if select else flags.NoUpdate
        self.selectionModel().setCurrentIndex(self.rows_model.index(place, 1), how)

    def _select(self, places: list[int]) -> None:
        selection = QItemSelection()
        for place in places:
            left = self.rows_model.index(place, 0)
            selection.merge(
                QItemSelection(left, self.rows_model.index(place, len(COLUMNS) - 1)),
                QItemSelectionModel.SelectionFlag.Select,
            )
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _offset_of(self, id: str) -> int:
        """Return how far the anchor is below the top of the view."""
        first, end = self._visible()
        at = next((at for at in range(first, end) if self._id_at(at) == id), first)
        return at * self._row_height - self.verticalScrollBar().value()

    # Selection

    @property
    def current(self) -> str:
        """The id of the current row."""
        return self._current

    @property
    def everything(self) -> bool:
        total = self.rows_model.total
        return total > 1 and self._ranges() == ((0, total),)

    @property
    def selected_count(self) -> int:
        return sum(end - start for start, end in self._ranges())

    @property
    def selected(self) -> tuple[LibraryRow, ...] | None:
        """The selected rows from the top; None if some are not loaded."""
        if self.selected_count > self.rows_model.held:
            return None
        rows = [self.rows_model.row(at) for start, end in self._ranges() for at in range(start, end)]
        found = tuple(row for row in rows if row is not None)
        return found if len(found) == len(rows) else None

    @property
    def chosen(self) -> Chosen:
        """The selected rows, by id if they are loaded and otherwise by place."""
        rows = self.selected
        if rows is not None:
            return Chosen(ids=tuple(row.id for row in rows))
        return Chosen(query=self.rows_model.query, ranges=self._ranges())

    @property
    def position(self) -> ListPosition:
        first, end = self._visible()
        keep: list[str] = []
        for start, stop in self._ranges():
            keep += [id for at in range(start, min(stop, start + _MOST)) if (id := self._id_at(at))]
        # Keep the current row in place if it is visible; otherwise the top row.
        current = self.currentIndex().row()
        anchor = self._current if first <= current < end else self._id_at(first)
        return ListPosition(tuple(keep[:_MOST]), anchor, first)

    def _ranges(self) -> tuple[tuple[int, int], ...]:
        """Return the selected places as ranges that neither touch nor overlap."""
        selection = self.selectionModel().selection()
        parts = (selection.at(number) for number in range(selection.count()))
        spans = sorted((part.top(), part.bottom() + 1) for part in parts)
        found: list[tuple[int, int]] = []
        for start, end in spans:
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
        return tuple(found)

    def _id_at(self, at: int) -> str:
        row = self.rows_model.row(at) if at >= 0 else None
        return row.id if row is not None else ""

    def _visible(self) -> tuple[int, int]:
        first = max(0, self.verticalScrollBar().value() // self._row_height)
        return first, min(self.rows_model.total, first + self.viewport().height() // self._row_height + 2)

    @property
    def _row_height(self) -> int:
        return self.verticalHeader().defaultSectionSize()

    # Columns and sorting

    @property
    def layout_state(self) -> QByteArray:
        """Widths, places and visibility of the columns."""
        return self.horizontalHeader().saveState()

    def restore_layout(self, state: QByteArray) -> None:
        self.horizontalHeader().restoreState(state)
        self.horizontalHeader().setSortIndicatorShown(True)
        self.setColumnHidden(0, True)

    def _show_sort(self, query: Query) -> None:
        at = next((at for at, column in enumerate(COLUMNS) if column.order == query.order), -1)
        down = not query.like and (query.order in DESCENDING) != query.reverse
        self.horizontalHeader().setSortIndicator(
            0 if query.like else at, Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder
        )

    def _on_heading(self, section: int) -> None:
        query, order = self.rows_model.query, COLUMNS[section].order
        if order is None or query.like:
            self._show_sort(query)
            return
        self.sort_wanted.emit(order, not query.reverse if order == query.order else False)

    def _on_header_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        for at, column in enumerate(COLUMNS):
            if column.name in ("like", "id"):
                continue
            action = menu.addAction(column.title)
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(at))
            action.toggled.connect(lambda on, at=at: self.setColumnHidden(at, not on))
        menu.popup(self.horizontalHeader().mapToGlobal(place))

    # Input of the person

    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Keys with Ctrl select the row that they go to: what is shown is what commands change."""
        command = super().selectionCommand(index, event)
        flags = QItemSelectionModel.SelectionFlag
        if isinstance(event, QKeyEvent) and command == flags.NoUpdate:
            return flags.ClearAndSelect | flags.Rows
        return command

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_opened(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _on_opened(self, index: QModelIndex) -> None:
        if id := self._id_at(index.row()):
            self.opened.emit(id)

    def _on_current(self, index: QModelIndex, _before: QModelIndex) -> None:
        if not self._showing:
            self._follow()

    def _follow(self) -> None:
        """Show the current row, or the first selected one if a click took the current one out of the selection."""
        ranges, at = self._ranges(), self.currentIndex().row()
        is_out = bool(ranges) and not any(start <= at < end for start, end in ranges)
        self._set_current(self._id_at(ranges[0][0] if is_out else at))

    def _on_came(self) -> None:
        """The current row may be among the rows that were loaded."""
        if not self._current and self.currentIndex().isValid():
            self._follow()
        self.selection_changed.emit()

    def _set_current(self, id: str) -> None:
        if id != self._current:
            self._current = id
            self.row_chosen.emit(id)

    def _on_selected(self) -> None:
        if not self._showing:
            self._idle.start()
            self._follow()
            self.selection_changed.emit()

    def _on_moved(self) -> None:
        if not self._showing:
            self._idle.start()
