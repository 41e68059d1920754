"""Leave-one-out: whether each exemplar's family would be found without itself, by family and one by one."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLabel, QSpinBox, QSplitter, QWidget

from core.debugger.exemplars.analyses.views import LeaveOneOutView
from core.memory.analysis.records import FamilyFound, LeftOutExemplar, MemberFound
from gui.exemplars.analyses.confusions import Confusions
from gui.exemplars.analyses.page import AnalysisPage, heading, panel
from gui.theme.theme import Theme
from gui.widgets.formats import count, thousands
from gui.widgets.layouts import splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import OrWords

_START = (
    "Would the family of each exemplar be found, were it not there itself? Press Leave one out (Ctrl+Enter): each is "
    "looked up by its own text, without itself, and the nearest others vote. Families that are taken for one another "
    "need exemplars that tell them apart."
)
_MOST = 5000
"""Exemplars that are listed."""
_FAMILIES = (
    Column("Family"),
    Column("Exemplars", number=True),
    Column("Right", number=True),
    Column("Share", number=True),
    Column("Nearest", number=True, tooltip="The distance to the nearest other exemplar, on average"),
    Column("Taken for"),
)
_MEMBERS = (
    Column("Nearest", number=True, tooltip="The distance to the nearest other exemplar"),
    Column("Outcome"),
    Column("Exemplar"),
    Column("Family"),
    Column("Found"),
)
_SHARE, _OUTCOME = 3, 1


class LeaveOneOutPage(AnalysisPage):
    """Shows `LeaveOneOutView`; asks for things only by emitting."""

    begin_requested = Signal(int, str)
    """How many vote, and a file of texts; an empty one means the exemplars."""
    cancel_requested = Signal()
    export_requested = Signal(str, str)
    """Of what, ``families`` or ``exemplars``, and the path of the file."""
    exemplar_opened = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._view = LeaveOneOutView()
        self.votes = QSpinBox(self)
        self.votes.setRange(1, 50)
        self.votes.setValue(LeaveOneOutView().votes)
        self.votes.setToolTip("How many of the nearest vote for a family")
        self.begin_button = self.button(
            "Leave one out",
            "Look up each exemplar without itself",
            "Ctrl+Return",
            self._on_begin,
            accent=True,
        )
        self.texts_button = self.button(
            "Texts of a file…",
            "Try the texts of a JSON file, families with lists of texts, in place of the exemplars",
            "Ctrl+O",
            self._on_texts,
        )
        self.cancel_button = self.button(
            "Cancel", "End it; what was found stays in view", "Alt+C", self.cancel_requested.emit
        )
        self.export_button = self.button(
            "Export…", "Write a table as comma-separated values", "Ctrl+E", self._on_export
        )
        self.labelled("&Votes", self.votes)
        for button in (self.begin_button, self.texts_button, self.cancel_button):
            self.bar.addWidget(button)
        self.bar.addWidget(self.progress)
        self.bar.addWidget(self.words, 1)
        self.bar.addWidget(self.export_button)
        self.total = QLabel(self)
        self.total.setWordWrap(True)
        self.total.setContentsMargins(12, 6, 12, 6)
        self.families = PlainTable(theme, "What was found by family", _FAMILIES, self)
        self.families.current.connect(self._on_family)
        self.confusions = Confusions(theme, self)
        self.confusions.pair_chosen.connect(self._on_confused)
        self.members = PlainTable(theme, "What was found for each exemplar", _MEMBERS, self)
        self.members.opened.connect(self._on_opened)
        self.only_wrong = QCheckBox("Only wrong ones", self)
        self.only_wrong.setChecked(True)
        self.only_wrong.toggled.connect(self._show_members)
        self.all_button = self.button(
            "All families", "List those of all families", "Ctrl+Shift+A", self._on_all
        )
        self._family, self._found = "", ""
        self._lay_out(theme)
        self.show_view(self._view)

    def _lay_out(self, theme: Theme) -> None:
        head = QWidget(self)
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 10, 4)
        self.members_title = heading(theme, "Exemplars")
        row.addWidget(self.members_title, 1)
        row.addWidget(self.only_wrong)
        row.addWidget(self.all_button)
        self.members_words = OrWords(self.members, self)
        self.confusions_words = OrWords(self.confusions, self)
        right = QSplitter(Qt.Orientation.Vertical, self)
        right.addWidget(
            panel(
                heading(theme, "Families that are confused"),
                self.confusions_words,
                tall=self.confusions_words,
            )
        )
        right.addWidget(panel(head, self.members_words, tall=self.members_words))
        right.setSizes([300, 320])
        right.setChildrenCollapsible(False)
        split = splitter(
            Qt.Orientation.Horizontal, panel(self.families, tall=self.families), right, sizes=(690, 590)
        )
        inside = panel(self.total, split, tall=split)
        self.or_words = OrWords(inside, self)
        self.column.addWidget(self.or_words, 1)

    @Slot(object)
    def show_view(self, view: LeaveOneOutView) -> None:
        """Replace what is on screen; the family in view stays."""
        changed = view.found != self._view.found
        if not view.members:
            self._family = self._found = ""
        self._view = view
        self.show_working(view)
        self.begin_button.setEnabled(not view.busy)
        self.texts_button.setEnabled(not view.busy)
        self.cancel_button.setEnabled(view.busy)
        found = view.found
        self.export_button.setEnabled(found is not None and found.members > 0)
        self.or_words.say(self._nothing())
        self.total.setText("" if found is None else total_words(found, view))
        if changed and found is not None:
            self.families.show_lines([_family_line(one) for one in found.families])
            self.confusions.show_families(found.families)
            self.confusions_words.say("" if self.confusions.names else "No family is taken for another one.")
            self._show_members()

    def _nothing(self) -> str:
        view = self._view
        if view.found is not None and view.found.members:
            return ""
        if view.busy:
            return "It has begun…"
        if view.asked and not view.problem and view.found is not None:
            return "There are no exemplars yet: save one from the tree of runs, or import some."
        return _START

    def _show_members(self) -> None:
        found = [
            one
            for one in self._view.members
            if (not self._family or one.family == self._family)
            and (not self._found or one.found == self._found)
            and not (self.only_wrong.isChecked() and one.right)
        ]
        what = f" of {self._family}" if self._family else ""
        what += f" that are taken for {self._found}" if self._found else ""
        shown = f", the first {thousands(_MOST)} listed" if len(found) > _MOST else ""
        self.members_title.setText(f"{count(len(found), 'exemplar')}{what}{shown}")
        self.members.show_lines([_member_line(one) for one in found[:_MOST]])
        self.members_words.say(
            "" if found else "None is wrong here." if self.only_wrong.isChecked() else "None."
        )
        self.all_button.setEnabled(bool(self._family or self._found))

    # What the person does

    def _on_begin(self) -> None:
        self.begin_requested.emit(self.votes.value(), "")

    def _on_texts(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Texts by family", "", "JSON (*.json);;All files (*)")
        if path:
            self.begin_requested.emit(self.votes.value(), path)

    def _on_export(self) -> None:
        kinds = {"Families (*.csv)": "families", "Exemplars (*.csv)": "exemplars"}
        path, kind = QFileDialog.getSaveFileName(
            self, "Export a table", "leave-one-out.csv", ";;".join(kinds)
        )
        if path:
            self.export_requested.emit(kinds.get(kind, "families"), path)

    def _on_family(self, family: object) -> None:
        self._family, self._found = str(family), ""
        self._show_members()

    def _on_confused(self, family: str, found: str) -> None:
        self._family, self._found = family, found
        self._show_members()

    def _on_all(self) -> None:
        self._family = self._found = ""
        self.families.clearSelection()
        self._show_members()

    def _on_opened(self, id: object) -> None:
        if not self._view.source:
            self.exemplar_opened.emit(str(id))


def total_words(found: LeftOutExemplar, view: LeaveOneOutView) -> str:
    """Return what came of it in sentences."""
    of = f"the texts of {view.source}" if view.source else "all exemplars"
    words = (
        f"{thousands(found.right)} of {thousands(found.members)} find their family ({found.share:.1%}), "
        f"by {found.embedding} and {count(found.votes, 'vote')}."
    )
    if found.alone:
        words += f" {found.alone} are alone in their family and cannot be found."
    if not view.whole:
        words += f" These are not {of} yet: {thousands(found.members)} of {thousands(view.total)}."
    elif view.source:
        words += f" These are {of}."
    return words


def _family_line(one: FamilyFound) -> TableLine:
    taken = ", ".join(f"{name or 'nothing'} ({times})" for name, times in one.taken_for.items())
    share = one.right / one.members
    alone = one.members == 1
    return TableLine(
        cells=(
            one.family,
            str(one.members),
            str(one.right),
            f"{share:.0%}",
            f"{one.distance:.3f}",
            taken + (" (alone)" if alone else ""),
        ),
        key=one.family,
        tone="" if one.right == one.members else "remedy" if one.right else "bad",
        toned=_SHARE,
        values=(one.family, one.members, one.right, share, one.distance, taken),
    )


def _member_line(one: MemberFound) -> TableLine:
    return TableLine(
        cells=(
            f"{one.distance:.3f}",
            "right" if one.right else "wrong",
            one.id,
            one.family,
            one.found or "(nothing)",
        ),
        key=one.id,
        tone="" if one.right else "bad",
        toned=_OUTCOME,
        tooltip=f"{one.id}: open it in the editor (Enter)",
        values=(one.distance, one.right, one.id, one.family, one.found),
    )
