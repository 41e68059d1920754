"""The editor of texts: line numbers, marked lines, find, and the line ends and no-break spaces of what was read."""

import re
from bisect import bisect_left

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QPalette,
    QResizeEvent,
    QShortcut,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from gui.theme.theme import Theme
from gui.widgets.lined_text import LinedText, LineSign, in_utf16
from gui.widgets.search import Finder

_IDLE_MS = 200


class CodeEditor(LinedText):
    """Holds a text as it was read and as it is edited. Ctrl+F finds in it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "", parent, margin="numbers")
        self._read = self._shown = ""
        """The text as it was read, with which the draft began, and as the field shows it."""
        self._line_end = "\n"
        self._marked = QTextCursor()
        self._mark_colour = QColor()
        self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.finder = Finder(theme, "Find", (self,), self)
        self.finder.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.finder.setAutoFillBackground(True)
        self.finder.setContentsMargins(8, 4, 8, 4)
        self.finder.field.installEventFilter(self)
        self.finder.hide()
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._find_again)
        self.textChanged.connect(self._on_text_changed)
        keys = QShortcut(QKeySequence.StandardKey.Find, self)
        keys.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        keys.activated.connect(self.open_finder)

    @property
    def text(self) -> str:
        """The text with its original line ends; exactly the original text if nothing was typed."""
        raw = self.document().toRawText()  # toPlainText would replace no-break spaces by spaces.
        return self._read if raw == self._shown else raw.replace("\u2029", self._line_end)

    @property
    def edited(self) -> bool:
        """Whether something was typed since the text was read."""
        return self.text != self._read

    @property
    def place(self) -> str:
        """The cursor position as text."""
        cursor = self.textCursor()
        return f"line {cursor.blockNumber() + 1}, column {cursor.positionInBlock() + 1}"

    @property
    def selected(self) -> tuple[int, int]:
        """Where the selection begins and ends in `searched`; twice the cursor's position if nothing is selected."""
        cursor, units = self.textCursor(), self.searched.encode("utf-16-le", "surrogatepass")
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        before, inside = units[: 2 * start], units[2 * start : 2 * end]
        counts = [len(part.decode("utf-16-le", "replace")) for part in (before, inside)]
        return counts[0], sum(counts)

    def begin(self, text: str, *, draft: str | None = None) -> None:
        """Show a text that was read, or a draft of it, with the cursor at its beginning. Nothing is emitted."""
        self.blockSignals(True)
        self.setPlainText(text if draft is None else draft)
        self.blockSignals(False)
        self._place_margin()
        self.count_from(text)

    def count_from(self, text: str) -> None:
        """Use this text as the original, against which edits are detected."""
        document = QTextDocument()
        document.setPlainText(text)
        self._read, self._shown = text, document.toRawText()
        lines = text.count("\n")
        self._line_end = "\r\n" if lines and text.count("\r\n") == lines else "\n"

    def put(self, text: str, at: int | None = None) -> None:
        """Put another text in place of this one, as one edit that can be undone, with the cursor at `at`."""
        old = self.searched
        shorter = min(len(old), len(text))
        same = bisect_left(range(shorter), True, key=lambda at: old[: at + 1] != text[: at + 1])
        tail = bisect_left(range(shorter - same), True, key=lambda at: old[-at - 1 :] != text[-at - 1 :])
        cursor = QTextCursor(self.document())
        start, end = in_utf16(old, [same, len(old) - tail])
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[same : len(text) - tail])
        if at is not None:
            self.go_to(in_utf16(text, [at])[0])
            self.ensureCursorVisible()

    def go_to(self, position: int) -> None:
        """Move the cursor to a position, as Qt counts."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self.setTextCursor(cursor)

    def go_to_line(self, line: int, column: int = 1) -> None:
        """Move the cursor to a place in a line, both from 1, and show it in the middle."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            before = in_utf16(block.text(), [min(column - 1, len(block.text()))])[0]
            self.go_to(block.position() + min(before, block.length() - 1))
            self.centerCursor()

    def mark_line(self, line: int, colour: QColor) -> None:
        """Highlight a line, from 1, in its full width; 0 highlights none. The highlight moves with its text."""
        block = self.document().findBlockByNumber(line - 1)
        self._marked = QTextCursor(block) if line and block.isValid() else QTextCursor()
        self._mark_colour = colour
        self._mark_found()

    def mark_problem(self, sentence: str) -> None:
        """Mark the line that a sentence about the text names, with the sentence as its tooltip; or none."""
        found = re.search(r"\bline (\d+)", sentence, re.IGNORECASE)
        self.show_signs({int(found[1]) - 1: LineSign("bad", "!", sentence)} if found else {})

    def open_finder(self) -> None:
        """Show the search field, with the selected words in it."""
        words = self.textCursor().selectedText()
        self.finder.show()
        self._place_finder()
        if words and "\u2029" not in words:
            self.finder.show_needle(words)
        self.finder.focus_search()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.InsertLineSeparator):
            self.textCursor().insertBlock()  # Qt would insert a character that looks like a line break and is none.
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_finder()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let Escape in the search field close it, and not the window."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.finder.hide()
                self.search("")
                self.setFocus()
                return True
        return super().eventFilter(watched, event)

    def _other_marks(self) -> list[QTextEdit.ExtraSelection]:
        if self._marked.isNull():
            return []
        mark = QTextEdit.ExtraSelection()
        mark.format.setBackground(self._mark_colour)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = self._marked
        return [mark]

    def _place_finder(self) -> None:
        self.finder.adjustSize()
        inside = self.viewport().geometry()
        self.finder.move(inside.right() - self.finder.width() - 6, inside.top() + 6)

    def _on_text_changed(self) -> None:
        if self.finder.isVisible():
            self._idle.start()

    def _find_again(self) -> None:
        """Find the words again in the edited text; the cursor stays where the person types."""
        cursor = self.textCursor()
        self.finder.refresh()
        self.setTextCursor(cursor)
