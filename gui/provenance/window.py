"""Why: where the words of a step come from, with every place that contains them."""

from collections.abc import Iterator

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QDialog, QWidget

from core.debugger.provenance.views import Offer, SourceKind, SourcePlace, WhyQuestion, WhyView
from core.schema.formats import count
from core.schema.observation import Ref
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box
from gui.widgets.layouts import in_column, in_row, on_panel, scrolled
from gui.widgets.rows import Row, Rows
from gui.widgets.search import SearchField
from gui.widgets.words import NoteLabel, OrWords, set_tone

_CHOOSE = "Choose or type what to look for, and press Enter."
_NO_STEP = "No step is in view: take a step (F10), or choose one in Runs & steps, then ask again."
_NOWHERE = (
    "It occurs nowhere. Searched prompts, page, task, exemplars, plan, remedies, buffer, policies and earlier "
    "steps."
)
_OWN = "Choose or write"
_GROUPS: dict[SourceKind, str] = {
    "prompt": "The prompt: what the LLM was shown",
    "page": "The page as it was read",
    "clean observation": "The clean observation",
    "task": "The task",
    "exemplar": "Exemplars",
    "plan": "The plan",
    "remedy": "Remedies",
    "buffer": "Buffer and notes",
    "policy": "States and policies",
    "earlier step": "Earlier steps",
}


class WhyWindow(QDialog):
    """Shows a `WhyView`; a click or Enter on a place goes there in the main window."""

    asked = Signal(object)
    """A `WhyQuestion`."""
    lead_requested = Signal(object)
    """The `SourcePlace` to show."""
    left = Signal()
    """The window was closed: remove its marks."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Where it comes from")
        self._step = (0, 0)
        self._offers: tuple[Offer, ...] = ()
        self._wanted: WhyQuestion | None = None
        offered = "Arguments and target of the action, and its thought (Alt+Down opens the list)"
        self.choice = choice_box("What to look for", offered, letters=12, parent=self)
        self.choice.activated.connect(self._on_chosen)
        self.field = SearchField(theme, "Words to look for", self)
        self.field.next_wanted.connect(self._on_look)
        self.look = key_button(
            "Look (Enter)", "Find where these words occur (Enter)", "", self._on_look, self
        )
        self.verdict = NoteLabel("", parent=self)
        self.verdict.setFont(theme.text_font(bold=True))
        self.missing = NoteLabel("dim", parent=self)
        for note in (self.verdict, self.missing):
            note.setContentsMargins(12, 2, 12, 2)
        name = "Places where it occurs"
        self.list = Rows(theme, name)
        self.list.pressed_on.connect(self.lead_requested)
        self.or_words = OrWords(scrolled(name, self.list), self, _CHOOSE)
        on_panel(self.or_words)
        row = in_row(None, (self.field, 1), self.look, margins=(10, 4, 10, 4), spacing=6)
        head = in_column(None, self.choice, margins=(10, 8, 10, 0))
        in_column(
            self, head, row, self.verdict, self.missing, (self.or_words, 1), margins=(0, 0, 0, 6), spacing=2
        )
        theme.size_window(self, 560, 520)

    def begin(self, run: int, step: int, text: str) -> None:
        """Look for `text`, or if it is empty, for the first thing that the step's action names."""
        self.setWindowTitle(
            f"Where it comes from: step {step} of run {run}" if step else "Where it comes from"
        )
        if (run, step) != self._step:
            self._step, self._offers = (run, step), ()
            self._show_offers()
        self.field.setText(" ".join(text.split()))
        self.verdict.show_text("")
        self.missing.show_text("")
        self.list.show_rows(())
        if not step:
            self.or_words.say(_NO_STEP)
            return
        self._ask(text.strip())

    @Slot(object)
    def show_view(self, view: WhyView) -> None:
        """Show the result if it is still the requested one."""
        if WhyQuestion(run=view.run, step=view.step, text=view.text, ref=view.ref) != self._wanted:
            return
        if view.offers and view.offers != self._offers:
            self._offers = view.offers
            self._show_offers()
        if self._offers and not view.text and view.ref is None and not view.problem:
            self.choice.setCurrentIndex(1)
            self._on_chosen(1)
            return
        self.verdict.show_text(view.verdict)
        set_tone(self.verdict, "remedy" if view.verdict and not view.places else "")
        words = ", ".join(f"“{word}”" for word in view.missing[:20])
        self.missing.show_text(f"In none of it: {words}." if words and view.places else "")
        self.list.show_rows(_rows(view))
        if view.places:
            self.list.select_key(view.places[0])
        nothing = _NOWHERE if view.text or view.ref is not None else _CHOOSE
        self.or_words.say(view.problem or ("" if view.places else nothing))

    def showEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().showEvent(event)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.left.emit()

    def _ask(self, text: str, ref: Ref | None = None) -> None:
        run, step = self._step
        self._wanted = WhyQuestion(run=run, step=step, text=text, ref=ref)
        self.or_words.say("Looking…")
        self.asked.emit(self._wanted)

    def _show_offers(self) -> None:
        with QSignalBlocker(self.choice):
            self.choice.clear()
            self.choice.addItem(_OWN if self._offers else "This step has no action and no thought yet")
            for offer in self._offers:
                self.choice.addItem(offer.label.replace("\n", " "))
        self.choice.setEnabled(bool(self._offers))

    def _on_chosen(self, at: int) -> None:
        if not 1 <= at <= len(self._offers):
            self.field.setFocus()
            return
        offer = self._offers[at - 1]
        self.field.setText(" ".join(offer.text.split()))
        self._ask(offer.text.strip(), offer.ref)

    def _on_look(self) -> None:
        text = self.field.text().strip()
        if text and self._step[1]:
            self.choice.setCurrentIndex(0)
            self._ask(text)


def _rows(view: WhyView) -> Iterator[Row]:
    kind: SourceKind | None = None
    for place in view.places:
        if place.kind != kind:
            kind = place.kind
            alike = [one for one in view.places if one.kind == kind]
            places = len(alike) + sum(one.more for one in alike)
            yield Row(_GROUPS[kind], word=count(places, "place"), strong=True)
        more = f" · and {count(place.more, 'more place')}" if place.more else ""
        yield Row(
            place.title + more,
            word=how_words(place),
            detail=place.excerpt,
            spans=place.spans,
            link=True,
            key=place,
        )


def how_words(place: SourcePlace) -> str:
    """Return the kind of match as text."""
    own = "its own reply before, " if place.own else ""
    if place.how == "words":
        return f"{own}{place.words[0]} of {place.words[1]} words"
    return own + {"element": "the element", "exact": "exact", "loose": "but for case and spaces"}[place.how]
