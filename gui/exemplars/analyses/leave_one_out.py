"""Leave-one-out: whether each exemplar's family would be found without it, by family and for each exemplar."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QSpinBox, QWidget

from core.debugger.exemplars.analyses.views import LeftOut
from core.exemplars.analysis.records import FamilyFound, MemberFound
from gui.exemplars.analyses.page import PartPage, heading, panel, with_label
from gui.theme.theme import Theme
from gui.widgets.formats import count, thousands
from gui.widgets.layouts import holding, in_row
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import OrWords

_LISTED = 5000
"""Maximum number of listed exemplars."""
_MEMBERS = (
    Column("Nearest", number=True, tooltip="The distance to the nearest other exemplar"),
    Column("Outcome"),
    Column("Exemplar"),
    Column("Family"),
    Column("Found"),
)
_SHARE, _OUTCOME = 3, 1


class LeaveOneOutPage(PartPage):
    """The families, and below them the exemplars of the current one."""

    begin_requested = Signal(int, str)
    """The number of votes, and a file of texts; an empty path means the exemplars."""
    export_requested = Signal(str, str)
    """The table, ``families`` or ``exemplars``, and the path of the file."""

    name = "Leave one out"
    title = "What was found by family"
    columns = (
        Column("Family"),
        Column("Exemplars", number=True),
        Column("Right", number=True),
        Column("Share", number=True),
        Column("Nearest", number=True, tooltip="The distance to the nearest other exemplar, on average"),
        Column("Taken for"),
    )
    start = (
        "Would the family of each exemplar be found without it? Press Leave one out (Ctrl+Enter): each is looked up "
        "by its own text, and the nearest others vote. Confused families with each other need exemplars that "
        "distinguish them."
    )

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.votes = QSpinBox(self, minimum=1, maximum=50, value=3)
        self.votes.setToolTip("How many of the nearest vote for a family")
        self.begin_button = self.button(
            "Leave one out",
            "Look up each exemplar without itself",
            "Ctrl+Return",
            lambda: self.begin_requested.emit(self.votes.value(), ""),
            accent=True,
        )
        self.texts_button = self.button(
            "Texts of a file…",
            "Use the texts of a JSON file (lists of texts by family) instead of the exemplars",
            "Ctrl+O",
            self._on_texts,
        )
        self.export_button = self.button(
            "Export…",
            "Export the table as comma-separated values",
            "Ctrl+E",
            self._on_export,
            when=lambda: bool(self.table.lines),
        )
        self.add(*with_label("&Votes", self.votes), self.begin_button, self.texts_button, self.cancel_button)
        self.add(self.progress, self.words, self.export_button)
        self.members = PlainTable(theme, "What was found for each exemplar", _MEMBERS, self)
        self.members.opened.connect(self._on_opened)
        self.only_wrong = QCheckBox("Only wrong ones", self)
        self.only_wrong.setChecked(True)
        self.only_wrong.toggled.connect(self._show_members)
        self.all_button = self.button(
            "All families",
            "List those of all families",
            "Ctrl+Shift+A",
            self._on_all,
            when=lambda: self.table.current_key is not None,
        )
        self.members_title = heading(theme, "Exemplars")
        head = in_row(None, (self.members_title, 1), self.only_wrong, self.all_button, margins=(0, 0, 10, 4))
        self.members_body = OrWords(self.members, self)
        self.table.current.connect(lambda _key: self._show_members())
        self.begin(panel(holding(head), self.members_body, tall=self.members_body), (330, 300))

    def line_items(self, result: LeftOut) -> list[TableLine]:
        return [_family_line(family) for family in result.found.families]

    def summary(self, result: LeftOut) -> str:
        found = result.found
        if not found.members:
            return ""
        words = (
            f"{thousands(found.right)} of {thousands(found.members)} find their family ({found.share:.1%}), "
            f"by {found.embedding} and {count(found.votes, 'vote')}."
        )
        if found.alone:
            words += f" {found.alone} are alone in their family, so they cannot be found."
        of = f"the texts of {result.source}" if result.source else "all exemplars"
        if not result.whole:
            words += f" These are not {of} yet: {thousands(found.members)} of {thousands(result.total)}."
        elif result.source:
            words += f" These are {of}."
        return words

    def nothing_in(self, result: LeftOut) -> str:
        return super().nothing_in(result) if result.whole else "Cancelled before anything was found."

    def show_details(self, *, changed: bool) -> None:
        if changed:
            self._show_members()

    def _show_members(self) -> None:
        result: LeftOut | None = self.view.result
        family, only_wrong = self.table.current_key, self.only_wrong.isChecked()
        members = [
            member
            for member in (result.members if result is not None else ())
            if family in (None, member.family) and not (only_wrong and member.right)
        ]
        what = f" of {family}" if family is not None else ""
        shown = f", the first {thousands(_LISTED)} listed" if len(members) > _LISTED else ""
        self.members_title.setText(f"{count(len(members), 'exemplar')}{what}{shown}")
        self.members.show_lines([_member_line(member) for member in members[:_LISTED]])
        self.members_body.say("" if members else "None are wrong here." if only_wrong else "None.")

    # Input of the person

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

    def _on_all(self) -> None:
        self.table.setCurrentIndex(self.table.rootIndex())
        self.refresh()
        self._show_members()

    def _on_opened(self, id: object) -> None:
        if self.view.result is not None and not self.view.result.source:
            self.exemplar_opened.emit(str(id))


def _family_line(family: FamilyFound) -> TableLine:
    taken = ", ".join(f"{name or 'nothing'} ({times})" for name, times in family.taken_for.items())
    share = family.right / family.members
    alone = " (alone)" if family.members == 1 else ""
    return TableLine.of(
        family.family,
        (str(family.members), family.members),
        (str(family.right), family.right),
        (f"{share:.0%}", share),
        (f"{family.distance:.3f}", family.distance),
        f"{taken}{alone}",
        key=family.family,
        tone="" if family.right == family.members else "remedy" if family.right else "bad",
        toned=_SHARE,
    )


def _member_line(member: MemberFound) -> TableLine:
    return TableLine.of(
        (f"{member.distance:.3f}", member.distance),
        ("right" if member.right else "wrong", member.right),
        member.id,
        member.family,
        member.found or "(nothing)",
        key=member.id,
        tone="" if member.right else "bad",
        toned=_OUTCOME,
        tooltip=f"{member.id}: show it in the library (Enter)",
    )
