"""A table of texts and numbers, sorted by clicking a heading, with a key for each row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from gui.theme.theme import Theme
from gui.widgets.item_views import LEFT, RIGHT, Index, RowMenu, TableRows

_WIDEST = 320


@dataclass(frozen=True)
class Column:
    """One column; numbers are aligned to the right."""

    title: str
    number: bool = False
    tooltip: str = ""


@dataclass(frozen=True)
class TableLine:
    """One row: the texts of its cells, and the sort keys if they differ."""

    cells: tuple[str, ...]
    key: Any = None
    tooltip: str = ""
    tooltips: Mapping[int, str] = field(default_factory=dict)
    """The tooltips of single cells, by column."""
    tone: str = ""
    """A colour token; always together with a word of the same meaning."""
    toned: int | None = None
    """The only cell with this tone; None for all."""
    strong: bool = False
    values: tuple[Any, ...] = ()

    @classmethod
    def of(cls, *cells: str | tuple[str, Any], **more: Any) -> "TableLine":
        """Return a row of texts, and of texts with their sort keys."""
        pairs = [(cell, cell) if isinstance(cell, str) else cell for cell in cells]
        return cls(tuple(text for text, _ in pairs), values=tuple(value for _, value in pairs), **more)


class PlainModel(QAbstractTableModel):
    """Holds the rows as they were given, or sorted."""

    def __init__(self, theme: Theme, columns: Sequence[Column], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.columns = tuple(columns)
        self._given: tuple[TableLine, ...] = ()
        self.lines: tuple[TableLine, ...] = ()
        self._sorted: tuple[int, Qt.SortOrder] | None = None

    def show_lines(self, lines: Sequence[TableLine]) -> None:
        lines = tuple(lines)
        if lines == self._given:
            return
        self.beginResetModel()
        self._given = lines
        self._arrange()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self._sorted = (column, order) if column >= 0 else None
        self._arrange()
        self.layoutChanged.emit()

    def _arrange(self) -> None:
        self.lines = self._given
        if self._sorted is not None:
            column, order = self._sorted

            def value(line: TableLine) -> Any:
                return (line.values or line.cells)[column]

            down = order == Qt.SortOrder.DescendingOrder
            self.lines = tuple(sorted(self._given, key=value, reverse=down))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT if column.number else LEFT)
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tooltip or None
        return column.title if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return line.cells[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(RIGHT if self.columns[index.column()].number else LEFT)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return line.tooltip or None
        if role == Qt.ItemDataRole.ToolTipRole:
            column = index.column()
            return line.tooltips.get(column) or line.tooltip or line.cells[column] or None
        if role == Qt.ItemDataRole.ForegroundRole and line.tone and line.toned in (None, index.column()):
            return self._theme.colour(line.tone)
        if role == Qt.ItemDataRole.FontRole and line.strong:
            return self._theme.text_font(bold=True)
        return None


class PlainTable(QTableView):
    """Shows lines; a double click or Enter opens one."""

    opened = Signal(object)
    """The key of the row."""
    current = Signal(object)
    """The key of the row that is now current."""
    marked = Signal()
    """The selection has changed."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        columns: Sequence[Column],
        parent: QWidget | None = None,
        *,
        several: bool = False,
    ) -> None:
        super().__init__(parent)
        self.lines_model = PlainModel(theme, columns, self)
        self.setModel(self.lines_model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        modes = QTableView.SelectionMode
        self.setSelectionMode(modes.ExtendedSelection if several else modes.SingleSelection)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setFont(theme.text_font())
        self._rows = TableRows(theme, 25, self)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self._sizing = self._own_widths = False
        header.sectionResized.connect(self._on_resized)
        self.doubleClicked.connect(self._on_opened)
        self.selectionModel().currentRowChanged.connect(self._on_current)
        self.selectionModel().selectionChanged.connect(lambda *_: self.marked.emit())
        RowMenu(self)

    @property
    def lines(self) -> tuple[TableLine, ...]:
        return self.lines_model.lines

    def show_lines(self, lines: Iterable[TableLine]) -> None:
        """Replace the lines; current row and selection stay if their keys still exist.

        Columns fit their content up to a maximum width, until a person resizes them.
        """
        before = self.current_key
        selected = set(self.selected)
        self.lines_model.show_lines(tuple(lines))
        if self.lines and not self._own_widths:
            self._sizing = True
            self.resizeColumnsToContents()
            for at in range(len(self.lines_model.columns)):
                self.setColumnWidth(at, min(self.columnWidth(at) + 6, _WIDEST))
            self._sizing = False
        if before is not None:
            self.choose(before)
        if len(selected) > 1:
            flags = self.selectionModel().SelectionFlag
            for at, line in enumerate(self.lines):
                if line.key in selected:
                    self.selectionModel().select(self.lines_model.index(at, 0), flags.Select | flags.Rows)

    def choose(self, key: object) -> bool:
        """Make the row of a key current; return whether it exists."""
        for at, line in enumerate(self.lines):
            if line.key == key:
                if self.currentIndex().row() != at:
                    self.setCurrentIndex(self.lines_model.index(at, 0))
                return True
        return False

    @property
    def selected(self) -> tuple[Any, ...]:
        """The keys of the selected rows, from the top."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return tuple(self.lines[at].key for at in rows if at < len(self.lines))

    @property
    def current_key(self) -> Any:
        at = self.currentIndex().row()
        return self.lines[at].key if 0 <= at < len(self.lines) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
            self._on_opened(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _on_resized(self, column: int, old: int, new: int) -> None:
        is_stretched = column == len(self.lines_model.columns) - 1
        if old and new and not self._sizing and not self._rows.resizing and not is_stretched:
            self._own_widths = True  # A column that is being hidden or shown has no width before or after.

    def _on_opened(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.lines) and self.lines[index.row()].key is not None:
            self.opened.emit(self.lines[index.row()].key)

    def _on_current(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.lines):
            self.current.emit(self.lines[index.row()].key)
