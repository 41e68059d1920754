"""Save as exemplar and Record, from the tree of runs and by their keys."""

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.saving.views import RecordedSteps, RecordingView
from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import StepView
from gui.exemplars.controller import install
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.exemplars.saving.test_window import SAVED, VIEW
from tests.gui.exemplars.stand_ins import asked_services


@pytest.fixture
def services():
    return asked_services()


@pytest.fixture
def joined(window: MainWindow, services):
    joined = install(window, services)
    row = samples.run_row(12)
    branch = samples.run_row(14, parent_run=12, parent_step=3)
    steps = tuple(samples.step_row(12, number) for number in (1, 2, 3, 4))
    own = tuple(samples.step_row(14, number) for number in (3, 4))
    window.runs.show_runs(RunsView(runs=(branch, row), total=2, current=14, steps={12: steps, 14: own}))
    return joined


def select(window, *places):
    tree, model = window.runs.tree, window.runs.model
    tree.clearSelection()
    for place in places:
        tree.selectionModel().select(
            model.step_index(*place),
            QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
        )
    return next(one for one in window.runs.entries(model.step_index(*places[-1])) if "exemplar" in one.text)


def test_the_command_opens_the_run_in_view_and_what_is_chosen_is_saved(
    window: MainWindow, joined, services, session, qtbot: QtBot
):
    session.step_changed.send(StepView(run=12, number=2, row=samples.step_row(12, 2), live=False))
    qtbot.waitUntil(lambda: window.actions_by_name["keep"].isEnabled())
    window.actions_by_name["keep"].trigger()
    assert services.saving.asked == [("open", 12, ())]
    assert joined.saving.shown.isVisible()
    joined.saving.open(12)
    services.saving.changed.send(VIEW)
    qtbot.waitUntil(joined.saving.shown.save_button.isEnabled)
    joined.saving.shown.save_button.click()
    assert services.saving.asked[-1][0] == "save"
    services.saving.changed.send(SAVED)
    qtbot.waitUntil(lambda: SAVED.saved.id in joined.saving.shown.saved.words.text())


def test_steps_are_shown_by_a_click_and_those_of_a_branch_are_chosen_together(
    window: MainWindow, joined, services, session
):
    tree, model = window.runs.tree, window.runs.model
    for step, held in ((1, Qt.KeyboardModifier.NoModifier), (2, Qt.KeyboardModifier.ControlModifier)):
        place = tree.visualRect(model.step_index(12, step)).center()
        QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, held, place)
    assert [one for one in session.asked if one[0] == "show_step"] == [("show_step", 12, 1)]
    assert len(tree.selectionModel().selectedRows()) == 2
    entry = select(window, (12, 1), (12, 2), (14, 4))
    assert entry.text == "Save 3 steps as exemplar…"
    entry.do()
    assert services.saving.asked == [("open", 14, (1, 2, 4))]
    assert not select(window, (12, 4), (14, 4)).enabled


def test_recording_is_marked_over_the_page_and_its_end_opens_the_window(
    window: MainWindow, joined, services, session, qtbot: QtBot
):
    action = window.actions_by_name["record"]
    action.trigger()
    assert window.page.messages.title.text() == "No task is open"
    session.session_changed.send(samples.SESSION.replace(step=1))
    qtbot.waitUntil(lambda: window.view.run is not None)
    action.trigger()
    assert services.recording.asked == [("record", False)]
    last = samples.step_row(18, 1, action="type [4] [Ada]", target='textbox "Name"', origin="person")
    session.session_changed.send(samples.SESSION.replace(handed_over=True))
    services.recording.changed.send(RecordingView(recording=True, run=18, steps=1, last=last))
    qtbot.waitUntil(lambda: "Recording: 1 step" in window.page.state_words.text())
    assert 'Name ← "Ada"' in window.page.state_words.text()
    assert action.isChecked()
    action.trigger()
    assert services.recording.asked[-1] == ("finish",)
    window.page.discard_button.click()
    assert services.recording.asked[-1] == ("cancel",)
    services.recording.recorded.send(RecordedSteps(run=18, steps=(1,)))
    qtbot.waitUntil(lambda: services.saving.asked[-1:] == [("open", 18, (1,))])


def test_where_steps_were_taken_it_asks_where_to_begin(
    window: MainWindow, joined, services, session, qtbot: QtBot
):
    session.session_changed.send(samples.SESSION.replace(step=4))
    qtbot.waitUntil(lambda: window.view.step == 4)
    window.actions_by_name["record"].trigger()
    box = joined.recording.asking
    assert "3 steps" in box.text()
    next(one for one in box.buttons() if "start" in one.text()).click()
    assert services.recording.asked == [("record", True)]
    session.session_changed.send(SessionView(mode="ended", run=18, step=4))
    qtbot.waitUntil(lambda: window.view.mode == "ended")
    window.actions_by_name["record"].trigger()
    assert services.recording.asked[-1] == ("record", True)
