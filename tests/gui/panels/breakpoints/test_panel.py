import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from core.debugger.breakpoints.kinds.actions import RequestBegins
from core.debugger.breakpoints.kinds.problems import Failure, NotAligned
from core.debugger.breakpoints.views import BreaksView, Watch
from core.debugger.steps.views import StepView
from gui.panels.breakpoints.panel import BreakpointsPanel
from gui.widgets.rows import Rows
from tests.gui import samples


@pytest.fixture
def panel(qtbot: QtBot, theme) -> BreakpointsPanel:
    panel = BreakpointsPanel(theme)
    qtbot.addWidget(panel)
    panel.resize(300, 640)
    panel.show()
    qtbot.waitExposed(panel)
    panel.show_breaks(samples.BREAKS)
    return panel


def row_of(rows: Rows, key: int):
    return next(row for row in rows.rows if row.key == key)


def choose(rows: Rows, key: int) -> None:
    rows.setFocus()
    assert rows.select_key(key)


def test_a_breakpoint_is_described_in_words_with_its_hits_and_its_condition_in_small_print(panel):
    entered, buy, aligned, cost, _own = panel.breakpoints.rows
    assert (entered.text, entered.word, entered.checked) == ("state item is entered", "×2", True)
    assert (buy.text, buy.detail) == ("buy_* on a target named “Buy now”", "if step.number > 3")
    assert (aligned.word, aligned.detail) == ("×14 · only logs", "ignores the first 2")
    assert (cost.checked, cost.detail) == (False, "switched off")


def test_stopping_logging_and_conditional_breakpoints_differ_in_shape(panel):
    assert len({row.icon for row in panel.breakpoints.rows[:4]}) == 4


def test_the_fact_counts_what_is_switched_on(panel, qtbot: QtBot):
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_breaks(samples.BREAKS)
    assert emitted.args == ["4 of 5 on"]
    with qtbot.waitSignal(panel.fact_changed) as emitted:
        panel.show_breaks(BreaksView())
    assert emitted.args == [""]


def test_an_empty_list_offers_three_that_are_asked_for_often(panel, qtbot: QtBot):
    panel.show_breaks(BreaksView())
    assert not panel.breakpoints.isVisible()
    wanted = QSignalSpy(panel.breakpoint_wanted)
    for button in panel.none.findChildren(QPushButton):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert [wanted.at(at)[0] for at in range(wanted.count())] == [NotAligned(), Failure(), RequestBegins()]


def test_what_cannot_be_read_is_reported_above_the_list(panel):
    panel.show_breaks(BreaksView(problems=("Breakpoint 7 cannot be read; create it again.",)))
    assert panel.problems.isVisible()
    assert "create it again" in panel.problems.text()


@pytest.mark.parametrize(("number", "on"), [(1, False), (4, True)])
def test_space_and_a_click_on_the_box_switch_a_breakpoint(panel, qtbot: QtBot, number, on):
    choose(panel.breakpoints, number)
    with qtbot.waitSignal(panel.breakpoint_switched) as asked:
        qtbot.keyClick(panel.breakpoints, Qt.Key.Key_Space)
    assert asked.args == [number, on]
    index = panel.breakpoints.currentIndex()
    rect = panel.breakpoints.visualRect(index)
    box = panel.breakpoints.itemDelegate().check_of(row_of(panel.breakpoints, number), rect)
    with qtbot.waitSignal(panel.breakpoint_switched) as asked:
        qtbot.mouseClick(panel.breakpoints.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert asked.args == [number, on]


def test_a_click_beside_the_box_switches_nothing(panel, qtbot: QtBot):
    switched = QSignalSpy(panel.breakpoint_switched)
    rect = panel.breakpoints.visualRect(panel.breakpoints.rows_model.index(1))
    qtbot.mouseClick(panel.breakpoints.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert switched.count() == 0
    assert panel.chosen.number == 2


def test_two_quick_clicks_on_the_box_do_not_open_the_editor(panel, qtbot: QtBot):
    edited, switched = QSignalSpy(panel.edit_requested), QSignalSpy(panel.breakpoint_switched)
    rect = panel.breakpoints.visualRect(panel.breakpoints.rows_model.index(0))
    box = panel.breakpoints.itemDelegate().check_of(row_of(panel.breakpoints, 1), rect)
    qtbot.mouseClick(panel.breakpoints.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    qtbot.mouseDClick(panel.breakpoints.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    qtbot.mouseRelease(panel.breakpoints.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    assert edited.count() == 0
    assert switched.count() == 2


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_F2])
def test_enter_and_f2_ask_to_edit_the_chosen_breakpoint(panel, qtbot: QtBot, key):
    choose(panel.breakpoints, 2)
    with qtbot.waitSignal(panel.edit_requested) as asked:
        qtbot.keyClick(panel.breakpoints, key)
    assert asked.args[0].number == 2


def test_delete_asks_to_remove_and_l_to_only_log(panel, qtbot: QtBot):
    choose(panel.breakpoints, 2)
    with qtbot.waitSignal(panel.breakpoint_removed) as asked:
        qtbot.keyClick(panel.breakpoints, Qt.Key.Key_Delete)
    assert asked.args == [2]
    with qtbot.waitSignal(panel.breakpoint_replaced) as asked:
        qtbot.keyClick(panel.breakpoints, Qt.Key.Key_L)
    assert asked.args[0] == samples.BREAKS.breakpoints[1].breakpoint.replace(then="log")


def test_the_context_menu_acts_only_on_a_chosen_breakpoint(panel):
    panel.breakpoints.clearSelection()
    panel.show_breaks(BreaksView())
    assert not any(action.isEnabled() for action in panel.breakpoints.actions())
    panel.show_breaks(samples.BREAKS)
    choose(panel.breakpoints, 3)
    assert all(action.isEnabled() for action in panel.breakpoints.actions())
    assert panel.log_action.isChecked()


def test_a_watch_shows_its_value_and_a_change_in_a_word(panel):
    cost, price, cart = panel.watches.rows
    assert (cost.text, cost.detail, cost.word) == ("run.cost", "0.02", "")
    assert (price.word, price.checked, price.strong) == ("CSS · changed", True, True)
    assert cart.word == "script · no value"
    assert cart.detail.startswith("The script failed")


def test_a_long_value_is_cut_and_whole_in_the_tooltip(panel):
    watch = samples.BREAKS.watches[0].replace(text="x" * 1000)
    panel.show_breaks(BreaksView(watches=(watch,)))
    (row,) = panel.watches.rows
    assert len(row.detail) < 400
    assert "x" * 1000 in row.tooltip


def test_space_lets_a_change_of_the_watch_stop_the_run(panel, qtbot: QtBot):
    choose(panel.watches, 1)
    with qtbot.waitSignal(panel.watch_replaced) as asked:
        qtbot.keyClick(panel.watches, Qt.Key.Key_Space)
    assert asked.args[0] == Watch(number=1, text="run.cost", on_change=True)


def test_delete_asks_to_remove_the_watch(panel, qtbot: QtBot):
    choose(panel.watches, 3)
    with qtbot.waitSignal(panel.watch_removed) as asked:
        qtbot.keyClick(panel.watches, Qt.Key.Key_Delete)
    assert asked.args == [3]


def test_a_watch_is_added_by_typing_it_and_its_kind_is_chosen_beside_it(panel, qtbot: QtBot):
    field = panel.field
    field.kind.setCurrentIndex(field.kind.findData("css"))
    field.text.setFocus()
    qtbot.keyClicks(field.text, "#price")
    with qtbot.waitSignal(panel.watch_wanted) as asked:
        qtbot.keyClick(field.text, Qt.Key.Key_Return)
    assert asked.args[0] == Watch(kind="css", text="#price")
    assert field.text.text() == "#price"
    panel.field.show_answer("")
    assert field.text.text() == ""


def test_a_refused_watch_stays_in_the_line_with_what_is_wrong_below(panel, qtbot: QtBot):
    panel.field.text.setText("run.cots")
    panel.field.send()
    panel.field.show_answer("At character 4: run has no “cots”; did you mean cost?")
    assert panel.field.text.text() == "run.cots"
    assert panel.field.problem.isVisible()
    assert "did you mean cost?" in panel.field.problem.text()


def test_an_empty_line_adds_no_watch(panel):
    wanted = QSignalSpy(panel.watch_wanted)
    panel.field.send()
    assert wanted.count() == 0


def test_enter_on_a_watch_edits_it_in_the_line_and_escape_leaves_it(panel, qtbot: QtBot):
    choose(panel.watches, 2)
    qtbot.keyClick(panel.watches, Qt.Key.Key_Return)
    field = panel.field
    assert (field.kind.currentData(), field.text.text(), field.button.text()) == ("css", "#price", "Change")
    field.text.setText("#total")
    with qtbot.waitSignal(panel.watch_wanted) as asked:
        field.send()
    assert asked.args[0] == Watch(number=2, kind="css", text="#total", on_change=True)
    qtbot.keyClick(field.text, Qt.Key.Key_Escape)
    assert (field.text.text(), field.button.text()) == ("", "Add")


def test_going_backwards_starts_at_the_step_in_view(panel, qtbot: QtBot):
    assert not panel.hit_button.isEnabled()
    assert not panel.change_button.isEnabled()
    panel.show_step(StepView(run=18, number=5))
    with qtbot.waitSignal(panel.hit_wanted) as asked:
        qtbot.mouseClick(panel.hit_button, Qt.MouseButton.LeftButton)
    assert asked.args == [18, 5]
    choose(panel.watches, 2)
    with qtbot.waitSignal(panel.change_wanted) as asked:
        qtbot.mouseClick(panel.change_button, Qt.MouseButton.LeftButton)
    assert asked.args == [2, 18, 5]


def test_without_a_breakpoint_that_is_on_there_is_no_hit_to_go_back_to(panel):
    panel.show_step(StepView(run=18, number=5))
    panel.show_breaks(BreaksView(breakpoints=samples.BREAKS.breakpoints[3:4]))
    assert not panel.hit_button.isEnabled()


def test_rows_are_read_out_with_their_check_box(panel):
    assert row_of(panel.breakpoints, 4).spoken.startswith("not checked. cost above 0.5. ×1")
