"""Calls: what each LLM call of the step took."""

from typing import Any, get_args

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.snapshots import CallView
from core.schema.messages import Purpose
from gui.theme.theme import Theme
from gui.widgets.formats import count, dollars, seconds, thousands
from gui.widgets.item_views import MenuEntry, RowMenu
from gui.widgets.layouts import in_column
from gui.widgets.words import OrWords

Index = QModelIndex | QPersistentModelIndex
_NONE = "No LLM was asked in this step. Each call shows here with its time, tokens, cost and retries."
_COLUMNS = ("#", "For", "LLM", "Prompt", "Reply", "Cost", "Time", "Retries", "Error")
_NUMBERS = (0, 3, 4, 5, 6, 7)


class CallsModel(QAbstractTableModel):
    """One row a call, in the order they were made."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._calls: tuple[CallView, ...] = ()

    def show_calls(self, calls: tuple[CallView, ...]) -> None:
        if calls != self._calls:
            self.beginResetModel()
            self._calls = calls
            self.endResetModel()

    def call(self, index: Index) -> CallView:
        return self._calls[index.row()]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._calls)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._calls):
            return None
        call = self._calls[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _cells(call)[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 8:
            return self._theme.colour("bad")
        if role == Qt.ItemDataRole.ToolTipRole:
            if index.column() == 7 and call.retries:
                return "\n".join(call.retries)
            if index.column() in (3, 4) and call.tokens_estimated:
                return "Estimated here: the server did not count"
            return _cells(call)[index.column()]
        return None


class CallsPanel(QWidget):
    """Shows the calls of a step as a table."""

    fact_changed = Signal(str)
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at calls of the purpose of one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = CallsModel(theme, self)
        self.table = QTableView(self)
        self.table.setModel(self.model)
        self.table.setAccessibleName("LLM calls")
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setWordWrap(False)
        RowMenu(self.table, self.entries)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(24)
        header = self.table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        for column, width in enumerate((34, 66, 128, 66, 58, 66, 62, 66, 80)):
            self.table.setColumnWidth(column, width)
        self.or_words = OrWords(self.table, self)
        self.or_words.say(_NONE)
        in_column(self, self.or_words)
        theme.changed.connect(self.table.viewport().update)

    @Slot(object)
    def show_calls(self, calls: tuple[CallView, ...]) -> None:
        """Replace what is on screen with `calls`."""
        self.model.show_calls(calls)
        self.or_words.say("" if calls else _NONE)
        failed = sum(1 for call in calls if call.error)
        self.fact_changed.emit((str(len(calls)) + (f", {failed} failed" if failed else "")) if calls else "")

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return what can be asked for of a call."""
        call = self.model.call(index)
        want = self.breakpoint_wanted.emit
        if call.purpose not in get_args(Purpose):  # of a trace of others
            return ()
        of_it = LLMCall.model_validate({"purpose": call.purpose})
        after = of_it.replace(when="after")
        return (
            MenuEntry(f"Stop before calls for {call.purpose}", lambda: want(of_it)),
            MenuEntry(f"Stop after calls for {call.purpose}", lambda: want(after)),
        )


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _cells(call: CallView) -> tuple[str, ...]:
    about = "~" if call.tokens_estimated else ""
    return (
        str(call.number),
        call.purpose,
        call.llm if not call.model or call.model == call.llm else f"{call.llm} ({call.model})",
        about + thousands(call.prompt_tokens),
        about + thousands(call.completion_tokens),
        dollars(call.cost),
        seconds(call.seconds),
        count(len(call.retries), "retry", "retries") if call.retries else "–",
        call.error,
    )
