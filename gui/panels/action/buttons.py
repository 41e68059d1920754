"""What can be done with the next action: a row of buttons, each with the key that does the same."""

from PySide6.QtWidgets import QPushButton, QWidget

from gui.widgets.layouts import FlowLayout


class ActionButtons(QWidget):
    """Accept, or answer in the LLM's place; point, ask again, skip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = FlowLayout(self)
        self._row.setContentsMargins(10, 6, 10, 8)
        self.accept = self._button("Accept", "Take this action (Enter here, Ctrl+Enter anywhere)")
        self.accept.setProperty("accent", True)
        self.answer = self._button("Answer", "Answer in the LLM's place (Ctrl+Enter)")
        self.answer.setProperty("person", True)
        self.point = self._button("Point…", "Point at an element in the page (F7)")
        self.point.setCheckable(True)
        self.again = self._button("Ask again", "Drop this and ask the LLM again (Ctrl+Shift+R)")
        self.skip = self._button("Skip", "Leave this step without an action (Ctrl+J)")
        self.skip.setProperty("flat", True)

    def show_answering(self, answering: bool) -> None:
        """Offer an answer in place of taking, asking again and skipping."""
        self.accept.setVisible(not answering)
        self.answer.setVisible(answering)
        self.again.setVisible(not answering)
        self.skip.setVisible(not answering)

    def allow(self, *, change: bool, accept: bool, answer: bool) -> None:
        """Enable what makes sense now; `change` is for all that does not need a whole action."""
        self.accept.setEnabled(accept)
        self.answer.setEnabled(answer)
        for button in (self.point, self.again, self.skip):
            button.setEnabled(change)

    def _button(self, text: str, tooltip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tooltip)
        button.setAccessibleName(text)
        button.setAccessibleDescription(tooltip)
        button.setAutoDefault(False)
        self._row.addWidget(button)
        return button
