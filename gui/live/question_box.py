"""The box that shows a page's question over the page: who asks, the question, and the answer buttons."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from core.browser.floods import shortened
from core.schema.formats import as_read
from gui.live.questions import Answer, PageQuestion, PageQuestions
from gui.widgets.keys import takes_key
from gui.widgets.layouts import in_row
from gui.widgets.words import Paragraph, labelled, set_flag

_WIDTH = 420
_MARGIN = 24
_LONGEST = 1200
"""Maximum number of characters of a page's text."""
_DIM = QColor(0, 0, 0, 70)
_BUTTONS = {
    "alert": ("OK", ""),
    "confirm": ("OK", "Cancel"),
    "prompt": ("OK", "Cancel"),
    "leave": ("Leave", "Stay"),
    "sign-in": ("Sign in", "Cancel"),
    "permission": ("Allow", "Refuse"),
}
_TITLES = {
    "alert": "{} says",
    "confirm": "{} asks",
    "prompt": "{} asks",
    "leave": "Leave {}?",
    "sign-in": "Sign in to {}",
    "permission": "{} asks for permission",
}


class QuestionBox(QWidget):
    """Covers and dims the page, and takes its mouse and keyboard input while a question is open."""

    def __init__(self, questions: PageQuestions, over: QWidget) -> None:
        super().__init__(over.parentWidget())
        self._questions = questions
        self._over = over
        self._shown: PageQuestion | None = None
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.box = QFrame(self)
        self.box.setProperty("question", True)
        self.title = QLabel(self.box)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setWordWrap(True)
        self.text = Paragraph("", self.box)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.field = QLineEdit(self.box)
        self.password = labelled(QLineEdit(self.box), "Password")
        self.password.setPlaceholderText("Password")
        self.password.setEchoMode(QLineEdit.EchoMode.Password)
        self.ok_button = QPushButton(self.box, autoDefault=False)
        set_flag(self.ok_button, "accent", True)
        self.ok_button.setToolTip("Answer the page (Enter)")
        self.cancel_button = QPushButton(self.box, autoDefault=False)
        self.cancel_button.setToolTip("Answer the page (Esc)")
        self.ok_button.clicked.connect(lambda: self._answer(True))
        self.cancel_button.clicked.connect(lambda: self._answer(False))
        for widget in (self.field, self.password, self.ok_button, self.cancel_button):
            widget.installEventFilter(self)
        buttons = in_row(None, 1, self.cancel_button, self.ok_button, spacing=8)
        column = QVBoxLayout(self.box)
        column.setContentsMargins(18, 14, 18, 14)
        column.setSpacing(10)
        for content in (self.title, self.text, self.field, self.password):
            column.addWidget(content)
        column.addLayout(buttons)
        over.installEventFilter(self)
        questions.changed.connect(self._show)
        self.hide()

    def _show(self) -> None:
        question = self._questions.current
        if question is self._shown:
            return
        self._shown = question
        self.setVisible(question is not None)
        for field in (self.field, self.password):
            field.clear()
        if question is None:
            self._over.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.title.setText(_TITLES[question.kind].format(question.origin))
        self.text.setText(as_read(shortened(question.text, _LONGEST)))
        self.text.setVisible(bool(question.text))
        self.field.setVisible(question.kind in ("prompt", "sign-in"))
        self.field.setPlaceholderText("User name" if question.kind == "sign-in" else "")
        self.field.setAccessibleName("User name" if question.kind == "sign-in" else question.text)
        self.field.setText(question.default)
        self.field.selectAll()
        self.password.setVisible(question.kind == "sign-in")
        ok, cancel = _BUTTONS[question.kind]
        self.ok_button.setText(ok)
        self.cancel_button.setText(cancel)
        self.cancel_button.setVisible(bool(cancel))
        self.box.setAccessibleName(f"{self.title.text()}: {self.text.text()}")
        self._lie_over()
        self.raise_()
        first = self.ok_button if self.field.isHidden() else self.field
        first.setFocus(Qt.FocusReason.PopupFocusReason)

    def _lie_over(self) -> None:
        self.setGeometry(self._over.geometry())
        width = max(min(_WIDTH, self.width() - 2 * _MARGIN), 200)
        self.box.setFixedWidth(width)
        layout = self.box.layout()
        assert layout is not None
        height = (
            layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.sizeHint().height()
        )
        self.box.resize(
            width, min(max(height, layout.sizeHint().height()), max(self.height() - _MARGIN, 120))
        )
        self.box.move((self.width() - width) // 2, min(_MARGIN, max(self.height() - self.box.height(), 0)))

    def _answer(self, accepted: bool) -> None:
        if self._shown is None:
            return
        answer = Answer(accepted, self.field.text(), self.password.text())
        self.password.clear()
        self._questions.answer(answer)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._over:
            if event.type() in (QEvent.Type.Resize, QEvent.Type.Move) and self._shown is not None:
                self._lie_over()
            return False
        if isinstance(event, QKeyEvent) and self._shown is not None:
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            # While a page asks, Esc and Enter do not reach the window.
            answers = enter or event.key() == Qt.Key.Key_Escape
            if answers and takes_key(event, lambda: self._on_key(watched, enter)):
                return True
        return super().eventFilter(watched, event)

    def _on_key(self, watched: QObject, enter: bool) -> None:
        if enter and watched is self.field and not self.password.isHidden():
            self.password.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            # An alert has only one answer.
            self._answer((enter and watched is not self.cancel_button) or self.cancel_button.isHidden())

    def focusNextPrevChild(self, next: bool) -> bool:
        # The keyboard focus stays in the box until it is answered.
        fields = (self.field, self.password, self.cancel_button, self.ok_button)
        shown = [field for field in fields if not field.isHidden()]
        focus = self.window().focusWidget()
        at = shown.index(focus) if focus in shown else -1
        shown[(at + (1 if next else -1)) % len(shown)].setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def mousePressEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), _DIM)
        painter.end()
