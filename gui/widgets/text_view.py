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
    QKeyEvent,
    QMouseEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextDocumentLayout, QWidget

from gui.theme.theme import Theme
from gui.widgets.lined_text import LinedText, in_utf16

_SLICE = 16_000
"""Characters inserted between two rounds of the event loop: a few milliseconds."""
_LONGEST = 1_000
_JOINER = "\u2060"
_LONG_LINE = re.compile(f"[^\n]{{{_LONGEST}}}(?=[^\n])")


@dataclass(frozen=True)
class Piece:
    """A part of the text; a heading is on its own line and can be clicked."""

    text: str
    heading: int | None = None
    """The id of the heading, as sent by `TextView.heading_pressed`; None for plain text."""


class TextView(LinedText):
    """Shows text in the monospace font, finds in it and copies from it."""

    heading_pressed = Signal(int)
    filled = Signal()
    """All of the text is inserted."""

    def __init__(
        self, theme: Theme, name: str, parent: QWidget | None = None, *, signs: bool = False
    ) -> None:
        """With `signs`, there is a margin for signs of lines; one of more than 1000 characters is several lines."""
        super().__init__(theme, name, parent, margin="signs" if signs else "none")
        self._pieces: tuple[Piece, ...] = ()
        self._shown = ""
        self._source = ""
        self._unwritten: list[tuple[str, int | None]] = []
        self._document: QTextDocument | None = None
        self._wanted: int | None = None
        self._places: dict[int, int] = {}
        """The beginning of each heading, in Qt's positions."""
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._fill)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
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
    def searched(self) -> str:
        return self._shown

    @property
    def complete(self) -> bool:
        return not self._unwritten

    def show_text(self, text: str) -> None:
        """Replace the text; if it is the same text, position and selection stay."""
        self.show_pieces((Piece(text),))

    def show_pieces(self, pieces: Sequence[Piece]) -> None:
        """Replace the text by these parts, each beginning on its own line."""
        if (pieces := tuple(pieces)) != self._pieces:
            self._pieces = pieces
            self._source = "\n".join(piece.text for piece in pieces)
            self._render()

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
        counted = in_utf16(self._shown, starts)
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

    def _on_theme_changed(self) -> None:
        if any(piece.heading is not None for piece in self._pieces):
            self._render()

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
