"""A list of lines with columns of the machine's letters, a choice of kinds and a search above it, to be copied."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QKeyCombination, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QListView,
    QPushButton,
    QStyle,
    QWidget,
)

from gui.theme.theme import Theme
from gui.widgets.item_views import Index, RowDelegate, draw_cut
from gui.widgets.layouts import in_column, in_row
from gui.widgets.search import SearchField
from gui.widgets.words import OrWords

Column = tuple[str, str, int]
"""Text, its tone in the theme, and how many letters wide; 0 for the rest of the line."""
Columns = Callable[[Index], Sequence[Column]]

_CLEAR = QKeyCombination(Qt.KeyboardModifier.ControlModifier, Qt.Key.Key_L)


class LineList(QWidget):
    """The base of panels that list lines: subclasses fill the model and answer `_on_filter` and `copy`."""

    fact_changed = Signal(str)

    def __init__(
        self,
        theme: Theme,
        model: QAbstractItemModel,
        columns: Columns,
        *,
        name: str,
        choice: tuple[str, str, Sequence[str]],
        parent: QWidget | None = None,
    ) -> None:
        """`choice` is what kinds are called, its tooltip, and the kinds."""
        super().__init__(parent)
        self.choice = QComboBox(self)
        called, tip, kinds = choice
        self.choice.addItems(list(kinds))
        self.choice.setAccessibleName(called)
        self.choice.setToolTip(tip)
        self.choice.currentIndexChanged.connect(self._on_filter)
        self.search = SearchField(theme, "Search (Ctrl+F)", self)
        self.search.setMaximumWidth(230)
        self.search.textChanged.connect(self._on_filter)
        self.copy_button = QPushButton("Copy", self)
        self.copy_button.setToolTip("Copy the selected lines, or all that show (Ctrl+C in the list)")
        self.copy_button.clicked.connect(self.copy)
        self.list = _List(self)
        self.list.setModel(model)
        self.list.setItemDelegate(_Rows(theme, columns, self))
        self.list.setUniformItemSizes(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setAccessibleName(name)
        self.list.copy_wanted.connect(self.copy)
        self.or_words = OrWords(self.list, self)
        self.head = in_row(
            None, self.choice, 1, (self.search, 1), self.copy_button, margins=(10, 3, 8, 3), spacing=6
        )
        in_column(self, self.head, (self.or_words, 1), spacing=0)
        theme.changed.connect(self.list.viewport().update)

    def focus_search(self) -> None:
        self.search.reach()

    def chosen(self) -> Iterator[int]:
        """Yield the rows that are selected, or all that show where none is."""
        chosen = sorted(index.row() for index in self.list.selectionModel().selectedIndexes())
        yield from chosen or range(self.list.model().rowCount())

    @abstractmethod
    def copy(self) -> None:
        """Copy the selected lines, or all that show where none is selected."""

    @abstractmethod
    def _on_filter(self) -> None:
        """Show only what fits the choice and the search."""


def to_clipboard(lines: Sequence[str]) -> None:
    # A clipboard ends its text at the first NUL.
    QApplication.clipboard().setText("\n".join(lines).replace("\x00", "\u2400"))


class _Rows(RowDelegate):
    """The columns of a line, the last as wide as there is room."""

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
                room.setWidth(min(room.width(), column))
                at += column + metrics.horizontalAdvance("00")
            draw_cut(painter, room, text.replace("\n", " ⏎ "))


class _List(QListView):
    copy_wanted = Signal()
    clear_wanted = Signal()

    def event(self, event: QEvent) -> bool:
        # In the window the same key opens the library.
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
