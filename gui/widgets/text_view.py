"""A read-only text of any length that never blocks the window.

Text is inserted in slices between events, and lines too long to lay out at once are broken; copying joins them
again.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextDocumentLayout, QPlainTextEdit, QTextEdit, QWidget

from gui.theme.theme import Theme

_SLICE = 16_000
"""Characters inserted between two rounds of the event loop: a few milliseconds."""
_LONGEST = 1_000
_JOINER = "\u2060"
_LONG_LINE = re.compile(f"[^\n]{{{_LONGEST}}}(?=[^\n])")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Piece:
    """A part of the text; a heading is on its own line and can be clicked."""

    text: str
    heading: int | None = None
    """The id of the heading, as sent by `TextView.heading_pressed`; None for plain text."""


class TextView(QPlainTextEdit):
    """Shows text in the monospace font, finds in it and copies from it."""

    heading_pressed = Signal(int)
    filled = Signal()
    """All of the text is inserted."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._pieces: tuple[Piece, ...] = ()
        self._shown = ""
        self._source = ""
        self._unwritten: list[tuple[str, int | None]] = []
        self._document: QTextDocument | None = None
        self._needle = ""
        self._starts: list[int] = []
        self._current = -1
        self._wanted: int | None = None
        self._places: dict[int, int] = {}
        """The beginning of each heading, in Qt's positions."""
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._fill)
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFont(theme.machine_font())
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(8)
        self.verticalScrollBar().valueChanged.connect(self._mark_found)
        theme.changed.connect(self._on_theme_changed)

    @property
    def source(self) -> str:
        """The full text as it was given, including parts not inserted yet."""
        return self._source

    @property
    def shown_lines(self) -> list[str]:
        """The text in lines as they are laid out, including parts not inserted yet."""
        return self._shown.split("\n")

    @property
    def complete(self) -> bool:
        return not self._unwritten

    @property
    def found(self) -> int:
        return len(self._starts)

    @property
    def found_index(self) -> int:
        """The index of the current match, from 0; -1 for none."""
        return self._current

    def show_text(self, text: str) -> None:
        """Replace the text; if it is the same text, position and selection stay."""
        self.show_pieces((Piece(text),))

    def show_pieces(self, pieces: Sequence[Piece]) -> None:
        """Replace the text by these parts, each beginning on its own line."""
        if (pieces := tuple(pieces)) != self._pieces:
            self._pieces = pieces
            self._source = "\n".join(piece.text for piece in pieces)
            self._render()

    def search(self, needle: str) -> int:
        """Highlight every match, ignoring case, and go to the first; return the number of matches."""
        self._needle = needle
        self._find_all()
        if self._starts:
            self._go_to(0)
        else:
            self._mark_found()
        return len(self._starts)

    def go_to_match(self, offset: int) -> None:
        """Go to the match `offset` further; wraps around at the end."""
        if self._starts:
            self._go_to((self._current + offset) % len(self._starts))

    def seek(self, needle: str, *, nth: int = 0, heading: int | None = None) -> bool:
        """Highlight every match and go to the `nth`, from 0, after a heading; return False if there is none.

        If there are fewer matches, it goes to the last.
        """
        self._needle = needle
        self._find_all()
        first = bisect_left(self._starts, self._places.get(heading, 0) if heading is not None else 0)
        if not self._starts:
            self._mark_found()
            return False
        self._go_to(min(first + nth, len(self._starts) - 1))
        return True

    def go_to_heading(self, heading: int) -> None:
        """Scroll so that this heading is at the top, once it is inserted."""
        self._wanted = heading
        self._reach_heading()

    def _reach_heading(self) -> None:
        if self._wanted is None or not self.complete:
            return
        block = self.document().begin()
        while block.isValid():
            if block.userState() == self._wanted:
                self.setTextCursor(QTextCursor(block))
                self.verticalScrollBar().setValue(block.firstLineNumber())
                break
            block = block.next()
        self._wanted = None

    def _render(self) -> None:
        self._timer.stop()
        document = QTextDocument(self)
        document.setDocumentLayout(QPlainTextDocumentLayout(document))
        document.setUndoRedoEnabled(False)
        document.setDefaultFont(self.font())
        document.setDocumentMargin(8)
        self.setDocument(document)  # deletes the document that the widget was created with, not one of ours
        if self._document is not None:
            self._document.deleteLater()
        self._document = document
        self._unwritten = []
        shown: list[str] = []
        last = len(self._pieces) - 1
        for index, piece in enumerate(self._pieces):
            text = piece.text if index == last else piece.text + "\n"
            if piece.heading is None:
                text = _LONG_LINE.sub(lambda match: f"{match[0]}{_JOINER}\n", text)
            shown.append(text)
            size = _SLICE if piece.heading is None else max(1, len(text))
            self._unwritten += [
                (text[start : start + size], piece.heading) for start in range(0, len(text), size)
            ]
        self._shown = "".join(shown)
        self._places = self._places_of(shown)
        self._find_all()
        self._fill()

    def _places_of(self, shown: Sequence[str]) -> dict[int, int]:
        starts = [0, *accumulate(map(len, shown))][: len(shown)]
        counted = _in_utf16(self._shown, starts) if _ASTRAL.search(self._shown) else starts
        pairs = zip(self._pieces, counted, strict=True)
        return {piece.heading: place for piece, place in pairs if piece.heading is not None}

    def _fill(self) -> None:
        room = _SLICE
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        while self._unwritten and room > 0:
            text, heading = self._unwritten.pop(0)
            room -= len(text) + 200
            if heading is None:
                cursor.insertText(text, QTextCharFormat())
            else:
                self._insert_heading(cursor, text, heading)
        cursor.endEditBlock()
        if self._unwritten:
            self._timer.start()
            return
        self._timer.stop()
        if self._current >= 0:
            self._go_to(self._current)
        else:
            self._mark_found()
        self._reach_heading()
        self.filled.emit()

    def _insert_heading(self, cursor: QTextCursor, text: str, heading: int) -> None:
        look = QTextCharFormat()
        look.setFont(self._theme.heading_font())
        look.setForeground(self._theme.colour("text"))
        start = cursor.block().blockNumber()
        cursor.insertText(text, look)
        block = self.document().findBlockByNumber(start)
        block.setUserState(heading)
        at = QTextCursor(block)
        spaced = QTextBlockFormat()
        spaced.setTopMargin(4)
        spaced.setBackground(self._theme.colour("raised"))
        at.setBlockFormat(spaced)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(QTextBlockFormat())

    def _find_all(self) -> None:
        needle, self._current = self._needle.lower(), -1
        self._starts = []
        if not needle:
            return
        text = self._shown.lower()
        if len(text) != len(self._shown):  # some capital letters have longer lower-case forms
            text = self._shown
        at = text.find(needle)
        while at >= 0:
            self._starts.append(at)
            at = text.find(needle, at + len(needle))
        if _ASTRAL.search(self._shown):
            self._starts = _in_utf16(self._shown, self._starts)

    def _go_to(self, index: int) -> None:
        self._current = index
        start = self._starts[index]
        if start + len(self._needle) < self.document().characterCount():
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            self.setTextCursor(cursor)
            self.ensureCursorVisible()
        self._mark_found()

    def _mark_found(self) -> None:
        marks: list[QTextEdit.ExtraSelection] = []
        if self._starts:
            first = self.firstVisibleBlock().position()
            line = max(1.0, QFontMetricsF(self.font()).height())
            block = self.document().findBlockByNumber(
                self.firstVisibleBlock().blockNumber() + int(self.viewport().height() / line) + 1
            )
            end = block.position() + block.length() if block.isValid() else self.document().characterCount()
            in_view = range(bisect_left(self._starts, first), bisect_left(self._starts, end))
            marks = [self._mark(index) for index in in_view]
        self.setExtraSelections(marks)

    def _mark(self, index: int) -> QTextEdit.ExtraSelection:
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        start = self._starts[index]
        last = self.document().characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(start + len(self._needle), last), QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        current = index == self._current
        look.setBackground(self._theme.colour("remedy" if current else "found"))
        if current:
            look.setForeground(QColor(self._theme.tokens.on_accent))
        mark.cursor, mark.format = cursor, look
        return mark

    def _on_theme_changed(self) -> None:
        if any(piece.heading is not None for piece in self._pieces):
            self._render()
        else:
            self._mark_found()

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        text = self.textCursor().selectedText().replace("\u2029", "\n")
        data.setText(text.replace(f"{_JOINER}\n", ""))
        return data

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self._press(self.cursorForPosition(event.position().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._press(self.textCursor()):
            return
        super().keyPressEvent(event)

    def _press(self, cursor: QTextCursor) -> bool:
        heading = cursor.block().userState()
        if heading >= 0:
            self.heading_pressed.emit(heading)
        return heading >= 0


def _in_utf16(text: str, starts: list[int]) -> list[int]:
    """Return positions as Qt counts them: characters outside the basic plane count as two."""
    counted: list[int] = []
    at, extra = 0, 0
    for start in starts:
        extra += len(_ASTRAL.findall(text, at, start))
        at = start
        counted.append(start + extra)
    return counted
