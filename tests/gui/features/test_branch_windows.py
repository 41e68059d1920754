"""Fork and Bisect, opened from the tree of runs and by their keys."""

import pytest
from gui.features.branch_windows import BranchWindows
from pytestqt.qtbot import QtBot

from core.debugger.branching.views import ForkView
from core.debugger.experiments.bisect_views import BisectView
from core.debugger.snapshots import RunsView, StepView
from core.schema.signal import Signal
from gui.shell.main_window import MainWindow
from tests.gui import samples


class Desk:
    """Stands in for a desk and keeps what it was asked."""

    def __init__(self) -> None:
        self.changed: Signal[ForkView | BisectView] = Signal()
        self.asked = []

    def __getattr__(self, name):
        return lambda *arguments, **more: self.asked.append((name, *arguments))


@pytest.fixture
def joined(window: MainWindow):
    forks, bisects = Desk(), Desk()
    joined = BranchWindows(forks, bisects, window)
    joined.forks, joined.bisects = forks, bisects
    row = samples.run_row(8)
    steps = tuple(samples.step_row(8, number) for number in (1, 2))
    window.runs.show_runs(RunsView(runs=(row,), total=1, current=8, steps={8: steps}))
    return joined


def test_the_commands_open_them_for_what_is_in_view(window: MainWindow, joined, session, qtbot: QtBot):
    steps = tuple(samples.step_row(8, number) for number in (1, 2))
    session.step_changed.send(StepView(run=8, number=2, row=steps[1], live=False))
    qtbot.waitUntil(lambda: window.actions_by_name["fork"].isEnabled())
    window.actions_by_name["fork"].trigger()
    assert joined.forks.asked == [("open", 8, 2)]
    assert joined.forking.dialog.isVisible()
    window.actions_by_name["bisect"].trigger()
    assert joined.bisects.asked == [("open", 8)]
    assert joined.bisecting.shown.isVisible()


def test_a_branch_of_a_bisection_opens_in_the_window(joined, session):
    joined.bisecting.run_opened.emit(31, 3)
    assert session.asked[-2:] == [("open_run", 31), ("show_step", 31, 3)]


def test_what_is_folded_in_the_tree_is_remembered(window: MainWindow, joined):
    window.runs.tree.expand(window.runs.model.run_index(8))
    assert window.remembered.folding.startswith("8")
