"""A read-only text in which lines can have a sign, a shade and a tooltip, and can be highlighted."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QToolTip, QWidget

from gui.theme.theme import Theme
from gui.widgets.text_view import TextView

_SHADE = 30
"""Opacity of the shade of a line, of 255."""
_MARGIN = 18


class LineSign(NamedTuple):
    """What is shown at a line."""

    tone: str
    """The colour of the sign and, lighter, of the line."""
    sign: str = ""
    words: str = ""
    """The tooltip of the line."""
    opaque: bool = False
    """Whether the line has the full colour."""


class SignedText(TextView):
    """Lines are counted as they are laid out: one of more than 1000 characters counts as several."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self.signs: dict[int, LineSign] = {}
        """The signs by line, from 0."""
        self.lit: frozenset[int] = frozenset()
        self.setViewportMargins(_MARGIN, 0, 0, 0)
        self._margin = _Margin(self)
        self.updateRequest.connect(self._margin.update)
        theme.changed.connect(self._margin.update)

    def show_signs(self, signs: Mapping[int, LineSign]) -> None:
        """Replace all signs."""
        self.signs = dict(signs)
        self._redraw()

    def light(self, lines: Iterable[int], *, reveal: bool = False) -> None:
        """Highlight these lines instead of the previous ones; `reveal` scrolls to the first if it is not visible."""
        lit = frozenset(lines)
        if lit != self.lit:
            self.lit = lit
            self._redraw()
        if reveal and lit:
            block = self.document().findBlockByNumber(min(lit))
            top, height = self._place_of(block), self.viewport().height()
            if block.isValid() and not 0 <= top.top() <= height - top.height():
                cursor = QTextCursor(block)
                self.setTextCursor(cursor)
                self.centerCursor()

    def visible_lines(self) -> Iterator[tuple[int, QRect]]:
        """Yield the number of each visible line with its position in the viewport."""
        block = self.firstVisibleBlock()
        while block.isValid():
            place = self._place_of(block)
            if place.top() > self.viewport().height():
                return
            yield block.blockNumber(), place
            block = block.next()

    def paint_margin(self, margin: QWidget) -> None:
        painter = QPainter(margin)
        painter.fillRect(margin.rect(), self._theme.colour("panel"))
        painter.setFont(self.font())
        for number, place in self.visible_lines():
            if (sign := self.signs.get(number)) is None:
                continue
            room = QRect(0, place.top(), margin.width(), place.height())
            painter.fillRect(room, self._shade(sign))
            painter.setPen(self._theme.colour(sign.tone))
            line = QRect(room.topLeft(), QSize(room.width(), self.fontMetrics().lineSpacing()))
            painter.drawText(line, int(Qt.AlignmentFlag.AlignCenter), sign.sign)
        painter.end()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        for number, place in self.visible_lines():
            if (sign := self.signs.get(number)) is not None:
                painter.fillRect(place, self._shade(sign))
            if number in self.lit:
                painter.fillRect(place, self._theme.colour("selected"))
                painter.setPen(QPen(self._theme.colour("agent"), 1))
                painter.drawRect(place.adjusted(0, 0, -1, -1))
        painter.end()
        super().paintEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._margin.setGeometry(inside.left(), inside.top(), _MARGIN, self.viewport().height())

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.signs:
            sign = self.signs.get(self.cursorForPosition(event.pos()).blockNumber())
            QToolTip.showText(event.globalPos(), sign.words if sign is not None else "", self)
            return True
        return super().viewportEvent(event)

    def _place_of(self, block) -> QRect:  # type: ignore[no-untyped-def]
        place = self.blockBoundingGeometry(block).translated(self.contentOffset())
        height = block.layout().boundingRect().height()  # The last one includes the document's margin.
        return QRect(0, round(place.top()), self.viewport().width(), round(height))

    def _shade(self, sign: LineSign) -> QColor:
        shade = self._theme.colour(sign.tone)
        if not sign.opaque:
            shade.setAlpha(_SHADE)
        return shade

    def _redraw(self) -> None:
        self.viewport().update()
        self._margin.update()


class _Margin(QWidget):
    """The strip left of the text, with the signs."""

    def __init__(self, text: SignedText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        return QSize(_MARGIN, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._text.paint_margin(self)
