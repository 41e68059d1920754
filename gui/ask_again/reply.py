"""A reply to an attached agent, to edit before its run continues with it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from core.debugger.interventions.held_texts import reply_with_text
from core.schema.errors import UsageError
from core.schema.messages import LLMReply
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import NoteLabel, Paragraph, labelled

_WORDS = (
    "The agent's program restarts and gets the recorded replies. At step {step} of run {run} it gets this "
    "reply, and from then on the LLM answers."
)
_GO_ON = "Go back to the step on a branch, with this reply"


class ReplyDialog(QDialog):
    """Edits a reply; emits it when it is valid."""

    go_on_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Go on with a reply")
        self.words = Paragraph("", self)
        self.text = labelled(QPlainTextEdit(self), "The reply")
        self.text.setFont(theme.machine_font())
        self.problem = NoteLabel("bad", parent=self)
        self.cancel_button = key_button("Cancel", "Close without a branch", "Esc", self.reject, self)
        self.go_on_button = key_button(
            "Go on from here", _GO_ON, "Ctrl+Return", self._on_go_on, self, accent=True
        )
        foot = in_row(None, 1, self.cancel_button, self.go_on_button, spacing=8)
        in_column(self, self.words, (self.text, 1), self.problem, foot, margins=(14, 12, 14, 12), spacing=8)
        theme.size_window(self, 640, 420)

    def offer(self, run: int, step: int, text: str) -> None:
        """Show a reply to the question of this step."""
        self.words.setText(_WORDS.format(run=run, step=step))
        self.text.setPlainText(text)
        self.problem.show_text("")

    def _on_go_on(self) -> None:
        text = self.text.toPlainText()
        try:
            reply_with_text(LLMReply(), text)
        except UsageError as error:
            self.problem.show_text(str(error))
            return
        self.go_on_requested.emit(text)
        self.accept()
