"""The numbers of a bisection: a row for each step that was gone on from."""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from core.debugger.experiments.bisect_records import Bisection, PrefixResult
from gui.experiments.bisect_plot import result_words
from gui.theme.theme import Theme
from gui.widgets.formats import dollars
from gui.widgets.row_delegate import Index

_TITLES = ("From", "Success", "95 % interval", "Calls", "Cost", "The run did")
_NUMBERS = 5
"""The columns before this one hold numbers."""


class BisectModel(QAbstractTableModel):
    """Holds a row for each chosen step, tried or not."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps: tuple[int, ...] = ()
        self._results: dict[int, PrefixResult] = {}

    def show_bisection(self, bisection: Bisection | None) -> None:
        steps = tuple(sorted(bisection.chosen)) if bisection is not None else ()
        results = {one.step: one for one in bisection.results} if bisection is not None else {}
        if steps == self.steps:
            self._results = results
            if steps:
                self.dataChanged.emit(self.index(0, 0), self.index(len(steps) - 1, len(_TITLES) - 1))
            return
        self.beginResetModel()
        self.steps, self._results = steps, results
        self.endResetModel()

    def result(self, step: int) -> PrefixResult | None:
        return self._results.get(step)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.steps)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        return _TITLES[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.steps):
            return None
        step = self.steps[index.row()]
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            problems = self._results[step].problems if step in self._results else ()
            return "\n".join((result_words(self._results.get(step), step), *problems))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(step, index.column())
        return None

    def _cell(self, step: int, column: int) -> str:
        if column == 0:
            return str(step)
        one = self._results.get(step)
        if one is None:
            return "not tried yet" if column == 1 else ""
        costs = [branch.cost for branch in one.branches if branch.cost is not None]
        judged = one.share is not None
        return (
            f"{one.successes} of {one.judged}" if judged else "not judged",
            f"{one.low:.0%} – {one.high:.0%}" if judged else "",
            str(sum(branch.llm_calls for branch in one.branches)),
            dollars(sum(costs)) if costs else "–",
            one.action,
        )[column - 1]


def _side(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column < _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


class BisectTable(QTableView):
    """The table; the current row is a step."""

    step_chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows_model = BisectModel(self)
        self.setModel(self.rows_model)
        self.setAccessibleName("Success by step, as numbers")
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setFont(theme.text_font())
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(25)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        self.selectionModel().currentRowChanged.connect(self._on_row)

    def show_bisection(self, bisection: Bisection | None) -> None:
        self.rows_model.show_bisection(bisection)

    def choose(self, step: int) -> None:
        if step in self.rows_model.steps:
            row = self.rows_model.steps.index(step)
            if self.currentIndex().row() != row:
                self.setCurrentIndex(self.rows_model.index(row, 0))

    def _on_row(self, index: QModelIndex) -> None:
        if index.isValid():
            self.step_chosen.emit(self.rows_model.steps[index.row()])
