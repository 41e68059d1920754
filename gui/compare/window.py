"""Compare: two runs step by step, with their first difference, and any two of their steps side by side."""

from functools import partial
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QPainter, QShortcut
from PySide6.QtWidgets import QComboBox, QDialog, QHeaderView, QPushButton, QStyle, QTableView, QWidget

from core.debugger.compare.views import AlignedPair, Compared, ComparedView, PairView, StepKey
from core.trace.records import RunRow, StepRow
from gui.panels.diff import StepsBeside
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box
from gui.widgets.item_views import Index, RowDelegate, RowMenu, TableRows
from gui.widgets.layouts import in_column, in_row, splitter
from gui.widgets.words import ElidedLabel, OrWords, labelled, small_label

_NONE = "No runs are selected. Select two in Runs & steps, then compare them."
_PAIR = Qt.ItemDataRole.UserRole
_FIRST = Qt.ItemDataRole.UserRole + 1
"""Whether it is the first pair that differs."""
_DIFFERS = 2
_SIDES = ("Left", "Right")
_OUTCOMES = {"failed": "✗ ", "skipped": "skipped: "}


class PairsModel(QAbstractTableModel):
    """The aligned steps: the action on the left, the action on the right, and what differs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._compared: Compared | None = None

    @property
    def pairs(self) -> tuple[AlignedPair, ...]:
        return self._compared.pairs if self._compared is not None else ()

    def show_compared(self, compared: Compared | None) -> None:
        self.beginResetModel()
        self._compared = compared
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.pairs)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 3

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        if orientation != Qt.Orientation.Horizontal or self._compared is None:
            return None
        titles = (_run_title(self._compared.left), _run_title(self._compared.right), "What differs")
        return titles[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self._compared is None or not index.isValid():
            return None
        pair = self.pairs[index.row()]
        first = self._compared.first_difference == index.row()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            texts = (_step_text(pair.left), _step_text(pair.right), _differs_text(pair, first=first))
            return texts[index.column()]
        if role == _PAIR:
            return pair
        return first if role == _FIRST else None


class _PairPainter(RowDelegate):
    """Draws a cell; the first difference is bold on a separate shade, with a bar at its left."""

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        pair: AlignedPair = index.data(_PAIR)
        first: bool = index.data(_FIRST)
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
        elif first:
            painter.fillRect(rect, self.theme.colour("found"))
        if first and index.column() == 0:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), self.theme.colour("remedy"))
        room = rect.adjusted(9, 0, -9, 0)
        if index.column() == _DIFFERS:
            place = QRect(room.left(), room.center().y() - 6, 13, 13)
            tone = "dim" if pair.same else "text" if first else "remedy"
            self.theme.icon("check" if pair.same else "diff", tone=tone).paint(painter, place)
            room = room.adjusted(19, 0, 0, 0)
        font = self.theme.text_font(bold=first)
        self.write(painter, room, index.data(), font, "dim" if pair.same else "text")


class CompareWindow(QDialog):
    """Shows two aligned runs, starting at the first difference; N and Shift+N go to the next and the previous one."""

    pair_requested = Signal(object, object)
    """The steps to read, each as run and number, or None."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare")
        self._wanted: tuple[StepKey | None, StepKey | None] = (None, None)
        self.model = PairsModel(self)
        self.table = labelled(QTableView(self), "Steps of both runs")
        self.table.setModel(self.model)
        self.table.setItemDelegate(_PairPainter(theme, QSize(120, 25), self.table))
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        RowMenu(self.table, record=lambda index: self.model.pairs[index.row()])
        TableRows(theme, 25, self.table)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_DIFFERS, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(_DIFFERS, theme.scaled(270))
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.selectionModel().currentRowChanged.connect(self._on_row)
        self.or_words = OrWords(self.table, self, _NONE)
        self.summary = ElidedLabel("", self)
        self.summary.setFont(theme.text_font(bold=True))
        self.next_button = self._difference_button("Next difference", "N", 1)
        self.previous_button = self._difference_button("Previous difference", "Shift+N", -1)
        buttons = (self.previous_button, self.next_button)
        head = in_row(None, (self.summary, 1), *buttons, margins=(10, 8, 10, 6), spacing=8)
        self.upper = QWidget(self)
        in_column(self.upper, head, (self.or_words, 1), spacing=0)
        self._keys: dict[str, list[StepKey | None]] = {}
        """The steps that each side offers, in the order of its combo box."""
        self.choices = {side: self._step_choice(side) for side in _SIDES}
        self.choosing = QWidget(self)
        self.beside = StepsBeside(theme, self)
        self.differing = small_label(theme, self)
        self.differing.setMinimumWidth(110)
        self.beside.fact_changed.connect(self.differing.setText)
        left, right = self.choices.values()
        choosing = ((left, 1), ElidedLabel("beside", self), (right, 1), self.differing)
        in_row(self.choosing, *choosing, margins=(10, 5, 10, 5), spacing=8)
        lower = QWidget(self)
        in_column(lower, self.choosing, (self.beside, 1), spacing=0)
        in_column(
            self, splitter(Qt.Orientation.Vertical, self.upper, lower, sizes=(230, 470), stretch=(0, 1))
        )
        QShortcut("Ctrl+F", self, self.beside.focus_search)
        theme.size_window(self, 1000, 700)
        self._refresh()

    @Slot(object)
    def show_compared(self, view: ComparedView) -> None:
        """Replace the runs, and choose the first pair that differs."""
        self.upper.show()
        self.choosing.show()
        self.choosing.setEnabled(view.compared is not None)
        self.setWindowTitle(f"Compare runs {view.left} and {view.right}")
        self.model.show_compared(view.compared)
        waiting = f"Reading and aligning runs {view.left} and {view.right}…"
        empty = "" if self.model.pairs else "Neither of the two runs has a step yet."
        self.or_words.say(view.problem or (waiting if view.compared is None else empty))
        self.summary.setText(_summary(view.compared))
        for side, choice in self.choices.items():
            steps = _steps(self.model.pairs, side)
            self._keys[side] = [None, *map(_key, steps)]
            choice.clear()
            choice.addItem(f"{side}: no step")
            choice.addItems([f"Run {step.run}, step {_step_text(step)}" for step in steps])
        self._refresh()
        if self.model.pairs:
            first = view.compared.first_difference if view.compared is not None else None
            self._choose(first or 0)
        else:
            self._wanted = (None, None)
            self.beside.show_pair(PairView())

    def show_steps(self, left: StepKey, right: StepKey) -> None:
        """Show only these two steps, without the runs."""
        self.model.show_compared(None)
        self.upper.hide()
        self.choosing.hide()
        self.setWindowTitle(f"Compare step {left[1]} of run {left[0]} with step {right[1]} of run {right[0]}")
        self._ask(left, right)

    @Slot(object)
    def show_pair(self, view: PairView) -> None:
        """Show two steps if they are still the requested ones."""
        if (view.left, view.right) == self._wanted:
            self.beside.show_pair(view)

    def go_on(self, offset: int) -> None:
        """Choose the next pair that differs, or the previous one; stay if there is none."""
        at = self.table.currentIndex().row() + offset
        while 0 <= at < len(self.model.pairs):
            if not self.model.pairs[at].same:
                self._choose(at)
                return
            at += offset

    def _difference_button(self, text: str, key: str, offset: int) -> QPushButton:
        go, words = partial(self.go_on, offset), f"Choose the {text.lower()} between the runs ({key})"
        # Not the button's own shortcut, which takes a moment and ignores a key that is pressed again.
        QShortcut(key, self, go)
        return key_button(f"{text} ({key})", words, "", go, self)

    def _step_choice(self, side: str) -> QComboBox:
        any_one = f"The step on the {side.lower()}: any step can be compared with any other"
        choice = choice_box(f"{side} step", any_one, letters=12, parent=self)
        choice.activated.connect(self._on_step_chosen)
        return choice

    def _choose(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        index = self.model.index(row, 0)
        self.table.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.table.scrollTo(self.model.index(max(0, row - 2), 0))
        self.table.scrollTo(index)

    def _on_row(self, index: QModelIndex) -> None:
        self._refresh()
        if not index.isValid():
            return
        keys = [_key(step) for step in _both(self.model.pairs[index.row()])]
        for (side, choice), key in zip(self.choices.items(), keys, strict=True):
            choice.setCurrentIndex(self._keys[side].index(key))
        self._ask(*keys)

    def _on_step_chosen(self) -> None:
        left, right = (self._keys[side][choice.currentIndex()] for side, choice in self.choices.items())
        for row, pair in enumerate(self.model.pairs):
            if [_key(step) for step in _both(pair)] == [left, right]:
                self._choose(row)
                return
        self.table.clearSelection()
        self._ask(left, right)

    def _ask(self, left: StepKey | None, right: StepKey | None) -> None:
        if (left, right) != self._wanted:
            self._wanted = (left, right)
            self.beside.wait(left, right)
            self.pair_requested.emit(left, right)

    def _refresh(self) -> None:
        row, pairs = self.table.currentIndex().row(), self.model.pairs
        self.next_button.setEnabled(any(not pair.same for pair in pairs[row + 1 :]))
        self.previous_button.setEnabled(row > 0 and any(not pair.same for pair in pairs[:row]))


def _both(pair: AlignedPair) -> tuple[StepRow | None, StepRow | None]:
    return pair.left, pair.right


def _steps(pairs: tuple[AlignedPair, ...], side: str) -> list[StepRow]:
    steps = (pair.left if side == "Left" else pair.right for pair in pairs)
    return [step for step in steps if step is not None]


def _key(step: StepRow | None) -> StepKey | None:
    return (step.run, step.number) if step is not None else None


def _run_title(run: RunRow) -> str:
    return " · ".join(filter(None, (f"Run {run.run}", run.name, run.llm, run.preset, run.task)))


def _step_text(step: StepRow | None) -> str:
    if step is None:
        return "–"
    return f"{step.number}. {_OUTCOMES.get(step.outcome, '')}{step.in_words}".replace("\n", " ")


def _differs_text(pair: AlignedPair, *, first: bool) -> str:
    if pair.shared:
        return "one shared step"
    if pair.left is None or pair.right is None:
        words = "only on the left" if pair.right is None else "only on the right"
    else:
        words = ", ".join(pair.differs) or "same"
    return f"First difference: {words}" if first else words


def _summary(compared: Compared | None) -> str:
    if compared is None or not compared.pairs:
        return ""
    first = compared.first_difference
    if first is None:
        return "No step differs in page, action or outcome."
    number = sum(not pair.same for pair in compared.pairs)
    step = compared.pairs[first].left or compared.pairs[first].right
    at = step.number if step is not None else first + 1
    return f"They differ from step {at} · {number} of {len(compared.pairs)} steps differ"
