"""The editor of texts: line numbers, colours, completion, find and replace, and problems in the margin.

It keeps the line ends and no-break spaces of what was read, and what can be undone in each text.
"""

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextDocumentLayout, QPlainTextEdit, QTextEdit, QWidget

from core.debugger.editing.words import Word, fitting
from core.exemplars.editing.reading import TextProblem
from core.schema.formats import count
from gui.theme.theme import Theme
from gui.widgets.code_colours import CodeColours
from gui.widgets.completion import CompletionList
from gui.widgets.lined_text import LinedText, LineSign, in_utf16
from gui.widgets.replace_bar import ReplaceBar

_IDLE_MS = 200
_SIGNS = {"stops": LineSign("bad", "!"), "fault": LineSign("remedy", "!"), "note": LineSign("dim", "·")}
"""By the level of a problem, the worst first."""


@dataclass
class _Kept:
    """A text with its draft and what can be undone in it."""

    document: QTextDocument
    read: str = ""
    """The text as it was read, with which the draft began."""
    shown: str = ""
    """The same as the field shows it."""
    line_end: str = "\n"


class CodeEditor(LinedText):
    """Holds a text as it was read and as it is edited.

    Ctrl+F finds and Ctrl+H replaces, from anywhere in its window. Ctrl+Space completes.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "", parent, margin="numbers")
        self._texts: dict[str, _Kept] = {}
        self.words: tuple[Word, ...] = ()
        """What can be completed."""
        self._problems: list[tuple[int, int]] = []
        """Line and column of each, from 1."""
        self._marked = QTextCursor()
        self._mark_colour = QColor()
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self._language = "text"
        self._show(self._open(""))
        self.names = CompletionList(theme, self)
        self.finder = ReplaceBar(theme, self)
        self.finder.replace_wanted.connect(self.replace_match)
        self.finder.replace_all_wanted.connect(self.replace_all)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._find_again)
        self.textChanged.connect(self._on_text_changed)
        QShortcut(QKeySequence.StandardKey.Find, self, self.open_finder)
        QShortcut("Ctrl+H", self, lambda: self.open_finder(replaces=True))
        QShortcut("F8", self, lambda: self.go_to_problem(1))
        QShortcut("Shift+F8", self, lambda: self.go_to_problem(-1))
        own = Qt.ShortcutContext.WidgetWithChildrenShortcut
        self._escape = QShortcut("Esc", self, self.close_finder, context=own, enabled=False)

    @property
    def text(self) -> str:
        """The text with its original line ends; exactly the original text if nothing was typed."""
        raw = self.document().toRawText()  # toPlainText would replace no-break spaces by spaces.
        kept = self._text
        return kept.read if raw == kept.shown else raw.replace("\u2029", kept.line_end)

    @property
    def edited(self) -> bool:
        """Whether something was typed since the text was read."""
        return self.text != self._text.read

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

    def begin(self, text: str, *, name: str = "", language: str = "text", keep_draft: bool = False) -> bool:
        """Show a text that was read. Nothing is emitted.

        What was done before in a text of the same name can be undone. With `keep_draft`, what was typed in it
        stays instead of the text; returns whether there was something. Without a name, the cursor is at the beginning
        and nothing can be undone.
        """
        with QSignalBlocker(self):
            is_new = not name or name not in self._texts
            self._language = language
            self._show(self._open(name) if is_new else self._texts[name])
            self._marked = QTextCursor()
            self.names.offer(())
            has_draft = not is_new and keep_draft and self.edited and self.text != text
            self.count_from(text)
            if is_new:
                self.setPlainText(text)
            elif not has_draft:
                self.revert()
        self._place_margin()
        self._find_again()
        return has_draft

    def count_from(self, text: str) -> None:
        """Use this text as the original, against which edits are detected."""
        document = QTextDocument()
        document.setPlainText(text)
        lines = text.count("\n")
        self._text.read, self._text.shown = text, document.toRawText()
        self._text.line_end = "\r\n" if lines and text.count("\r\n") == lines else "\n"

    def revert(self) -> None:
        """Put the text that was read in place of the draft, as one edit that can be undone."""
        self.put(self._text.shown.replace("\u2029", "\n"))

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

    def show_problems(self, problems: Collection[TextProblem]) -> None:
        """Mark the lines of these problems, each with its sentences as its tooltip."""
        signs: dict[int, LineSign] = {}
        order = tuple(_SIGNS)
        for problem in sorted(problems, key=lambda problem: order.index(problem.level)):
            before = signs.get(problem.line - 1, _SIGNS[problem.level])
            words = "\n".join(filter(None, (before.words, problem.text)))
            signs[problem.line - 1] = before._replace(words=words)
        self._problems = sorted((problem.line, problem.column) for problem in problems)
        self.show_signs(signs)

    def go_to_problem(self, offset: int) -> None:
        """Go to the next or the previous problem, and from the last to the first."""
        cursor = self.textCursor()
        here = (cursor.blockNumber() + 1, cursor.positionInBlock() + 1)
        others = [place for place in self._problems if (place > here if offset > 0 else place < here)]
        if self._problems:
            self.go_to_line(*((others or self._problems)[0 if offset > 0 else -1]))
            self.setFocus()

    # Find and replace

    def search(self, needle: str, start: int | None = None) -> int:
        """Find from the cursor on, unless a `start` is given."""
        return super().search(needle, self.textCursor().selectionStart() if start is None else start)

    def open_finder(self, *, replaces: bool = False) -> None:
        """Show the search field, with the selected words in it, and with `replaces` that for what replaces them.

        Escape closes it, and not the window.
        """
        words = self.textCursor().selectedText()
        self.finder.open(replaces=replaces)
        self._escape.setEnabled(True)
        self._place_finder()
        if words and "\u2029" not in words:
            self.finder.finder.show_needle(words)
        else:
            self._find_again()
        self.finder.field.reach()

    def close_finder(self) -> None:
        self.finder.hide()
        self._escape.setEnabled(False)
        self._place_finder()
        super().search("")
        self.setFocus()

    def replace_match(self) -> None:
        """Replace the match at the cursor, and go to the next."""
        self.finder.refresh()
        if self.found:
            cursor = self._match(self.found_index)
            cursor.insertText(self.finder.other.text())
            self.setTextCursor(cursor)
            self.finder.refresh()

    def replace_all(self) -> None:
        """Replace all matches, as one edit that can be undone."""
        self.finder.refresh()
        marks = [self._match(index) for index in range(self.found)]
        if marks:
            edit = QTextCursor(self.document())
            edit.beginEditBlock()
            for mark in marks:
                mark.insertText(self.finder.other.text())
            edit.endEditBlock()
            self.finder.refresh()
            self._idle.stop()
            self.finder.counted.setText(f"{count(len(marks), 'match', 'matches')} replaced")

    # Keys

    def offer(self, *, asked: bool = True) -> None:
        """Offer the words that may come at the cursor."""
        before = self.searched[: self.selected[0]] if self.words else ""
        self.names.offer(fitting(self.words, self._language, before, asked=asked))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier & ~Qt.KeyboardModifier.KeypadModifier
        if event.matches(QKeySequence.StandardKey.InsertLineSeparator):
            self.textCursor().insertBlock()  # Qt would insert a character that looks like a line break and is none.
            self.ensureCursorVisible()
        elif event.key() == Qt.Key.Key_Space and control == Qt.KeyboardModifier.ControlModifier:
            self.offer()
        else:
            revision = self.document().revision()
            super().keyPressEvent(event)
            typed = self.document().revision() != revision and not control
            if typed and (event.text().isprintable() or self.names.popup.isVisible()):
                self.offer(asked=False)
            elif not typed:
                self.names.popup.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.finder.isVisible():
            self._place_finder()

    # Display

    def _open(self, name: str) -> _Kept:
        """Return an empty text in place of the one of this name."""
        document = QTextDocument(self)
        document.setDocumentLayout(QPlainTextDocumentLayout(document))
        document.setDocumentMargin(8)
        if name in self._texts:
            self._texts[name].document.deleteLater()
        CodeColours(document, self._theme, self._language)
        kept = self._texts[name] = _Kept(document)
        return kept

    def _show(self, kept: _Kept) -> None:
        self._text, document = kept, kept.document
        if document != self.document():
            document.setDefaultFont(self.font())
            self.setDocument(document)
            self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))

    def _other_marks(self) -> list[QTextEdit.ExtraSelection]:
        if self._marked.isNull():
            return []
        mark = QTextEdit.ExtraSelection()
        mark.format.setBackground(self._mark_colour)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = self._marked
        return [mark]

    def _place_finder(self) -> None:
        inside = self.contentsRect()
        height = self.finder.sizeHint().height()
        self.finder.setGeometry(inside.left(), inside.top(), inside.width(), height)
        self._room_above = 0 if self.finder.isHidden() else height
        self._place_margin()

    def _on_text_changed(self) -> None:
        if self.finder.isVisible():
            self._idle.start()

    def _find_again(self) -> None:
        """Find the words again in the edited text; the cursor stays where the person types."""
        cursor = self.textCursor()
        if self.finder.isVisible():
            self.finder.refresh()
        self.setTextCursor(cursor)
