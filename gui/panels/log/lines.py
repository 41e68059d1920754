"""The list of the Log: which lines it has, which of them it shows, and how they are drawn."""

from collections.abc import Callable, Iterable
from operator import attrgetter

from PySide6.QtCore import QEvent, QKeyCombination, QModelIndex, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import QListView, QStyle, QWidget

from core.schema.events import LogLine
from gui.panels.log.rows import LogRow, clock, program_row
from gui.theme.theme import Theme
from gui.widgets.item_views import ROW, Index, RowDelegate, RowsModel, draw_cut
from gui.widgets.keys import takes_key

KEPT = 10_000
"""How many lines of the program are kept."""
_SLACK = 1_000
"""How many more there are before the oldest are dropped."""
_CLEAR = QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_L)
_OF_PAGES = ("console", "error", "request", "dialog", "note")
CHOICES: tuple[tuple[str, Callable[[LogRow], bool]], ...] = (
    ("Everything", lambda row: True),
    ("This step", lambda row: row.source != "program"),
    ("LLM calls", lambda row: row.source == "call"),
    ("Page", lambda row: row.source in _OF_PAGES),
    ("Console", lambda row: row.source in ("console", "error")),
    ("Requests", lambda row: row.source == "request"),
    ("Dialogs", lambda row: row.source == "dialog"),
    ("Program", lambda row: row.source == "program"),
    ("Warnings and errors", lambda row: row.wrong),
)
"""The filter's choices, and which rows each shows."""


class LogModel(RowsModel):
    """The lines of the step in view and of the program, of which those that match filter and search are rows."""

    def __init__(self, parent: QObject) -> None:
        spoken, roles = attrgetter("spoken"), Qt.ItemDataRole
        super().__init__(
            {
                roles.DisplayRole: spoken,
                roles.AccessibleTextRole: spoken,
                roles.ToolTipRole: attrgetter("whole"),
            },
            parent,
        )
        self.all: list[LogRow] = []
        self.rows: list[LogRow] = []
        self._program: list[LogRow] = []
        self.of_step: list[LogRow] = []
        self._of_kind = CHOICES[0][1]
        self._search: list[str] = []

    @property
    def total(self) -> int:
        return len(self.all)

    @property
    def wrong(self) -> int:
        """How many of all lines report something wrong."""
        return sum(row.wrong for row in self.all)

    def show_step_rows(self, rows: Iterable[LogRow]) -> None:
        """Replace the lines of the step in view; what is current and selected has to be chosen again."""
        self.of_step = list(rows)
        self._merge()

    def add(self, lines: Iterable[LogLine]) -> None:
        """Add lines of the program."""
        new = [program_row(line) for line in lines][-KEPT:]
        if not new:
            return
        self._program += new
        over = len(self._program) > KEPT + _SLACK
        if over:
            del self._program[:-KEPT]
        if over or (self.all and self.all[-1].time > new[0].time):
            self._merge()
            return
        self.all += new
        fitting = [row for row in new if self._fits(row)]
        if fitting:
            first = len(self.rows)
            self.beginInsertRows(QModelIndex(), first, first + len(fitting) - 1)
            self.rows.extend(fitting)
            self.endInsertRows()

    def clear(self) -> None:
        """Remove the lines of the program."""
        self._program.clear()
        self._merge()

    def show_only(self, chosen: int, search: str) -> None:
        """Show lines of one choice of the filter that contain all the words."""
        self._of_kind, self._search = CHOICES[chosen][1], search.lower().split()
        self.show_rows([row for row in self.all if self._fits(row)])

    def copied(self, row: LogRow) -> str:
        """Return a line as it is copied."""
        level = f"{row.of.level:<7}  " if isinstance(row.of, LogLine) else ""
        return f"{clock(row.time):<12}  {row.moment:<6}  {row.sign:<10}  {level}{row.whole}"

    def _merge(self) -> None:
        self.all = sorted((*self.of_step, *self._program), key=lambda row: row.time)
        self.show_rows([row for row in self.all if self._fits(row)])

    def _fits(self, row: LogRow) -> bool:
        if not self._of_kind(row):
            return False
        level = row.of.level if isinstance(row.of, LogLine) else ""
        text = f"{row.sign} {row.whole} {level}".lower() if self._search else ""
        return all(word in text for word in self._search)


class LogList(QListView):
    """The lines that the model shows."""

    copy_wanted = Signal()
    clear_wanted = Signal()

    def __init__(self, theme: Theme, model: LogModel, parent: QWidget) -> None:
        super().__init__(parent, uniformItemSizes=True)
        self.setAccessibleName("Log")
        self.setModel(model)
        self.setItemDelegate(_Painter(theme, QSize(200, 20), self))
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)

    def event(self, event: QEvent) -> bool:
        # In the window, the same key opens the library.
        is_clear = isinstance(event, QKeyEvent) and event.keyCombination() == _CLEAR
        return (is_clear and takes_key(event, self.clear_wanted.emit)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        else:
            super().keyPressEvent(event)


class _Painter(RowDelegate):
    """Time, part of the step, kind and text of a line; the text fills the available width."""

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        row: LogRow = index.data(ROW)
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
        painter.setFont(self.theme.machine_font())
        wide = painter.fontMetrics().horizontalAdvance
        moment = clock(row.time)
        at = rect.left() + 12
        for text, tone, letters in (
            (moment, "dim", 13),
            (row.moment, "dim", 7),
            (row.sign, row.tone, 10),
            (row.text, row.tone if row.wrong else "text", 0),
        ):
            room = QRect(at, rect.top(), rect.right() - at - 6, rect.height())
            if letters:
                room.setWidth(min(room.width(), wide("0" * letters) + wide("0")))
                at += wide("0" * letters) + wide("00")
            painter.setPen(self.theme.colour(tone))
            draw_cut(painter, room, text.replace("\n", " ⏎ "))
