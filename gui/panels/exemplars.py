"""Exemplars: the memory's query, the trajectories that it returned, and the nearest ones that were not used."""

from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from core.debugger.steps.views import ExemplarRow, ExemplarsView, StepView
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.commands import CHANGE, Command
from gui.widgets.editable import EditablePanel, show_right, why_no
from gui.widgets.item_views import ROW, MenuEntry, RowMenu
from gui.widgets.keys import takes_key
from gui.widgets.layouts import Section, holding, in_column, in_row, in_sections, indented
from gui.widgets.rows import Row, Rows
from gui.widgets.search import Finder
from gui.widgets.text_view import TextView
from gui.widgets.words import ElidedLabel, FittedText, NoteLabel, OrWords, small_label

_NONE = (
    "No exemplars were recalled yet. Switch Memory on in Mechanisms (Ctrl+Shift+H), or choose a preset that "
    "has it (Ctrl+Shift+S); exemplars are recalled at the start of a run and of a policy."
)
_NOT_KEPT = (
    "This exemplar was near but not used; with the step its distance was kept, not its trajectory. "
    "It is {id} among the files of exemplars."
)

_READ = 240
"""Height of the text of an open trajectory, in pixels."""


class ExemplarsPanel(EditablePanel):
    """Shows `ExemplarsView`; a click or Enter opens an exemplar's trajectory, Escape goes back.

    Menus add exemplars to the live run and leave them out.
    """

    fact_changed = Signal(str)
    library_requested = Signal(str)
    """The id of the exemplar that is open; empty if there is none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = ExemplarsView()
        library = "Open the library at the exemplar that is open here (Ctrl+L)"
        self.library_button = key_button("Open the library", library, "", self._on_library, self)
        self.facts = NoteLabel(margins=(10, 6, 10, 2))
        self.used = Rows(theme, "Exemplars for the prompt, the nearest first")
        self.nearest = Rows(theme, "The nearest that were not used")
        for rows in (self.used, self.nearest):
            rows.pressed_on.connect(self._open)
            RowMenu(rows, self.entries)
        self.query = FittedText("What the memory was asked", lines=6)
        self.used_section = Section(theme, "For the prompt", self.used)
        self.nearest_section = Section(theme, "Nearest, not used", self.nearest)
        self.query_section = Section(theme, "What was asked", indented(self.query))
        sections = (self.used_section, self.nearest_section, self.query_section)
        self.listed = in_sections(self.facts, *sections)
        self.reader = ExemplarReader(theme)
        self.reader.closed.connect(self._close)
        self.reader.hide()
        self.or_words = OrWords(holding(in_column(None, self.listed, self.reader)), self, _NONE)
        self.pin_button = key_button("Add…", "", "", self.pin, self)
        self.recall_button = key_button("Recall again", "", "", self.recall, self)
        buttons = (self.library_button, self.pin_button, self.recall_button)
        foot = in_row(None, *buttons, 1, margins=(10, 4, 10, 6), spacing=6)
        in_column(self, (self.or_words, 1), foot, spacing=0)

    @property
    def reading(self) -> bool:
        return not self.reader.isHidden()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self.show_exemplars(step.exemplars)
        self.show_liveness(step)

    def show_rights(self) -> None:
        why = self.why_not("AskQuestionAgain recall")
        show_right(self.pin_button, "Add an exemplar to the prompts of this run (Ctrl+P, E)", why)
        show_right(self.recall_button, "Ask the memory again (Ctrl+P, 2)", why)

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of an exemplar in the live run."""
        row: Row = index.data(ROW)
        if any(one.id == row.key and one.told for one in self._view.rows):
            return ()  # It is not in the memory.
        used = any(one.id == row.key and one.used for one in self._view.rows)
        name, text = ("DropExemplar", "Leave it out") if used else ("PinExemplar", "Use this one too")
        do = partial(self.ask_edit, name, id=row.key)
        library = partial(self.library_requested.emit, row.key)
        return (
            self.edit_entry(f"{text} of this run's prompts" if used else text, do, "AskQuestionAgain recall"),
            self.edit_entry("Add another…", self.pin, "AskQuestionAgain recall", "Ctrl+P, E"),
            self.edit_entry("Recall again", self.recall, "AskQuestionAgain recall", "Ctrl+P, 2"),
            MenuEntry("Show it in the library", library, key="Ctrl+L"),
        )

    @Slot()
    def pin(self) -> None:
        """Ask which exemplar to add to the prompts: one of the nearest, or any by its id."""
        if not self.why_not("AskQuestionAgain recall"):
            near = {f"{row.id}  {row.task}": row.id for row in self._view.rows if not row.used}
            label = "One of the nearest, or the id of any exemplar; the library (Ctrl+L) shows ids:"
            add = partial(self.ask_edit, "PinExemplar")
            self.ask_line("Add an exemplar", label, lambda id: add(id=id), choices=near)

    @Slot()
    def recall(self) -> None:
        """Recall the exemplars again."""
        self.ask_edit("AskQuestionAgain", what="recall")

    def show_exemplars(self, view: ExemplarsView) -> None:
        """Replace what is shown with `view`; an open trajectory stays while its exemplar exists."""
        self._view = view
        there = view.rows or view.query or view.why or view.problems
        self.or_words.say(view.message or ("" if there else _NONE))
        self.facts.show_text(_facts(view))
        used = [row for row in view.rows if row.used]
        others = [row for row in view.rows if not row.used]
        self.used.show_rows(_row(one, view) for one in used)
        self.nearest.show_rows(_row(other, view) for other in others)
        self.used_section.show_where(used, str(sum(not row.problem for row in used)))
        self.nearest_section.show_where(others, str(len(others)))
        self.query.show_text(view.query)
        self.query_section.show_where(view.query, view.embedding)
        if self.reading:
            opened = next((row for row in view.rows if row.id == self.reader.exemplar), None)
            if opened is None or view.message:
                self._close()
            else:
                self.reader.show_exemplar(opened)
        self.fact_changed.emit("" if view.message else _fact(view))

    def focus_search(self) -> None:
        """Search in the open trajectory."""
        if self.reading:
            self.reader.finder.focus_search()

    def show_place(self, identifier: str, found: str) -> None:
        """Open an exemplar and highlight words in it."""
        self._open(identifier)
        needle = found.strip().partition("\n")[0][:200]
        self.reader.finder.show_needle(needle)
        self.reader.text.seek(needle)

    def _on_library(self) -> None:
        known = {row.id for row in self._view.rows if not row.told}
        opened = self.reader.exemplar if self.reading else ""
        self.library_requested.emit(opened if opened in known else "")

    def _open(self, identifier: str) -> None:
        for row in self._view.rows:
            if row.id == identifier:
                self.reader.show_exemplar(row)
                self._show_reader(True)
                self.reader.text.setFocus()

    def _show_reader(self, on: bool) -> None:
        self.reader.setVisible(on)
        self.listed.setVisible(not on)

    def _close(self) -> None:
        had_focus = self.reader.isAncestorOf(self.focusWidget() or self)
        self._show_reader(False)
        if had_focus:
            among = any(row.key == self.reader.exemplar for row in self.used.rows)
            (self.used if among else self.nearest).setFocus()

    COMMANDS = (
        Command("pin_exemplar", "Add an e&xemplar…", "Ctrl+P, E", "book", CHANGE, 6.6,
            "Add an exemplar to the prompts of this run", pin, why_no("AskQuestionAgain recall")),
    )  # fmt: skip


class ExemplarReader(QWidget):
    """One trajectory, for reading and searching."""

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.exemplar = ""
        """The id of the open exemplar."""
        self.back = key_button("Back", "Back to the exemplars", "Esc", self.closed.emit, self)
        self.back.setIcon(theme.icon("arrow-left"))
        self.title = ElidedLabel("", self)
        self.title.setFont(theme.text_font(bold=True))
        self.facts = small_label(theme, self)
        self.text = TextView(theme, "Trajectory", self)
        self.text.setMinimumHeight(_READ)
        self.finder = Finder(theme, "Search (Ctrl+F)", (self.text,), self)
        self.or_words = OrWords(self.text, self)
        head = in_row(None, self.back, (self.finder, 1), margins=(8, 4, 8, 2), spacing=6)
        names = in_column(None, self.title, self.facts, margins=(10, 2, 10, 2), spacing=0)
        in_column(self, head, names, (self.or_words, 1), spacing=0)

    def show_exemplar(self, row: ExemplarRow) -> None:
        self.exemplar = row.id
        self.title.setText(row.task)
        far = "added by hand" if row.added else f"distance {_distance(row.distance)}"
        told = "reported by the agent"
        self.facts.setText(told if row.told else f"{row.family} · {far} · {row.id}")
        self.text.show_text(row.trajectory)
        self.finder.refresh()
        self.finder.setVisible(bool(row.trajectory))
        self.or_words.say("" if row.trajectory else _NOT_KEPT.format(id=row.id))

    def event(self, event: QEvent) -> bool:
        # Escape is also a command of the window: while an open trajectory has the focus, it goes back to the list.
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        return (escape and takes_key(event, self.closed.emit)) or super().event(event)


def _row(row: ExemplarRow, view: ExemplarsView) -> Row:
    beyond = view.threshold is not None and row.distance > view.threshold
    if row.told:
        mark = ("check", "good", "shown")
    elif row.used and row.problem:
        mark = ("circle-slash", "dim", "left out")
    elif row.added:
        mark = ("person", "person", "added by hand")
    elif row.used:
        mark = ("check", "good", "used")
    elif beyond:
        mark = ("circle-slash", "dim", "beyond the threshold")
    elif row.problem:
        mark = ("circle-slash", "dim", "left out")
    else:
        mark = ("circle-outline", "dim", "not used")
    return Row(
        row.task if row.added or row.told else f"{_distance(row.distance)}  {row.task}",
        *mark,
        detail=" · ".join(filter(None, (row.family, "voted" if row.voted else "", row.problem))),
        quiet=not row.used,
        key=row.id,
        tooltip="Read the trajectory (Enter)",
    )


def _facts(view: ExemplarsView) -> str:
    """Return lines on why these were chosen, how the vote went, what was left out, and when the memory was queried."""
    lines = [view.why]
    if view.votes:
        lines.append("Vote: " + ", ".join(f"{family} {votes}" for family, votes in view.votes))
    if view.threshold is not None:
        lines.append(f"Memory is not used beyond a distance of {_distance(view.threshold)}.")
    lines += [f"Left out: {problem}" for problem in view.problems]
    if view.recalled_at:
        lines.append(f"Recalled at step {view.recalled_at}.")
    return "\n".join(filter(None, lines))


def _fact(view: ExemplarsView) -> str:
    if told := sum(1 for row in view.rows if row.told):
        return f"{told} shown"
    if not view.family:
        return "none used" if view.rows else ""
    total = sum(votes for _family, votes in view.votes)
    won = dict(view.votes).get(view.family, 0)
    return f"family {view.family}" + (f" · vote {won} of {total}" if total else "")


def _distance(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"
