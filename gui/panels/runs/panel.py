"""Runs & steps: a tree that grows during a run."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QTreeView, QWidget

from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import StepView
from core.schema.formats import count, thousands
from core.trace.records import RunRow, StepRow
from gui.panels.runs.model import Node, RunsModel
from gui.panels.runs.preview import StepHover
from gui.panels.runs.tree import Folding, RunsDelegate
from gui.theme.theme import Theme
from gui.widgets.copying import CopyEntry, action_copies
from gui.widgets.enabled_commands import can_take_up
from gui.widgets.item_views import MenuEntry, RowMenu
from gui.widgets.layouts import in_column
from gui.widgets.words import OrWords, labelled

_SELECTING = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_CURRENT_ONLY = QItemSelectionModel.SelectionFlag.NoUpdate
_BACK = "Restore the page, and continue on a branch from there"
_FORK = "Go back, on a branch with another preset, LLM, policies or exemplars"
_ASK = "Repeat its question, edited or several times"
_WHY = "Find where its words occur in prompt, page and elsewhere"
_COMPARE_STEP = "Compare page, prompt, thought and outcome"
_ENDED = "It has ended. Go back to one of its steps"
_CURRENT = "Restore the page, and continue the run where it stopped"
_COMPARE_RUN = "Compare step by step, with where they first differ"
_FIX = "Fix the run: find the deciding step, change something there, and run again from it"
_FIX_STEP = "Change what the agent used at this step, and run again from it"
_BISECT = "Find the step from which it can still succeed"
_KEEP = "Save the steps that led to its end, for runs of similar tasks"
_FOLD_OTHERS = "Close all runs but this one and those that it branched from"
_NO_RUN = "No run yet. Choose a task with Ctrl+N; its steps appear here as the agent takes them."


def keep_entry(
    tree: QTreeView, model: RunsModel, index: QModelIndex, keep: Callable[[int, tuple[int, ...]], object]
) -> MenuEntry:
    """Return the menu entry that keeps a step, or all steps selected with it, as an exemplar."""
    found = chosen_steps(tree, model, index)
    if found is None:
        why = "The selected steps belong to runs that are not branches of each other"
        return MenuEntry("Save as exemplar…", lambda: None, enabled=False, why=why)
    run, steps = found
    many = len(steps) > 1
    return MenuEntry(
        f"Save {len(steps)} steps as exemplar…" if many else "Save as exemplar…",
        lambda: keep(run, steps),
        why="Keep these steps" if many else "Keep this step; select several with Ctrl or Shift and a click",
    )


def chosen_steps(tree: QTreeView, model: RunsModel, index: QModelIndex) -> tuple[int, tuple[int, ...]] | None:
    """Return a run and its selected steps if the one at `index` is among them, otherwise only that one.

    Steps of a branch and of the runs that it branched from count as steps of the branch. None if the selected steps
    are of runs that are not on one path.
    """
    node = model.node(index)
    if node is None or node.kind != "step":
        return None
    found = [one for row in tree.selectionModel().selectedRows() if (one := model.node(row)) is not None]
    steps = [one for one in found if one.kind == "step"]
    if node not in steps:
        steps = [node]
    for last in steps:
        way = _way_to(last)
        if all(step.step.number <= way.get(step.step.run, 0) for step in steps):
            return _run_of(last).run.run, tuple(sorted({step.step.number for step in steps}))
    return None


def _run_of(node: Node) -> Node:
    assert node.parent is not None
    return node.parent


def _way_to(node: Node) -> dict[int, int]:
    """Return the runs that lead to a step, each with its last step on the path."""
    run: Node | None = _run_of(node)
    reach = {node.step.run: 1_000_000_000}
    while run is not None and run.left is not None:
        before = (run.run.parent_step or 1) - 1
        run = run.left
        reach[run.run.run] = before
    return reach


class RunsPanel(QWidget):
    """Shows `RunsView`; clicking and opening rows requests steps and runs.

    Opened and folded rows stay so as long as the window exists, even if a search lists other runs in between.
    """

    step_requested = Signal(int, int)
    """Run and number of a step to show."""
    run_requested = Signal(int)
    """A run whose steps to load."""
    run_chosen = Signal(object)
    """The `RunRow` of a run whose own row was clicked or opened."""
    more_requested = Signal(int)
    """The number of listed runs; requests older ones."""
    back_requested = Signal(int, int)
    """Run and number of a step: the run continues before it, on a branch."""
    ask_requested = Signal(int, int)
    why_requested = Signal(int, int)
    current_requested = Signal(int)
    """An earlier run to resume."""
    compare_run_requested = Signal(int)
    compare_step_requested = Signal(int, int)
    fork_requested = Signal(int, int)
    """Run and number of a step from which to continue differently on a branch."""
    fix_requested = Signal(int, int)
    """Run and number of a step to fix; 0 for the suggested step."""
    bisect_requested = Signal(int)
    keep_requested = Signal(int, object)
    """A run to keep as an exemplar, and the numbers of the selected steps; none means all."""
    naming_requested = Signal(object)
    """The `RunRow` to name."""
    export_requested = Signal(int)
    state_changed = Signal()
    """The set of available commands has changed."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = RunsView()
        self._opening = False
        """Whether a task is opening that has no run yet."""
        self._followed: int | None = None
        self._live: StepRow | None = None
        self.model = RunsModel(self)
        self.delegate = RunsDelegate(theme, self)
        self.tree = labelled(QTreeView(self, headerHidden=True, uniformRowHeights=True), "Runs and steps")
        self.model.more_wanted.connect(self.more_requested)
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(self.delegate)
        self.tree.setIndentation(13)
        self.tree.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)
        self.tree.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tree.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.tree.clicked.connect(self._on_clicked)
        self.tree.activated.connect(self._on_chosen)
        self.folding = Folding(self.tree, self.model)
        self.folding.run_requested.connect(self.run_requested)
        self.tree.selectionModel().currentChanged.connect(self.state_changed)
        self.tree.installEventFilter(self)
        self.hover = StepHover(theme, self.tree, self.model)
        RowMenu(self.tree, self.entries, copies=self._copies, record=self._record)
        for key, slot in (
            ("Ctrl+M", self._on_make_current),
            ("F2", self._on_name),
            ("Ctrl+Left", self._on_fold),
            ("Ctrl+Shift+Left", self._on_fold_others),
            ("Ctrl+Shift+Right", self.folding.unfold_branches),
        ):
            shortcut = QShortcut(QKeySequence(key), self.tree, slot)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.or_words = OrWords(self.tree, self)
        in_column(self, self.or_words)
        self._tell_why_empty()

    @Slot(object)
    def show_runs(self, view: RunsView) -> None:
        """Replace what is shown with `view`; expanded rows stay expanded."""
        self._view = view
        self.model.show_runs(view)
        if self._live is not None:
            self.model.show_step(self._live)
        self._tell_why_empty()
        self.folding.settle()
        self._follow()
        self._reveal_viewed()
        self._tell_fact()

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        bar = self.tree.verticalScrollBar()
        if value >= bar.maximum() - bar.pageStep():
            self.model.want_more()

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        """Mark the step whose content the other panels show; a current step is added to the tree at once."""
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
        """Show whether a task is opening, while no run is listed."""
        self._opening = view.run is None and view.mode == "opening"
        self._tell_why_empty()

    def _tell_why_empty(self) -> None:
        query = self._view.query
        nothing = "Opening the task…" if self._opening else _NO_RUN
        if query:
            nothing = f'No run matches "{query}". Empty the search field to see all runs.'
        self.or_words.say("" if self._view.runs else nothing)

    @property
    def chosen_step(self) -> tuple[int, int] | None:
        """Run and number of the step of the current row, while the tree has the focus."""
        node = self.model.node(self.tree.currentIndex()) if self.tree.hasFocus() else None
        return (node.step.run, node.step.number) if node is not None and node.kind == "step" else None

    @property
    def chosen_run(self) -> int | None:
        """The run of the current row, while the tree has the focus."""
        node = self.model.node(self.tree.currentIndex()) if self.tree.hasFocus() else None
        return node.run.run if node is not None and node.kind == "run" else None

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a row."""
        node = self.model.node(index)
        if node is None or node.kind == "more":
            return ()
        own = self._step_entries(node, index) if node.kind == "step" else self._run_entries(node)
        return (*own, *self._fold_entries(index))

    def _step_entries(self, node: Node, index: QModelIndex) -> tuple[MenuEntry, ...]:
        place = (node.step.run, node.step.number)
        other = self.delegate.viewed not in (None, place)
        show, back = partial(self.step_requested.emit, *place), partial(self.back_requested.emit, *place)
        fork, ask = partial(self.fork_requested.emit, *place), partial(self.ask_requested.emit, *place)
        why = partial(self.why_requested.emit, *place)
        compare = partial(self.compare_step_requested.emit, *place)
        return (
            MenuEntry("Show this step", show, "Enter"),
            MenuEntry("Go back to before this step", back, "Ctrl+B", why=_BACK),
            MenuEntry(
                "Fix from this step…", partial(self.fix_requested.emit, *place), "Ctrl+.", why=_FIX_STEP
            ),
            MenuEntry("Try again from here…", fork, "Ctrl+Shift+F", why=_FORK),
            MenuEntry("Ask again…", ask, why=_ASK),
            MenuEntry("Where its action comes from…", why, "Ctrl+I", why=_WHY),
            MenuEntry("Compare with the step in view…", compare, enabled=other, why=_COMPARE_STEP),
            keep_entry(self.tree, self.model, index, self.keep_requested.emit),
        )

    def _run_entries(self, node: Node) -> tuple[MenuEntry, ...]:
        row, viewed = node.run, self.delegate.viewed
        can = can_take_up(row) and not node.current
        ended = "Another program is working on it" if row.outcome == "running" else _ENDED
        cannot = "It is current" if node.current else ended
        other, begun = viewed is not None and viewed[0] != row.run, row.steps > 0
        current, compare = self.current_requested.emit, self.compare_run_requested.emit
        bisect, keep = self.bisect_requested.emit, self.keep_requested.emit
        name, export = self.naming_requested.emit, self.export_requested.emit
        return (
            MenuEntry("Make current", partial(current, row.run), "Ctrl+M", can, _CURRENT if can else cannot),
            MenuEntry(
                "Compare with the run in view…", partial(compare, row.run), "", other, why=_COMPARE_RUN
            ),
            MenuEntry("Fix…", partial(self.fix_requested.emit, row.run, 0), "Ctrl+.", begun, _FIX),
            MenuEntry("Bisect…", partial(bisect, row.run), "Ctrl+Shift+I", begun, _BISECT),
            MenuEntry("Save as exemplar…", partial(keep, row.run, ()), "Ctrl+Shift+K", begun, _KEEP),
            MenuEntry("Name…", partial(name, row), "F2"),
            MenuEntry("Export…", partial(export, row.run), "Ctrl+E"),
        )

    def _fold_entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries that fold the tree from a row."""
        own = self._foldable(index)
        assert own is not None
        what = "branches of this step" if own.kind == "step" else "branch" if own.parent else "run"
        these = what if own.kind == "step" else f"this {what}"
        verb = "Fold" if self.tree.isExpanded(self.model.index_of(own)) else "Unfold"
        fold, others = partial(self._fold_or_unfold, own), partial(self.folding.fold_others, index)
        branched = bool(self.model.runs_with_branches())
        why = "Every branch, with the runs that they left" if branched else "No listed run has a branch"
        unfold = self.folding.unfold_branches
        return (
            MenuEntry(f"{verb} {these}", fold, "Ctrl+Left"),
            MenuEntry("Fold all others", others, "Ctrl+Shift+Left", why=_FOLD_OTHERS),
            MenuEntry("Unfold all branches", unfold, "Ctrl+Shift+Right", branched, why),
        )

    def _copies(self, index: QModelIndex) -> tuple[CopyEntry, ...]:
        node = self.model.node(index)
        if node is None or node.kind == "more":
            return ()
        if node.kind == "run":
            return (CopyEntry("Copy the instruction", node.run.instruction),) if node.run.instruction else ()
        return action_copies(node.step.action, words=node.step.target)

    def _record(self, index: QModelIndex) -> RunRow | StepRow | str:
        node = self.model.node(index)
        if node is None or node.kind == "more":
            return ""
        return node.run if node.kind == "run" else node.step

    def _foldable(self, index: QModelIndex) -> Node | None:
        """Return the run, or the step with branches, that a row folds."""
        node = self.model.node(index)
        return node if node is None or node.kind == "run" or node.branches() else node.parent

    def _fold_or_unfold(self, node: Node) -> None:
        index = self.model.index_of(node)
        if self.tree.isExpanded(index):
            self.folding.fold(index)
        else:
            self.tree.expand(index)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.state_changed.emit()
        if event.type() == QEvent.Type.FocusOut:
            self.hover.hide()
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.hover.hide()

    def _run_in_hand(self) -> Node | None:
        """Return the run whose row, or a row below it, is the current one."""
        node = self.model.node(self.tree.currentIndex())
        return node if node is None or node.kind == "run" else node.parent

    def _on_make_current(self) -> None:
        node = self._run_in_hand()
        if node is not None and can_take_up(node.run) and not node.current:
            self.current_requested.emit(node.run.run)

    def _on_fold(self) -> None:
        own = self._foldable(self.tree.currentIndex())
        if own is not None:
            self._fold_or_unfold(own)

    def _on_fold_others(self) -> None:
        if self.tree.currentIndex().isValid():
            self.folding.fold_others(self.tree.currentIndex())

    def _on_name(self) -> None:
        node = self._run_in_hand()
        if node is not None:
            self.naming_requested.emit(node.run)

    def _follow(self) -> None:
        """Open the current run when it has steps to show."""
        current = self._view.current
        if current is None or current == self._followed:
            return
        index = self.model.run_index(current)
        if index.isValid() and self.model.rowCount(index):
            self._followed = current
            above = index
            while above.isValid():
                self.tree.expand(above)
                above = above.parent()
            self.tree.scrollTo(index)

    def _reveal_viewed(self, *, force: bool = False) -> None:
        if self.delegate.viewed is None:
            return
        index = self.model.step_index(*self.delegate.viewed)
        if not index.isValid() or (index == self.tree.currentIndex() and not force):
            return
        if not self.tree.hasFocus() or force:
            if len(self.tree.selectionModel().selectedRows()) > 1:  # Keep the selected rows.
                self.tree.selectionModel().setCurrentIndex(index, _CURRENT_ONLY)
            else:
                self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def _on_clicked(self, index: QModelIndex) -> None:
        """Show the clicked row, unless the click only added it to the selection."""
        if not QApplication.keyboardModifiers() & _SELECTING:
            self._on_chosen(index)

    def _on_chosen(self, index: QModelIndex) -> None:
        node = self.model.node(index)
        if node is None:
            return
        if node.kind == "step":
            self.step_requested.emit(node.step.run, node.step.number)
        elif node.kind == "run":
            self.tree.expand(index)
            self.run_chosen.emit(node.run)
        else:
            self.model.show_earlier(index)
            self.folding.settle()

    def _tell_fact(self) -> None:
        view, fact = self._view, ""
        if view.query:
            fact = f"{thousands(view.total)} found"
        elif view.current is not None:
            parent = next((row.parent_run for row in view.runs if row.run == view.current), None)
            branches = sum(1 for row in view.runs if row.parent_run == view.current)
            of = f" · branch of {parent}" if parent is not None else ""
            words = f" · {count(branches, 'branch', 'branches')}" if branches else of
            fact = f"run {view.current}{words}"
        elif view.total > len(view.runs):
            fact = f"newest {len(view.runs)} of {thousands(view.total)}"
        elif view.runs:
            fact = count(view.total, "run")
        self.fact_changed.emit(fact)
