"""A list of lines with columns in monospace text; a kind filter and a search are above it, and lines can be copied."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QEvent, QKeyCombination, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QListView,
    QStyle,
    QWidget,
)

from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.copying import to_clipboard
from gui.widgets.item_views import Index, RowDelegate, RowMenu, RowsModel, draw_cut
from gui.widgets.layouts import in_column, in_row
from gui.widgets.search import SearchField
from gui.widgets.words import OrWords, labelled

Column = tuple[str, str, int]
"""Text, its tone in the theme, and the width in characters; 0 for the rest of the line."""
Line = TypeVar("Line")
Columns = Callable[[Index], Sequence[Column]]

_CLEAR = QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_L)


class LineModel(RowsModel, Generic[Line]):
    """Lines, of which those are rows that match the kind filter and contain all the words of the search."""

    def __init__(self) -> None:
        text, spoken = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole
        super().__init__(
            {text: self.spoken_text, spoken: self.spoken_text, Qt.ItemDataRole.ToolTipRole: self.whole}
        )
        self.all: Sequence[Line] = ()
        self._chosen = 0
        self._words_wanted: list[str] = []

    @property
    def total(self) -> int:
        return len(self.all)

    @abstractmethod
    def is_of(self, line: Line, chosen: int) -> bool:
        """Return whether a line is of the selected kinds."""

    @abstractmethod
    def searched(self, line: Line) -> str:
        """Return the text of a line that is searched."""

    @abstractmethod
    def copied(self, line: Line) -> str:
        """Return a line as it is copied."""

    @abstractmethod
    def spoken_text(self, line: Line) -> str:
        """Return a line as a screen reader speaks it."""

    @abstractmethod
    def whole(self, line: Line) -> str:
        """Return the tooltip of a line."""

    def show_lines(self, lines: Iterable[Line]) -> None:
        self.all = tuple(lines)
        self.show_rows([line for line in self.all if self.fits(line)])

    def show_only(self, chosen: int, search: str) -> None:
        """Show lines of one kind filter that contain all the words."""
        self._chosen, self._words_wanted = chosen, search.lower().split()
        self.show_rows([line for line in self.all if self.fits(line)])

    def fits(self, line: Line) -> bool:
        if not self.is_of(line, self._chosen):
            return False
        text = self.searched(line).lower() if self._words_wanted else ""
        return all(word in text for word in self._words_wanted)


class LineList(QWidget):
    """Base class of panels that list lines; a subclass fills the model and implements `_tell`."""

    fact_changed = Signal(str)

    def __init__(
        self,
        theme: Theme,
        model: LineModel[Any],
        columns: Columns,
        *,
        name: str,
        choice: tuple[str, str, Sequence[str]],
        parent: QWidget | None = None,
    ) -> None:
        """`choice` is the label of the kind filter, its tooltip, and the kinds."""
        super().__init__(parent)
        self._lines = model
        model.setParent(self)
        called, tip, kinds = choice
        self.choice = labelled(QComboBox(self), called, tip)
        self.choice.addItems(list(kinds))
        self.choice.currentIndexChanged.connect(self._on_filter)
        self.search = SearchField(theme, "Search (Ctrl+F)", self)
        self.search.setMaximumWidth(230)
        self.search.textChanged.connect(self._on_filter)
        copied = "Copy the selected lines, or all that show (Ctrl+C in the list)"
        self.copy_button = key_button("Copy", copied, "", self.copy, self)
        self.list = labelled(_List(self), name)
        self.list.setModel(model)
        self.list.setItemDelegate(_Rows(theme, columns, self))
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        RowMenu(self.list)
        self.list.copy_wanted.connect(self.copy)
        self.or_words = OrWords(self.list, self)
        right = ((self.search, 1), self.copy_button)
        self.head = in_row(None, self.choice, 1, *right, margins=(10, 3, 8, 3), spacing=6)
        in_column(self, self.head, (self.or_words, 1), spacing=0)
        theme.changed.connect(self.list.viewport().update)

    def focus_search(self) -> None:
        self.search.reach()

    def copy(self) -> None:
        """Copy the selected lines, or all shown lines if none is selected."""
        chosen = sorted(index.row() for index in self.list.selectionModel().selectedIndexes())
        rows = [self._lines.rows[at] for at in chosen] or self._lines.rows
        to_clipboard([self._lines.copied(row) for row in rows])

    def say(self, empty: str, none_fits: str) -> None:
        """Show `empty` instead of the list, or what to do if no line matches; neither if there are lines."""
        self.or_words.say(empty or ("" if self._lines.rows else none_fits))

    @abstractmethod
    def _tell(self) -> None:
        """Show the message that replaces the list, and the fact of the title."""

    def _on_filter(self) -> None:
        self._lines.show_only(self.choice.currentIndex(), self.search.text())
        self._tell()


class _Rows(RowDelegate):
    """The columns of a line; the last one fills the available width."""

    def __init__(self, theme: Theme, columns: Columns, parent: QWidget) -> None:
        super().__init__(theme, QSize(200, 20), parent)
        self._columns = columns

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
        painter.setFont(self.theme.machine_font())
        metrics = painter.fontMetrics()
        at = rect.left() + 12
        for text, tone, letters in self._columns(index):
            room = QRect(at, rect.top(), rect.right() - at - 6, rect.height())
            painter.setPen(self.theme.colour(tone))
            if letters:
                column = metrics.horizontalAdvance("0" * letters)
                room.setWidth(min(room.width(), column + metrics.horizontalAdvance("0")))
                at += column + metrics.horizontalAdvance("00")
            draw_cut(painter, room, text.replace("\n", " ⏎ "))


class _List(QListView):
    copy_wanted = Signal()
    clear_wanted = Signal()

    def event(self, event: QEvent) -> bool:
        # In the window, the same key opens the library.
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.keyCombination() == _CLEAR
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif event.keyCombination() == _CLEAR:
            self.clear_wanted.emit()
        else:
            super().keyPressEvent(event)
