"""Save as exemplar and Record, from the tree of runs and by their keys."""

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.debugger.exemplars.saving.views import KeepView, Recorded, RecordView
from core.debugger.snapshots import RunsView, SessionView, StepView
from core.schema.signal import Signal
from gui.features.keep_windows import KeepWindows
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.exemplars.saving.test_window import SAVED, VIEW


class Desk:
    """Stands in for a desk and keeps what it was asked."""

    def __init__(self) -> None:
        self.changed: Signal[KeepView | RecordView] = Signal()
        self.recorded: Signal[Recorded] = Signal()
        self.asked = []

    def __getattr__(self, name):
        return lambda *arguments, **more: self.asked.append((name, *arguments, *more.values()))


@pytest.fixture
def joined(window: MainWindow):
    keeps, records = Desk(), Desk()
    joined = KeepWindows(keeps, records, window)
    joined.keeps, joined.records = keeps, records
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


def test_the_command_opens_the_run_in_view(window: MainWindow, joined, session, qtbot: QtBot):
    session.step_changed.send(StepView(run=12, number=2, row=samples.step_row(12, 2), live=False))
    qtbot.waitUntil(lambda: window.actions_by_name["keep"].isEnabled())
    window.actions_by_name["keep"].trigger()
    assert joined.keeps.asked == [("open", 12, 1, None, ())]
    assert joined.keeping.shown.isVisible()


def test_steps_of_a_branch_and_of_what_led_to_it_are_chosen_together(window: MainWindow, joined):
    entry = select(window, (12, 1), (12, 2), (14, 4))
    assert entry.text == "Save 3 steps as exemplar…"
    entry.do()
    assert joined.keeps.asked == [("open", 14, 1, None, (1, 2, 4))]
    assert not select(window, (12, 4), (14, 4)).enabled


def test_a_click_shows_a_step_and_one_with_ctrl_only_selects_it(window: MainWindow, joined, session):
    tree, model = window.runs.tree, window.runs.model
    for step, held in ((1, Qt.KeyboardModifier.NoModifier), (2, Qt.KeyboardModifier.ControlModifier)):
        place = tree.visualRect(model.step_index(12, step)).center()
        QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, held, place)
    assert [one for one in session.asked if one[0] == "show_step"] == [("show_step", 12, 1)]
    assert len(tree.selectionModel().selectedRows()) == 2


def test_saving_goes_to_the_desk_and_is_told_once(window: MainWindow, joined, qtbot: QtBot):
    joined.keeping.open(12)
    joined.keeps.changed.send(VIEW)
    qtbot.waitUntil(joined.keeping.shown.save_button.isEnabled)
    joined.keeping.shown.save_button.click()
    assert joined.keeps.asked[-1][0] == "save"
    with qtbot.waitSignal(joined.keeping.saved) as told:
        joined.keeps.changed.send(SAVED)
    assert told.args == [SAVED.saved.id]


def test_recording_is_marked_over_the_page_and_its_end_opens_the_window(
    window: MainWindow, joined, session, qtbot: QtBot
):
    action = window.actions_by_name["record"]
    action.trigger()
    assert window.page.messages.title.text() == "No task is open"
    session.session_changed.send(samples.SESSION.replace(step=1))
    qtbot.waitUntil(lambda: joined.recording._session.run is not None)
    action.trigger()
    assert joined.records.asked == [("record", False)]
    last = samples.step_row(18, 1, action="type [4] [Ada]", target='textbox "Name"', origin="person")
    session.session_changed.send(samples.SESSION.replace(handed_over=True))
    joined.records.changed.send(RecordView(recording=True, run=18, steps=1, last=last))
    qtbot.waitUntil(lambda: "Recording: 1 step" in window.page.state_words.text())
    assert 'textbox "Name"' in window.page.state_words.text()
    assert action.isChecked()
    action.trigger()
    assert joined.records.asked[-1] == ("stop",)
    window.page.discard_button.click()
    assert joined.records.asked[-1] == ("cancel",)
    joined.records.recorded.send(Recorded(run=18, steps=(1,)))
    qtbot.waitUntil(lambda: joined.keeps.asked[-1:] == [("open", 18, 1, None, (1,))])


def test_where_steps_were_taken_it_asks_where_to_begin(window: MainWindow, joined, session, qtbot: QtBot):
    session.session_changed.send(samples.SESSION.replace(step=4))
    qtbot.waitUntil(lambda: joined.recording._session.step == 4)
    window.actions_by_name["record"].trigger()
    box = joined.recording.asking
    assert "3 steps" in box.text()
    next(one for one in box.buttons() if "start" in one.text()).click()
    assert joined.records.asked == [("record", True)]
    session.session_changed.send(SessionView(mode="ended", run=18, step=4))
    qtbot.waitUntil(lambda: joined.recording._session.mode == "ended")
    window.actions_by_name["record"].trigger()
    assert joined.records.asked[-1] == ("record", True)
