"""The families that are taken for one another, as a matrix: what is right down, what was found across."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QHeaderView, QTableView, QWidget

from core.memory.analysis.records import FamilyFound
from gui.theme.theme import Theme
from gui.widgets.item_views import Index

_MOST = 40
"""Families that the matrix has, those that are confused most."""
_NOTHING = "(nothing)"


class _ConfusionModel(QAbstractTableModel):
    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.rows: tuple[str, ...] = ()
        self.names: tuple[str, ...] = ()
        self._cells: dict[tuple[str, str], int] = {}
        self._members: dict[str, int] = {}

    def show_families(self, families: Sequence[FamilyFound]) -> None:
        wrong: Counter[str] = Counter()
        for one in families:
            for name, times in one.taken_for.items():
                wrong[one.family] += times
                wrong[name] += times
        kept = [name for name, _ in wrong.most_common(_MOST)]
        self.beginResetModel()
        known = [one for one in families if one.family in kept]
        self.rows = tuple(one.family for one in known if one.taken_for)
        found = {name for one in known for name in one.taken_for if name in kept}
        self.names = tuple(sorted({*found, *self.rows}))
        self._members = {one.family: one.members for one in known}
        self._cells = {
            (one.family, name): times
            for one in known
            for name, times in (*one.taken_for.items(), (one.family, one.right))
            if times
        }
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        names = self.names if orientation == Qt.Orientation.Horizontal else self.rows
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole) and section < len(names):
            return names[section] or _NOTHING
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not (0 <= index.row() < len(self.rows) and 0 <= index.column() < len(self.names)):
            return None
        family, found = self.rows[index.row()], self.names[index.column()]
        times = self._cells.get((family, found), 0)
        if role == Qt.ItemDataRole.DisplayRole:
            return str(times) if times else ""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignCenter)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            of = f"{times} of the {self._members[family]} of {family}"
            return f"{of} are found as {'what they are' if found == family else found or 'nothing'}"
        if role == Qt.ItemDataRole.BackgroundRole and times:
            shade = QColor(self._theme.colour("good" if found == family else "bad"))
            shade.setAlpha(30 + round(110 * times / max(1, self._members[family])))
            return shade
        return None


class Confusions(QTableView):
    """Shows the matrix; a cell that is chosen asks for its exemplars."""

    pair_chosen = Signal(str, str)
    """The family, and what it was found as."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = _ConfusionModel(theme, self)
        self.setModel(self._model)
        self.setAccessibleName("Confused families: the right one down, the found one across")
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setFont(theme.small_font())
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        corner = self.findChild(QAbstractButton)
        if corner is not None:
            corner.setStyleSheet("border: none; background: transparent;")
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(True)
        self.horizontalHeader().setDefaultSectionSize(92)
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.verticalHeader().setDefaultSectionSize(26)
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.clicked.connect(self._on_cell)
        theme.changed.connect(self.viewport().update)

    @property
    def names(self) -> tuple[str, ...]:
        """The families across; none where nothing is confused."""
        return self._model.names

    def show_families(self, families: Sequence[FamilyFound]) -> None:
        self._model.show_families(families)

    def cell(self, family: str, found: str) -> str:
        """Return what a cell says."""
        row, column = self._model.rows.index(family), self._model.names.index(found)
        return str(self._model.index(row, column).data() or "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._on_cell(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _on_cell(self, index: QModelIndex) -> None:
        if index.data():
            self.pair_chosen.emit(self._model.rows[index.row()], self._model.names[index.column()])
