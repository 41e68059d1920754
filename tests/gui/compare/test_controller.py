"""Compare, opened from the tree of runs; and Diff, which follows the step in view."""

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.compare.views import ComparedView
from core.debugger.session_view import RunsView
from core.debugger.steps.views import StepView
from gui.compare.controller import CompareController
from gui.shell.main_window import MainWindow
from tests.gui import reading_samples, samples
from tests.gui.compare.test_window import COMPARED, PAIR, VIEW
from tests.gui.stand_ins import AskedService, choose_entry


@pytest.fixture
def service() -> AskedService:
    return AskedService("paired", "diffed")


@pytest.fixture
def controller(window: MainWindow, service: AskedService) -> CompareController:
    return CompareController(window, service)


@pytest.fixture
def listed(window: MainWindow) -> None:
    """Two runs in the tree."""
    rows = (samples.run_row(8), samples.run_row(7))
    steps = {run: tuple(samples.step_row(run, number) for number in (1, 2)) for run in (7, 8)}
    window.runs.show_runs(RunsView(runs=rows, total=2, current=8, steps=steps))


@pytest.fixture
def in_view(window: MainWindow, listed: None) -> None:
    """Step 2 of run 8 in view."""
    window.runs.show_step(StepView(run=8, number=2, row=samples.step_row(8, 2), live=True))


@pytest.mark.usefixtures("in_view")
def test_a_run_and_a_step_are_compared_with_the_one_in_view(window, controller, service):
    choose_entry(window.runs, window.runs.model.run_index(7), "Compare with the run in view")
    assert service.asked[0] == ("compare", 8, 7)
    assert controller.shown.isVisible()
    entries = window.runs.entries(window.runs.model.run_index(8))
    assert not next(one for one in entries if one.text.startswith("Compare")).enabled
    choose_entry(window.runs, window.runs.model.step_index(7, 1), "Compare with the step in view")
    assert ("pair", (8, 2), (7, 1)) in service.asked


def test_another_window_can_ask_for_two_runs(window, controller, service):
    window.compare_requested.emit(18, 21)
    assert service.asked == [("compare", 18, 21)]
    assert controller.shown.isVisible()


def test_it_asks_and_shows_what_comes_back(controller, service, qtbot: QtBot):
    controller.compare_runs(18, 21)
    service.changed.send(ComparedView(left=18, right=19, compared=COMPARED))
    service.changed.send(VIEW)
    asked = [("compare", 18, 21), ("pair", (18, 2), (21, 2))]
    qtbot.waitUntil(lambda: service.asked == asked)
    service.paired.send(PAIR)
    qtbot.waitUntil(lambda: controller.shown.beside.names.key == "thought")
    controller.compare_steps((18, 2), (18, 4))
    service.changed.send(VIEW)
    assert service.asked[-1] == ("pair", (18, 2), (18, 4))


def test_diff_asks_for_the_step_in_view_only_where_it_can_be_seen(
    window, controller, service, session, qtbot: QtBot
):
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    window.diff.show_steps(reading_samples.times().steps)
    assert service.asked == []
    window.place("Diff").bring()
    qtbot.waitUntil(lambda: ("diff", (18, 4), (18, 5)) in service.asked)
    service.paired.send(reading_samples.PAIR)
    service.diffed.send(reading_samples.PAIR)
    qtbot.waitUntil(lambda: window.diff.beside.names.rows != ())
    assert controller.shown is None
