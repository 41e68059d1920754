"""Near duplicates: pairs with their distance, side by side; the person keeps both or merges them."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QLabel, QWidget

from core.debugger.exemplars.analyses.views import Duplicates
from core.exemplars.analysis.records import NearPair, Sameness, grouped
from core.schema.formats import count, cut, thousands
from gui.exemplars.analyses.page import NO_EXEMPLARS, AnalysisPage, View, panel
from gui.shell.command_set import CommandSet
from gui.shell.undo import UndoHistory
from gui.shell.undo_button import UndoButton
from gui.theme.theme import Theme
from gui.widgets.buttons import action_button
from gui.widgets.commands import Command, Face
from gui.widgets.layouts import holding, in_row, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords

SAME: dict[Sameness, str] = {
    "task and steps": "same task, same steps",
    "task": "same task, other steps",
    "steps": "other task, same steps",
    "neither": "other task, other steps",
}


_COLUMNS = (
    Column("Group", tooltip="Exemplars that are similar to each other"),
    Column("Distance", number=True, tooltip="From 0 (equal) to 2"),
    Column("What they share"),
    Column("Left"),
    Column("Right"),
    Column("Family"),
    Column("Task"),
)
_START = (
    "Exemplars that say nearly the same waste space in a prompt. Choose a distance and press Find (Ctrl+Enter): "
    "each exemplar is compared with all others. With the built-in embedding, exemplars that differ in only "
    "their numbers have distance 0, and in one short word up to about 0.15."
)
_AGAIN = Face("List again", "List this pair again")


class DuplicatesPage(AnalysisPage):
    """The pairs of similar exemplars, and the current one side by side."""

    find_requested = Signal(float, bool)
    """The distance, and whether to list kept pairs too."""
    pair_requested = Signal(str, str)
    keep_requested = Signal(str, str, bool)
    """A pair, and whether to keep both or to list it again."""
    merge_requested = Signal(str, str)
    """The exemplar to keep, and the one to retire."""

    COMMANDS = (
        Command("find", "Find", "Ctrl+Return", "search", "", 1.1, "Compare all exemplars with each other",
            lambda page: page.find_requested.emit(page.within.value(), page.with_kept.isChecked()),
            lambda page: "Exemplars are being compared" if page.view.busy else ""),
        Command("left", "Merge into left", "Ctrl+Left", "", "", 1.2,
            "Retire the right one; its tags, note, weight, pin and never go to the left", lambda page: page.merge(0),
            lambda page: page.why_no_pair),
        Command("right", "Merge into right", "Ctrl+Right", "", "", 1.3,
            "Retire the left one; its tags, note, weight, pin and never go to the right", lambda page: page.merge(1),
            lambda page: page.why_no_pair),
        Command("keep", "Keep both", "Ctrl+K", "", "", 1.4, "Do not list this pair again",
            lambda page: page.keep(), lambda page: page.why_no_pair,
            face=lambda page: _AGAIN if page.is_kept else None),
        Command("open_left", "Open left", "Ctrl+1", "", "", 1.5, "Show it in the library",
            lambda page: page.exemplar_opened.emit(page.chosen.ids[0]), lambda page: page.why_no_pair),
        Command("open_right", "Open right", "Ctrl+2", "", "", 1.6, "Show it in the library",
            lambda page: page.exemplar_opened.emit(page.chosen.ids[1]), lambda page: page.why_no_pair),
    )  # fmt: skip

    def __init__(self, theme: Theme, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._asked: tuple[str, str] | None = None
        self.within = QDoubleSpinBox(self, decimals=3, minimum=0.0, maximum=2.0, singleStep=0.05, value=0.15)
        self.within.setToolTip("List pairs up to this distance, from 0 (equal) to 2")
        self.with_kept = QCheckBox("With those kept", self)
        self.with_kept.setToolTip("Also list pairs that you marked to keep both")
        label = QLabel("&Within", self)
        label.setBuddy(self.within)
        self.within.setAccessibleName("Within")
        self.commands = CommandSet(theme, [(self, "")], self)
        self.addActions([bound.action for bound in self.commands])
        find = action_button(self.commands.by_id["find"].action, self)
        find.setProperty("accent", True)
        self.add(label, self.within, self.with_kept, find, self.cancel_button)
        self.add(self.progress, self.words, UndoButton(history, self))
        self.note = NoteLabel("dim", parent=self, margins=(12, 0, 12, 8))
        self.table = PlainTable(theme, "Similar pairs", _COLUMNS, self)
        self.table.opened.connect(lambda _key: self.commands.by_id["open_left"].action.trigger())
        self.table.current.connect(lambda _key: self.refresh())
        self.pair = self._pair_panel(theme)
        content = splitter(
            Qt.Orientation.Vertical, panel(self.table, tall=self.table), self.pair, sizes=(230, 400)
        )
        self.body = OrWords(content, self)
        self.column.addWidget(self.note)
        self.column.addWidget(self.body, 1)
        self.show_view(self.view)

    def _pair_panel(self, theme: Theme) -> QWidget:
        self.sides = SideBySide(theme, self)
        self.same = QLabel(self)
        self.same.setFont(theme.heading_font())
        self.same.setContentsMargins(10, 8, 10, 4)
        middle = Qt.TextElideMode.ElideMiddle
        self.names = [ElidedLabel("", self, mode=middle, tone="dim") for _ in range(2)]
        names = in_row(None, *((name, 1) for name in self.names), margins=(26, 0, 10, 4))
        only_changes = QCheckBox("Only what differs", self)
        only_changes.toggled.connect(self.sides.set_only_changes)
        merging, opening = (
            [action_button(self.commands.by_id[id].action, self) for id in ids]
            for ids in (("left", "right", "keep"), ("open_left", "open_right"))
        )
        foot = in_row(None, *merging, 1, only_changes, *opening, margins=(10, 6, 10, 8))
        return panel(self.same, holding(names), self.sides, holding(foot), tall=self.sides)

    @property
    def chosen(self) -> NearPair | None:
        """The pair in view."""
        result: Duplicates | None = self.view.result
        pairs = result.listed if result is not None else ()
        return next((pair for pair in pairs if pair.ids == self.table.current_key), None)

    @property
    def why_no_pair(self) -> str:
        return "" if self.chosen is not None else "Choose a pair first"

    @property
    def is_kept(self) -> bool:
        """Whether a person said that both of the pair are to be kept."""
        result: Duplicates | None = self.view.result
        return result is not None and self.chosen is not None and self.chosen.ids in result.kept

    def show_view(self, view: View) -> None:
        """Replace what is shown; the current row stays if it is still there."""
        before, self.view = self.view.result, view
        result: Duplicates | None = view.result
        self.show_working()
        if result is not before:
            self.table.show_lines([] if result is None else self._lines(result))
            self.note.show_text("" if result is None else self._summary(result))
            if (
                before is None
                and self.table.lines
                and self.isAncestorOf(self.window().focusWidget() or self.table)
            ):
                self.table.setFocus()  # A field would take the keys of the commands.
        self.body.say("" if self.table.lines else self._nothing())
        if self.table.lines and self.chosen is None:
            self.table.choose(self.table.lines[0].key)
        self.refresh()

    def _nothing(self) -> str:
        if self.view.busy:
            return "Nothing was found yet."
        return _START if self.view.result is None else self._nothing_in(self.view.result)

    def _lines(self, result: Duplicates) -> list[TableLine]:
        lines = []
        for number, group in enumerate(grouped(result.listed), start=1):
            alike = len({id for pair in group for id in pair.ids})
            lines += [_line(pair, number, alike, kept=pair.ids in result.kept) for pair in group]
        return lines

    def _summary(self, result: Duplicates) -> str:
        if not self.table.lines:
            return ""
        groups = len({line.values[0] for line in self.table.lines})
        parts = [
            f"{count(len(self.table.lines), 'pair')} in {count(groups, 'group')} within {result.within:g}"
        ]
        if result.more:
            parts.append("the nearest, there may be more")
        if hidden := _hidden(result):
            parts.append(f"{hidden} marked to keep and not listed")
        if not result.whole:
            of = f"{thousands(result.done)} of {thousands(result.members)}"
            parts.append(f"only {of} were compared with all")
        return "; ".join(parts) + "."

    def _nothing_in(self, result: Duplicates) -> str:
        if not result.whole:
            return "Cancelled before anything was found."
        if not result.members:
            return NO_EXEMPLARS
        hidden = _hidden(result)
        kept = f" {count(hidden, 'pair')} marked to keep both are not listed." if hidden else ""
        return f"No two of the {thousands(result.members)} exemplars lie within {result.within:g}.{kept}"

    def refresh(self) -> None:
        """Enable the available commands, and show the pair in view."""
        self.commands.refresh()
        pair = self.chosen
        self.pair.setEnabled(pair is not None)
        if pair is None:
            self._asked = None
            return
        if pair.ids != self._asked:
            self._asked = pair.ids
            self.pair_requested.emit(*pair.ids)
        kept = ", both kept" if self.is_kept else ""
        self.same.setText(f"{pair.distance:.3f} apart: {SAME[pair.same]}{kept}")
        for at, (label, id) in enumerate(zip(self.names, pair.ids, strict=True)):
            label.setText(f"{id} (in a file)" if _in_file(pair, at) else id)
        texts = self.view.result.texts if self.view.result is not None else None
        reading = "It is being read…"
        ready = texts is not None and texts.ids == pair.ids
        self.sides.show_texts(*((texts.left, texts.right) if ready and texts else (reading, reading)))

    def keep(self) -> None:
        """Keep both of the pair in view, or list it again."""
        if (pair := self.chosen) is not None:
            self.keep_requested.emit(*pair.ids, not self.is_kept)

    def merge(self, into: int) -> None:
        """Merge the pair in view into its left one (0) or its right one (1)."""
        if (pair := self.chosen) is not None:
            self.merge_requested.emit(pair.ids[into], pair.ids[1 - into])


def _hidden(result: Duplicates) -> int:
    return len(result.open) - len(result.listed)


def _in_file(pair: NearPair, side: int) -> bool:
    return (pair.number, pair.other)[side] < 0


def _line(pair: NearPair, group: int, alike: int, *, kept: bool) -> TableLine:
    shared = SAME[pair.same] + (" (kept)" if kept else "")
    family = " / ".join(dict.fromkeys(pair.families))
    task = " / ".join(dict.fromkeys(cut(" ".join(text.split()), 120) for text in pair.tasks))
    return TableLine.of(
        (f"{group}: {alike} alike", group),
        (f"{pair.distance:.3f}", pair.distance),
        shared,
        *pair.ids,
        family,
        task,
        key=pair.ids,
    )
