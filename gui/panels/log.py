"""Log: what happened, line by line."""

import time
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from core.schema.events import LogLine
from gui.theme.theme import Theme
from gui.widgets.formats import thousands
from gui.widgets.item_views import Index
from gui.widgets.line_list import Column, LineList, to_clipboard

KEPT = 10_000
LINE = Qt.ItemDataRole.UserRole
_LEVELS: tuple[Literal["info", "warning", "error"], ...] = ("info", "warning", "error")


def as_text(line: LogLine) -> str:
    """Return a line as it is copied."""
    return f"{_clock(line)}  {line.level:<7}  {line.source}: {line.text}"


def _clock(line: LogLine) -> str:
    return time.strftime("%H:%M:%S", time.localtime(line.time)) + f".{int(line.time % 1 * 1000):03d}"


class LogModel(QAbstractListModel):
    """The last `KEPT` lines, of which those are rows that fit level and search."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: deque[LogLine] = deque(maxlen=KEPT)
        self._rows: list[LogLine] = []
        self._level = 0
        self._words: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return len(self._kept)

    def add(self, lines: Iterable[LogLine]) -> None:
        new = list(lines)[-KEPT:]
        self._kept.extend(new)
        fitting = [line for line in new if self._fits(line)]
        over = len(self._rows) + len(fitting) - KEPT
        if over > 0:
            self.beginRemoveRows(QModelIndex(), 0, min(over, len(self._rows)) - 1)
            del self._rows[:over]
            self.endRemoveRows()
        if fitting:
            first = len(self._rows)
            self.beginInsertRows(QModelIndex(), first, first + len(fitting) - 1)
            self._rows.extend(fitting)
            self.endInsertRows()

    def show_only(self, level: Literal["info", "warning", "error"], search: str) -> None:
        """Show lines of at least that level that hold all the words."""
        self.beginResetModel()
        self._level = _LEVELS.index(level)
        self._words = tuple(search.lower().split())
        self._rows = [line for line in self._kept if self._fits(line)]
        self.endResetModel()

    def clear(self) -> None:
        self.beginResetModel()
        self._kept.clear()
        self._rows = []
        self.endResetModel()

    def lines(self) -> list[LogLine]:
        return list(self._rows)

    def _fits(self, line: LogLine) -> bool:
        if _LEVELS.index(line.level) < self._level:
            return False
        if not self._words:
            return True
        text = f"{line.source} {line.text} {line.level}".lower()
        return all(word in text for word in self._words)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._rows):
            return None
        line = self._rows[index.row()]
        if role == LINE:
            return line
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.text
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return as_text(line)
        return None


def _columns(index: Index) -> tuple[Column, ...]:
    """Return when, how grave, where from, and what happened."""
    line: LogLine | None = index.data(LINE)
    if line is None:
        return ()
    tone = {"warning": "remedy", "error": "bad"}.get(line.level, "text")
    grave = line.level if line.level != "info" else ""
    return (_clock(line), "dim", 12), (grave, tone, 7), (line.source, "dim", 10), (line.text, tone, 0)


class LogPanel(LineList):
    """Shows log lines; stays at the end unless scrolled up."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = LogModel()
        levels = ("All levels", "Warnings and errors", "Errors")
        choice = ("Level", "Which levels to show", levels)
        super().__init__(theme, self.model, _columns, name="Log", choice=choice, parent=parent)
        self.model.setParent(self)
        self.clear_button = QPushButton("Clear", self)
        self.clear_button.setToolTip(
            "Empty the log here; the trace keeps what belongs to runs (Ctrl+L in the list)"
        )
        self.clear_button.clicked.connect(self._on_clear)
        self.list.clear_wanted.connect(self._on_clear)
        self.head.addWidget(self.clear_button)
        self._tell()

    @Slot(object)
    def show_lines(self, lines: tuple[LogLine, ...]) -> None:
        """Add `lines` at the end."""
        bar = self.list.verticalScrollBar()
        at_end = bar.value() >= bar.maximum()
        self.model.add(lines)
        if at_end:
            self.list.scrollToBottom()
        self._tell()

    def copy(self) -> None:
        lines = self.model.lines()
        to_clipboard([as_text(lines[row]) for row in self.chosen()])

    def _on_filter(self) -> None:
        self.model.show_only(_LEVELS[self.choice.currentIndex()], self.search.text())
        self.list.scrollToBottom()
        self._tell()

    def _on_clear(self) -> None:
        self.model.clear()
        self._tell()

    def _tell(self) -> None:
        if not self.model.total:
            self.or_words.say("Nothing logged yet.")
        elif not self.model.rowCount():
            self.or_words.say("No line fits the level and the search above.")
        else:
            self.or_words.say("")
        self.fact_changed.emit(thousands(self.model.total) if self.model.total else "")
