"""Ask again: edit the prompt of a step, ask several times, and compare the proposed actions."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QDialog, QDoubleSpinBox, QLabel, QPlainTextEdit, QSpinBox, QWidget

from core.debugger.ask_again.views import AskView, Question, WhatIf
from core.debugger.interventions.held_texts import reply_with_text
from core.schema.errors import UsageError
from core.schema.formats import count
from core.schema.messages import LLMChoice, LLMReply
from gui.ask_again.answers import AnswersPane, question_row
from gui.ask_again.items import PromptItems
from gui.ask_again.messages import MessagesEditor
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box, offer_choices
from gui.widgets.layouts import Section, in_column, in_row, on_panel, scrolled, splitter
from gui.widgets.rows import Rows
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, Paragraph, labelled, set_flag, set_tone

_WORDS = (
    "The agent's program restarts and gets the recorded replies. At step {step} of run {run} it gets this "
    "reply, and from then on the LLM answers."
)
_WITH_REPLY = "Go back to the step on a branch, with this reply"


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
            "Go on from here", _WITH_REPLY, "Ctrl+Return", self._on_go_on, self, accent=True
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


_MOST_TIMES = 100
_WARMEST = 5.0
_STEP = 0.1
_COLDEST_SHOWN = -_STEP
"""Stands for the recorded temperature."""
_IDLE_MS = 60
_READING = "Reading the prompt of the step…"
_NOT_ASKED = (
    "This step's question has not been asked again yet. Edit the messages on the left, or leave them as they are, "
    "and press Ask (Ctrl+Enter). The proposed actions are counted here."
)
_BY_DATA = (
    "The built-in LLM uses the recorded page and task, not the text, so your edits do not change its answer."
)
_CREDIT = "Ask with all exemplars, then without each one, to see how much each makes the action more likely"
_GO_ON = "Edit the chosen or recorded reply, and continue from this step with it"
_UNDER_WAY = 0
"""The number of a question whose answers are still coming."""


class AskAgain(QDialog):
    """Shows what can be asked again for a step and the previous questions; requests go out only as signals."""

    ask_requested = Signal(object)
    """The `Question` to ask."""
    credit_requested = Signal(object)
    """A `Question` with the LLM to ask and how often."""
    cancel_requested = Signal()
    exemplar_requested = Signal(int, int, str)
    """Run, step, and the id of an exemplar to render in the format of this prompt."""
    adopt_requested = Signal(str)
    """The action that replaces the next one."""
    go_on_requested = Signal(int, int, str)
    """Run, step, and the reply with which to continue an attached agent's run from there."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Ask again")
        self._view = AskView(run=0, step=0)
        self._adoptable = False
        self._asked_for = 0
        self._chosen: int | None = None
        """The number of the question in view; None for the latest."""
        self.messages = MessagesEditor(theme, self)
        self.items = PromptItems(theme, self.messages, self)
        self.items.exemplar_requested.connect(self._on_exemplar)
        self.or_words = OrWords(self.messages, self, _READING)
        reset, ask = "Undo all edits of the messages", "Ask the question as shown on the left"
        withdraw = "Cancel the calls in progress. Answers that have arrived are kept"
        self.reset_button = key_button("Reset to recorded", reset, "Alt+R", self.messages.reset, self)
        self.answers = AnswersPane(theme, self)
        self.answers.show_asked(None, _NOT_ASKED)
        self.answers.action_selected.connect(self._refresh)
        self.questions = Rows(theme, "Questions asked of this step")
        self.questions.selected.connect(self._on_question)
        self.problem = NoteLabel("bad", parent=self)
        self.problem.setContentsMargins(12, 4, 12, 4)
        self.progress = ElidedLabel("", self)
        self.progress.setFont(theme.text_font(bold=True))
        self.ask_button = key_button("Ask", ask, "Ctrl+Return", self._on_ask, self)
        set_flag(self.ask_button, "accent", True)
        self.cancel_button = key_button("Cancel", withdraw, "Alt+C", self.cancel_requested.emit, self)
        self.credit_button = key_button("Credit", _CREDIT, "Alt+E", lambda: self._on_ask(credit=True), self)
        self.adopt_button = key_button("Adopt action", "", "Alt+A", self._on_adopt, self)
        self.go_on_button = key_button("Go on with reply…", _GO_ON, "Alt+G", self._on_go_on, self)
        self.reply = ReplyDialog(theme, self)
        self.reply.go_on_requested.connect(self._on_reply)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._refresh)
        self.messages.changed.connect(self._idle.start)
        left, right = self._left(theme), self._right(theme)
        split = splitter(Qt.Orientation.Horizontal, left, right, sizes=(580, 420))
        buttons = (
            self.go_on_button,
            self.adopt_button,
            self.credit_button,
            self.cancel_button,
            self.ask_button,
        )
        foot = in_row(None, (self.progress, 1), *buttons, margins=(12, 8, 12, 10), spacing=8)
        in_column(self, (split, 1), self.problem, foot, spacing=0)
        theme.size_window(self, 1000, 700)
        self._refresh()

    def show_llms(self, llms: tuple[LLMChoice, ...]) -> None:
        """Offer these LLMs; the current choice is kept if it still exists."""
        offer_choices(self.llm, llms, first=self._recorded_llm())
        self._refresh()

    def wait(self, run: int, step: int) -> None:
        """Show that this step is being read; edits of another step are discarded."""
        self.show_view(AskView(run=run, step=step))
        self.or_words.say(_READING)

    @Slot(object)
    def show_view(self, view: AskView) -> None:
        """Replace what is shown with `view`; edits of the same prompt and the question in view stay."""
        if (view.run, view.step) != (self._view.run, self._view.step):
            self._chosen = None
            self._asked_for = 0
        self._view = view
        self.setWindowTitle(f"Ask again: step {view.step} of run {view.run}")
        self.messages.show_messages(view.messages)
        self.items.show_view(view)
        nothing = view.problem or "This step has no messages to ask again."
        self.or_words.say("" if view.messages else nothing)
        self.show_problem(view.problem if view.messages else "")
        self.llm.setItemText(0, self._recorded_llm())
        recorded = "none" if view.temperature is None else f"{view.temperature:g}"
        self.temperature.setSpecialValueText(f"{recorded} (recorded)")
        self._show_questions()
        self._refresh()

    def show_problem(self, text: str) -> None:
        """Show a problem instead of the previous one; an empty text hides it."""
        self.problem.show_text(text)

    def set_adoptable(self, on: bool) -> None:
        """Set whether the step is under review, so that an action can be adopted."""
        self._adoptable = on
        self._refresh()

    @property
    def busy(self) -> bool:
        """Whether answers are still coming."""
        return self._view.busy

    @property
    def question(self) -> Question:
        """The current question in the left part."""
        warmth = self.temperature.value()
        return Question(
            run=self._view.run,
            step=self._view.step,
            messages=self.messages.messages if self.messages.edited else (),
            llm=self.llm.currentData() or "",
            temperature=None if warmth < 0 else round(warmth, 2),
            count=self.times.value(),
        )

    def _left(self, theme: Theme) -> QWidget:
        side = QWidget(self)
        self.prompt_section = Section(theme, "Messages", parent=side)
        self.prompt_section.head.addWidget(self.reset_button)
        self.llm = choice_box("LLM", "The LLM to ask", letters=10, parent=side)
        self.llm.addItem(self._recorded_llm(), "")
        self.llm.currentIndexChanged.connect(self._refresh)
        self.rules_note = NoteLabel("remedy", parent=side)
        self.rules_note.setContentsMargins(12, 4, 12, 0)
        self.temperature = labelled(QDoubleSpinBox(side), "Temperature", "Below zero: as recorded")
        self.temperature.setRange(_COLDEST_SHOWN, _WARMEST)
        self.temperature.setSingleStep(_STEP)
        self.temperature.setSpecialValueText("as recorded")
        self.temperature.setValue(_COLDEST_SHOWN)
        self.temperature.setFixedWidth(theme.scaled(144))
        self.times = labelled(QSpinBox(side), "How many times", "How many times to ask")
        self.times.setRange(1, _MOST_TIMES)
        self.times.setValue(Question.model_fields["count"].default)
        self.times.setSuffix(" ×")
        self.times.setFixedWidth(theme.scaled(84))
        who, how = QLabel("LLM", side), QLabel("Temperature", side)
        for label in (who, how):
            set_tone(label, "dim")
        fields = (who, (self.llm, 1), how, self.temperature, self.times)
        row = in_row(None, *fields, margins=(12, 8, 12, 8), spacing=8)
        in_column(side, self.items, self.prompt_section, (self.or_words, 1), self.rules_note, row, spacing=0)
        return side

    def _right(self, theme: Theme) -> QWidget:
        asked = scrolled("Questions asked of this step", self.questions)
        self.questions_section = Section(theme, "Questions asked of this step", asked)
        self.questions_section.setMinimumHeight(90)
        on_panel(self.questions_section)
        both = (self.answers, self.questions_section)
        return splitter(Qt.Orientation.Vertical, *both, sizes=(450, 150), stretch=(1,))

    def _recorded_llm(self) -> str:
        return f"{self._view.llm} (recorded)" if self._view.llm else "as recorded"

    def _show_questions(self) -> None:
        asked = self._view.asked
        self.questions.show_rows(question_row(one, one.number) for one in reversed(asked))
        self.questions_section.show_where(asked, count(len(asked), "question"))
        shown = self._in_view()
        if shown is not None:
            self.questions.select_key(shown.number)
        self.answers.show_asked(shown, self._waiting_words())

    def _in_view(self) -> WhatIf | None:
        """Return the chosen question, or the latest; None while the first answer to a new one is awaited."""
        asked = self._view.asked
        found = next((one for one in asked if one.number == self._chosen), None)
        if found is not None:
            return found
        if self._view.busy and not (asked and asked[-1].number == _UNDER_WAY):
            return None
        return asked[-1] if asked else None

    def _waiting_words(self) -> str:
        return "Asked. Waiting for the first answer." if self._view.busy else _NOT_ASKED

    def _refresh(self) -> None:
        view = self._view
        edited = bool(view.messages) and self.messages.edited
        facts = [count(len(self.messages.sections), "message"), f"~{count(self.messages.tokens, 'token')}"]
        facts.append("edited" if edited else "as recorded")
        self.prompt_section.show_fact(" · ".join(facts) if view.messages else "")
        self.reset_button.setEnabled(edited)
        by_rules = (self.llm.currentData() or view.llm) == "rules"
        self.rules_note.show_text(_BY_DATA if by_rules and edited else "")
        self.ask_button.setEnabled(bool(view.messages) and not view.busy)
        self.credit_button.setVisible(any(part.kind == "exemplar" for part in view.parts))
        self.credit_button.setEnabled(not view.busy)
        self.cancel_button.setEnabled(view.busy)
        under_way = next((one for one in view.asked if one.number == _UNDER_WAY), None)
        came, of = (len(under_way.answers), under_way.count) if under_way else (0, self._asked_for)
        words = f"{came} of {of}" if of else "asking…"
        self.progress.setText(words if view.busy else "")
        self._refresh_adopt()

    def _refresh_adopt(self) -> None:
        action, of_agent = self.answers.action, bool(self._view.reply)
        self.go_on_button.setVisible(of_agent)
        self.adopt_button.setVisible(not of_agent)
        self.adopt_button.setEnabled(self._adoptable and bool(action))
        if not self._adoptable:
            words = "Only the action of the step under review can be replaced"
        else:
            words = f"Replace the next action with {action}" if action else "Choose an action first"
        self.adopt_button.setToolTip(f"{words} (Alt+A)")

    def _on_question(self, number: int | None) -> None:
        if number is None or not self.questions.hasFocus():
            return
        latest = self._view.asked[-1].number if self._view.asked else None
        self._chosen = None if number == latest else number
        self.answers.show_asked(self._in_view(), self._waiting_words())

    def _on_ask(self, *, credit: bool = False) -> None:
        self._chosen = None
        self._asked_for = self.times.value()
        self.show_problem("")
        if credit:
            self.credit_requested.emit(self.question.replace(messages=()))
        else:
            self.ask_requested.emit(self.question)

    def _on_exemplar(self, id: str) -> None:
        self.exemplar_requested.emit(self._view.run, self._view.step, id)

    def _on_go_on(self) -> None:
        self.reply.offer(self._view.run, self._view.step, self.answers.reply or self._view.reply)
        self.reply.open()

    def _on_reply(self, text: str) -> None:
        self.go_on_requested.emit(self._view.run, self._view.step, text)

    def _on_adopt(self) -> None:
        if self.adopt_button.isEnabled():
            self.adopt_requested.emit(self.answers.action)
