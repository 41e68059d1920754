"""Leave-one-out: whether each exemplar's family would be found without it, by family and for each exemplar."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QFileDialog,
    QHeaderView,
    QLabel,
    QSpinBox,
    QTableView,
    QWidget,
)

from core.debugger.exemplars.analyses.views import LeaveOneOutView
from core.memory.analysis.records import FamilyFound, LeftOutExemplar, MemberFound
from gui.exemplars.analyses.page import AnalysisPage, heading, panel
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count, thousands
from gui.widgets.item_views import Index, RowMenu, TableRows
from gui.widgets.layouts import holding, in_row, splitter
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import OrWords

_START = (
    "Would the family of each exemplar be found without it? Press Leave one out (Ctrl+Enter): each is "
    "looked up by its own text, and the nearest others vote. Confused families with each other "
    "need exemplars that distinguish them."
)
_LISTED = 5000
"""Maximum number of listed exemplars."""
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
_MOST = 40
"""Number of families in the matrix: those that are confused most."""
_NOTHING = "(nothing)"


class _ConfusionModel(QAbstractTableModel):
    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.rows: tuple[str, ...] = ()
        self.names: tuple[str, ...] = ()
        self._cells: dict[tuple[str, str], int] = {}
        self._members: dict[str, int] = {}

    def show_families(self, families: Sequence[FamilyFound]) -> None:
        wrong: Counter[str] = Counter()
        for one in families:
            for name, times in one.taken_for.items():
                wrong[one.family] += times
                wrong[name] += times
        kept = [name for name, _ in wrong.most_common(_MOST)]
        self.beginResetModel()
        known = [one for one in families if one.family in kept]
        self.rows = tuple(one.family for one in known if one.taken_for)
        found = {name for one in known for name in one.taken_for if name in kept}
        self.names = tuple(sorted({*found, *self.rows}))
        self._members = {one.family: one.members for one in known}
        self._cells = {
            (one.family, name): times
            for one in known
            for name, times in (*one.taken_for.items(), (one.family, one.right))
            if times
        }
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.names)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        names = self.names if orientation == Qt.Orientation.Horizontal else self.rows
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole) and section < len(names):
            return names[section] or _NOTHING
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not (0 <= index.row() < len(self.rows) and 0 <= index.column() < len(self.names)):
            return None
        family, found = self.rows[index.row()], self.names[index.column()]
        times = self._cells.get((family, found), 0)
        if role == Qt.ItemDataRole.DisplayRole:
            return str(times) if times else ""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignCenter)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            of = f"{times} of the {self._members[family]} of {family}"
            return f"{of} are found as {'what they are' if found == family else found or 'nothing'}"
        if role == Qt.ItemDataRole.BackgroundRole and times:
            shade = QColor(self._theme.colour("good" if found == family else "bad"))
            shade.setAlpha(30 + round(110 * times / max(1, self._members[family])))
            return shade
        return None


class Confusions(QTableView):
    """Shows the matrix; choosing a cell requests its exemplars."""

    pair_chosen = Signal(str, str)
    """The family, and the family that was found instead."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = _ConfusionModel(theme, self)
        self.setModel(self._model)
        self.setAccessibleName("Confused families: right ones in rows, found ones in columns")
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setFont(theme.small_font())
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        corner = self.findChild(QAbstractButton)
        if corner is not None:
            corner.setStyleSheet("border: none; background: transparent;")
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(True)
        self.horizontalHeader().setDefaultSectionSize(theme.scaled(92))
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        TableRows(theme, 26, self)
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        RowMenu(self)
        self.clicked.connect(self._on_cell)
        theme.changed.connect(self.viewport().update)

    @property
    def names(self) -> tuple[str, ...]:
        """The families of the columns; empty if nothing is confused."""
        return self._model.names

    def show_families(self, families: Sequence[FamilyFound]) -> None:
        self._model.show_families(families)

    def cell(self, family: str, found: str) -> str:
        """Return the text of a cell."""
        row, column = self._model.rows.index(family), self._model.names.index(found)
        return str(self._model.index(row, column).data() or "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._on_cell(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _on_cell(self, index: QModelIndex) -> None:
        if index.data():
            self.pair_chosen.emit(self._model.rows[index.row()], self._model.names[index.column()])


class LeaveOneOutPage(AnalysisPage):
    """Shows `LeaveOneOutView`; requests go out only as signals."""

    begin_requested = Signal(int, str)
    """The number of votes, and a file of texts; an empty path means the exemplars."""
    export_requested = Signal(str, str)
    """The table, ``families`` or ``exemplars``, and the path of the file."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "End it; what was found stays in view", parent)
        self._view = LeaveOneOutView()
        self.votes = QSpinBox(self, minimum=1, maximum=50, value=LeaveOneOutView().votes)
        self.votes.setToolTip("How many of the nearest vote for a family")
        self.begin_button = key_button(
            "Leave one out",
            "Look up each exemplar without itself",
            "Ctrl+Return",
            lambda: self.begin_requested.emit(self.votes.value(), ""),
            self,
            accent=True,
        )
        self.texts_button = key_button(
            "Texts of a file…",
            "Use the texts of a JSON file (lists of texts by family) instead of the exemplars",
            "Ctrl+O",
            self._on_texts,
            self,
        )
        self.export_button = key_button(
            "Export…", "Export the table as comma-separated values", "Ctrl+E", self._on_export, self
        )
        self.add_labelled("&Votes", self.votes)
        self.add(self.begin_button, self.texts_button, self.cancel_button)
        self.add(self.progress, self.words, self.export_button)
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
        self.all_button = key_button(
            "All families", "List those of all families", "Ctrl+Shift+A", self._on_all, self
        )
        self._family, self._found = "", ""
        self._lay_out(theme)
        self.show_view(self._view)

    def _lay_out(self, theme: Theme) -> None:
        self.members_title = heading(theme, "Exemplars")
        head = holding(
            in_row(None, (self.members_title, 1), self.only_wrong, self.all_button, margins=(0, 0, 10, 4))
        )
        self.members_words = OrWords(self.members, self)
        self.confusions_words = OrWords(self.confusions, self)
        title = heading(theme, "Confused families")
        right = splitter(
            Qt.Orientation.Vertical,
            panel(title, self.confusions_words, tall=self.confusions_words),
            panel(head, self.members_words, tall=self.members_words),
            sizes=(300, 320),
        )
        split = splitter(
            Qt.Orientation.Horizontal, panel(self.families, tall=self.families), right, sizes=(690, 590)
        )
        inside = panel(self.total, split, tall=split)
        self.or_words = OrWords(inside, self)
        self.column.addWidget(self.or_words, 1)

    @Slot(object)
    def show_view(self, view: LeaveOneOutView) -> None:
        """Replace what is shown; the family in view stays."""
        changed = view.found != self._view.found
        if not view.members:
            self._family = self._found = ""
        self._view = view
        self.show_working(view)
        self.begin_button.setEnabled(not view.busy)
        self.texts_button.setEnabled(not view.busy)
        found = view.found
        self.export_button.setEnabled(found is not None and found.members > 0)
        self.or_words.say(self._nothing())
        self.total.setText("" if found is None else total_words(found, view))
        if changed and found is not None:
            self.families.show_lines([_family_line(one) for one in found.families])
            self.confusions.show_families(found.families)
            self.confusions_words.say("" if self.confusions.names else "No families are confused.")
            self._show_members()

    def _nothing(self) -> str:
        view = self._view
        if view.found is not None and view.found.members:
            return ""
        if view.busy:
            return "Starting…"
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
        shown = f", the first {thousands(_LISTED)} listed" if len(found) > _LISTED else ""
        self.members_title.setText(f"{count(len(found), 'exemplar')}{what}{shown}")
        self.members.show_lines([_member_line(one) for one in found[:_LISTED]])
        self.members_words.say(
            "" if found else "None are wrong here." if self.only_wrong.isChecked() else "None."
        )
        self.all_button.setEnabled(bool(self._family or self._found))

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
    """Return the result as sentences."""
    of = f"the texts of {view.source}" if view.source else "all exemplars"
    words = (
        f"{thousands(found.right)} of {thousands(found.members)} find their family ({found.share:.1%}), "
        f"by {found.embedding} and {count(found.votes, 'vote')}."
    )
    if found.alone:
        words += f" {found.alone} are alone in their family, so they cannot be found."
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
