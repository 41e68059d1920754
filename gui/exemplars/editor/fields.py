"""The current draft with its undo, and the fields that edit it; they leave undo to the window."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSignalBlocker,
    QStringListModel,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QCompleter, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from core.memory.editing.draft import EMPTY, DraftHistory
from core.memory.editing.faults import Fault, Where, place_of
from core.schema.exemplar import Draft
from gui.shell.undo import Done, Reversible, UndoHistory
from gui.theme.theme import Theme
from gui.widgets.formats import thousands
from gui.widgets.words import set_flag

_PAUSE_MS = 1500
"""After a pause of this length, further typing becomes a separate change."""
MOST = 200_000
"""Maximum number of characters that can be edited; a longer text is shown in part and kept unchanged."""
_LONGEST = 20_000
"""The same for one line."""
_SHOWN = 10_000


def faults_at(faults: Iterable[Fault], kind: str, number: int) -> list[tuple[Where, Fault]]:
    """Return what is wrong with one look, contrast or pair, each with its place."""
    placed = ((place_of(one.where), one) for one in faults)
    return [(place, one) for place, one in placed if (place.kind, place.number) == (kind, number)]


class Edits(QObject):
    """Holds the history; the only place that knows the draft. Each change is on the program's undo stack."""

    changed = Signal()
    """The draft has changed, by an edit, an undo or because something was opened."""

    def __init__(self, stack: UndoHistory, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stack = stack
        self._recorded: list[Reversible] = []
        """The changes of this draft that are on the stack."""
        self.history = DraftHistory.of(EMPTY)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.seal)

    @property
    def now(self) -> Draft:
        return self.history.now

    def begin(self, draft: Draft) -> None:
        """Start with this draft; nothing can be undone."""
        self.forget()
        self.history = DraftHistory.of(draft)
        self.changed.emit()

    def forget(self) -> None:
        """The draft is closed: its changes can no longer be undone."""
        self._stack.forget(self._recorded)
        self._recorded = []

    def do(self, name: str, draft: Draft, *, key: str = "") -> None:
        """Make a change; changes with the same `key`, such as letters in one field, are undone together."""
        before, after = self.history, self.history.done(name, draft, key=key)
        if key:
            self._pause.start()
        if after is before:
            return
        self.history = after
        if after.states[after.at - 1] is before.states[before.at]:  # Not merged with the previous change.
            change = Reversible(f"{name} (exemplar)", self._undo, self._redo)
            self._recorded.append(change)
            self._stack.record(change)
        self.changed.emit()

    def seal(self) -> None:
        """Make the next typed text a separate undo step."""
        self.history = self.history.sealed()

    def _undo(self, done: Done) -> None:
        self._go(self.history.undone())
        done("")

    def _redo(self, done: Done) -> None:
        self._go(self.history.redone())
        done("")

    def _go(self, history: DraftHistory) -> None:
        moved = history.at != self.history.at
        self.history = history
        if moved:
            self.changed.emit()


class LineMark(NamedTuple):
    """Lines that are marked, counted from 0."""

    line: int
    kind: str
    """``meant``: an action is on it. ``current``: the action with the cursor is. ``wrong``: it has an error."""


class EditorTextField(QPlainTextEdit):
    """A text of several lines."""

    edited = Signal(str)
    left = Signal()
    """The focus has moved elsewhere."""
    line_changed = Signal(int)
    """The cursor is on another line."""

    def __init__(
        self, theme: Theme, name: str, *, machine: bool = True, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._marks: tuple[LineMark, ...] = ()
        self._text = ""
        self._line = 0
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setFont(theme.machine_font() if machine else theme.text_font())
        self.document().setDocumentMargin(4)
        set_flag(self, "framed", True)
        self.textChanged.connect(self._on_text)
        self.cursorPositionChanged.connect(self._on_cursor)
        theme.changed.connect(self._draw_marks)

    @property
    def line(self) -> int:
        """The line of the cursor, from 0."""
        return self.textCursor().blockNumber()

    def show_text(self, text: str) -> None:
        """Replace the text without emitting a change; the same text leaves the cursor where it is."""
        if text == self._text:
            return
        self._text = text
        long = len(text) > MOST or max(map(len, text.split("\n"))) > _LONGEST
        self.setReadOnly(long)
        rest = f"\n… {thousands(len(text) - _SHOWN)} more characters: too long to edit here, kept as it is"
        at = self.textCursor().position()
        with QSignalBlocker(self):
            self.setPlainText(text[:_SHOWN] + rest if long else text)
        cursor = self.textCursor()
        cursor.setPosition(min(at, self.document().characterCount() - 1))
        self.setTextCursor(cursor)
        self._draw_marks()

    def mark(self, marks: Iterable[LineMark]) -> None:
        """Mark these lines instead of the previous ones."""
        if self._marks != (marks := tuple(marks)):
            self._marks = marks
            self._draw_marks()

    def go_to_line(self, line: int) -> None:
        """Move the cursor to the end of this line and show it."""
        block = self.document().findBlockByNumber(line)
        if block.isValid():
            cursor = QTextCursor(block)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
            self.setTextCursor(cursor)
            self.ensureCursorVisible()

    def event(self, event: QEvent) -> bool:
        if _is_undo(event):
            event.ignore()
            return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()

    def _on_text(self) -> None:
        # The raw text, because the plain one has normal spaces instead of no-break spaces.
        text = self.document().toRawText().replace("\u2029", "\n")
        if text != self._text and not self.isReadOnly():
            self._text = text
            self.edited.emit(text)

    def _on_cursor(self) -> None:
        if self.line != self._line:
            self._line = self.line
            self.line_changed.emit(self._line)

    def _draw_marks(self) -> None:
        drawn: list[QTextEdit.ExtraSelection] = []
        for mark in self._marks:
            block = self.document().findBlockByNumber(mark.line)
            if not block.isValid():
                continue
            look = QTextCharFormat()
            cursor = QTextCursor(block)
            if mark.kind == "wrong":
                cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
                look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
                look.setUnderlineColor(self._theme.colour("bad"))
            else:
                look.setBackground(self._theme.colour("selected" if mark.kind == "current" else "found"))
                look.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
            selection = QTextEdit.ExtraSelection()
            selection.cursor, selection.format = cursor, look
            drawn.append(selection)
        self.setExtraSelections(drawn)


class LineField(QLineEdit):
    """One line with completion from existing words."""

    edited = Signal(str)
    left = Signal()

    def __init__(
        self, name: str, placeholder: str = "", *, several: bool = False, parent: QWidget | None = None
    ) -> None:
        """With `several`, each of the comma-separated words is completed separately."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self._words = QStringListModel(self)
        completer = _Last(self) if several else QCompleter(self)
        completer.setModel(self._words)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(self._on_completed)
        self.setCompleter(completer)
        self.textEdited.connect(self.edited)

    def offer(self, words: Sequence[str]) -> None:
        self._words.setStringList(list(words))

    def show_text(self, text: str) -> None:
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)

    def event(self, event: QEvent) -> bool:
        if _is_undo(event):
            event.ignore()
            return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()

    def _on_completed(self, text: str) -> None:
        self.setText(text)
        self.edited.emit(text)


class _Last(QCompleter):
    """Completes the text after the last comma."""

    def splitPath(self, path: str) -> list[str]:
        return [path.rpartition(",")[2].strip()]

    def pathFromIndex(self, index: QModelIndex | QPersistentModelIndex) -> str:
        widget = self.widget()
        before = widget.text().rpartition(",")[0] if isinstance(widget, QLineEdit) else ""
        found = str(index.data())
        return f"{before.strip()}, {found}" if before.strip() else found


def _is_undo(event: QEvent) -> bool:
    """Whether it is the key for undo or redo. A field's own undo would only take back what was typed in it."""
    return isinstance(event, QKeyEvent) and (
        event.matches(QKeySequence.StandardKey.Undo) or event.matches(QKeySequence.StandardKey.Redo)
    )
