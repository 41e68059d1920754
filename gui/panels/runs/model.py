"""The tree of runs, their steps and their branches, as an item model.

A run shows at most its latest `BLOCK` steps until the person asks for earlier ones, so a run of thousands of steps
opens and grows without a stall. A branch is below the step that it left, or below its run while that step is not
shown.
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt, Signal

from core.debugger.session_view import RunsView
from core.schema.restore import GRADES
from core.schema.step import PHASES
from core.trace.records import RunRow, StepRow
from gui.theme.tokens import ORIGIN_SHAPES
from gui.widgets.item_views import Index

BLOCK = 500
NODE = Qt.ItemDataRole.UserRole
NodeKind = Literal["run", "step", "more"]


@dataclass(slots=True, eq=False)
class Node:
    """One row of the tree: a run, a step, or the row that stands for earlier steps."""

    kind: NodeKind
    key: int
    """Identifies the node in an index. Never reused, so a stale index finds nothing."""
    parent: "Node | None"
    row: RunRow | StepRow | None
    children: "list[Node]" = field(default_factory=list)
    loaded: bool = False
    current: bool = False
    """For a run: whether it is the current one."""
    earlier: tuple[StepRow, ...] = ()
    """For a run: the steps before the first that is shown."""

    @property
    def run(self) -> RunRow:
        assert isinstance(self.row, RunRow)
        return self.row

    @property
    def step(self) -> StepRow:
        assert isinstance(self.row, StepRow)
        return self.row

    @property
    def left(self) -> "Node | None":
        """For a branch: the run that it left; None if that is not listed."""
        parent = self.parent
        return parent.parent if parent is not None and parent.kind == "step" else parent

    def step_nodes(self) -> list["Node"]:
        return [child for child in self.children if child.kind == "step"]

    def step_node(self, number: int | None) -> "Node | None":
        return next((node for node in self.step_nodes() if node.step.number == number), None)

    def branches(self) -> list["Node"]:
        return [child for child in self.children if child.kind == "run"]


class RunsModel(QAbstractItemModel):
    """Follows `RunsView` by inserting, moving and changing rows; resets only when runs disappear from the list.

    Loaded steps stay, even if a later view leaves them out. Older runs are requested when the tree is scrolled to
    its end.
    """

    more_wanted = Signal(int)
    """The number of listed runs; requests older ones."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._roots: list[Node] = []
        """From the newest run to the oldest."""
        self._runs: dict[int, Node] = {}
        self._nodes: dict[int, Node] = {}
        self._keys = count(1)
        self._more = False

    def show_runs(self, view: RunsView) -> None:
        """Update to `view`; if the model is reset, the tree collapses."""
        rows = {row.run: row for row in view.runs}
        if self._follows(rows):
            new = [row for row in view.runs if row.run not in self._runs]
            for row in reversed(new):
                self._add_run(row, announce=True)
            if new:
                self._settle_roots()
        else:
            self.beginResetModel()
            self._roots, self._runs, self._nodes = [], {}, {}
            for row in sorted(view.runs, key=lambda row: row.run):
                self._add_run(row, announce=False)
            self.endResetModel()
        self._more = view.more
        for row in view.runs:
            node, current = self._runs[row.run], row.run == view.current
            if (node.row is not row and node.row != row) or node.current != current:
                node.row, node.current = row, current
                self._changed(node)
        for run, steps in view.steps.items():
            if run in self._runs:
                self._show_steps(self._runs[run], steps)

    def show_step(self, row: StepRow) -> None:
        """Add a current step to its run, or change it; only the last step can change."""
        node = self._runs.get(row.run)
        if node is None:
            return
        steps = self.steps_of(row.run)
        if steps and steps[-1].number == row.number:
            self._show_steps(node, (*steps[:-1], row))
        elif row.number == (steps[-1].number + 1 if steps else node.run.parent_step or 1):
            self._show_steps(node, (*steps, row))

    def run_index(self, run: int) -> QModelIndex:
        node = self._runs.get(run)
        return QModelIndex() if node is None else self.index_of(node)

    def step_index(self, run: int, number: int) -> QModelIndex:
        """Return the index of a step; invalid if it is not shown or not loaded."""
        node = self._runs[run].step_node(number) if run in self._runs else None
        return QModelIndex() if node is None else self.index_of(node)

    def steps_of(self, run: int) -> tuple[StepRow, ...]:
        """Return all loaded steps of a run in order, shown or not."""
        node = self._runs.get(run)
        return () if node is None else node.earlier + tuple(child.step for child in node.step_nodes())

    def neighbour(self, run: int, number: int, offset: int) -> tuple[int, int] | None:
        """Return run and number of the step that is `offset` steps further, or None if it is not loaded.

        The steps before the first step of a branch are those of the run that it left. A missing number counts as
        after all others.
        """
        node, steps = self._runs.get(run), self.steps_of(run)
        if node is None or not steps:
            return None
        at = bisect_left(steps, number, key=lambda step: step.number)
        if at < len(steps) and steps[at].number != number:
            at = len(steps)
        at += offset
        if at < 0 and node.left is not None and node.run.parent_step is not None:
            return self.neighbour(node.left.run.run, node.run.parent_step, at)
        return (run, steps[at].number) if 0 <= at < len(steps) else None

    def left_steps(self) -> list[QModelIndex]:
        """Return the steps that have branches below them."""
        parents = {node.parent.key: node.parent for node in self._runs.values() if node.parent}
        return [self.index_of(parent) for parent in parents.values() if parent.kind == "step"]

    def runs(self) -> tuple[int, ...]:
        """Return the numbers of the listed runs and branches."""
        return tuple(self._runs)

    def runs_with_branches(self) -> tuple[int, ...]:
        """Return the runs that have listed branches, and the branches, each after the run that it left."""
        found: dict[int, None] = {}
        for run in sorted(self._runs):
            left = self._runs[run].left
            if left is not None:
                found[left.run.run] = found[run] = None
        return tuple(found)

    def show_earlier(self, index: Index) -> None:
        """Replace the row at `index` by `BLOCK` more steps."""
        more = self.node(index)
        run = more.parent if more else None
        if more is None or run is None or more.kind != "more":
            return
        at = len(run.earlier) - BLOCK
        taken, left = run.earlier[max(0, at) :], run.earlier[: max(0, at)]
        run.earlier = left
        parent = self.index_of(run)
        if not left:
            self.beginRemoveRows(parent, 0, 0)
            del self._nodes[run.children.pop(0).key]
            self.endRemoveRows()
        else:
            self._changed(more)
        first = 1 if left else 0
        self.beginInsertRows(parent, first, first + len(taken) - 1)
        run.children[first:first] = [self._made("step", run, row) for row in taken]
        self.endInsertRows()
        self._settle_branches(run)

    def node(self, index: Index) -> Node | None:
        return self._nodes.get(index.internalId()) if index.isValid() else None

    def index_of(self, node: Node) -> QModelIndex:
        at = node.parent.children.index(node) if node.parent else self._root_at(node.run.run)
        return self.createIndex(at, 0, node.key)

    def _follows(self, rows: dict[int, RunRow]) -> bool:
        """Return whether the listed runs can stay, with each branch below the run that it left."""
        return all(
            run in rows and (node.parent is None or node.run.parent_run == rows[run].parent_run)
            for run, node in self._runs.items()
        )

    def _root_at(self, run: int) -> int:
        """Return the row, present or future, of a run among those that are not branches of a listed one."""
        return bisect_left(self._roots, -run, key=lambda node: -node.run.run)

    def _made(self, kind: NodeKind, parent: Node | None, row: RunRow | StepRow | None) -> Node:
        node = Node(kind, next(self._keys), parent, row)
        self._nodes[node.key] = node
        return node

    def _add_run(self, row: RunRow, *, announce: bool) -> None:
        left = self._runs.get(row.parent_run) if row.parent_run is not None else None
        parent = left and (left.step_node(row.parent_step) or left)
        node = self._made("run", parent, row)
        siblings = parent.children if parent else self._roots
        at = len(siblings) if parent else self._root_at(row.run)
        if announce:
            self.beginInsertRows(self.index_of(parent) if parent else QModelIndex(), at, at)
        siblings.insert(at, node)
        self._runs[row.run] = node
        if announce:
            self.endInsertRows()

    def _settle_roots(self) -> None:
        """Move branches below their run if it is now listed."""
        for node in list(self._roots):
            left = self._runs.get(node.run.parent_run) if node.run.parent_run is not None else None
            if left is not None:
                self._move(node, left.step_node(node.run.parent_step) or left)

    def _show_steps(self, node: Node, steps: tuple[StepRow, ...]) -> None:
        shown = node.step_nodes()
        start = len(node.earlier)
        same_start = (
            node.loaded
            and len(steps) >= start + len(shown)
            and (not shown or steps[start].number == shown[0].step.number)
        )
        if not same_start:
            self._replace_steps(node, steps)
        else:
            node.earlier = steps[:start]
            for child, row in zip(shown, steps[start:], strict=False):
                if child.row is not row and child.row != row:
                    child.row = row
                    self._changed(child)
            self._insert_steps(node, self._steps_end(node), steps[start + len(shown) :])
        self._settle_branches(node)
        node.loaded = True

    def _replace_steps(self, node: Node, steps: tuple[StepRow, ...]) -> None:
        for step in node.step_nodes():
            for branch in step.branches():
                self._move(branch, node)
        end = self._steps_end(node)
        parent = self.index_of(node)
        if end:
            self.beginRemoveRows(parent, 0, end - 1)
            for child in node.children[:end]:
                del self._nodes[child.key]
            del node.children[:end]
            self.endRemoveRows()
        node.earlier = steps[: max(0, len(steps) - BLOCK)]
        if node.earlier:
            self.beginInsertRows(parent, 0, 0)
            node.children.insert(0, self._made("more", node, None))
            self.endInsertRows()
        self._insert_steps(node, self._steps_end(node), steps[len(node.earlier) :])

    def _settle_branches(self, node: Node) -> None:
        """Move branches that are below their run to the step that they left, if it is now shown."""
        for branch in node.branches():
            step = node.step_node(branch.run.parent_step)
            if step is not None:
                self._move(branch, step)

    def _move(self, node: Node, parent: Node) -> None:
        source, at, to = node.parent, self.index_of(node).row(), len(parent.children)
        above = self.index_of(source) if source else QModelIndex()
        self.beginMoveRows(above, at, at, self.index_of(parent), to)
        (source.children if source else self._roots).pop(at)
        parent.children.append(node)
        node.parent = parent
        self.endMoveRows()

    def _insert_steps(self, node: Node, at: int, rows: Iterable[StepRow]) -> None:
        made = [self._made("step", node, row) for row in rows]
        if made:
            self.beginInsertRows(self.index_of(node), at, at + len(made) - 1)
            node.children[at:at] = made
            self.endInsertRows()

    def _steps_end(self, node: Node) -> int:
        return sum(1 for child in node.children if child.kind != "run")

    def _changed(self, node: Node) -> None:
        index = self.index_of(node)
        self.dataChanged.emit(index, index)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        # The tree calls this and `parent` for every open or top-level row, each time it lays out its rows.
        node = self._nodes.get(parent.internalId()) if parent.isValid() else None
        siblings = node.children if node else self._roots
        if column == 0 and 0 <= row < len(siblings):
            return self.createIndex(row, 0, siblings[row].key)
        return QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        node = self.node(index)
        return self.index_of(node.parent) if node and node.parent else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        node = self.node(parent)
        return len(node.children if node else self._roots)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        node = self._nodes.get(parent.internalId()) if parent.isValid() else None
        if node is None:
            return bool(self._roots)
        return bool(node.children) or (node.kind == "run" and node.row.steps > 0)  # type: ignore[union-attr]

    def want_more(self) -> None:
        """Request older runs, if there are any; a later view contains them.

        Qt's own `fetchMore` is called whenever a tree lays out its rows, and would list all runs.
        """
        if self._more:
            self._more = False
            self.more_wanted.emit(len(self._runs))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self.node(index)
        if node is None:
            return None
        if role == NODE:
            return node
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return describe(node)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tooltip(node)
        return None


def verdict_word(row: RunRow) -> str:
    """Return the result of a run as one word."""
    if row.outcome == "running":
        return "running"
    if row.verdict.success is not None:
        return "success" if row.verdict.success else "no success"
    words = {
        "done": "done",
        "budget": "out of budget",
        "gate": "ended at a gate",
        "stuck": "stuck",
        "error": "error",
    }
    return words.get(row.outcome, row.outcome)


def run_word(row: RunRow, *, current: bool) -> str:
    """Return the result of a run, or that it is the current one."""
    return "current" if current and row.outcome == "running" else verdict_word(row)


def step_word(row: StepRow) -> str:
    """Return the outcome of a step, or the phase that comes next, as one word."""
    if row.outcome in ("failed", "skipped"):
        return row.outcome
    if row.outcome == "pending" and not row.sealed:
        return PHASES[min(PHASES.index(row.phase) + 1, len(PHASES) - 1)]
    if row.effect in ("push", "pop", "go back", "note", "stop"):
        return row.effect
    return row.origin if row.origin != "agent" else row.state or "done"


def run_text(row: RunRow) -> str:
    """Return what a run did: the task and its seed, or only the instruction if there is nothing else."""
    return row.instruction if row.environment == "web" else f"{row.task} · seed {row.seed}"


def differs_text(row: RunRow) -> str:
    """Return how a branch differs from the run that it left, in a few words."""
    return ", ".join(
        difference.after if difference.what == "amount" else f"{difference.what} {difference.after}"
        for difference in row.differences
    )


def _why_not(row: RunRow) -> str:
    """Return why a run was judged unsuccessful, if its judge gave a reason."""
    return row.verdict.reason if row.verdict.success is False else ""


def describe(node: Node) -> str:
    """Return a row as one line of text."""
    if node.kind == "run":
        run = node.run
        parts = [f"Run {run.run}: {run.name or run_text(run)}", run_word(run, current=node.current)]
        parts += filter(None, (_why_not(run),))
        if run.parent_run is not None:
            grade = f", {run.grade}" if run.grade else ""
            parts.append(f"branch of run {run.parent_run} at step {run.parent_step}{grade}")
            parts += [f"with {differs_text(run)}"] if run.differences else []
        return ", ".join(parts)
    if node.kind == "step":
        row = node.step
        return f"{ORIGIN_SHAPES[row.origin]} {row.number} {row.in_words}, {row.origin}, {step_word(row)}"
    earlier = len(node.parent.earlier) if node.parent else 0
    return f"Show {min(BLOCK, earlier)} of {earlier} earlier steps"


def _tooltip(node: Node) -> str:
    if node.kind == "more":
        return "Click, or press Enter"
    if node.kind == "step":
        row = node.step
        parts = [f"Step {row.number} ({row.origin}{', edited' if row.edited else ''}): {row.in_words}"]
        parts += filter(None, (row.thought, row.message, row.url))
        return "\n".join(parts) + "\nClick, or press Enter, to see all of it"
    run = node.run
    name = f" “{run.name}”" if run.name else ""
    word = run_word(run, current=node.current)
    parts = [f"Run {run.run}{name}: {run.task}, seed {run.seed}, {word}", run.instruction]
    if run.parent_run is not None:
        grade = f"; its first page was restored: {run.grade} ({GRADES[run.grade]})" if run.grade else ""
        parts.append(f"Branch of run {run.parent_run} at step {run.parent_step}{grade}")
        parts += [f"Differs by {difference}" for difference in run.differences]
    parts += [_why_not(run), f"{run.preset} · {run.llm} · {run.steps} steps", run.error]
    return "\n".join(filter(None, parts))
