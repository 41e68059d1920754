"""Why: where the words of a step come from, with every place they stand in."""

from collections.abc import Iterator

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QHideEvent
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from core.debugger.provenance.views import Offer, SourceKind, SourcePlace, WhyQuestion, WhyView
from gui.theme.theme import Theme
from gui.widgets.formats import count
from gui.widgets.found_rows import FoundRow, FoundRows
from gui.widgets.search import SearchField
from gui.widgets.words import NoteLabel, OrWords, set_tone

_CHOOSE = "Choose what to look for, or write it, and press Enter."
_NO_STEP = "No step is in view: take a step (F10), or choose one in Runs & steps, then ask again."
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
    """Shows a `WhyView`; a click or Enter on a place leads there in the main window."""

    asked = Signal(object)
    """A `WhyQuestion`."""
    lead_requested = Signal(object)
    """The `SourcePlace` that is to be seen."""
    left = Signal()
    """It was closed: what it has marked is to go."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Where it comes from")
        self._step = (0, 0)
        self._offers: tuple[Offer, ...] = ()
        self._wanted: WhyQuestion | None = None
        self._view = WhyView()
        self.choice = QComboBox(self)
        self.choice.setAccessibleName("What to look for")
        self.choice.setToolTip(
            "Arguments and target of the action, and its thought (Alt+Down opens the list)"
        )
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(12)
        self.choice.activated.connect(self._on_chosen)
        self.field = SearchField(theme, "Words to look for", self)
        self.field.next_wanted.connect(self._on_look)
        self.look = QPushButton("Look (Enter)", self)
        self.look.setAutoDefault(False)
        self.look.setToolTip("Look where these words stand (Enter)")
        self.look.clicked.connect(self._on_look)
        self.verdict = NoteLabel("", parent=self)
        self.verdict.setFont(theme.text_font(bold=True))
        self.missing = NoteLabel("dim", parent=self)
        for note in (self.verdict, self.missing):
            note.setContentsMargins(12, 2, 12, 2)
        self.list = FoundRows(theme, "Places where it stands", self)
        self.list.chosen.connect(self._on_place)
        self.or_words = OrWords(self.list, self)
        self.or_words.say(_CHOOSE)
        row = QHBoxLayout()
        row.setContentsMargins(10, 4, 10, 4)
        row.setSpacing(6)
        row.addWidget(self.field, 1)
        row.addWidget(self.look)
        head = QVBoxLayout()
        head.setContentsMargins(10, 8, 10, 0)
        head.addWidget(self.choice)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 6)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addLayout(row)
        layout.addWidget(self.verdict)
        layout.addWidget(self.missing)
        layout.addWidget(self.or_words, 1)
        self.resize(560, 520)

    def begin(self, run: int, step: int, text: str) -> None:
        """Look for `text`, or where there is none for the first thing that the step's action names."""
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
        self.or_words.say("Looking…")
        self._ask(WhyQuestion(run=run, step=step, text=text.strip()))

    @Slot(object)
    def show_view(self, view: WhyView) -> None:
        """Show what was found, where it is still what was asked for."""
        wanted = self._wanted
        if wanted is None or (view.run, view.step, view.text, view.ref) != (
            wanted.run,
            wanted.step,
            wanted.text,
            wanted.ref,
        ):
            return
        self._view = view
        if view.offers and view.offers != self._offers:
            self._offers = view.offers
            self._show_offers()
        if self._offers and not view.text and view.ref is None and not view.problem:
            self.choice.setCurrentIndex(1)
            self._on_chosen(1)
            return
        nothing = bool(view.text or view.ref is not None)
        self.verdict.show_text(view.verdict)
        set_tone(self.verdict, "remedy" if view.verdict and not view.places else "")
        told = ", ".join(f"“{word}”" for word in view.missing[:20])
        self.missing.show_text(f"In none of it: {told}." if told and view.places else "")
        self.list.show_rows(tuple(_rows(view)))
        looked = (
            "Looked in prompts, page, task, exemplars, plan, remedies, buffer, policies and earlier steps."
        )
        self.or_words.say(
            view.problem or ("" if view.places else f"It stands nowhere. {looked}" if nothing else _CHOOSE)
        )

    def showEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().showEvent(event)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.left.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)

    def _ask(self, question: WhyQuestion) -> None:
        self._wanted = question
        self.asked.emit(question)

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
        self.or_words.say("Looking…")
        run, step = self._step
        self._ask(WhyQuestion(run=run, step=step, text=offer.text.strip(), ref=offer.ref))

    def _on_look(self) -> None:
        text = self.field.text().strip()
        run, step = self._step
        if text and step:
            self.choice.setCurrentIndex(0)
            self.or_words.say("Looking…")
            self._ask(WhyQuestion(run=run, step=step, text=text))

    def _on_place(self, place: SourcePlace) -> None:
        self.lead_requested.emit(place)


def _rows(view: WhyView) -> Iterator[FoundRow]:
    kind: SourceKind | None = None
    for place in view.places:
        if place.kind != kind:
            kind = place.kind
            alike = [one for one in view.places if one.kind == kind]
            places = len(alike) + sum(one.more for one in alike)
            yield FoundRow(_GROUPS[kind], word=count(places, "place"))
        more = f" · and {count(place.more, 'more place')}" if place.more else ""
        yield FoundRow(
            place.title + more, word=how_words(place), excerpt=place.excerpt, spans=place.spans, key=place
        )


def how_words(place: SourcePlace) -> str:
    """Return what kind of match it is, in words."""
    own = "its own reply before, " if place.own else ""
    if place.how == "words":
        return f"{own}{place.words[0]} of {place.words[1]} words"
    return own + {"element": "the element", "exact": "exact", "loose": "but for case and spaces"}[place.how]
