"""Retrieval: the exemplars for a task, with distances, votes and reasons, before and after a change, and a map."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.analyses.views import Bench, BenchQuery
from core.exemplars.analysis.records import LookupTrial, Move, TrialRow
from core.schema.exemplar import Recall
from core.schema.formats import count
from gui.exemplars.analyses.map_pane import MapPane
from gui.exemplars.analyses.page import NO_EXEMPLARS, AnalysisPage, View, panel
from gui.exemplars.analyses.retrieval_form import RetrievalForm
from gui.shell.command_set import CommandSet
from gui.theme.theme import Theme
from gui.widgets.buttons import action_button, key_button
from gui.widgets.commands import Command
from gui.widgets.layouts import holding, in_row, on_panel, scrolled, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

_START = (
    "Type a task on the left, or take one from a run, and press Look up (Ctrl+Enter). The exemplars that a run would "
    "get are listed here, with distances, votes, and why each is used or not."
)
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
    Column("Taken", tooltip="Whether it votes, and whether it is used"),
    Column("Change"),
    Column("Before", tooltip="Its rank and distance, and whether it was used"),
    Column("Exemplar"),
    Column("Why"),
    Column("Family"),
    Column("Task"),
)
_CHANGE, _BEFORE = 3, 4


class RetrievalPage(AnalysisPage):
    """Shows a `Bench`: a task and settings, what it would be shown, and the map beside it."""

    look_up_requested = Signal(object, bool)
    """A `BenchQuery`, and whether the map is shown."""
    draft_requested = Signal(object)
    """An exemplar to test instead of the stored one, or None."""
    take_requested = Signal(int, int)
    never_requested = Signal(str)
    """The id of an exemplar that is not to be used for tasks like this."""
    map_toggled = Signal(bool)
    """Whether the map is shown now."""

    COMMANDS = (
        Command("never", "Never for this task", "Ctrl+Del", "", "", 1.1,
            "Never use the selected exemplar for tasks like this one",
            lambda page: page.never_requested.emit(str(page.table.current_key)),
            lambda page: "" if page.table.current_key else "Look a task up, and select an exemplar in the list"),
    )  # fmt: skip

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._bench = Bench()
        self.commands = CommandSet(theme, [(self, "")], self)
        self.form = RetrievalForm(theme, self)
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
        self.map = MapPane(theme, self)
        self.map.exemplar_opened.connect(self.exemplar_opened)
        self.map_button = key_button(
            "Map", "Show all exemplars in a plane, with the task among them", "Alt+M", lambda: None, self
        )
        self.map_button.setCheckable(True)
        self.map_button.setChecked(True)
        self.map_button.toggled.connect(self._on_map)
        self.addActions([bound.action for bound in self.commands])
        never = action_button(self.commands.by_id["never"].action, self)
        self.add(self.look_up_button, never, self.cancel_button, self.progress, self.words, self.map_button)
        self._lay_out(theme)
        self.show_view(View(result=self._bench))
        self.commands.refresh()

    def _lay_out(self, theme: Theme) -> None:
        self.draft_words = NoteLabel("remedy", parent=self)
        self.draft_button = key_button(
            "Without the draft",
            "Look up with the stored exemplar again",
            "Alt+D",
            lambda: self.draft_requested.emit(None),
            self,
        )
        draft = in_row(None, (self.draft_words, 1), self.draft_button, margins=(12, 6, 12, 6))
        self.draft_bar = holding(draft)
        self.looked_up = ElidedLabel("", self)
        self.looked_up.setContentsMargins(12, 8, 12, 0)
        self.looked_up.setFont(theme.heading_font())
        self.now = NoteLabel("", parent=self, margins=(12, 4, 12, 2))
        self.before = NoteLabel("dim", parent=self, margins=(12, 2, 12, 6))
        self.table = PlainTable(theme, "What would be retrieved", _COLUMNS, self)
        self.table.opened.connect(lambda id: self.exemplar_opened.emit(str(id)))
        self.table.current.connect(lambda _id: self.commands.refresh())
        result = panel(self.looked_up, self.now, self.before, self.table, tall=self.table)
        self.or_words = OrWords(result, self)
        left = scrolled("What is looked up", self.form)
        left.setMinimumWidth(theme.scaled(325))
        on_panel(left.viewport())
        self.split = splitter(
            Qt.Orientation.Horizontal,
            left,
            panel(self.draft_bar, self.or_words, tall=self.or_words),
            self.map,
            sizes=(325, 565, 390),
            stretch=(0, 1, 1),
        )
        self.column.addWidget(self.split, 1)

    def show_task(self, task: str, observation: str = "") -> None:
        """Use this task for lookups."""
        self.form.show_task(self.form.query.replace(task=task, observation=observation, source=""))

    @Slot(object)
    def show_view(self, view: View) -> None:
        """Replace what is shown; typed text stays."""
        self.view = view
        before, self._bench = self._bench, view.result or Bench()
        bench = self._bench
        for settings in (self.form.settings, self.form.other):
            settings.show_presets(bench.presets)
        self.form.show_environments(bench.environments)
        self.show_working(
            "" if bench.members is None else f"{count(bench.members, 'exemplar')} in the index."
        )
        self.look_up_button.setEnabled(not view.busy)
        self.draft_bar.setVisible(bool(bench.draft))
        self.draft_words.show_text(
            f"Looked up with the draft of {bench.draft} instead of the stored exemplar. Nothing is saved."
            if bench.draft
            else ""
        )
        self.or_words.say(NO_EXEMPLARS if bench.members == 0 else _START if bench.trial is None else "")
        if bench.trial is not None and bench.trial != before.trial:
            self._show_trial(bench.trial)
        if self.map_button.isChecked():
            self.map.show_map(bench.map, busy=view.busy)

    def _show_trial(self, trial: LookupTrial) -> None:
        compares = trial.after is not None
        query = self._bench.query
        self.looked_up.setText(query.task if query is not None else "")
        self.now.show_text(("After: " if compares else "") + recall_words(trial.now))
        self.before.show_text(f"Before: {recall_words(trial.before)}" if compares else "")
        for column in (_BEFORE, _CHANGE):
            self.table.setColumnHidden(column, not compares)
        self.table.show_lines([_line(row, compares=compares) for row in trial.rows])
        self.commands.refresh()

    # Input of the person

    def _on_look_up(self) -> None:
        query: BenchQuery = self.form.query
        if not query.task:
            self.problem.show_text("Type a task first, or take one from a run.")
            self.form.task.setFocus()
            return
        self.look_up_requested.emit(query, self.map_button.isChecked())

    def _on_map(self, on: bool) -> None:
        self.map.setVisible(on)
        if on:
            self.map.show_map(self._bench.map, busy=self.view.busy)
        self.map_toggled.emit(on)


def recall_words(found: Recall) -> str:
    """Return the result of a lookup as sentences."""
    votes = ", ".join(f"{family} {times}" for family, times in found.votes.items())
    used = f" {count(len(found.used), 'exemplar')} would be in the prompt." if found.used else ""
    return (f"Votes: {votes}. " if votes else "") + found.why + used


def _line(row: TrialRow, *, compares: bool) -> TableLine:
    now, before = row.now, row.before
    old = f"{before.rank}, {before.distance:.3f}{', used' if before.used else ''}" if before else "not listed"
    taken = (
        ", ".join(word for word, is_so in (("votes", now.voted), ("used", now.used)) if is_so) if now else ""
    )
    name = f"{row.id} (draft)" if row.draft else row.id
    why = now.why if now else "It is no longer in the list."
    return TableLine.of(
        (str(now.rank), now.rank) if now else ("–", 9999),
        (f"{now.distance:.3f}", now.distance) if now else ("–", 9.0),
        taken,
        _MOVES[row.move],
        (old if compares else "", before.rank if before else 9999),
        name,
        why,
        row.family,
        " ".join(row.task.split()),
        key=row.id,
        tooltip=f"{row.task}\n{why}",
        tone=_TONES.get(row.move, ""),
        toned=_CHANGE,
        strong=bool(now and now.used),
    )
