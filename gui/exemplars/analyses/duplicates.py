"""Near duplicates: pairs with their distance, side by side; the person keeps both or merges them."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QLabel, QWidget

from core.debugger.exemplars.analyses.views import Duplicates
from core.exemplars.analysis.records import NearPair, Sameness, grouped
from gui.exemplars.analyses.page import NO_EXEMPLARS, PartPage, panel, with_label
from gui.shell.undo import UndoHistory
from gui.shell.undo_button import UndoButton
from gui.theme.theme import Theme
from gui.widgets.formats import count, cut, thousands
from gui.widgets.layouts import holding, in_row
from gui.widgets.plain_table import Column, TableLine
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import ElidedLabel

SAME: dict[Sameness, str] = {
    "task and steps": "same task, same steps",
    "task": "same task, other steps",
    "steps": "other task, same steps",
    "neither": "other task, other steps",
}


class DuplicatesPage(PartPage):
    """The pairs of similar exemplars, and the current one side by side."""

    find_requested = Signal(float, bool)
    """The distance, and whether to list kept pairs too."""
    pair_requested = Signal(str, str)
    keep_requested = Signal(str, str, bool)
    """A pair, and whether to keep both or to list it again."""
    merge_requested = Signal(str, str)
    """The exemplar to keep, and the one to retire."""

    name = "Duplicates"
    title = "Similar pairs"
    columns = (
        Column("Group", tooltip="Exemplars that are similar to each other"),
        Column("Distance", number=True, tooltip="From 0 (equal) to 2"),
        Column("What they share"),
        Column("Left"),
        Column("Right"),
        Column("Family"),
        Column("Task"),
    )
    start = (
        "Exemplars that say nearly the same waste space in a prompt. Choose a distance and press Find (Ctrl+Enter): "
        "each exemplar is compared with all others. With the built-in embedding, exemplars that differ in only "
        "their numbers have distance 0, and in one short word up to about 0.15."
    )

    def __init__(self, theme: Theme, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._asked: tuple[str, str] | None = None
        self.within = QDoubleSpinBox(self, decimals=3, minimum=0.0, maximum=2.0, singleStep=0.05, value=0.15)
        self.within.setToolTip("List pairs up to this distance, from 0 (equal) to 2")
        self.with_kept = QCheckBox("With those kept", self)
        self.with_kept.setToolTip("Also list pairs that you marked to keep both")
        self.find_button = self.button(
            "Find", "Compare all exemplars with each other", "Ctrl+Return", self._on_find, accent=True
        )
        self.add(*with_label("&Within", self.within), self.with_kept, self.find_button, self.cancel_button)
        self.add(self.progress, self.words, UndoButton(history, self))
        self.table.opened.connect(lambda _key: self._on_open(0))
        self.pair = self._pair_panel(theme)
        self.begin(self.pair, (230, 400))

    def _pair_panel(self, theme: Theme) -> QWidget:
        self.sides = SideBySide(theme, self)
        self.same = QLabel(self)
        self.same.setFont(theme.heading_font())
        self.same.setContentsMargins(10, 8, 10, 4)
        middle = Qt.TextElideMode.ElideMiddle
        self.names = [ElidedLabel("", self, mode=middle, tone="dim") for _ in range(2)]
        names = in_row(None, *((name, 1) for name in self.names), margins=(26, 0, 10, 4))
        self.keep_button = self.button(
            "Keep both", "Do not list this pair again", "Ctrl+K", self._on_keep, when=self._any
        )
        self.keep_left = self.button(
            "Merge into left", "", "Ctrl+Left", lambda: self._on_merge(0), when=self._any
        )
        self.keep_right = self.button(
            "Merge into right", "", "Ctrl+Right", lambda: self._on_merge(1), when=self._any
        )
        self.open_left, self.open_right = (
            self.button(
                f"Open {side}",
                "Show it in the library",
                f"Ctrl+{at + 1}",
                partial(self._on_open, at),
                when=self._any,
            )
            for at, side in enumerate(("left", "right"))
        )
        only_changes = QCheckBox("Only what differs", self)
        only_changes.toggled.connect(self.sides.set_only_changes)
        merging = (self.keep_left, self.keep_right, self.keep_button)
        foot = in_row(
            None, *merging, 1, only_changes, self.open_left, self.open_right, margins=(10, 6, 10, 8)
        )
        return panel(self.same, holding(names), self.sides, holding(foot), tall=self.sides)

    @property
    def chosen(self) -> NearPair | None:
        """The pair in view."""
        result: Duplicates | None = self.view.result
        pairs = result.listed if result is not None else ()
        return next((pair for pair in pairs if pair.ids == self.table.current_key), None)

    def line_items(self, result: Duplicates) -> list[TableLine]:
        lines = []
        for number, group in enumerate(grouped(result.listed), start=1):
            alike = len({id for pair in group for id in pair.ids})
            lines += [_line(pair, number, alike, kept=pair.ids in result.kept) for pair in group]
        return lines

    def summary(self, result: Duplicates) -> str:
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

    def nothing_in(self, result: Duplicates) -> str:
        if not result.whole:
            return "Cancelled before anything was found."
        if not result.members:
            return NO_EXEMPLARS
        hidden = _hidden(result)
        kept = f" {count(hidden, 'pair')} marked to keep both are not listed." if hidden else ""
        return f"No two of the {thousands(result.members)} exemplars lie within {result.within:g}.{kept}"

    def show_details(self, *, changed: bool) -> None:
        if self.table.lines and self.chosen is None:
            self.table.choose(self.table.lines[0].key)
        self.refresh()

    def refresh(self) -> None:
        super().refresh()
        pair = self.chosen
        self.pair.setEnabled(pair is not None)
        if pair is None:
            self._asked = None
            return
        if pair.ids != self._asked:
            self._asked = pair.ids
            self.pair_requested.emit(*pair.ids)
        is_kept = self._is_kept(pair)
        kept = ", both kept" if is_kept else ""
        self.same.setText(f"{pair.distance:.3f} apart: {SAME[pair.same]}{kept}")
        for at, (label, id) in enumerate(zip(self.names, pair.ids, strict=True)):
            label.setText(f"{id} (in a file, read-only)" if _read_only(pair, at) else id)
        texts = self.view.result.texts if self.view.result is not None else None
        reading = "It is being read…"
        ready = texts is not None and texts.ids == pair.ids
        self.sides.show_texts(*((texts.left, texts.right) if ready and texts else (reading, reading)))
        self.keep_button.setText("List again" if is_kept else "Keep both")
        for button, gone, other, key in (
            (self.keep_left, "right", "left", "Left"),
            (self.keep_right, "left", "right", "Right"),
        ):
            button.setToolTip(f"Retire the {gone} one; its tags and note go to the {other} (Ctrl+{key})")

    def _is_kept(self, pair: NearPair) -> bool:
        result: Duplicates | None = self.view.result
        return result is not None and pair.ids in result.kept

    def _any(self) -> bool:
        return self.chosen is not None

    # Input of the person

    def _on_find(self) -> None:
        self.find_requested.emit(self.within.value(), self.with_kept.isChecked())

    def _on_keep(self) -> None:
        if (pair := self.chosen) is not None:
            self.keep_requested.emit(*pair.ids, not self._is_kept(pair))

    def _on_merge(self, into: int) -> None:
        if (pair := self.chosen) is not None:
            self.merge_requested.emit(pair.ids[into], pair.ids[1 - into])

    def _on_open(self, side: int) -> None:
        if (pair := self.chosen) is not None:
            self.exemplar_opened.emit(pair.ids[side])


def _hidden(result: Duplicates) -> int:
    return len(result.open) - len(result.listed)


def _read_only(pair: NearPair, side: int) -> bool:
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
