"""The retrieval bench: the exemplars for a task, with distances, votes and reasons, before and after a change."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.analyses.views import BenchQuery, BenchView
from core.memory.analysis.records import LookupTrial, Move, TrialRow
from core.schema.exemplar import Exemplar, Recall
from gui.exemplars.analyses.bench_form import BenchForm
from gui.exemplars.analyses.page import AnalysisPage, panel
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count
from gui.widgets.layouts import holding, in_row, on_panel, scrolled, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

_START = (
    "Type a task on the left, or take one from a run, and press Look up (Ctrl+Enter). The exemplars that a run would "
    "get are listed here, with distances, votes, and why each is used or not."
)
_NONE = "There are no exemplars yet: save one from the tree of runs, or import some."
_MOVES: dict[Move, str] = {
    "": "",
    "new": "new here",
    "gone": "gone",
    "up": "nearer the front",
    "down": "further back",
    "used now": "used now",
    "used no more": "used no more",
}
_TONES: dict[Move, str] = {"used now": "good", "new": "good", "used no more": "bad", "gone": "bad"}
_COLUMNS = (
    Column("#", number=True, tooltip="The nearest is 1"),
    Column("Distance", number=True, tooltip="From 0 (equal) to 2"),
    Column("Vote"),
    Column("Used"),
    Column("Change"),
    Column("Before", tooltip="Its rank and distance, and whether it was used"),
    Column("Family"),
    Column("Exemplar"),
    Column("Why"),
    Column("Task"),
)
_CHANGE, _BEFORE = 4, 5


class BenchPage(AnalysisPage):
    """Shows `BenchView`; requests go out only as signals."""

    look_up_requested = Signal(object)
    """A `BenchQuery`."""
    draft_requested = Signal(object)
    """An exemplar to test instead of the stored one, or None."""
    take_requested = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Cancel the lookup", parent)
        self._view = BenchView()
        self.form = BenchForm(theme, self)
        self.form.look_up_wanted.connect(self._on_look_up)
        self.form.take_wanted.connect(self.take_requested)
        self.look_up_button = key_button(
            "Look up",
            "Show which exemplars a run would get",
            "Ctrl+Return",
            self._on_look_up,
            self,
            accent=True,
        )
        self.add(self.look_up_button, self.cancel_button, self.progress, self.words)
        self.draft_words = NoteLabel("remedy", parent=self)
        self.draft_button = key_button(
            "Without the draft",
            "Look up with the stored exemplar again",
            "Alt+D",
            lambda: self.compare_with(None),
            self,
        )
        self.draft_bar = holding(
            in_row(None, (self.draft_words, 1), self.draft_button, margins=(12, 6, 12, 6))
        )
        self.looked_up = ElidedLabel("", self)
        self.looked_up.setContentsMargins(12, 8, 12, 0)
        self.looked_up.setFont(theme.heading_font())
        self.now = NoteLabel("", parent=self, margins=(12, 4, 12, 2))
        self.before = NoteLabel("dim", parent=self, margins=(12, 2, 12, 6))
        self.table = PlainTable(theme, "What would be retrieved", _COLUMNS, self)
        self.table.opened.connect(lambda id: self.exemplar_opened.emit(str(id)))
        result = panel(self.looked_up, self.now, self.before, self.table, tall=self.table)
        self.or_words = OrWords(result, self)
        left = scrolled("What is looked up", self.form)
        inside = left.widget()
        assert inside is not None
        on_panel(inside)
        split = splitter(
            Qt.Orientation.Horizontal,
            left,
            panel(self.draft_bar, self.or_words, tall=self.or_words),
            sizes=(370, 910),
            stretch=(0, 1),
        )
        self.column.addWidget(split, 1)
        self.show_view(self._view)

    def show_task(self, task: str, observation: str = "") -> None:
        """Use this task for lookups."""
        self.form.show_task(self.form.query.replace(task=task, observation=observation, source=""))

    def compare_with(self, exemplar: Exemplar | None) -> None:
        """Test lookups with this exemplar instead of the stored one; None tests them unchanged."""
        self.draft_requested.emit(exemplar)

    @Slot(object)
    def show_view(self, view: BenchView) -> None:
        """Replace what is shown; typed text stays."""
        before, self._view = self._view, view
        self.form.settings.show_presets(view.presets)
        self.form.other.show_presets(view.presets)
        self.form.show_environments(view.environments)
        if view.taken is not None and view.taken_number != before.taken_number:
            self.form.show_task(view.taken)
        fact = "" if view.members is None else f"{count(view.members, 'exemplar')} can be retrieved."
        self.show_working(view, fact)
        self.look_up_button.setEnabled(not view.busy)
        self.draft_bar.setVisible(bool(view.draft))
        self.draft_words.show_text(
            f"Looked up with the draft of {view.draft} instead of the stored exemplar. Nothing is saved."
            if view.draft
            else ""
        )
        trial = view.trial
        self.or_words.say(_NONE if view.members == 0 else _START if trial is None else "")
        if trial is not None and trial != before.trial:
            self._show_trial(trial)

    def _show_trial(self, trial: LookupTrial) -> None:
        compares = trial.after is not None
        query = self._view.query
        self.looked_up.setText(query.task if query is not None else "")
        self.now.show_text(("After: " if compares else "") + recall_words(trial.now))
        self.before.show_text(f"Before: {recall_words(trial.before)}" if compares else "")
        for column in (_BEFORE, _CHANGE):
            self.table.setColumnHidden(column, not compares)
        self.table.show_lines([_line(row, compares=compares) for row in trial.rows])

    # Input of the person

    def _on_look_up(self) -> None:
        query: BenchQuery = self.form.query
        if not query.task:
            self.problem.show_text("Type a task first, or take one from a run.")
            self.form.task.setFocus()
            return
        self.look_up_requested.emit(query)


def recall_words(found: Recall) -> str:
    """Return the result of a lookup as sentences."""
    votes = ", ".join(f"{family} {times}" for family, times in found.votes.items())
    used = f" {count(len(found.used), 'exemplar')} would be in the prompt." if found.used else ""
    return (f"Votes: {votes}. " if votes else "") + found.why + used


def _line(row: TrialRow, *, compares: bool) -> TableLine:
    now, before = row.now, row.before
    old = f"{before.rank}, {before.distance:.3f}{', used' if before.used else ''}" if before else "not listed"
    return TableLine(
        cells=(
            str(now.rank) if now else "–",
            f"{now.distance:.3f}" if now else "–",
            "votes" if now and now.voted else "",
            "used" if now and now.used else "",
            _MOVES[row.move],
            old if compares else "",
            row.family,
            row.id + (" (draft)" if row.draft else ""),
            now.why if now else "It is no longer in the list.",
            " ".join(row.task.split()),
        ),
        key=row.id,
        tooltip=f"{row.task}\n{now.why if now else ''}".strip(),
        tone=_TONES.get(row.move, ""),
        toned=_CHANGE,
        strong=bool(now and now.used),
        values=(
            now.rank if now else 9999,
            now.distance if now else 9.0,
            bool(now and now.voted),
            bool(now and now.used),
            row.move,
            before.rank if before else 9999,
            row.family,
            row.id,
            now.why if now else "",
            row.task,
        ),
    )
