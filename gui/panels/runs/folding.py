"""Which runs and branches of the tree are open and which are folded, kept also while others are listed."""

from PySide6.QtCore import QModelIndex, QObject, Signal
from PySide6.QtWidgets import QTreeView

from gui.panels.runs.model import Node, RunsModel

_MOST = 200
"""Runs and steps that are remembered from one start to the next."""


class Folding(QObject):
    """Opens and folds the rows of a tree of runs, and says what the person has folded.

    A step with branches is open unless it was folded; a run is folded unless it
    was opened.
    """

    run_requested = Signal(int)
    """A run whose steps are to be loaded, since it was opened."""
    changed = Signal()
    """What is open was changed, and is worth remembering."""

    def __init__(self, tree: QTreeView, model: RunsModel) -> None:
        super().__init__(tree)
        self._tree = tree
        self._model = model
        self._opened: dict[int, None] = {}
        """Runs whose rows are unfolded, the latest last."""
        self._folded: dict[tuple[int, int], None] = {}
        """Steps whose branches are folded, by run and number."""
        tree.expanded.connect(self._on_expanded)
        tree.collapsed.connect(self._on_collapsed)

    @property
    def words(self) -> str:
        """What is open and what is folded, as a text to remember."""
        runs = [str(run) for run in list(self._opened)[-_MOST:]]
        steps = [f"{run}.{number}" for run, number in list(self._folded)[-_MOST:]]
        return ",".join(runs) + ";" + ",".join(steps)

    def recall(self, words: str) -> None:
        """Open and fold as `words` say; what is no such text counts as nothing."""
        runs, _, steps = words.partition(";")
        try:
            self._opened = {int(run): None for run in runs.split(",") if run}
            pairs = [step.partition(".") for step in steps.split(",") if step]
            self._folded = {(int(run), int(number)): None for run, _, number in pairs}
        except ValueError:
            self._opened, self._folded = {}, {}
        self.settle()

    def settle(self) -> None:
        """Open what was open before, and steps with branches unless they were folded."""
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
        """Fold every run and branch but this one and those that it branched from, and open this one."""
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
        """Open every branch, and what it branched from; runs without branches stay as they are."""
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
