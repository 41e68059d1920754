"""The causes of a failed run, as cards: the one that is looked at with its evidence, its change and what came of it."""

from collections.abc import Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from core.debugger.causes.records import Evidence
from core.debugger.fix.views import Clue, FixView
from gui.theme.theme import Theme
from gui.widgets.formats import count, cut_middle
from gui.widgets.rows import Row, Rows

_TONES = {"proven": "good", "mended": "good", "harmful": "bad", "not mended": "bad"}
_EVIDENCE_LETTERS = 400
_DIFF_LINES = 14
"""Changed lines that are shown of one change; the editor has all."""


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
    """Draws the clues of a `FixView`; one of them is open."""

    chosen = Signal(int)
    entered = Signal()
    """Enter on the clue that is open."""
    evidence_opened = Signal(object)
    """An `Evidence`."""
    line_wanted = Signal()
    """The file of the clue that is open, at its line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = FixView()
        self.rows = _ClueRows(theme, "Causes of the failure")
        self.setWidget(self.rows)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusProxy(self.rows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.entered.connect(self.entered)
        self.rows.pressed_on.connect(self._on_pressed)
        self.rows.selected.connect(self._on_selected)

    def show_view(self, view: FixView) -> None:
        """Replace what is shown."""
        moved, self._view = view.chosen != self._view.chosen, view
        self.rows.show_rows(_rows_of(view))
        if moved or self.rows.key is None:
            self.rows.select_key(("clue", view.chosen))

    def _on_selected(self, key: tuple[object, ...] | None) -> None:
        """Open a clue that was reached with the keyboard or the mouse."""
        if key is not None and key[0] == "clue" and key[1] != self._view.chosen and self.rows.hasFocus():
            self.chosen.emit(key[1])

    def _on_pressed(self, key: tuple[object, ...]) -> None:
        clue = self._view.clue
        if key[0] == "evidence" and clue is not None:
            self.evidence_opened.emit(clue.evidence[int(str(key[1]))])
        elif key[0] == "place":
            self.line_wanted.emit()


def _rows_of(view: FixView) -> Iterator[Row]:
    for at, clue in enumerate(view.clues):
        proof, outcome = clue.proof, _outcome(clue)
        is_open = at == view.chosen
        tells = () if is_open else (clue.place, proof.sentence if proof is not None else "")
        yield Row(
            text=f"{at + 1} · {clue.what}",
            word=outcome or clue.certainty,
            tone=_TONES.get(proof.outcome, "dim") if proof is not None and not clue.proving else "dim",
            detail=clue.why if is_open else " · ".join(filter(None, tells)),
            strong=is_open,
            key=("clue", at),
            tooltip="" if is_open else clue.why,
        )
        if is_open:
            yield from _details(clue)


def _details(clue: Clue) -> Iterator[Row]:
    """Yield evidence, place, change and proof of the clue that is open."""
    for at, one in enumerate(clue.evidence):
        yield Row(
            text=_where(one),
            detail=cut_middle(one.text.strip(), _EVIDENCE_LETTERS),
            link=True,
            indent=1,
            key=("evidence", at),
            tooltip="Show it in the main window (Enter)",
        )
    if clue.place:
        tells = "Open the file at this line (Enter)"
        yield Row(text=clue.place, link=True, machine=True, indent=1, key=("place",), tooltip=tells)
    elif clue.certainty:
        yield Row(text=f"Step {clue.step}; no file is at fault by it", quiet=True, indent=1, key=("step",))
    yield from _diff(clue)
    if clue.proof is not None and (clue.proof.sentence or clue.proof.why):
        cost = f", ${clue.cost:.4g}" if clue.cost else ""
        yield Row(
            text=f"{'So far' if clue.proving else 'Last proof'}: {clue.proof.sentence or _outcome(clue)}",
            detail=f"{clue.proof.why} {count(clue.runs, 'run')}{cost}.".strip(),
            indent=1,
            key=("proof",),
        )


def _diff(clue: Clue) -> Iterator[Row]:
    """Yield the changed lines."""
    if clue.candidate is None:
        return
    marks = {"+": ("good", "added"), "-": ("bad", "removed")}
    changed = [
        line
        for line in clue.candidate.diff.splitlines()
        if line[:1] in marks and line[:4] not in ("+++ ", "--- ")
    ]
    for at, line in enumerate(changed[:_DIFF_LINES]):
        tone, word = marks[line[0]]
        text = line[1:].strip() or " "
        yield Row(text, _ICONS[word], tone, word, machine=True, indent=1, key=("line", at))
    if len(changed) > _DIFF_LINES:
        more = f"… {len(changed) - _DIFF_LINES} more changed lines: apply the patch to see them (Alt+P)"
        yield Row(text=more, quiet=True, indent=1, key=("more",))


_ICONS = {"added": "add", "removed": "remove"}


def _outcome(clue: Clue) -> str:
    if clue.proving:
        return "being proved…"
    if clue.proof is None:
        return "kept" if clue.in_use else ""
    return f"{clue.proof.outcome}, kept" if clue.in_use else clue.proof.outcome


def _where(evidence: Evidence) -> str:
    of = f"run {evidence.run}, " if evidence.run is not None else ""
    return f"{of}step {evidence.step}, {evidence.part}".capitalize()
