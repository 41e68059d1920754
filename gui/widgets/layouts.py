"""Rows, columns, splitters and sections of panels, each with one call."""

from typing import TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from gui.theme.theme import Theme
from gui.widgets.words import ElidedLabel

Content = QWidget | QLayout | int
"""A number is an empty stretch with this stretch factor."""
Margins = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels."""
AnyBox = TypeVar("AnyBox", bound=QBoxLayout)


def in_column(
    owner: QWidget | None,
    *contents: Content | tuple[QWidget | QLayout, int],
    margins: Margins = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QVBoxLayout:
    """Arrange contents vertically, in a widget or another layout; one with a number gets this share of the space."""
    return _filled(QVBoxLayout(owner) if owner is not None else QVBoxLayout(), contents, margins, spacing)


def in_row(
    owner: QWidget | None,
    *contents: Content | tuple[QWidget | QLayout, int],
    margins: Margins = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QHBoxLayout:
    """Arrange contents horizontally; arguments as for `in_column`."""
    return _filled(QHBoxLayout(owner) if owner is not None else QHBoxLayout(), contents, margins, spacing)


def splitter(
    direction: Qt.Orientation, *contents: QWidget, sizes: tuple[int, ...], stretch: tuple[int, ...] = ()
) -> QSplitter:
    """Return widgets with movable lines between them, none of which can be closed; `sizes` in pixels."""
    made = QSplitter(direction)
    for content in contents:
        made.addWidget(content)
    for at, share in enumerate(stretch):
        made.setStretchFactor(at, share)
    made.setSizes(list(sizes))
    made.setChildrenCollapsible(False)
    return made


def holding(content: QLayout) -> QWidget:
    """Return a widget with this layout."""
    around = QWidget()
    around.setLayout(content)
    return around


def _filled(
    box: AnyBox,
    contents: tuple[Content | tuple[QWidget | QLayout, int], ...],
    margins: Margins,
    spacing: int | None,
) -> AnyBox:
    box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for content in contents:
        item, share = content if isinstance(content, tuple) else (content, 0)
        if isinstance(item, int):
            box.addStretch(item)
        elif isinstance(item, QWidget):
            box.addWidget(item, share)
        else:
            box.addLayout(item, share)
    return box


class FlowLayout(QLayout):
    """Places items from left to right, and starts a new row when one does not fit."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 5, one_row: bool = False) -> None:
        """`one_row` prefers a width at which all items are in one row."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._one_row = one_row
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    @property
    def _there(self) -> list[QLayoutItem]:
        """The items that Qt has not deleted: a window that is deleted asks for its size once more meanwhile."""
        return [item for item in self._items if isValid(item)]

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        inner = QRect(0, 0, width - margins.left() - margins.right(), 0)
        return self._place(inner, move=False) + margins.top() + margins.bottom()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect.marginsRemoved(self.contentsMargins()), move=True)

    def sizeHint(self) -> QSize:
        least = self.minimumSize()
        if not self._one_row:
            return least
        widths = [item.sizeHint().width() for item in self._there if not item.isEmpty()]
        return QSize(sum(widths) + self.spacing() * len(widths), least.height())

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._there:
            size = size.expandedTo(item.minimumSize())
        return size.grownBy(self.contentsMargins())

    def _place(self, rect: QRect, *, move: bool) -> int:
        x, y, row = rect.x(), rect.y(), 0
        for item in self._there:
            widget = item.widget()
            if widget is not None and widget.isHidden():
                continue
            hint = item.sizeHint()
            flexible = (
                widget is not None and widget.sizePolicy().horizontalPolicy() == QSizePolicy.Policy.Expanding
            )
            width = min(rect.width(), hint.width()) if not flexible else rect.width()
            if x > rect.x() and x + width > rect.right() + 1:
                x, y, row = rect.x(), y + row + self.spacing(), 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), QSize(width, hint.height())))
            x += width + self.spacing()
            row = max(row, hint.height())
        return y + row - rect.y()


class Section(QWidget):
    """A heading above widgets; hidden as a whole if there is nothing to show."""

    def __init__(self, theme: Theme, title: str, *contents: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel(title, self)
        self.title.setFont(theme.heading_font())
        self.fact = ElidedLabel("", self, tone="dim")
        self.fact.setFont(theme.small_font())
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.head = in_row(None, self.title, (self.fact, 1), margins=(10, 6, 10, 2), spacing=6)
        in_column(self, self.head, *contents, margins=(0, 0, 0, 2), spacing=0)

    def show_fact(self, text: str) -> None:
        """Show the main fact at the right of the heading."""
        self.fact.setText(text)

    def show_where(self, there: object, fact: str = "") -> None:
        """Show it with its fact if there is something to show, otherwise hide it."""
        self.show_fact(fact)
        self.setVisible(bool(there))


def indented(content: QWidget) -> QWidget:
    """Return a widget that contains this one, aligned with headings and rows."""
    return holding(in_column(None, content, margins=(10, 0, 10, 0)))


def on_panel(widget: QWidget) -> None:
    """Give a widget of a window the background of panels."""
    widget.setBackgroundRole(QPalette.ColorRole.Base)
    widget.setAutoFillBackground(True)


def in_sections(*contents: QWidget) -> QWidget:
    """Return a widget with these below each other, each as high as its content."""
    return holding(in_column(None, *contents, 1, margins=(0, 0, 0, 6), spacing=0))


def area_around(widget: QWidget) -> QScrollArea | None:
    """Return the area that scrolls a widget, if there is one."""
    above: QWidget | None = widget.parentWidget()
    while above is not None and not isinstance(above, QScrollArea):
        above = above.parentWidget()
    return above


def reveal(widget: QWidget) -> None:
    """Scroll the area around a widget so that it is visible, once the layout has made space for it."""
    if (area := area_around(widget)) is not None:
        QTimer.singleShot(0, widget, lambda: area.ensureWidgetVisible(widget, 0, 4))


def scrolled(name: str, *contents: QWidget, tall: QWidget | None = None) -> QScrollArea:
    """Return an area that scrolls these vertically, never horizontally; `tall` gets the remaining space."""
    shares = [(content, int(content is tall)) for content in contents]
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(holding(in_column(None, *shares, 0 if tall else 1, margins=(0, 0, 0, 6), spacing=0)))
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setAccessibleName(name)
    return area
