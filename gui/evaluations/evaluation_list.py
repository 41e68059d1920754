"""The list of all evaluations: name, progress and success rate."""

from datetime import datetime

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QFrame, QListView, QStyle, QWidget

from core.debugger.evaluations.views import EvaluationItem
from core.schema.formats import in_line, thousands
from gui.theme.theme import Theme
from gui.widgets.item_views import RIGHT, ROW, Index, RowDelegate, RowMenu, RowsModel

_SIDE = 12
_HEIGHT = 62
_TONES = {"under way": "agent", "interrupted": "remedy", "finished": "dim"}


def state_words(item: EvaluationItem) -> str:
    """Return the progress of an evaluation in a few words."""
    if item.problem:
        return item.problem
    done = f"{thousands(item.done)} of {thousands(item.total)}"
    share = f"{item.successes / item.judged:.0%} succeed" if item.judged else ""
    return " · ".join(word for word in (item.state, done, share) if word)


class _Painter(RowDelegate):
    def __init__(self, theme: Theme, view: QWidget) -> None:
        super().__init__(theme, QSize(160, _HEIGHT), view)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        item: EvaluationItem = index.data(ROW)
        self.draw_ground(painter, rect, state)
        room = rect.adjusted(_SIDE, 7, -_SIDE, -7)
        line = room.height() // 2
        when = f"{datetime.fromtimestamp(item.when):%d %b %H:%M}"
        head = QRect(room.left(), room.top(), room.width(), line - 2)
        small = self.theme.small_font()
        beside = self.write(painter, head, when, small, "dim", RIGHT)
        self.write(painter, head.adjusted(0, 0, -beside - 10, 0), item.name, self.theme.text_font(bold=True))
        below = QRect(room.left(), room.top() + line - 2, room.width(), line - 5)
        self.write(painter, below, state_words(item), small, "bad" if item.problem else _TONES[item.state])
        if item.total:
            track = QRect(room.left(), room.bottom() - 2, room.width(), 3)
            painter.fillRect(track, self.theme.colour("line"))
            track.setWidth(round(track.width() * min(1.0, item.done / item.total)))
            painter.fillRect(track, self.theme.colour("agent" if item.state == "under way" else "dim"))


class EvaluationList(QListView):
    """Shows the evaluations, the newest first."""

    chosen = Signal(int)
    """The number of the evaluation that is now current."""
    delete_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
        self.items_model = RowsModel({int(role): _spoken for role in roles}, self)
        self.setModel(self.items_model)
        self.setItemDelegate(_Painter(theme, self))
        self.setAccessibleName("Evaluations")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._showing = False
        self.selectionModel().currentChanged.connect(self._on_current)
        RowMenu(self)
        theme.changed.connect(self.viewport().update)

    def show_items(self, items: tuple[EvaluationItem, ...], current: int | None) -> None:
        """Replace the rows; `current` is the number of the evaluation in view."""
        top = self.verticalScrollBar().value()
        self._showing = True
        if items != self.items_model.rows:
            self.items_model.show_rows(items)
        at = next((at for at, one in enumerate(items) if one.number == current), None)
        if at is not None and self.currentIndex().row() != at:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.selectionModel().setCurrentIndex(self.items_model.index(at), flags)
        self.verticalScrollBar().setValue(top)
        self._showing = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.delete_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _on_current(self, index: QModelIndex) -> None:
        item: EvaluationItem | None = self.items_model.row(index)
        if item is not None and not self._showing:
            self.chosen.emit(item.number)


def _spoken(item: EvaluationItem) -> str:
    return in_line(f"{item.name}: {state_words(item)}")
