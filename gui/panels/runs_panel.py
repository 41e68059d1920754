"""Runs & steps: a tree that fills as the run goes."""

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QTreeView, QVBoxLayout, QWidget

from core.debugger.snapshots import RunsView, SessionView, StepView
from core.trace.records import StepRow
from gui.panels.runs_delegate import RunsDelegate
from gui.panels.runs_model import RunsModel
from gui.theme import Theme
from gui.widgets.formats import thousands
from gui.widgets.words import OrWords

_NO_RUN = "No run yet. Choose a task with Ctrl+N; its steps appear here as the agent takes them."


class RunsPanel(QWidget):
    """Shows `RunsView` and asks for steps and runs by clicking and opening rows."""

    step_requested = Signal(int, int)
    """Run and number of a step to show."""
    run_requested = Signal(int)
    """A run whose steps are to be loaded."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = RunsView()
        self._followed: int | None = None
        self._live: StepRow | None = None
        self.model = RunsModel(self)
        self.delegate = RunsDelegate(theme, self)
        self.tree = QTreeView(self)
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(self.delegate)
        self.tree.setHeaderHidden(True)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(13)
        self.tree.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.setAccessibleName("Runs and steps")
        self.tree.clicked.connect(self._on_chosen)
        self.tree.activated.connect(self._on_chosen)
        self.tree.expanded.connect(self._on_expanded)
        self.or_words = OrWords(self.tree, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.or_words)
        theme.changed.connect(self.tree.viewport().update)
        self.or_words.say(_NO_RUN)

    @Slot(object)
    def show_runs(self, view: RunsView) -> None:
        """Replace what is on screen with `view`; what was expanded stays so."""
        opened = {run.run for run in view.runs if self.tree.isExpanded(self.model.run_index(run.run))}
        self._view = view
        if self.model.show_runs(view):
            for run in opened:
                self.tree.expand(self.model.run_index(run))
        if self._live is not None:
            self.model.show_step(self._live)
        if not view.runs:
            none_found = f'No run matches "{view.query}". Empty the search field to see all runs.'
            self.or_words.say(none_found if view.query else _NO_RUN)
        else:
            self.or_words.say("")
        self._follow()
        self._reveal_viewed()
        self._tell_fact()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Mark the step whose content the other panels show; one under way joins the tree at once."""
        if step.live and step.row is not None:
            self._live = step.row
            self.model.show_step(step.row)
            self._follow()
        run, number = step.run, step.number
        if self.delegate.viewed != (run, number):
            self.delegate.viewed = (run, number)
            self._reveal_viewed(force=True)
            self.tree.viewport().update()

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        """Tell which run the others belong to, where none is listed yet."""
        if view.run is None and view.mode == "opening" and not self._view.runs:
            self.or_words.say("Opening the task…")

    def neighbour(self, run: int, number: int, offset: int) -> tuple[int, int] | None:
        """Return the step `offset` steps on in the same run, or None where it is not loaded."""
        numbers = [step.number for step in self.model.steps_of(run)]
        if not numbers:
            return None
        at = numbers.index(number) + offset if number in numbers else (len(numbers) + offset)
        return (run, numbers[at]) if 0 <= at < len(numbers) else None

    def _follow(self) -> None:
        """Open the current run once it has steps to show."""
        current = self._view.current
        if current is None or current == self._followed:
            return
        index = self.model.run_index(current)
        if index.isValid() and self.model.rowCount(index):
            self._followed = current
            self.tree.expand(index.parent())
            self.tree.expand(index)
            self.tree.scrollTo(index)

    def _reveal_viewed(self, *, force: bool = False) -> None:
        if self.delegate.viewed is None:
            return
        index = self.model.step_index(*self.delegate.viewed)
        if not index.isValid() or (index == self.tree.currentIndex() and not force):
            return
        if not self.tree.hasFocus() or force:
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def _on_chosen(self, index: QModelIndex) -> None:
        node = self.model.node(index)
        if node is None:
            return
        if node.kind == "step":
            self.step_requested.emit(node.step.run, node.step.number)
        elif node.kind == "run":
            self.tree.expand(index)
        else:
            self.model.show_earlier(index)

    def _on_expanded(self, index: QModelIndex) -> None:
        node = self.model.node(index)
        if node is not None and node.kind == "run" and not node.loaded and node.run.steps:
            self.run_requested.emit(node.run.run)

    def _tell_fact(self) -> None:
        view = self._view
        if view.query:
            self.fact_changed.emit(f"{thousands(view.total)} found")
        elif view.current is not None:
            branches = sum(1 for row in view.runs if row.parent_run == view.current)
            words = f" · {branches} branch{'es' if branches != 1 else ''}" if branches else ""
            self.fact_changed.emit(f"run {view.current}{words}")
        elif view.total > len(view.runs):
            self.fact_changed.emit(f"newest {len(view.runs)} of {thousands(view.total)}")
        else:
            self.fact_changed.emit(
                f"{thousands(view.total)} run{'s' if view.total != 1 else ''}" if view.runs else ""
            )
