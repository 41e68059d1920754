"""Causes: what may have made the run in view fail, as cards; one is open, with evidence, change and proof."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from core.debugger.causes.records import Evidence
from core.debugger.fix.views import CausesView, Clue
from core.schema.formats import count, cut_middle
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.rows import Row, Rows
from gui.widgets.words import OrWords

_TONES = {"proven": "good", "mended": "good", "harmful": "bad", "not mended": "bad"}
_EVIDENCE_LETTERS = 400
_DIFF_LINES = 14
"""Changed lines that are shown of one change; the editor has all."""
_LOOKING = "Looking for the causes…"
_NO_RUN = "What may have made a run fail shows here, with the evidence. Open a run that failed, or let one end (F5)."


class _ClueRows(Rows):
    entered = Signal()
    """Enter on a row that leads nowhere else."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().data(Qt.ItemDataRole.UserRole)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not (row is not None and row.link):
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class CluePane(QScrollArea):
    """Draws clues; one of them is open."""

    chosen = Signal(int)
    entered = Signal()
    """Enter on the clue that is open."""
    evidence_opened = Signal(object)
    """An `Evidence`."""
    line_wanted = Signal()
    """The file of the clue that is open, at its line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.open: Clue | None = None
        """The clue that is open."""
        self._at = -1
        self._is_showing = False
        self.leads_to_fix = False
        """Whether the open clue has a row that leads to Fix."""
        self.rows = _ClueRows(theme, "Causes of the failure")
        self.setWidget(self.rows)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusProxy(self.rows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.entered.connect(self.entered)
        self.rows.pressed_on.connect(self._on_pressed)
        self.rows.selected.connect(self._on_selected)

    def show_clues(self, clues: Sequence[Clue], at: int) -> None:
        """Replace what is shown, with this one open; -1 opens none."""
        moved, self._at = at != self._at, at
        self.open = clues[at] if 0 <= at < len(clues) else None
        self._is_showing = True  # What is selected meanwhile was chosen by nobody.
        self.rows.show_rows(self._rows_of(clues))
        if moved or self.rows.key is None:
            self.rows.select_key(("clue", at))
        self._is_showing = False

    def _on_selected(self, key: tuple[object, ...] | None) -> None:
        """Open a clue that was reached with the keyboard or the mouse."""
        if self._is_showing or key is None or not self.rows.hasFocus():
            return
        if key[0] == "clue" and key[1] != self._at:
            self.chosen.emit(key[1])

    def _on_pressed(self, key: tuple[object, ...]) -> None:
        if key[0] == "evidence" and self.open is not None:
            self.evidence_opened.emit(self.open.evidence[int(str(key[1]))])
        elif key[0] == "place":
            self.line_wanted.emit()
        elif key[0] == "fix":
            self.entered.emit()

    def _rows_of(self, clues: Sequence[Clue]) -> Iterator[Row]:
        for at, clue in enumerate(clues):
            proof, outcome = clue.proof, _outcome(clue)
            is_open = at == self._at
            tells = () if is_open else (clue.place, proof.sentence if proof is not None else "")
            yield Row(
                text=f"{at + 1} · {clue.what}",
                word=outcome or clue.certainty,
                tone=_TONES.get(proof.outcome, "dim")
                if proof is not None and outcome == proof.outcome
                else "dim",
                detail=clue.why if is_open else " · ".join(filter(None, tells)),
                strong=is_open,
                key=("clue", at),
                tooltip="" if is_open else clue.why,
            )
            if is_open:
                yield from _details(clue, leads_to_fix=self.leads_to_fix)
                if self.leads_to_fix:
                    words = "Prove the change in Fix…" if clue.candidate is not None else "Change it in Fix…"
                    yield Row(text=words, link=True, indent=1, key=("fix",), tooltip="Open Fix here (Enter)")


def _details(clue: Clue, *, leads_to_fix: bool) -> Iterator[Row]:
    """Yield evidence, place, change and proof of the clue that is open."""
    for at, one in enumerate(clue.evidence):
        yield Row(
            text=one.where.capitalize(),
            detail=cut_middle(one.text.strip(), _EVIDENCE_LETTERS),
            link=True,
            indent=1,
            key=("evidence", at),
            tooltip="Show it in the main window (Enter)",
        )
    if clue.place:
        tells = f"Open {'Fix' if leads_to_fix else 'the file at this line'} (Enter)"
        yield Row(text=clue.place, link=True, machine=True, indent=1, key=("place",), tooltip=tells)
    elif clue.certainty:
        yield Row(text=f"Step {clue.step}; no file to change", quiet=True, indent=1, key=("step",))
    yield from _diff(clue, "" if leads_to_fix else ": apply the patch to see them (Alt+P)")
    if clue.proof is not None and (clue.proof.sentence or clue.proof.why):
        proof = clue.proof
        cost = f", ${proof.cost:.4g}" if proof.cost else ""
        stale = " Other files of the agent were changed since." if clue.stale and not clue.proving else ""
        yield Row(
            text=f"{'So far' if clue.proving else 'Last proof'}: {proof.sentence or _outcome(clue)}",
            detail=f"{proof.why} {count(proof.runs, 'run')}{cost}.{stale}".strip(),
            indent=1,
            key=("proof",),
        )


def _diff(clue: Clue, seen: str) -> Iterator[Row]:
    """Yield the changed lines."""
    if clue.candidate is None:
        return
    marks = {"+": ("good", "added"), "-": ("bad", "removed")}
    changed = [line for lines in clue.candidate.diffs for line in lines[2:] if line[:1] in marks]
    for at, line in enumerate(changed[:_DIFF_LINES]):
        tone, word = marks[line[0]]
        text = line[1:].strip() or " "
        yield Row(text, _ICONS[word], tone, word, machine=True, indent=1, key=("line", at))
    if len(changed) > _DIFF_LINES:
        more = f"… {len(changed) - _DIFF_LINES} more changed lines{seen}"
        yield Row(text=more, quiet=True, indent=1, key=("more",))


_ICONS = {"added": "add", "removed": "remove"}


def _outcome(clue: Clue) -> str:
    if clue.proving:
        return "being proved…"
    outcome = clue.proof.outcome if clue.proof is not None else ""
    of_files = "in use" if clue.in_use else "files changed since" if clue.stale else ""
    return ", ".join(filter(None, (outcome, of_files)))


class CausesPanel(QWidget):
    """Shows a `CausesView`."""

    fact_changed = Signal(str)
    fix_requested = Signal(int, object)
    """A run, and the `Clue` to open in Fix."""
    evidence_opened = Signal(object, int)
    """An `Evidence`, and the run it is of."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = CausesView()
        self.cards = CluePane(theme, self)
        self.cards.leads_to_fix = True
        self.words = OrWords(self.cards, words=_NO_RUN)
        self.setFocusProxy(self.cards.rows)
        in_column(self, self.words)
        self.cards.chosen.connect(self._open)
        for wanted in (self.cards.entered, self.cards.line_wanted):
            wanted.connect(self._on_fix)
        self.cards.evidence_opened.connect(self._on_evidence)
        self._at = 0

    @property
    def view(self) -> CausesView:
        return self._view

    def show_view(self, view: CausesView) -> None:
        """Replace what is shown; the cause that is open stays open."""
        shown, self._view = self.cards.open if view.run == self._view.run else None, view
        same = (at for at, clue in enumerate(view.clues) if shown is not None and clue.is_like(shown))
        self.words.say(view.words or ("" if view.clues else _LOOKING if view.run else _NO_RUN))
        self._open(next(same, 0))
        causes = sum(bool(clue.certainty) for clue in view.clues)
        self.fact_changed.emit(count(causes, "cause") if view.clues else "")

    def _open(self, at: int) -> None:
        self._at = at
        self.cards.show_clues(self._view.clues, at)

    def _on_fix(self) -> None:
        self.fix_requested.emit(self._view.run, self.cards.open)

    def _on_evidence(self, evidence: Evidence) -> None:
        self.evidence_opened.emit(evidence, self._view.run)
