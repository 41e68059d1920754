"""Action: what is about to happen; the person can accept it, change it, ask again or skip it.

The same panel shows the outcome of the action of an old step, and lets a person answer in the LLM's place.
"""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QWidget

from core.debugger.live_page import Picked
from core.debugger.session_view import SessionView
from core.debugger.steps.views import ActionView, PersonQuestion, StepView
from core.schema.action_space import PermissibleRow
from gui.panels.action.form import ActionForm, same_action
from gui.panels.action.queue_list import QueueList
from gui.theme.theme import Theme
from gui.widgets.layouts import FlowLayout, in_column, in_row, reveal
from gui.widgets.origin import OriginMark
from gui.widgets.provenance_menu import WhyMenu
from gui.widgets.words import FittedText, NoteLabel, OrWords, labelled, set_flag, set_tone

OUTCOMES = {
    "none": ("", "dim"),
    "thinking": ("asking the LLM…", "dim"),
    "pending": ("not done yet", "dim"),
    "done": ("✓ done", "good"),
    "failed": ("✗ failed", "bad"),
    "skipped": ("skipped", "dim"),
}
"""The label and the tone of each outcome."""
_IDLE_MS = 400
"""Pause after a change before it is sent to the session."""
_MINIMUM_WIDTH = 276
"""At a smaller width the form's fields would be cut off at the right."""


def words_without_action(session: SessionView) -> str:
    """Return why there is no action to show, and what to do."""
    if session.run is None and session.mode != "opening":
        return (
            "No task is open. Choose one with Ctrl+N; the agent's next action shows here before it happens."
        )
    if session.mode == "failed" and session.phase is not None:
        return "The last phase failed, and the message under the page says why. F10 tries it again."
    if session.mode in ("ended", "failed"):
        return "The run has ended. Click a step in Runs & steps to see its action."
    return "No action yet. F10 asks for the next one and stops before it is carried out."


class ActionButtons(QWidget):
    """Accept, or answer in the LLM's place; point, ask again, skip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = FlowLayout(self)
        self._row.setContentsMargins(10, 6, 10, 8)
        self.accept = self._button(
            "Accept", "Carry out this action (Enter here, Ctrl+Enter anywhere)", "accent"
        )
        self.answer = self._button("Answer", "Answer instead of the LLM (Ctrl+Enter)", "person")
        self.point = self._button("Point…", "Point at an element in the page (F7)")
        self.point.setCheckable(True)
        self.again = self._button("Ask again", "Drop this and ask the LLM again (Ctrl+Shift+R)")
        self.skip = self._button("Skip", "Do nothing in this step (Ctrl+J)", "flat")

    def show_answering(self, answering: bool) -> None:
        """Offer an answer instead of accepting, asking again and skipping."""
        self.accept.setVisible(not answering)
        self.answer.setVisible(answering)
        self.again.setVisible(not answering)
        self.skip.setVisible(not answering)

    def allow(self, *, change: bool, accept: bool, answer: bool) -> None:
        """Enable what makes sense now; `change` is for everything that does not need a complete action."""
        self.accept.setEnabled(accept)
        self.answer.setEnabled(answer)
        for button in (self.point, self.again, self.skip):
            button.setEnabled(change)

    def _button(self, text: str, tooltip: str, look: str = "") -> QPushButton:
        button = labelled(QPushButton(text, self), text, tooltip)
        button.setAccessibleDescription(tooltip)
        if look:
            button.setProperty(look, True)
        self._row.addWidget(button)
        return button


class ActionPanel(QWidget):
    """Shows `ActionView` and asks the session for what the person wants to do with it.

    An edit is sent to the session a moment after the last change, and at the latest before the action is accepted.
    Then the panel waits until the session shows the edited action, so that a refused edit never lets the old action
    through.
    """

    edit_requested = Signal(str)
    accept_requested = Signal()
    skip_requested = Signal()
    queue_edited = Signal(tuple)
    ask_again_requested = Signal()
    answer_requested = Signal(str, str)
    """Thought and action."""
    pointing_requested = Signal(bool)
    why_requested = Signal(str)
    """Words of the thought or action to search for."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = ActionView()
        self._session = SessionView()
        self._question: PersonQuestion | None = None
        self._base = ""
        self._sent: set[str] = set()
        self._refused = ""
        self._then: Callable[[], None] | None = None
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._send_edit)
        self._build(theme)
        self._refresh()

    @property
    def answering(self) -> bool:
        """Whether the person is asked to answer in the LLM's place."""
        return self._question is not None or self._session.mode == "answering"

    @property
    def editable(self) -> bool:
        return self._view.editable or self.answering

    @property
    def acceptable(self) -> bool:
        """Whether the action can be accepted or the answer given. Not possible while the person has the page."""
        return self.editable and not self._session.handed_over

    @property
    def changed(self) -> bool:
        """Whether the action was changed here and the session does not show the change yet."""
        return self.editable and not same_action(self.form.text, self._base)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self.show_action(step.action)
        self.show_remarks(step.interventions, step.events)

    def show_action(self, view: ActionView) -> None:
        """Replace what is shown with `view`; text that the person is typing stays."""
        before, self._view = self._view, view
        draft = self.form.text
        changed = self.changed and before.editable
        self.form.proposed = view.action
        self.form.show_options(view.form, view.elements)
        if self.answering:
            self._base = ""
        elif not view.editable or not changed:
            self._settle_at(view.action)
        elif same_action(view.action, draft):
            self._settle_at(draft)
        elif same_action(view.action, self._base) or view.action in self._sent:
            self._base = view.action
        else:
            self._settle_at(view.action)
        if view.problem:
            self._refused = draft if changed else ""
            self._then = None
        elif not view.editable:
            self._then = None
        self._refresh()
        if view.problem:
            self.form.show_problem(view.problem)
        if self._then is not None and not self.changed:
            then, self._then = self._then, None
            then()

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        """Follow the session, which decides which commands are available."""
        self._session = view
        self._refresh()

    @Slot(object)
    def show_question(self, question: PersonQuestion | None) -> None:
        """Let the person answer `question`; None withdraws it."""
        if question is not None and question != self._question:
            self.form.show_text("")
            self.thought_edit.clear()
            self._base = ""
        self._question = question
        self._refresh()
        if question is not None:
            self.thought_edit.setFocus()

    @Slot(object)
    def show_row(self, row: PermissibleRow) -> None:
        """Replace the action by a row of the list; the first missing argument gets the focus."""
        if self.editable and self.form.show_row(row):
            self._send_edit()

    @Slot(object)
    def show_picked(self, picked: Picked) -> None:
        """Put the element that was clicked while pointing into the action."""
        if not self.editable or not picked.final or picked.ref is None or self.form.show_target(picked.ref):
            return
        if picked.action:
            self.form.show_text(picked.action)
            self._send_edit()
        else:
            self.form.show_problem(
                "This action has no target, and no other that is permissible acts on what you point at; "
                "choose one, or point again."
            )

    def show_remarks(self, interventions: tuple[str, ...], events: tuple[str, ...]) -> None:
        """Show what a person did in this step, and what else happened in the browser."""
        others = [event for event in events if event not in self._view.message]
        self.remarks.show_text("\n".join([*(f"◆ {intervention}" for intervention in interventions), *others]))

    @Slot(bool)
    def show_pointing(self, on: bool) -> None:
        self.buttons.point.setChecked(on)

    def accept(self) -> None:
        """Accept the action as shown here, or answer with it."""
        if self.answering:
            self._answer()
        elif self._view.editable and self.acceptable:
            self.settle(self.accept_requested.emit)

    def settle(self, then: Callable[[], None]) -> None:
        """Call `then` when the session has what was edited here; never if it refuses the edit."""
        if not self.changed or self.answering:
            then()
        elif self.form.problem:
            self.form.line.setFocus()
        else:
            self._then = then
            self._send_edit(again=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.editable:
            self.accept()
        else:
            super().keyPressEvent(event)

    def _build(self, theme: Theme) -> None:
        content = QWidget()
        self.origin = OriginMark(theme, "agent", content)
        self.outcome = QLabel(content)
        head = in_row(None, self.origin, 1, self.outcome)
        self.notice = NoteLabel("remedy", parent=content)
        self.told = FittedText("The agent's own step", lines=4, parent=content)
        set_tone(self.told, "dim")
        self.thought = FittedText("Thought", lines=6, parent=content)
        font = theme.text_font()
        font.setItalic(True)
        self.thought.setFont(font)
        self.streaming = labelled(QPlainTextEdit(content, readOnly=True), "What the LLM is saying")
        self.streaming.setFont(theme.machine_font())
        self.streaming.setMinimumHeight(80)
        self.thought_edit = labelled(QPlainTextEdit(content, tabChangesFocus=True), "Thought")
        self.thought_edit.setProperty("framed", True)
        self.thought_edit.setPlaceholderText("Your thought: why this action? (optional)")
        self.thought_edit.setFixedHeight(58)
        self.proposed = NoteLabel("dim", parent=content)
        self.form = ActionForm(theme, content)
        self.form.changed.connect(self._on_changed)
        self.form.problem_shown.connect(lambda: reveal(self.form.note))
        self.taken = NoteLabel("", parent=content)
        self.taken.setFont(theme.machine_font())
        self.message = NoteLabel("", parent=content)
        self.votes = NoteLabel("dim", parent=content)
        self.queue = QueueList(theme, content)
        self.queue.edited.connect(self.queue_edited)
        self.cut = NoteLabel("remedy", parent=content)
        self.remarks = NoteLabel("dim", parent=content)
        texts = (self.thought, self.thought_edit, self.streaming, self.taken, self.form.line, self.message)
        self.why = WhyMenu(texts, self)
        self.why.asked.connect(self.why_requested)
        thinking = (self.thought, self.thought_edit, self.streaming)
        acting = (
            self.taken,
            self.form,
            self.proposed,
            self.message,
            self.votes,
            self.queue,
            self.cut,
            self.remarks,
        )
        in_column(
            content, head, self.notice, self.told, *thinking, *acting, 1, margins=(10, 7, 10, 7), spacing=6
        )
        content.setMinimumWidth(_MINIMUM_WIDTH)
        self.or_words = OrWords(content, self)
        self.buttons = ActionButtons(self)
        self.buttons.accept.clicked.connect(self.accept)
        self.buttons.answer.clicked.connect(self.accept)
        self.buttons.point.clicked.connect(self.pointing_requested)
        self.buttons.again.clicked.connect(self.ask_again_requested)
        self.buttons.skip.clicked.connect(self.skip_requested)
        in_column(self, (self.or_words, 1), self.buttons, spacing=0)

    def _refresh(self) -> None:
        focus = self.focusWidget()
        focused = focus is not None and focus.hasFocus()
        self._show_all()
        if focused and not focus.isVisible():
            # The next widget in the focus chain would be a button of the dock.
            (self.buttons.accept if self.buttons.accept.isVisible() else self).setFocus()

    def _show_all(self) -> None:
        view, answering = self._view, self.answering
        thinking = view.outcome == "thinking" and not answering
        there = bool(view.action or view.thought or view.message or view.editable or thinking or answering)
        self.or_words.say("" if there else words_without_action(self._session))
        if thinking:
            self.origin.show_origin("agent", "the agent is thinking")
        elif answering:
            self.origin.show_origin("person", "you answer instead of the LLM")
        else:
            person = view.origin == "person" or (view.editable and self.changed)
            self.origin.show_origin("person" if person else view.origin)
        word, tone = OUTCOMES[view.outcome]
        over = view.outcome in ("done", "failed", "skipped")
        self.outcome.setText(word if over and not answering else "")
        set_tone(self.outcome, tone)
        self.notice.show_text(
            self._session.message if view.editable and self._session.mode == "waiting" else ""
        )
        self.told.show_text(view.told if not thinking else "")
        before = view.proposed or (self._base if view.editable and self.changed and not answering else "")
        replaced = bool(before) and view.origin == "person"  # The thought is the agent's, not the person's.
        self.thought.show_text(f"“{view.thought}”" if view.thought and not answering and not replaced else "")
        self.thought_edit.setVisible(answering)
        self.streaming.setVisible(thinking and bool(view.streaming))
        _follow_stream(self.streaming, view.streaming if thinking else "")
        self.form.setVisible(self.editable)
        set_flag(self.form, "next", self.editable)
        self.taken.show_text(view.action if view.action and not self.editable and not thinking else "")
        why = f", because “{view.thought}”" if view.thought and replaced else ""
        self.proposed.show_text(f"The agent had proposed: {before}{why}" if before else "")
        waiting = "Waiting for the first words of the LLM. F5 twice cancels the call." if thinking else ""
        self.message.show_text(view.message or (waiting if not view.streaming else ""))
        set_tone(self.message, "bad" if view.outcome == "failed" else "dim")
        self.votes.show_text("\n".join(view.votes) if not thinking else "")
        queue = view.queue if not thinking else ()
        self.queue.show_queue(queue, editable=view.editable and not answering, elements=view.elements)
        self.cut.show_text(view.cut if not thinking else "")
        self.buttons.setVisible(self.editable)
        self.buttons.show_answering(answering)
        self._enable_buttons()
        self.fact_changed.emit(
            "your answer" if answering else "asking the LLM…" if thinking else "" if over else word
        )

    def _enable_buttons(self) -> None:
        ready = bool(self.form.text.strip()) and not self.form.problem
        needs_action = self._question is None or self._question.needs_action
        self.buttons.allow(
            change=self.acceptable,
            accept=ready and self.acceptable,
            answer=ready or (not needs_action and not self.form.text.strip()),
        )

    def _settle_at(self, text: str) -> None:
        self._base = text
        self._sent.clear()
        self._refused = ""
        self._idle.stop()
        self.form.show_text(text)

    def _on_changed(self) -> None:
        self._then = None
        if not self.answering:
            self._idle.start()
        self._refresh()

    def _send_edit(self, *, again: bool = False) -> None:
        self._idle.stop()
        text = self.form.text
        if self.answering or not self.changed or self.form.problem or not text.strip():
            return
        if again or (text != self._refused and text not in self._sent):
            self._sent.add(text)
            self.edit_requested.emit(text)

    def _answer(self) -> None:
        if self.buttons.answer.isEnabled():
            self.answer_requested.emit(self.thought_edit.toPlainText().strip(), self.form.text.strip())
        else:
            self.form.line.setFocus()


def _follow_stream(edit: QPlainTextEdit, text: str) -> None:
    """Append the new part of a growing text, and keep its end in view."""
    shown = edit.toPlainText()
    if text == shown:
        return
    if not text.startswith(shown) or not shown:
        edit.setPlainText(text)
    else:
        cursor = edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        cursor.insertText(text[len(shown) :])
    edit.verticalScrollBar().setValue(edit.verticalScrollBar().maximum())
