"""A text whose words are found, and whose lines have a number, a sign, a shade and a tooltip, or are highlighted."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from PySide6.QtCore import QEvent, QMargins, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from gui.theme.theme import Theme

_SHADE = 30
"""Opacity of the shade of a line, of 255."""
_SIGNS = 18
"""Width of a margin with signs only."""
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class LineSign(NamedTuple):
    """What is shown at a line."""

    tone: str
    """The colour of the sign and, lighter, of the line."""
    sign: str = ""
    words: str = ""
    """The tooltip of the line."""
    opaque: bool = False
    """Whether the line has the full colour."""


class LinedText(QPlainTextEdit):
    """A text in the monospace font. Lines are counted from 0, as they are laid out before they wrap."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        parent: QWidget | None = None,
        *,
        margin: Literal["none", "signs", "numbers"] = "none",
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._needle = ""
        self._starts: list[int] = []
        self._current = -1
        self.signs: dict[int, LineSign] = {}
        """The signs by line."""
        self.lit: frozenset[int] = frozenset()
        self._room_above = 0
        """The height that is left free above the text."""
        self._has_numbers = margin == "numbers"
        self._margin = _Margin(self) if margin != "none" else None
        self.setAccessibleName(name)
        self.setFont(theme.machine_font())
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(8)
        self.verticalScrollBar().valueChanged.connect(self._mark_found)
        theme.changed.connect(self._redraw)
        if self._margin is not None:
            self.updateRequest.connect(self._margin.update)
            self.blockCountChanged.connect(lambda _count: self._place_margin())
            self._place_margin()

    @property
    def searched(self) -> str:
        """The text in which words are found."""
        return self.document().toRawText().replace("\u2029", "\n")

    # Words that are found

    @property
    def found(self) -> int:
        return len(self._starts)

    @property
    def found_index(self) -> int:
        """The index of the current match, from 0; -1 for none."""
        return self._current

    def search(self, needle: str, start: int = 0) -> int:
        """Highlight every match, ignoring case, and go to the first from `start` on; return the number of matches."""
        self._needle = needle
        self._find_all()
        if self._starts:
            self._go_to(bisect_left(self._starts, start) % len(self._starts))
        else:
            self._mark_found()
        return len(self._starts)

    def go_to_match(self, offset: int) -> None:
        """Go to the match `offset` further; wraps around at the end."""
        if self._starts:
            self._go_to((self._current + offset) % len(self._starts))

    @property
    def _length(self) -> int:
        """The length of a match, as Qt counts."""
        return in_utf16(self._needle, [len(self._needle)])[0]

    def _find_all(self) -> None:
        needle, self._current = self._needle.lower(), -1
        self._starts = []
        if not needle:
            return
        searched = self.searched
        text = searched.lower()
        if len(text) != len(searched):  # some capital letters have longer lower-case forms
            text = searched
        at = text.find(needle)
        while at >= 0:
            self._starts.append(at)
            at = text.find(needle, at + len(needle))
        self._starts = in_utf16(searched, self._starts)

    def _go_to(self, index: int) -> None:
        self._current = index
        start = self._starts[index]
        if start + self._length < self.document().characterCount():
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            self.setTextCursor(cursor)
            self.ensureCursorVisible()
        self._mark_found()

    def _mark_found(self) -> None:
        marks = self._other_marks()
        if self._starts:
            first = self.firstVisibleBlock().position()
            line = max(1.0, QFontMetricsF(self.font()).height())
            block = self.document().findBlockByNumber(
                self.firstVisibleBlock().blockNumber() + int(self.viewport().height() / line) + 1
            )
            end = block.position() + block.length() if block.isValid() else self.document().characterCount()
            in_view = range(bisect_left(self._starts, first), bisect_left(self._starts, end))
            marks += [self._mark(index) for index in in_view]
        self.setExtraSelections(marks)

    def _other_marks(self) -> list[QTextEdit.ExtraSelection]:
        """Return the marks that are not of words that were found."""
        return []

    def _mark(self, index: int) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        look = QTextCharFormat()
        current = index == self._current
        look.setBackground(self._theme.colour("remedy" if current else "found"))
        look.setForeground(self._theme.colour("on_accent" if current else "text"))
        mark.cursor, mark.format = self._match(index), look
        return mark

    def _match(self, index: int) -> QTextCursor:
        """Return a match as a selection."""
        cursor = QTextCursor(self.document())
        start, last = self._starts[index], self.document().characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(start + self._length, last), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    # Lines

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
        height = self.fontMetrics().lineSpacing()
        for number, place in self.visible_lines():
            sign = self.signs.get(number)
            line = QRect(0, place.top(), margin.width(), height)
            painter.setPen(self._theme.colour(sign.tone if sign is not None else "faint"))
            if sign is not None:
                painter.fillRect(QRect(0, place.top(), margin.width(), place.height()), self._shade(sign))
                room = QRect(0, place.top(), _SIGNS, height)
                painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), sign.sign)
            if self._has_numbers:
                right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(line.adjusted(0, 0, -4, 0), int(right), str(number + 1))
        painter.end()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.signs or self.lit:
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
        self._place_margin()

    def viewportEvent(self, event: QEvent) -> bool:
        return self.show_tip(event) or super().viewportEvent(event)

    def show_tip(self, event: QEvent) -> bool:
        """Show the tooltip of the line below the mouse if that is what an event asks for."""
        if not (isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.signs):
            return False
        sign = self.signs.get(self.cursorForPosition(event.pos()).blockNumber())
        QToolTip.showText(event.globalPos(), sign.words if sign is not None else "", self)
        return True

    def _place_margin(self) -> None:
        if self._margin is None:
            return
        digits = len(str(self.blockCount())) if self._has_numbers else 0
        width = _SIGNS + digits * self.fontMetrics().horizontalAdvance("0") + (4 if digits else 0)
        margins = QMargins(width, self._room_above, 0, 0)
        if self.viewportMargins() != margins:
            # Setting the same again lays out again: a scroll bar that comes and goes would do so forever.
            self.setViewportMargins(margins)
        inside = self.contentsRect()
        top = inside.top() + self._room_above
        self._margin.setGeometry(inside.left(), top, width, self.viewport().height())

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
        self._mark_found()
        self.viewport().update()
        if self._margin is not None:
            self._margin.update()


class _Margin(QWidget):
    """The strip left of the text."""

    def __init__(self, text: LinedText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        return QSize(_SIGNS, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._text.paint_margin(self)

    def event(self, event: QEvent) -> bool:
        return self._text.show_tip(event) or super().event(event)


def in_utf16(text: str, starts: list[int]) -> list[int]:
    """Return positions in ascending order as Qt counts them: characters outside the basic plane count as two."""
    if _ASTRAL.search(text) is None:
        return starts
    counted: list[int] = []
    at, extra = 0, 0
    for start in starts:
        extra += len(_ASTRAL.findall(text, at, start))
        at = start
        counted.append(start + extra)
    return counted
