"""Near duplicates: pairs with their distance, side by side; the person keeps both or merges them."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QLabel, QWidget

from core.debugger.exemplars.analyses.views import DuplicatePair, DuplicatesView
from core.memory.analysis.records import Sameness
from gui.exemplars.analyses.page import AnalysisPage, panel
from gui.shell.undo import UndoHistory
from gui.shell.undo_button import UndoButton
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count, cut, thousands
from gui.widgets.found_rows import FoundRow, FoundRows
from gui.widgets.layouts import holding, in_row, splitter
from gui.widgets.side_by_side import SideBySide
from gui.widgets.words import ElidedLabel, OrWords

SAME: dict[Sameness, str] = {
    "task and steps": "same task, same steps",
    "task": "same task, other steps",
    "steps": "other task, same steps",
    "neither": "other task, other steps",
}
_START = (
    "Exemplars that say nearly the same waste space in a prompt. Choose a distance and press Find "
    "(Ctrl+Enter): each exemplar is compared with all others. With the built-in embedding, exemplars that differ in "
    "only their numbers have distance 0, and in one short word up to about 0.15."
)
_CHOOSE = "Choose a pair on the left to compare both."


class DuplicatesPage(AnalysisPage):
    """Shows `DuplicatesView`; requests go out only as signals."""

    find_requested = Signal(float, bool)
    """The distance, and whether to list kept pairs too."""
    pair_requested = Signal(str, str)
    keep_requested = Signal(str, str, bool)
    """A pair, and whether to keep both or to list it again."""
    merge_requested = Signal(str, str)
    """The exemplar to keep, and the one to archive."""

    def __init__(self, theme: Theme, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__(theme, "End it; what was found stays in view", parent)
        self._view = DuplicatesView()
        self._chosen: tuple[str, str] | None = None
        self.within = QDoubleSpinBox(self, decimals=3, minimum=0.0, maximum=2.0, singleStep=0.05)
        self.within.setValue(DuplicatesView().within)
        self.within.setToolTip("List pairs up to this distance, from 0 (equal) to 2")
        self.with_kept = QCheckBox("With those kept", self)
        self.with_kept.setToolTip("Also list pairs that you marked to keep both")
        self.find_button = key_button(
            "Find", "Compare all exemplars with each other", "Ctrl+Return", self._on_find, self, accent=True
        )
        self.undo_button = UndoButton(history, self)
        self.add_labelled("&Within", self.within)
        self.add(self.with_kept, self.find_button, self.cancel_button)
        self.add(self.progress, self.words, self.undo_button)
        self.rows = FoundRows(theme, "Similar pairs", self)
        self.rows.selectionModel().currentChanged.connect(self._on_row)
        self.or_words = OrWords(self.rows, self)
        self.sides = SideBySide(theme, self)
        split = splitter(
            Qt.Orientation.Horizontal,
            panel(self.or_words, tall=self.or_words),
            self._pair_panel(theme),
            sizes=(400, 880),
            stretch=(0, 1),
        )
        self.column.addWidget(split, 1)
        self.show_view(self._view)

    def _pair_panel(self, theme: Theme) -> QWidget:
        self.same = QLabel(self)
        self.same.setFont(theme.heading_font())
        self.same.setContentsMargins(10, 8, 10, 4)
        middle = Qt.TextElideMode.ElideMiddle
        self.left_name = ElidedLabel("", self, mode=middle, tone="dim")
        self.right_name = ElidedLabel("", self, mode=middle, tone="dim")
        names = in_row(None, (self.left_name, 1), (self.right_name, 1), margins=(26, 0, 10, 4))
        self.keep_button = key_button(
            "Keep both", "Do not list this pair again", "Ctrl+K", self._on_keep, self
        )
        self.keep_left = key_button(
            "Merge into left", "", "Ctrl+Left", lambda: self._on_merge(left=True), self
        )
        self.keep_right = key_button(
            "Merge into right", "", "Ctrl+Right", lambda: self._on_merge(left=False), self
        )
        self.open_left = key_button(
            "Open left", "Open it in the editor", "Ctrl+1", lambda: self._on_open(0), self
        )
        self.open_right = key_button(
            "Open right", "Open it in the editor", "Ctrl+2", lambda: self._on_open(1), self
        )
        self.only_changes = QCheckBox("Only what differs", self)
        self.only_changes.toggled.connect(self.sides.set_only_changes)
        merging = (self.keep_left, self.keep_right, self.keep_button)
        opening = (self.only_changes, self.open_left, self.open_right)
        foot = in_row(None, *merging, 1, *opening, margins=(10, 6, 10, 8), spacing=8)
        whole = panel(self.same, holding(names), self.sides, holding(foot), tall=self.sides)
        self.pair = OrWords(whole, self)
        return panel(self.pair, tall=self.pair)

    @Slot(object)
    def show_view(self, view: DuplicatesView) -> None:
        """Replace what is shown; the pair in view stays if it is still listed."""
        changed = view.groups != self._view.groups
        self._view = view
        self.show_working(view, self._summary())
        self.find_button.setEnabled(not view.busy)
        self.or_words.say("" if view.groups else self._nothing())
        if changed:
            self._show_rows()
        self._show_pair()

    @property
    def chosen(self) -> DuplicatePair | None:
        """The pair in view."""
        pairs = (pair for group in self._view.groups for pair in group)
        return next((pair for pair in pairs if pair.ids == self._chosen), None)

    def _nothing(self) -> str:
        view = self._view
        if view.busy:
            return "Nothing was found yet."
        if not view.asked:
            return _START
        kept = f" {count(view.hidden, 'pair')} marked to keep both are not listed." if view.hidden else ""
        if not view.members and view.whole:
            return "There are no exemplars yet: save one from the tree of runs, or import some."
        if not view.whole:
            return "Cancelled before anything was found."
        return f"No two of the {thousands(view.members)} exemplars lie within {view.within:g}.{kept}"

    def _summary(self) -> str:
        view = self._view
        if not view.asked or not view.members:
            return ""
        pairs = sum(len(group) for group in view.groups)
        parts = [f"{count(pairs, 'pair')} in {count(len(view.groups), 'group')} within {view.within:g}"]
        if view.more:
            parts.append("the nearest, there may be more")
        if view.hidden:
            parts.append(f"{view.hidden} marked to keep and not listed")
        if not view.whole:
            parts.append(
                f"only {thousands(view.compared)} of {thousands(view.members)} were compared with all"
            )
        return "; ".join(parts) + "."

    def _show_rows(self) -> None:
        chosen, place = self._chosen, self.rows.verticalScrollBar().value()
        rows: list[FoundRow] = []
        for group in self._view.groups:
            ids = {id for pair in group for id in pair.ids}
            rows.append(FoundRow(title=f"{len(ids)} alike", word=group[0].family))
            rows += [_row(pair) for pair in group]
        with QSignalBlocker(self.rows), QSignalBlocker(self.rows.selectionModel()):
            self.rows.show_rows(tuple(rows))
        at = next((at for at, row in enumerate(rows) if row.key and row.key == chosen), None)
        if at is not None:
            self.rows.setCurrentIndex(self.rows.rows_model.index(at))
            self.rows.verticalScrollBar().setValue(place)
        elif rows:
            self._choose(rows[1].key)

    def _show_pair(self) -> None:
        pair, texts = self.chosen, self._view.pair
        self.pair.say(_CHOOSE if pair is None and self._view.groups else "" if pair else " ")
        if pair is None:
            return
        self.same.setText(
            f"{pair.distance:.3f} apart: {SAME[pair.same]}" + (", both kept" if pair.kept else "")
        )
        for label, id, read_only in (
            (self.left_name, pair.id, pair.read_only),
            (self.right_name, pair.other, pair.other_read_only),
        ):
            label.setText(f"{id} (in a file, read-only)" if read_only else id)
        if texts is not None and (texts.id, texts.other) == pair.ids:
            self.sides.show_texts(texts.left, texts.right)
        else:
            self.sides.show_texts("It is being read…", "It is being read…")
        self.keep_button.setText("List again" if pair.kept else "Keep both")
        for button, gone, read_only in (
            (self.keep_left, "right", pair.other_read_only),
            (self.keep_right, "left", pair.read_only),
        ):
            button.setEnabled(not read_only)
            other, key = ("left", "Left") if gone == "right" else ("right", "Right")
            button.setToolTip(
                f"The {gone} one is in a file and cannot be archived"
                if read_only
                else f"Archive the {gone} one; its tags and note go to the {other} (Ctrl+{key})"
            )

    # Input of the person

    def _on_find(self) -> None:
        self._chosen = None
        self.find_requested.emit(self.within.value(), self.with_kept.isChecked())

    def _on_row(self) -> None:
        index = self.rows.currentIndex()
        if 0 <= index.row() < len(self.rows.rows) and self.rows.rows[index.row()].key is not None:
            self._choose(self.rows.rows[index.row()].key)

    def _choose(self, key: tuple[str, str]) -> None:
        if key != self._chosen:
            self._chosen = key
            self.pair_requested.emit(*key)
            self._show_pair()

    def _on_keep(self) -> None:
        if (pair := self.chosen) is not None:
            self.keep_requested.emit(*pair.ids, not pair.kept)

    def _on_merge(self, *, left: bool) -> None:
        if (pair := self.chosen) is not None:
            stays, gone = pair.ids if left else pair.ids[::-1]
            self.merge_requested.emit(stays, gone)

    def _on_open(self, side: int) -> None:
        if (pair := self.chosen) is not None:
            self.exemplar_opened.emit(pair.ids[side])


def _row(pair: DuplicatePair) -> FoundRow:
    same_family = pair.family == pair.other_family
    return FoundRow(
        title=f"{pair.distance:.3f}  {SAME[pair.same]}" + ("  (kept)" if pair.kept else ""),
        word="" if same_family else f"{pair.family} / {pair.other_family}",
        excerpt=_shortened(pair.task) if pair.same in ("task", "task and steps")
        else f"{_shortened(pair.task)}\u2028{_shortened(pair.other_task)}",
        key=pair.ids,
    )  # fmt: skip


def _shortened(text: str) -> str:
    return cut(" ".join(text.split()), 120)
