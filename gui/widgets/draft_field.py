"""A text editor that preserves the line ends and no-break spaces of the text that was read."""

from PySide6.QtGui import QColor, QFontMetricsF, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from gui.theme.theme import Theme


class DraftField(QPlainTextEdit):
    """Holds a text as it was read and as it is edited."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._read = self._shown = ""
        """The text as it was read, with which the draft began, and as the field shows it."""
        self._line_end = "\n"
        self.setFont(theme.machine_font())
        self.document().setDocumentMargin(8)
        self.setTabChangesFocus(True)
        self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)

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

    def begin(self, text: str, *, draft: str | None = None) -> None:
        """Show a text that was read, or a draft of it, with the cursor at its beginning. Nothing is emitted."""
        self.blockSignals(True)
        self.setPlainText(text if draft is None else draft)
        self.blockSignals(False)
        self.count_from(text)

    def count_from(self, text: str) -> None:
        """Use this text as the original, against which edits are detected."""
        document = QTextDocument()
        document.setPlainText(text)
        self._read, self._shown = text, document.toRawText()
        lines = text.count("\n")
        self._line_end = "\r\n" if lines and text.count("\r\n") == lines else "\n"

    def go_to(self, position: int) -> None:
        """Move the cursor to a position."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self.setTextCursor(cursor)

    def go_to_line(self, line: int) -> None:
        """Move the cursor to the beginning of a line, from 1, and show it in the middle."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            self.go_to(block.position())
            self.centerCursor()

    def mark_line(self, line: int, colour: QColor) -> None:
        """Highlight a line, from 1, in its full width; 0 highlights none. The highlight moves with its text."""
        block = self.document().findBlockByNumber(line - 1)
        mark = QTextEdit.ExtraSelection()
        mark.format.setBackground(colour)
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        mark.cursor = QTextCursor(block)
        self.setExtraSelections([mark] if line and block.isValid() else [])
