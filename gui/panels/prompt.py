"""Prompt: what the LLM was sent in each call of the step, and its reply."""

from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.steps.views import CallView, PersonQuestion, StepView
from core.schema.formats import count, thousands
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.copying import to_clipboard
from gui.widgets.layouts import in_column, in_row
from gui.widgets.search import Finder
from gui.widgets.text_view import Piece, TextView
from gui.widgets.words import OrWords, small_label

_NONE = "No LLM was asked in this step. F10 asks for the next action and shows the prompt here."


@dataclass(frozen=True)
class _Part:
    """A heading and the content below it."""

    key: str
    title: str
    text: str
    folded: bool = False


class PromptPanel(QWidget):
    """Shows the calls of a step; a click on a heading folds the content below it."""

    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._calls: tuple[CallView, ...] = ()
        self._question: PersonQuestion | None = None
        self._parts: tuple[_Part, ...] = ()
        self._flipped: set[str] = set()
        self.text = TextView(theme, "Prompt")
        self.text.heading_pressed.connect(self._on_heading)
        self.finder = Finder(theme, "Search (Ctrl+F)", (self.text,), self)
        self.finder.field.textChanged.connect(self._render)
        self.summary = small_label(theme, self)
        copied, folded = "Copy all calls with their messages", "Fold or unfold all messages"
        self.copy_button = key_button("Copy all", copied, "Alt+C", self._on_copy, self)
        self.fold_button = key_button("Fold all", folded, "Alt+G", self._on_fold_all, self)
        self.fold_button.setToolTip(f"{folded} (Alt+G); click a heading to fold one")
        right = (self.finder, self.fold_button, self.copy_button)
        head = in_row(None, (self.summary, 1), *right, margins=(12, 3, 8, 3), spacing=6)
        body = QWidget(self)
        in_column(body, head, (self.text, 1), spacing=0)
        self.or_words = OrWords(body, self, _NONE)
        in_column(self, self.or_words)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self.show_calls(step.calls)

    def show_calls(self, calls: tuple[CallView, ...]) -> None:
        """Replace what is shown with `calls`; folded parts stay folded."""
        if calls == self._calls:
            return
        self._calls = calls
        self._gather()
        usages = [call.record.usage for call in calls]
        tokens = sum(usage.prompt_tokens for usage in usages)
        about = "~" if any(usage.estimated for usage in usages) else ""
        cached = sum(usage.cached_tokens for usage in usages)
        summary = f"{count(len(calls), 'call')} · {about}{count(tokens, 'prompt token')}"
        self.summary.setText(summary + (f" ({thousands(cached)} cached)" if cached else ""))
        self.fact_changed.emit(f"{about}{thousands(tokens)}" if calls else "")
        self._render()

    @Slot(object)
    def show_question(self, question: PersonQuestion | None) -> None:
        """Show the question that waits for the person's answer, above the calls; None removes it."""
        self._question = question
        self._gather()
        self._render()

    def show_call(self, number: int) -> None:
        """Go to the call of this number and unfold its messages; does nothing if the call is not in this step."""
        for at, part in enumerate(self._parts):
            if part.key == str(number):
                texts = (one for one in self._parts if one.key.startswith(f"{number}.") and not one.folded)
                self._flipped -= {text.key for text in texts}
                self._render()
                self.text.go_to_heading(at)
                return

    def show_place(self, part: str, found: str, nth: int) -> bool:
        """Go to words in a part of a call, such as ``3.1``, and mark them; return False if it is not in this step."""
        at = next((at for at, one in enumerate(self._parts) if one.key == part), None)
        if at is None:
            return False
        if self._is_folded(self._parts[at]):
            self._flipped ^= {part}
        self.finder.show_needle(_first_line(found))
        self._render()
        self.text.seek(_first_line(found), nth=nth, heading=at)
        return True

    def focus_search(self) -> None:
        self.finder.focus_search()

    def _gather(self) -> None:
        asked = [] if self._question is None else _question_parts(self._question)
        self._parts = (*asked, *(part for call in self._calls for part in _parts(call)))
        self.or_words.say("" if self._parts else _NONE)

    def _render(self) -> None:
        pieces: list[Piece] = []
        searching = bool(self.finder.field.text())
        for at, part in enumerate(self._parts):
            folded = self._is_folded(part) and not searching
            mark = " " if not part.text else "▸" if folded else "▾"
            pieces.append(Piece(f"{mark} {part.title}", heading=at))
            if not folded and part.text:
                pieces.append(Piece(part.text))
        scroll = self.text.verticalScrollBar().value()
        self.text.show_pieces(pieces)
        self.text.verticalScrollBar().setValue(scroll)
        if searching:
            self.finder.refresh()
        all_folded = all(self._is_folded(part) for part in self._parts if part.text)
        self.fold_button.setText("Unfold all" if all_folded and self._parts else "Fold all")

    def _is_folded(self, part: _Part) -> bool:
        return part.folded != (part.key in self._flipped)

    def _on_heading(self, at: int) -> None:
        self._flipped ^= {self._parts[at].key}
        self._render()

    def _on_fold_all(self) -> None:
        foldable = [part for part in self._parts if part.text]
        fold = not all(self._is_folded(part) for part in foldable)
        self._flipped = {part.key for part in foldable if part.folded != fold}
        self._render()

    def _on_copy(self) -> None:
        to_clipboard(["\n\n".join(f"{part.title}\n{part.text}".rstrip() for part in self._parts)])


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]


def _question_parts(question: PersonQuestion) -> list[_Part]:
    parts = [_Part("question", f"Question to you · {question.purpose}", "")]
    for at, message in enumerate(question.messages):
        pictures = f" · {count(len(message.images), 'picture')}" if message.images else ""
        calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
        text = "\n".join([message.text, *calls]).strip() or "(no text)"
        parts.append(_Part(f"question.{at}", f"   {message.role}{pictures}", text))
    return parts


def _parts(call: CallView) -> list[_Part]:
    """Return a call's heading, messages, tools and reply, in the order in which they were sent."""
    record, number = call.record, call.record.number
    sampling = f" · {call.sampling}" if call.sampling else ""
    parts = [_Part(f"{number}", f"Call {number} · {record.purpose} · {record.asked}{sampling}", "")]
    for at, message in enumerate(call.messages):
        pictures = f" · {count(message.images, 'picture')}" if message.images else ""
        title = f"   {message.role} · {count(message.tokens, 'token')}{pictures}"
        parts.append(_Part(f"{number}.{at}", title, message.text or "(no text)"))
    if call.tools:
        title = "   tools" if call.tools.startswith("[") else "   JSON schema of the reply"
        parts.append(_Part(f"{number}.tools", title, call.tools, folded=True))
    if record.error:
        parts.append(_Part(f"{number}.error", "   error", record.error))
    if call.reasoning:
        counted = f" · {count(call.reasoning_tokens, 'token')}" if call.reasoning_tokens else ""
        parts.append(_Part(f"{number}.reasoning", f"   reasoning{counted}", call.reasoning, folded=True))
    if call.note:
        parts.append(_Part(f"{number}.note", "   note", call.note))
    if call.reply:
        about = "~" if record.usage.estimated else ""
        title = f"   reply · {about}{count(record.usage.completion_tokens, 'token')}"
        parts.append(_Part(f"{number}.reply", title, call.reply))
    return parts
