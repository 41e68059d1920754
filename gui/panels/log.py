"""Log: what happened, line by line."""

import time
from collections import deque
from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtWidgets import QWidget

from core.schema.events import LogLine
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import thousands
from gui.widgets.item_views import ROW, Index
from gui.widgets.line_list import Column, LineList, LineModel

KEPT = 10_000
_LEVELS = ("info", "warning", "error")


class LogModel(LineModel[LogLine]):
    """The last `KEPT` lines, of which those that match level and search are rows."""

    def __init__(self) -> None:
        super().__init__()
        self.all: deque[LogLine] = deque(maxlen=KEPT)
        self.rows: list[LogLine] = []

    def add(self, lines: Iterable[LogLine]) -> None:
        new = list(lines)[-KEPT:]
        self.all.extend(new)
        fitting = [line for line in new if self.fits(line)]
        over = len(self.rows) + len(fitting) - KEPT
        if over > 0:
            self.beginRemoveRows(QModelIndex(), 0, min(over, len(self.rows)) - 1)
            del self.rows[:over]
            self.endRemoveRows()
        if fitting:
            first = len(self.rows)
            self.beginInsertRows(QModelIndex(), first, first + len(fitting) - 1)
            self.rows.extend(fitting)
            self.endInsertRows()

    def clear(self) -> None:
        self.all.clear()
        self.show_rows([])

    def is_of(self, line: LogLine, chosen: int) -> bool:
        """Return whether a line has at least the selected level."""
        return _LEVELS.index(line.level) >= chosen

    def searched(self, line: LogLine) -> str:
        return f"{line.source} {line.text} {line.level}"

    def copied(self, line: LogLine) -> str:
        return f"{_clock(line)}  {line.level:<7}  {line.source}: {line.text}"

    def spoken_text(self, line: LogLine) -> str:
        return self.copied(line)

    def whole(self, line: LogLine) -> str:
        return line.text


def _clock(line: LogLine) -> str:
    return time.strftime("%H:%M:%S", time.localtime(line.time)) + f".{int(line.time % 1 * 1000):03d}"


def _columns(index: Index) -> tuple[Column, ...]:
    """Return time, level, source and message."""
    line: LogLine | None = index.data(ROW)
    if line is None:
        return ()
    tone = {"warning": "remedy", "error": "bad"}.get(line.level, "text")
    grave = line.level if line.level != "info" else ""
    return (_clock(line), "dim", 12), (grave, tone, 7), (line.source, "dim", 14), (line.text, tone, 0)


class LogPanel(LineList):
    """Shows log lines; stays at the end unless the person scrolls up."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = LogModel()
        levels = ("All levels", "Warnings and errors", "Errors")
        choice = ("Level", "Which levels to show", levels)
        super().__init__(theme, self.model, _columns, name="Log", choice=choice, parent=parent)
        emptied = "Clear the log here; the trace keeps what belongs to runs (Ctrl+L in the list)"
        self.clear_button = key_button("Clear", emptied, "", self._on_clear, self)
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

    def _on_filter(self) -> None:
        super()._on_filter()
        self.list.scrollToBottom()

    def _on_clear(self) -> None:
        self.model.clear()
        self._tell()

    def _tell(self) -> None:
        empty = "" if self.model.total else "Nothing logged yet."
        self.say(empty, "No line matches the level and the search above.")
        self.fact_changed.emit(thousands(self.model.total) if self.model.total else "")
