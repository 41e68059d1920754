"""The view of the tree of runs: how its rows are painted, and which of them are open or folded."""

from PySide6.QtCore import QModelIndex, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QTreeView, QWidget

from core.schema.restore import Grade
from gui.panels.plan.panel import GRADE_MARKS
from gui.panels.runs.model import NODE, Node, RunsModel, describe, differs_text, run_text, run_word, step_word
from gui.theme.theme import Theme
from gui.widgets.item_views import RIGHT, Index, RowDelegate
from gui.widgets.origin import paint_chosen, paint_origin

_MARK = 16
_ACTION = 0.62
"""Minimum share of a step's row for its action, regardless of the text at its right."""
_TWO_ENDS = 110
"""Pixels from which on a name shows its end if it is cut, for the normal text size."""
_TONES = {"success": "good", "no success": "bad", "error": "bad", "current": "agent"}
_MOST = 200
"""Maximum number of runs and steps that are remembered between starts."""


class RunsDelegate(RowDelegate):
    """A step's shape, number, action and outcome; a run's number, name or task, grade and verdict."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, QSize(120, 24), parent)
        self.viewed: tuple[int, int] | None = None
        """The run and number of the step in view."""

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        node: Node | None = index.data(NODE)
        if node is None:
            return
        viewed = node.kind == "step" and (node.step.run, node.step.number) == self.viewed
        if viewed or state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected" if viewed else "raised"))
        if viewed:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), self.theme.colour("agent"))
        self.draw_focus(painter, rect, state)
        inner = rect.adjusted(6, 0, -8, 0)
        if node.kind == "step":
            self._paint_step(painter, inner, node)
        elif node.kind == "run":
            self._paint_run(painter, inner, node)
        else:
            self.write(painter, inner, describe(node), self.theme.small_font(), "agent")

    def _paint_step(self, painter: QPainter, room: QRect, node: Node) -> None:
        row, small = node.step, self.theme.small_font()
        failed, struck = row.outcome == "failed", row.outcome in ("failed", "skipped")
        colour = self.theme.colour("bad") if failed else QColor(self.theme.tokens.of(row.origin))
        mark = QRectF(room.left(), room.center().y() - 5, 11, 11)
        paint_origin(painter, mark, row.origin, colour, hollow=struck or row.outcome == "pending")
        digits = QFontMetrics(small).horizontalAdvance(str(max(99, row.number)))
        number = QRect(room.left() + 14, room.top(), digits + 2, room.height())
        self.write(painter, number, str(row.number), small, "dim", RIGHT)
        beside = room.adjusted(round(room.width() * _ACTION), 0, 0, 0)
        word = self.write(painter, beside, step_word(row), small, "bad" if failed else "dim", RIGHT)
        width = min(word, beside.width())
        font = self.theme.text_font()
        font.setStrikeOut(struck)
        text = room.adjusted(14 + digits + 10, 0, -width - 8, 0)
        # The end of a long argument often tells two steps apart, if there is room for its beginning too.
        elide = Qt.TextElideMode
        mode = elide.ElideMiddle if text.width() > self.theme.scaled(_TWO_ENDS) else elide.ElideRight
        self.write(painter, text, row.in_words, font, "dim" if struck else "text", mode=mode)

    def _paint_run(self, painter: QPainter, room: QRect, node: Node) -> None:
        row, small = node.run, self.theme.small_font()
        word = run_word(row, current=node.current)
        width = self.write(painter, room, word, small, _TONES.get(word, "dim"), RIGHT)
        room = room.adjusted(0, 0, -width - 8, 0)
        if row.touched:
            mark = QRectF(room.right() - 10, room.center().y() - 5, 10, 10)
            paint_origin(painter, mark, "person", self.theme.colour("person"))
            room = room.adjusted(0, 0, -15, 0)
        if node.current:
            mark = QRectF(room.left(), room.center().y() - 4, 9, 10)
            paint_chosen(painter, mark, self.theme.colour("agent"))
            room = room.adjusted(13, 0, 0, 0)
        under_step = node.parent is not None and node.parent.kind == "step"
        origin_shown = row.parent_run is None or under_step
        number = f"{row.run}" if origin_shown else f"{row.run} from step {row.parent_step}"
        wide = self.write(painter, room, number, self.theme.text_font(bold=True))
        room = room.adjusted(wide + 8, 0, 0, 0)
        grade = row.grade if row.parent_run is not None else ""
        beside = QFontMetrics(small).horizontalAdvance(grade) + _MARK + 10 if grade else 0
        text = (row.name or differs_text(row) or ("" if under_step else run_text(row))).replace("\n", " ")
        widest = max(0, room.width() - beside)
        place = QRect(room.left(), room.top(), widest, room.height())
        wide = min(widest, self.write(painter, place, text, self.theme.text_font()))
        if grade:
            self._paint_grade(painter, room.adjusted(wide + 8 if text else 0, 0, 0, 0), grade)

    def _paint_grade(self, painter: QPainter, room: QRect, grade: Grade) -> None:
        """Draw the grade of a branch's start, as a mark and a word."""
        icon, tone = GRADE_MARKS[grade]
        self.theme.icon(icon, tone=tone).paint(painter, QRect(room.left(), room.center().y() - 6, 13, 13))
        self.write(painter, room.adjusted(_MARK, 0, 0, 0), grade, self.theme.small_font(), tone)


class Folding(QObject):
    """Opens and folds the rows of a tree of runs, and reports what the person has folded.

    A step with branches is open unless the person folded it; a run is folded unless the person opened it.
    """

    run_requested = Signal(int)
    """A run whose steps to load because it was opened."""
    changed = Signal()
    """The open rows have changed and should be remembered."""

    def __init__(self, tree: QTreeView, model: RunsModel) -> None:
        super().__init__(tree)
        self._tree = tree
        self._model = model
        self._opened: dict[int, None] = {}
        """Runs whose rows are open, the latest last."""
        self._folded: dict[tuple[int, int], None] = {}
        """Steps whose branches are folded, by run and number."""
        tree.expanded.connect(self._on_expanded)
        tree.collapsed.connect(self._on_collapsed)

    @property
    def words(self) -> str:
        """The open and folded rows, as a text to remember."""
        runs = [str(run) for run in list(self._opened)[-_MOST:]]
        steps = [f"{run}.{number}" for run, number in list(self._folded)[-_MOST:]]
        return ",".join(runs) + ";" + ",".join(steps)

    def recall(self, words: str) -> None:
        """Open and fold rows as given by `words`; an invalid text is ignored."""
        runs, _, steps = words.partition(";")
        try:
            self._opened = {int(run): None for run in runs.split(",") if run}
            pairs = [step.partition(".") for step in steps.split(",") if step]
            self._folded = {(int(run), int(number)): None for run, _, number in pairs}
        except ValueError:
            self._opened, self._folded = {}, {}
        self.settle()

    def settle(self) -> None:
        """Open the rows that were open before, and steps with branches unless they were folded."""
        for run in list(self._opened):
            index = self._model.run_index(run)
            if index.isValid() and not self._tree.isExpanded(index):
                self._tree.expand(index)
        for index in self._model.left_steps():
            node = self._model.node(index)
            folded = node is None or (node.step.run, node.step.number) in self._folded
            if not folded and not self._tree.isExpanded(index):
                self._tree.expand(index)

    def fold(self, index: QModelIndex) -> None:
        """Fold a run or a branch, or the branches of a step; its row becomes the current one."""
        self._tree.collapse(index)
        self._tree.setCurrentIndex(index)

    def fold_others(self, index: QModelIndex) -> None:
        """Fold every run and branch except this one and those that it branched from, and open this one."""
        node = self._model.node(index)
        kept: set[int] = set()
        above: Node | None = node
        while above is not None:
            if above.kind == "run":
                kept.add(above.run.run)
            above = above.parent
        for run in self._model.runs():
            place = self._model.run_index(run)
            if run not in kept and self._tree.isExpanded(place):
                self._tree.collapse(place)
            if run not in kept:
                self._opened.pop(run, None)
        while index.isValid():
            self._tree.expand(index)
            index = index.parent()
        self._tree.scrollTo(self._tree.currentIndex())

    def unfold_branches(self) -> None:
        """Open every branch, and the run that it branched from; runs without branches stay as they are."""
        for run in self._model.runs_with_branches():
            self._tree.expand(self._model.run_index(run))
        self._folded.clear()
        self.settle()
        self.changed.emit()

    def _on_expanded(self, index: QModelIndex) -> None:
        node = self._model.node(index)
        if node is None:
            return
        if node.kind == "step":
            self._folded.pop((node.step.run, node.step.number), None)
        else:
            self._opened[node.run.run] = None
            if not node.loaded and node.run.steps:
                self.run_requested.emit(node.run.run)
        self.changed.emit()

    def _on_collapsed(self, index: QModelIndex) -> None:
        node = self._model.node(index)
        if node is None:
            return
        if node.kind == "step":
            self._folded[(node.step.run, node.step.number)] = None
        else:
            self._opened.pop(node.run.run, None)
        self.changed.emit()
