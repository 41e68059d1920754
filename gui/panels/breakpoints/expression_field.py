"""A field for an expression of a breakpoint or a watch, with colours and completion."""

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from core.debugger.breakpoints.names import completions
from gui.theme.theme import Theme
from gui.widgets.code_colours import CodeColours
from gui.widgets.completion import ENTER, CompletionList
from gui.widgets.words import set_flag

_AROUND = 13
"""Height of border and padding."""


class ExpressionField(QPlainTextEdit):
    """One line. Completes names while typing and lists all that fit for Ctrl+Space; Enter or Tab accepts one.

    With `completing` off it is a plain field.
    """

    entered = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFont(theme.machine_font())
        set_flag(self, "framed", True)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        for set_policy in (self.setVerticalScrollBarPolicy, self.setHorizontalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setViewportMargins(0, 2, 0, 0)
        CodeColours(self.document(), theme, "python")
        self.names = CompletionList(theme, self)
        self.completing = True
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        return self.toPlainText()

    def setText(self, text: str) -> None:
        self.setPlainText(" ".join(text.splitlines()))
        self.moveCursor(QTextCursor.MoveOperation.End)

    def offer(self, *, asked: bool = True) -> None:
        """Offer what may follow at the cursor."""
        before = self.text()[: self.textCursor().position()]
        begun = asked or before[-1:] in (".", "_") or before[-1:].isalnum()
        found = completions(self.text(), len(before)) if self.completing and begun else ()
        self.names.offer(found)

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().lineSpacing() + _AROUND)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Space and control:
            self.offer()
        elif event.key() in ENTER:
            self.entered.emit()
            event.ignore()  # The dialog presses its default button.
        else:
            before = self.text()
            super().keyPressEvent(event)
            if self.text() != before:
                self.offer(asked=False)

    def insertFromMimeData(self, source: QMimeData) -> None:
        self.insertPlainText(" ".join(source.text().splitlines()))
