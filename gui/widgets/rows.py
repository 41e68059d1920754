"""A list of rows with wrapped text: a check box, an icon, the text, a word for its state, and small text below.

It is as high as its rows need, so that several can be placed below each other in one scrolling panel; the mouse
wheel is left to that panel.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from operator import attrgetter
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QSizePolicy,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from gui.theme.theme import Theme
from gui.widgets.item_views import RIGHT, ROW, Index, RowDelegate, RowMenu, RowsModel
from gui.widgets.layouts import area_around
from gui.widgets.lined_text import in_utf16

_SIDE = 10
_ICON = 18
_LOWEST = 24
_CHECK = 21
_INDENT = 18
_KNOWN = 2000
"""Number of rows whose positions are cached."""
_LONGEST = 6000
"""Maximum number of characters of a row that are laid out."""


@dataclass(frozen=True)
class Row:
    """One row; `icon` and `tone` never say more than `word`."""

    text: str
    icon: str = ""
    """A codicon."""
    tone: str = "dim"
    """The colour token of icon and word."""
    word: str = ""
    """At the right of the first line."""
    detail: str = ""
    """Small text below, with its own line breaks."""
    spans: tuple[tuple[int, int], ...] = ()
    """The highlighted ranges of the detail, which is then an excerpt of what a machine wrote or reads."""
    strong: bool = False
    quiet: bool = False
    """For things that are over or were not used."""
    link: bool = False
    """Whether a click or Enter leads somewhere else."""
    indent: int = 0
    machine: bool = False
    """Whether the text was written by a machine or will be read by one."""
    key: Any = None
    """What this row stands for, as sent by `Rows.chosen`."""
    tooltip: str = ""
    checked: bool | None = None
    """Whether its check box is checked; None for no check box."""

    @property
    def natural(self) -> str:
        """The text of the row, for copying."""
        first = "  ".join(part for part in (self.text, self.word) if part)
        return f"{first}\n{self.detail}" if self.detail else first

    @property
    def spoken(self) -> str:
        """The row as one line, for screen readers."""
        box = "" if self.checked is None else "checked" if self.checked else "not checked"
        parts = (box, self.text, self.word, self.detail.replace("\n", ", "))
        return ". ".join(part for part in parts if part)


class RowPainter(RowDelegate):
    """Draws a row and computes its height."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(theme, QSize(120, _LOWEST), view)
        self._view = view
        self._known: dict[tuple[Row, int], tuple[QRect, QRect, QRect]] = {}
        theme.changed.connect(self._forget)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: Row | None = index.data(ROW)
        width = max(60, self._view.viewport().width())
        if row is None:
            return QSize(width, self.theme.scaled(_LOWEST))
        text, _word, detail = self._places(row, QRect(0, 0, width, 0))
        return QSize(width, max(self.theme.scaled(_LOWEST), (detail if row.detail else text).bottom() + 5))

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        row: Row = index.data(ROW)
        self.draw_ground(painter, rect, state)
        text, word, detail = self._places(row, rect)
        if row.checked is not None:
            self._paint_check(painter, self._check(row, text), row)
        if row.icon:
            place = QRect(text.left() - _ICON, text.top() + (_line(self._font(row)) - 13) // 2, 13, 13)
            self.theme.icon(row.icon, tone=row.tone).paint(painter, place)
        painter.setPen(self.theme.colour("agent" if row.link else "dim" if row.quiet else "text"))
        wrapped(self._font(row), row.text, text.width()).draw(painter, QPointF(text.topLeft()))
        painter.setFont(self.theme.small_font())
        painter.setPen(self.theme.colour(row.tone))
        painter.drawText(word, int(RIGHT), row.word)
        painter.setPen(self.theme.colour("text" if row.spans else "dim"))
        marks = [self._mark(row.detail, span) for span in row.spans]
        below = wrapped(self._small(row), row.detail, detail.width(), marks)
        below.draw(painter, QPointF(detail.topLeft()))

    def _mark(self, text: str, span: tuple[int, int]) -> QTextLayout.FormatRange:
        """Return a highlighted range of a text, in the positions and with the look that it is drawn with."""
        look = QTextCharFormat()
        look.setBackground(self.theme.colour("found"))
        look.setFontUnderline(True)
        mark = QTextLayout.FormatRange()
        mark.start, end = in_utf16(text, list(span))
        mark.length, mark.format = end - mark.start, look
        return mark

    def check_of(self, row: Row, rect: QRect) -> QRect:
        """Return the position of the check box of a row that is drawn in `rect`; an empty rectangle if it has none."""
        return QRect() if row.checked is None else self._check(row, self._places(row, rect)[0])

    def _check(self, row: Row, text: QRect) -> QRect:
        left = text.left() - (_ICON if row.icon else 0) - _CHECK
        return QRect(left, text.top() + (_line(self._font(row)) - 14) // 2, 14, 14)

    def _paint_check(self, painter: QPainter, box: QRect, row: Row) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.colour("agent" if row.checked else "dim"), 1))
        painter.setBrush(self.theme.colour("panel"))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.restore()
        if row.checked:
            self.theme.icon("check", tone="agent").paint(painter, box.adjusted(1, 1, -1, -1))

    def _font(self, row: Row) -> QFont:
        return self.theme.machine_font() if row.machine else self.theme.text_font(bold=row.strong)

    def _small(self, row: Row) -> QFont:
        return self.theme.machine_font() if row.spans else self.theme.small_font()

    def _places(self, row: Row, rect: QRect) -> tuple[QRect, QRect, QRect]:
        """Return the positions of text, word and detail.

        Computed once for a row and a width, because lists ask for the height of every row again and again.
        """
        known = self._known.get((row, rect.width()))
        if known is None:
            if len(self._known) > _KNOWN:
                self._known.clear()
            known = self._known[row, rect.width()] = self._lay_out(row, QRect(0, 0, rect.width(), 0))
        text, word, detail = known
        corner = rect.topLeft()
        return text.translated(corner), word.translated(corner), detail.translated(corner)

    def _forget(self) -> None:
        self._known.clear()

    def _lay_out(self, row: Row, rect: QRect) -> tuple[QRect, QRect, QRect]:
        font, small = self._font(row), QFontMetrics(self.theme.small_font())
        left = rect.left() + _SIDE + row.indent * _INDENT + (_ICON if row.icon else 0)
        left += 0 if row.checked is None else _CHECK
        right = rect.left() + rect.width() - _SIDE
        beside = small.horizontalAdvance(row.word) + 8 if row.word else 0
        top = rect.top() + 4
        text = _room(font, row.text, QRect(left, top, max(40, right - beside - left), 0))
        word = QRect(right - beside, top, beside, _line(font))
        below = QRect(left, text.bottom() + 1, max(40, right - left), 0)
        return text, word, _room(self._small(row), row.detail, below)


class Rows(QListView):
    """Shows rows; Enter or a double click chooses one, a click selects it, and Space checks it."""

    chosen = Signal(object)
    """The key of the row, for Enter or a double click."""
    pressed_on = Signal(object)
    """The key of the row, for Enter or a click."""
    selected = Signal(object)
    """The key of the row that is now current, or None."""
    toggled = Signal(object, bool)
    """The key of the row whose check box was switched by a click or Space, and whether to check it."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        roles = Qt.ItemDataRole
        words = {roles.DisplayRole: "text", roles.AccessibleTextRole: "spoken", roles.ToolTipRole: "tooltip"}
        self.rows_model = RowsModel({role: attrgetter(name) for role, name in words.items()}, self)
        self.setModel(self.rows_model)
        self._painter = RowPainter(theme, self)
        self._checking = False
        """Whether the mouse button was pressed on a check box."""
        self.setItemDelegate(self._painter)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.doubleClicked.connect(self._on_chosen)
        self.clicked.connect(self._on_pressed)
        self.selectionModel().currentChanged.connect(self._on_current)
        RowMenu(self)
        theme.changed.connect(self.fit)

    @property
    def rows(self) -> Sequence[Row]:
        return self.rows_model.rows

    @property
    def key(self) -> Any:
        """The key of the current row; None if there is none."""
        row = self.currentIndex().data(ROW)
        return None if row is None else row.key

    def show_rows(self, rows: Iterable[Row]) -> None:
        """Replace the rows; the current one stays current if its key still exists."""
        rows = tuple(rows)
        if rows == self.rows:
            return
        key = self.key
        self.rows_model.show_rows(rows)
        if key is not None:
            self.select_key(key)
        self.fit()

    def select_key(self, key: object) -> bool:
        """Make the row with this key the current one; return False if there is none."""
        for at, row in enumerate(self.rows):
            if row.key == key:
                self.setCurrentIndex(self.rows_model.index(at))
                return True
        return False

    def fit(self) -> None:
        """Take the height that the rows need at the current width."""
        self.scheduleDelayedItemsLayout()
        option = QStyleOptionViewItem()
        delegate = self.itemDelegate()
        indexes: Sequence[QModelIndex] = [self.rows_model.index(at) for at in range(len(self.rows))]
        height = sum(delegate.sizeHint(option, index).height() for index in indexes) + 2 * self.frameWidth()
        if height != self.height() or height != self.maximumHeight():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        left = event.button() == Qt.MouseButton.LeftButton
        self._checking = left and self._checked_at(event.position().toPoint()) is not None
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row = self._checked_at(event.position().toPoint()) if self._checking else None
        self._checking = False
        super().mouseReleaseEvent(event)
        if row is not None:
            self.toggled.emit(row.key, not row.checked)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._checked_at(event.position().toPoint()) is None:
            super().mouseDoubleClickEvent(event)
        else:
            self.mousePressEvent(event)

    def _checked_at(self, place: QPoint) -> Row | None:
        """Return the row whose check box is at that position."""
        index = self.indexAt(place)
        row: Row | None = index.data(ROW)
        if row is None or not self._painter.check_of(row, self.visualRect(index)).contains(place):
            return None
        return row

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row: Row | None = self.currentIndex().data(ROW)
        if event.key() == Qt.Key.Key_Space and row is not None and row.checked is not None:
            self.toggled.emit(row.key, not row.checked)
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            index = QPersistentModelIndex(self.currentIndex())
            self._on_pressed(self.currentIndex())
            if index.isValid():
                self._on_chosen(self.model().index(index.row(), 0))
        else:
            super().keyPressEvent(event)

    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if row is not None:
            self.chosen.emit(row.key)

    def _on_pressed(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if row is not None and row.key is not None:
            self.pressed_on.emit(row.key)

    def _on_current(self, index: QModelIndex, previous: QModelIndex) -> None:
        row = index.data(ROW)
        if self.hasFocus():
            self._reveal(index)
        self.selected.emit(None if row is None else row.key)

    def _reveal(self, index: QModelIndex) -> None:
        """Scroll the panel so that the row is visible."""
        area = area_around(self)
        inside = None if area is None else area.widget()
        if area is not None and inside is not None:
            rect = self.visualRect(index)
            middle = self.viewport().mapTo(inside, rect.center())
            area.ensureVisible(middle.x(), middle.y(), 0, rect.height() // 2 + 6)


def _line(font: QFont) -> int:
    return QFontMetrics(font).height()


def _room(font: QFont, text: str, place: QRect) -> QRect:
    """Return `place` with the height that `text` needs at its width."""
    height = ceil(wrapped(font, text, place.width()).boundingRect().height()) if text else 0
    return QRect(place.topLeft(), QSize(place.width(), height))


def wrapped(font: QFont, text: str, width: int, marks: Sequence[QTextLayout.FormatRange] = ()) -> QTextLayout:
    """Lay `text` out in lines of at most this width; words are broken only if they are too long."""
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    layout = QTextLayout(shown.replace("\n", "\u2028"), font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats(marks)
    layout.beginLayout()
    y = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, y))
        y += line.height()
    layout.endLayout()
    return layout
