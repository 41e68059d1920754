"""The steps that are selected in the tree of runs, as a part of one run or branch."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QTreeView

from gui.panels.runs.model import Node, RunsModel
from gui.widgets.item_views import MenuEntry


def keep_entry(
    tree: QTreeView, model: RunsModel, index: QModelIndex, keep: Callable[[int, tuple[int, ...]], object]
) -> MenuEntry:
    """Return the line of a step's menu that keeps it, or all that are selected with it, as an exemplar."""
    found = chosen_steps(tree, model, index)
    if found is None:
        why = "The selected steps are of runs that do not lead to one another"
        return MenuEntry("Save as exemplar…", lambda: None, enabled=False, why=why)
    run, steps = found
    many = len(steps) > 1
    return MenuEntry(
        f"Save {len(steps)} steps as exemplar…" if many else "Save as exemplar…",
        lambda: keep(run, steps),
        why="Keep these steps" if many else "Keep this step; select several with Ctrl or Shift and a click",
    )


def chosen_steps(tree: QTreeView, model: RunsModel, index: QModelIndex) -> tuple[int, tuple[int, ...]] | None:
    """Return a run and those of its steps that are selected with the one at `index`, else that one alone.

    Steps of a branch and of the runs that it branched from are steps of the
    branch. None where the selected ones are of runs that do not lead to one
    another.
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
        if all(one.step.number <= way.get(one.step.run, 0) for one in steps):
            return _run_of(last).run.run, tuple(sorted({one.step.number for one in steps}))
    return None


def _run_of(node: Node) -> Node:
    assert node.parent is not None
    return node.parent


def _way_to(node: Node) -> dict[int, int]:
    """Return the runs that lead to a step, each with its last step on the way."""
    run: Node | None = _run_of(node)
    reach = {node.step.run: 1_000_000_000}
    while run is not None and run.left is not None:
        before = (run.run.parent_step or 1) - 1
        run = run.left
        reach[run.run.run] = before
    return reach
