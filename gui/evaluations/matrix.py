"""The matrix of an evaluation: successes of each variant on each task, drawn with their confidence interval."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QStyle, QTableView, QWidget

from core.debugger.evaluations.figures import Share
from core.debugger.evaluations.matrix import Change, Matrix, MatrixRow
from core.schema.formats import count, dollars, seconds
from core.schema.record import Record
from gui.theme.theme import Theme
from gui.widgets.item_views import LEFT, ROW, Index, RowDelegate, RowMenu, TableRows

_HEIGHT = 26
_TASK_WIDTH = 250
_CELL_WIDTH = 216
_CHANGE_WIDTH = 105
_WORDS_WIDTH = 92
"""Pixels for ``1 375 of 2 437``."""
_INDENT = 16


class MatrixFilter(Record):
    """Which rows are shown, and in which order."""

    words: str = ""
    only_failures: bool = False
    only_flipped: bool = False
    by_family: bool = False
    column: int = -1
    """The column by which rows are sorted; -1 keeps the order of the plan."""
    down: bool = False
    """Whether the largest comes first."""

    def shows(self, row: MatrixRow) -> bool:
        text = f"{row.task} {row.family}".lower()
        if any(word not in text for word in self.words.lower().split()):
            return False
        if self.only_failures and not row.failures:
            return False
        # Without a comparison, nothing can flip.
        return not self.only_flipped or row.change is None or bool(row.change.flips)


class MatrixModel(QAbstractTableModel):
    """The totals, and below them the filtered rows, sorted by a heading."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.matrix: Matrix | None = None
        self.filter = MatrixFilter()
        self.rows: Sequence[MatrixRow] = ()

    @property
    def variants(self) -> int:
        return len(self.matrix.columns) if self.matrix is not None else 0

    @property
    def changes(self) -> int:
        """How many columns compare variants: difference and flips, only flips, or none."""
        change = self.matrix.totals.change if self.matrix is not None else None
        return 0 if change is None else 1 if change.chosen else 2

    @property
    def shown_tasks(self) -> int:
        return sum(bool(row.task) for row in self.rows)

    def show_matrix(self, matrix: Matrix | None) -> None:
        """Show these results; if tasks and columns are the same, the view does not move."""
        same = (
            matrix is not None
            and self.matrix is not None
            and matrix.columns == self.matrix.columns
            and [row.task for row in matrix.rows] == [row.task for row in self.matrix.rows]
        )
        if not same:
            self.beginResetModel()
            self.matrix = matrix
            self._arrange()
            self.endResetModel()
            return
        self.matrix = matrix
        self._rearrange()

    def show_filter(self, chosen: MatrixFilter) -> None:
        self.filter = chosen
        self._rearrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.show_filter(self.filter.replace(column=column, down=order != Qt.SortOrder.AscendingOrder))

    def _rearrange(self) -> None:
        """Sort and filter the rows again; the selection stays."""
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        names = [_name(self.rows[one.row()]) for one in kept]
        self._arrange()
        places = {_name(row): at for at, row in enumerate(self.rows)}
        moved = [
            self.index(places[name], one.column()) if name in places else QModelIndex()
            for one, name in zip(kept, names, strict=True)
        ]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _arrange(self) -> None:
        matrix = self.matrix
        if matrix is None:
            self.rows = ()
            return
        shown = [row for row in matrix.rows if self.filter.shows(row)]
        if not self.filter.by_family:
            self.rows = (matrix.totals, *self._in_order(shown))
            return
        of: dict[str, list[MatrixRow]] = {}
        for row in shown:
            of.setdefault(row.family, []).append(row)
        rows = [matrix.totals]
        for family in self._in_order([row for row in matrix.families if row.family in of]):
            rows += (family, *self._in_order(of[family.family]))
        self.rows = rows

    def _in_order(self, rows: list[MatrixRow]) -> list[MatrixRow]:
        column = self.filter.column
        if column < 0:
            return rows
        return sorted(rows, key=lambda row: self._value(row, column), reverse=self.filter.down)

    def _value(self, row: MatrixRow, column: int) -> Any:
        if column == 0:
            return _name(row)
        if column <= self.variants:
            cell = row.cells[column - 1]
            return (-1.0 if cell.share is None else cell.share, cell.judged)
        change = row.change or Change()
        if column == self.variants + self.changes - 1:
            return -2.0 if change.difference is None else change.difference
        return change.flips

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if parent.isValid() or self.matrix is None:
            return 0
        return 1 + self.variants + self.changes

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or self.matrix is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(LEFT)
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        is_tip = role == Qt.ItemDataRole.ToolTipRole
        if section == 0:
            return "Sort by name" if is_tip else self.matrix.rows_are
        if section <= self.variants:
            title = self.matrix.columns[section - 1].title
            return (
                f"{title}: successes of the cases that were judged, with the 95 % interval"
                if is_tip
                else title
            )
        if section == self.variants + self.changes - 1:
            what = "How many percentage points more of the same cases succeed with the right variant"
            return what if is_tip else "Difference"
        return "Cases in which only one of the two succeeds" if is_tip else "Flips"

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.rows):
            return None
        row, column = self.rows[index.row()], index.column()
        if role == ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return (
                share_words(row.cells[column - 1]) if 0 < column <= self.variants else self._text(row, column)
            )
        return None

    @property
    def all_rows(self) -> str:
        """What the row of the totals is called."""
        return f"All {self.matrix.rows_are.lower()}s" if self.matrix is not None else ""

    def _text(self, row: MatrixRow, column: int) -> str:
        if column == 0:
            return row.task or row.family or self.all_rows
        if column <= self.variants:
            return cell_text(row.cells[column - 1])
        change = row.change or Change()
        if column == self.variants + self.changes - 1:
            if change.difference is None:
                return ""
            points = round(change.difference * 100)
            return f"{points:+} points" if points else "0 points"
        up, down = change.to_success, change.to_failure
        return " ".join(word for word in (f"▲ {up}" if up else "", f"▼ {down}" if down else "") if word)


def _name(row: MatrixRow) -> tuple[str, str]:
    return row.family, row.task


def cell_text(cell: Share) -> str:
    if cell.judged:
        return f"{cell.successes} of {cell.judged}"
    return "not judged" if cell.cases else "–"


def share_words(cell: Share) -> str:
    """Return the full description of a cell."""
    if not cell.cases:
        return "Nothing is done yet."
    found = [f"{count(cell.cases, 'case')} done"]
    if cell.judged:
        found.append(f"{cell.successes} of {cell.judged} succeed (95 %: {cell.low:.0%} to {cell.high:.0%})")
    if cell.reward is not None:
        found.append(f"mean reward {cell.reward:.2f}")
    found.append(
        f"{cell.steps:.1f} steps, {cell.llm_calls:.1f} LLM calls, {seconds(cell.seconds)} on average"
    )
    if cell.cost is not None:
        found.append(f"{dollars(cell.cost)} in all")
    for number, words in (
        (cell.failed, "failed because of browser, LLM server or database"),
        (cell.tried_again, "repeated"),
        (cell.touched, "changed by a person, counted separately"),
    ):
        if number:
            found.append(f"{number} {words}")
    return "\n".join(found)


class _CellPainter(RowDelegate):
    """Draws the text of a cell, and next to it the success rate with its confidence interval."""

    def __init__(self, theme: Theme, model: MatrixModel, view: QWidget) -> None:
        super().__init__(theme, QSize(80, _HEIGHT), view)
        self._model = model

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        row: MatrixRow = index.data(ROW)
        column = index.column()
        if not row.task:
            painter.fillRect(rect, self.theme.colour("raised"))
        self.draw_ground(painter, rect, state)
        font = self.theme.text_font(bold=not row.task)
        room = rect.adjusted(10, 0, -10, 0)
        text = index.data()
        if column == 0:
            inset = _INDENT if row.task and self._model.filter.by_family else 0
            room = room.adjusted(inset, 0, 0, 0)
            painter.setFont(font)
            # Names of tasks often differ only at their end.
            middle = Qt.TextElideMode.ElideMiddle
            self.write(painter, room, painter.fontMetrics().elidedText(text, middle, room.width()), font)
        elif column <= self._model.variants:
            cell = row.cells[column - 1]
            wide = max(self.theme.scaled(_WORDS_WIDTH), QFontMetrics(font).horizontalAdvance(text))
            words = QRect(room.left(), room.top(), wide, room.height())
            self.write(painter, words, text, font, "text" if cell.judged else "dim")
            if cell.judged:
                self._draw_share(painter, room.adjusted(wide + 8, 0, 0, 0), cell)
        else:
            change = row.change or Change()
            better = change.to_success - change.to_failure
            self.write(painter, room, text, font, "good" if better > 0 else "bad" if better < 0 else "dim")

    def _draw_share(self, painter: QPainter, room: QRect, cell: Share) -> None:
        if room.width() < 20:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, left, width = room.center().y() + 0.5, room.left(), room.width()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.colour("line"))
        painter.drawRoundedRect(QRectF(left, middle - 4, width, 8), 2, 2)
        painter.setBrush(self.theme.colour("agent"))
        painter.drawRoundedRect(QRectF(left, middle - 4, width * (cell.share or 0.0), 8), 2, 2)
        painter.setBrush(self.theme.colour("text"))
        low, high = left + width * cell.low, left + width * cell.high
        painter.drawRect(QRectF(low, middle - 0.75, max(1.0, high - low), 1.5))
        for end in (low, high):
            painter.drawRect(QRectF(min(end, left + width - 1.5), middle - 4, 1.5, 8))


class MatrixView(QTableView):
    """Shows the matrix; the runs of the current cell are shown."""

    cell_chosen = Signal(object, int)
    """A `MatrixRow`, and the column of a variant or -1 for all of them."""
    opened = Signal()
    """Enter, or a double click."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.cells = MatrixModel(self)
        self.setModel(self.cells)
        self.setItemDelegate(_CellPainter(theme, self.cells, self))
        self.setAccessibleName("Tasks and variants")
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setFrameShape(QTableView.Shape.NoFrame)
        TableRows(theme, _HEIGHT, self)
        header = self.horizontalHeader()
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        RowMenu(self)
        self.doubleClicked.connect(lambda _index: self.opened.emit())
        self.selectionModel().currentChanged.connect(self._on_current)
        self.cells.modelReset.connect(self._on_reset)

    def show_matrix(self, matrix: Matrix | None) -> None:
        self.cells.show_matrix(matrix)
        self.viewport().update()
        if matrix is not None and not self.currentIndex().isValid() and self.cells.rows:
            self.setCurrentIndex(self.cells.index(0, min(1, self.cells.columnCount() - 1)))
        else:
            self._on_current(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def _on_reset(self) -> None:
        """Set the widths of the columns: the task, one for each variant, and the two of the comparison."""
        variants = self.cells.variants
        for at in range(self.cells.columnCount()):
            width = _TASK_WIDTH if at == 0 else _CELL_WIDTH if at <= variants else _CHANGE_WIDTH
            self.setColumnWidth(at, self._theme.scaled(width))
        self.show_sort()

    def show_sort(self) -> None:
        """Mark the heading by which the rows are sorted."""
        chosen, orders = self.cells.filter, Qt.SortOrder
        header = self.horizontalHeader()
        with QSignalBlocker(header):
            header.setSortIndicator(
                chosen.column, orders.DescendingOrder if chosen.down else orders.AscendingOrder
            )

    def _on_current(self, index: QModelIndex) -> None:
        row = index.data(ROW) if index.isValid() else None
        column = index.column() - 1 if 0 < index.column() <= self.cells.variants else -1
        self.cell_chosen.emit(row, column)
