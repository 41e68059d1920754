"""The tree of runs, their steps and their branches, as an item model.

A run shows at most its latest `BLOCK` steps until the person asks for earlier
ones, so a run of thousands of steps opens and grows without a stall.
"""

import re
from collections.abc import Iterable
from itertools import count
from typing import Any, Literal

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.agent.records import PHASES
from core.debugger.snapshots import RunsView
from core.trace.records import RunRow, StepRow
from gui.tokens import ORIGIN_SHAPES

BLOCK = 500
NODE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_REF = re.compile(r"\[\d+\]")
NodeKind = Literal["run", "step", "more"]


class Node:
    """One row of the tree: a run, a step, or the row that stands for earlier steps."""

    __slots__ = ("children", "earlier", "key", "kind", "loaded", "parent", "row")

    def __init__(self, kind: NodeKind, parent: "Node | None", row: RunRow | StepRow | None) -> None:
        self.kind = kind
        self.key = 0
        """Names the node inside an index; never used twice, so a stale index finds nothing."""
        self.parent = parent
        self.row = row
        self.children: list[Node] = []
        self.loaded = False
        self.earlier: tuple[StepRow, ...] = ()
        """Of a run: the steps before the first that is shown."""

    @property
    def run(self) -> RunRow:
        assert isinstance(self.row, RunRow)
        return self.row

    @property
    def step(self) -> StepRow:
        assert isinstance(self.row, StepRow)
        return self.row

    def step_nodes(self) -> list["Node"]:
        return [child for child in self.children if child.kind == "step"]


class RunsModel(QAbstractItemModel):
    """Follows `RunsView` by inserting and changing rows; only a changed order resets it.

    Steps once loaded stay, also where a later view leaves them out.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._roots: list[Node] = []
        self._runs: dict[int, Node] = {}
        self._order: list[int] = []
        self._nodes: dict[int, Node] = {}
        self._keys = count(1)

    def show_runs(self, view: RunsView) -> bool:
        """Follow `view`; returns whether the model was reset, which collapses the tree."""
        order = [row.run for row in view.runs]
        known = len(self._order)
        parents = {row.run: row.parent_run for row in view.runs}
        grown = order[len(order) - known :] == self._order and all(
            self._parent_run(run) == self._fitting(parents, run) for run in self._order
        )
        if grown:
            for row in reversed(view.runs[: len(order) - known]):
                self._add_run(row, announce=True)
        else:
            self.beginResetModel()
            self._roots, self._runs, self._nodes = [], {}, {}
            for row in sorted(view.runs, key=lambda row: row.run):
                self._add_run(row, announce=False)
            self._roots.sort(key=lambda node: order.index(node.run.run))
            self.endResetModel()
        self._order = order
        for row in view.runs:
            node = self._runs[row.run]
            if node.row != row:
                node.row = row
                self._changed(node)
        for run, steps in view.steps.items():
            if run in self._runs:
                self._show_steps(self._runs[run], steps)
        return not grown

    def show_step(self, row: StepRow) -> None:
        """Add a step under way to its run, or change it; only the last step can be."""
        node = self._runs.get(row.run)
        if node is None:
            return
        steps = self.steps_of(row.run)
        if steps and steps[-1].number == row.number:
            self._show_steps(node, (*steps[:-1], row))
        elif row.number == (steps[-1].number + 1 if steps else 1):
            self._show_steps(node, (*steps, row))

    def run_index(self, run: int) -> QModelIndex:
        node = self._runs.get(run)
        return QModelIndex() if node is None else self.index_of(node)

    def step_index(self, run: int, number: int) -> QModelIndex:
        """Return where a step is shown; invalid where it is not, or not loaded."""
        for child in self._runs[run].children if run in self._runs else ():
            if child.kind == "step" and child.step.number == number:
                return self.index_of(child)
        return QModelIndex()

    def steps_of(self, run: int) -> tuple[StepRow, ...]:
        """Return all loaded steps of a run, shown or not, in order."""
        node = self._runs.get(run)
        return () if node is None else node.earlier + tuple(child.step for child in node.step_nodes())

    def is_loaded(self, run: int) -> bool:
        return run in self._runs and self._runs[run].loaded

    def show_earlier(self, index: Index) -> None:
        """Show `BLOCK` more steps in place of the row at `index`."""
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

    def node(self, index: Index) -> Node | None:
        return self._nodes.get(index.internalId()) if index.isValid() else None

    def index_of(self, node: Node) -> QModelIndex:
        siblings = node.parent.children if node.parent else self._roots
        return self.createIndex(siblings.index(node), 0, node.key)

    def _fitting(self, parents: dict[int, int | None], run: int) -> int | None:
        parent = parents.get(run)
        return parent if parent in parents else None

    def _parent_run(self, run: int) -> int | None:
        parent = self._runs[run].parent
        return parent.run.run if parent else None

    def _made(self, kind: NodeKind, parent: Node | None, row: RunRow | StepRow | None) -> Node:
        node = Node(kind, parent, row)
        node.key = next(self._keys)
        self._nodes[node.key] = node
        return node

    def _add_run(self, row: RunRow, *, announce: bool) -> None:
        parent = self._runs.get(row.parent_run) if row.parent_run is not None else None
        node = self._made("run", parent, row)
        siblings = parent.children if parent else self._roots
        at = len(siblings) if parent else 0
        if announce:
            self.beginInsertRows(self.index_of(parent) if parent else QModelIndex(), at, at)
        siblings.insert(at, node)
        self._runs[row.run] = node
        if announce:
            self.endInsertRows()

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
        node.loaded = True

    def _replace_steps(self, node: Node, steps: tuple[StepRow, ...]) -> None:
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
        node = self.node(parent)
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
        node = self.node(parent)
        if node is None:
            return bool(self._roots)
        return bool(node.children) or (node.kind == "run" and node.run.steps > 0)

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
    """Return how a run went, in one word."""
    if row.outcome == "running":
        return "running"
    if row.verdict.success is not None:
        return "success" if row.verdict.success else "no success"
    words = {"done": "done", "budget": "out of budget", "gate": "ended at a gate", "error": "error"}
    return words.get(row.outcome, row.outcome)


def step_word(row: StepRow) -> str:
    """Return what became of a step, or the phase it stands before, in one word."""
    if row.outcome in ("failed", "skipped"):
        return row.outcome
    if row.outcome == "pending" and not row.sealed:
        return PHASES[min(PHASES.index(row.phase) + 1, len(PHASES) - 1)]
    if row.effect in ("push", "pop", "go back", "note", "stop"):
        return row.effect
    return row.origin if row.origin != "agent" else row.state or "done"


def step_text(row: StepRow) -> str:
    """Return the action in words: what it acted on stands in place of its number."""
    if not row.action:
        return "no action" if row.outcome in ("skipped", "failed") else "…"
    if not row.target:
        return row.action
    text, named = _REF.subn(lambda _match: row.target, row.action, count=1)
    return text if named else f"{row.action} {row.target}"


def run_text(row: RunRow) -> str:
    """Return what was done in a run: the task and its seed, or the instruction where that is all there is."""
    return row.instruction if row.environment == "web" else f"{row.task} · seed {row.seed}"


def describe(node: Node) -> str:
    """Return a row as one line of words."""
    if node.kind == "run":
        return f"Run {node.run.run}: {run_text(node.run)}, {verdict_word(node.run)}"
    if node.kind == "step":
        row = node.step
        return f"{ORIGIN_SHAPES[row.origin]} {row.number} {step_text(row)}, {row.origin}, {step_word(row)}"
    earlier = len(node.parent.earlier) if node.parent else 0
    return f"Show {min(BLOCK, earlier)} of {earlier} earlier steps"


def _tooltip(node: Node) -> str:
    if node.kind == "more":
        return "Click, or press Enter"
    if node.kind == "step":
        row = node.step
        parts = [f"Step {row.number} ({row.origin}{', edited' if row.edited else ''}): {step_text(row)}"]
        parts += [part for part in (row.thought, row.message, row.url) if part]
        return "\n".join(parts) + "\nClick, or press Enter, to see all of it"
    run = node.run
    parts = [f"Run {run.run}: {run.task}, seed {run.seed}, {verdict_word(run)}", run.instruction]
    if run.parent_run is not None:
        parts.append(f"Branch of run {run.parent_run} at step {run.parent_step}")
    parts += [f"{run.preset} · {run.llm} · {run.steps} steps", run.error]
    return "\n".join(part for part in parts if part)
