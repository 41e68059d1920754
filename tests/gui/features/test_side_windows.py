"""Ask again and Compare, opened from the tree of runs."""

import pytest
from gui.features.side_windows import SideWindows
from pytestqt.qtbot import QtBot

from core.debugger.ask_again.views import AskView
from core.debugger.compare.views import ComparedView, PairView
from core.debugger.snapshots import RunsView, StepView
from core.schema.signal import Signal
from gui.shell.main_window import MainWindow
from tests.gui import samples


class Desk:
    """Stands in for both desks and keeps what it was asked."""

    def __init__(self):
        self.changed: Signal[AskView] = Signal()
        self.compared: Signal[ComparedView] = Signal()
        self.paired: Signal[PairView] = Signal()
        self.asked = []

    def __getattr__(self, name):
        return lambda *arguments: self.asked.append((name, *arguments))


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def side(window: MainWindow, desk: Desk) -> SideWindows:
    side = SideWindows(desk, desk, window)
    rows = (samples.run_row(8), samples.run_row(7))
    steps = {run: tuple(samples.step_row(run, number) for number in (1, 2)) for run in (7, 8)}
    window.runs.show_runs(RunsView(runs=rows, total=2, current=8, steps=steps))
    window.runs.show_step(StepView(run=8, number=2, row=steps[8][1], live=True))
    return side


def choose(window: MainWindow, index, text: str) -> None:
    entry = next(one for one in window.runs.entries(index) if one.text.startswith(text))
    assert entry.enabled
    entry.do()


def test_a_step_is_asked_again_from_its_row(window: MainWindow, side: SideWindows, desk: Desk):
    choose(window, window.runs.model.step_index(7, 2), "Ask again")
    assert desk.asked == [("open", 7, 2)]
    assert side.asking.dialog is not None
    assert side.asking.dialog.isVisible()


def test_an_answer_is_adopted_as_the_next_action(
    window: MainWindow, side: SideWindows, session, qtbot: QtBot
):
    side.asking.adopt_requested.emit("click [4]")
    assert ("edit_action", "click [4]") in session.asked


def test_a_run_is_compared_with_the_one_in_view(window: MainWindow, side: SideWindows, desk: Desk):
    choose(window, window.runs.model.run_index(7), "Compare with the run in view")
    assert desk.asked[0] == ("compare", 8, 7)
    entries = window.runs.entries(window.runs.model.run_index(8))
    assert not next(one for one in entries if one.text.startswith("Compare")).enabled


def test_a_step_is_compared_with_the_one_in_view(window: MainWindow, side: SideWindows, desk: Desk):
    choose(window, window.runs.model.step_index(7, 1), "Compare with the step in view")
    assert ("pair", (8, 2), (7, 1)) in desk.asked
