"""Log: what happened, line by line."""

import time
from collections import deque
from collections.abc import Iterable
from typing import Any, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHBoxLayout,
    QListView,
    QPushButton,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from core.debugger.snapshots import LogLine
from gui.theme import Theme
from gui.widgets.formats import thousands
from gui.widgets.row_delegate import Index, RowDelegate, draw_cut
from gui.widgets.search_field import SearchField
from gui.widgets.words import OrWords

KEPT = 10_000
LINE = Qt.ItemDataRole.UserRole
_LEVELS: tuple[Literal["info", "warning", "error"], ...] = ("info", "warning", "error")


def as_text(line: LogLine) -> str:
    """Return a line as it is copied."""
    clock = time.strftime("%H:%M:%S", time.localtime(line.time))
    return f"{clock}.{int(line.time % 1 * 1000):03d}  {line.level:<7}  {line.source}: {line.text}"


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


class LogRows(RowDelegate):
    """When, how grave, where from, and what happened."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, QSize(200, 20), parent)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        line: LogLine | None = index.data(LINE)
        if line is None:
            return
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
        painter.setFont(self.theme.machine_font())
        metrics = painter.fontMetrics()
        tone = {"warning": "remedy", "error": "bad"}.get(line.level, "text")
        at = rect.left() + 12
        clock = time.strftime("%H:%M:%S", time.localtime(line.time)) + f".{int(line.time % 1 * 1000):03d}"
        for text, colour, width in (
            (clock, "dim", 12),
            (line.level if line.level != "info" else "", tone, 7),
            (line.source, "dim", 10),
            (line.text, tone, 0),
        ):
            room = QRect(at, rect.top(), rect.right() - at - 6, rect.height())
            painter.setPen(self.theme.colour(colour))
            if width:
                column = metrics.horizontalAdvance("0" * width)
                room.setWidth(min(room.width(), column))
                at += column + metrics.horizontalAdvance("00")
            draw_cut(painter, room, text.replace("\n", " ⏎ "))


class LogPanel(QWidget):
    """Shows log lines; stays at the end unless scrolled up."""

    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = LogModel(self)
        self.level = QComboBox(self)
        self.level.addItems(["All levels", "Warnings and errors", "Errors"])
        self.level.setAccessibleName("Level")
        self.level.setToolTip("Which levels to show")
        self.level.currentIndexChanged.connect(self._on_filter)
        self.search = SearchField(theme, "Search (Ctrl+F)", self)
        self.search.setMaximumWidth(230)
        self.search.textChanged.connect(self._on_filter)
        self.copy_button = QPushButton("Copy", self)
        self.copy_button.setToolTip("Copy the selected lines, or all that show (Ctrl+C in the list)")
        self.copy_button.clicked.connect(self.copy)
        self.clear_button = QPushButton("Clear", self)
        self.clear_button.setToolTip(
            "Empty the log here; the trace keeps what belongs to runs (Ctrl+L in the list)"
        )
        self.clear_button.clicked.connect(self._on_clear)
        self.list = _List(self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(LogRows(theme, self))
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setAccessibleName("Log")
        self.list.copy_wanted.connect(self.copy)
        self.list.clear_wanted.connect(self._on_clear)
        self.or_words = OrWords(self.list, self)
        head = QHBoxLayout()
        head.setContentsMargins(10, 3, 8, 3)
        head.setSpacing(6)
        head.addWidget(self.level)
        head.addStretch(1)
        head.addWidget(self.search, 1)
        head.addWidget(self.copy_button)
        head.addWidget(self.clear_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.or_words, 1)
        theme.changed.connect(self.list.viewport().update)
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

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def copy(self) -> None:
        """Copy the selected lines, or all that show where none is selected."""
        chosen = sorted(index.row() for index in self.list.selectionModel().selectedIndexes())
        lines = self.model.lines()
        text = "\n".join(as_text(lines[row]) for row in chosen or range(len(lines)))
        QApplication.clipboard().setText(text)

    def _on_filter(self) -> None:
        self.model.show_only(_LEVELS[self.level.currentIndex()], self.search.text())
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


class _List(QListView):
    copy_wanted = Signal()
    clear_wanted = Signal()

    def keyPressEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif event.key() == Qt.Key.Key_L and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.clear_wanted.emit()
        else:
            super().keyPressEvent(event)
