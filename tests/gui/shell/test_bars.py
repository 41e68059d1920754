"""The tool bar: what it shows and what it collapses when space is short."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gui.shell.main_window import MainWindow
from tests.gui.shell.test_main_window import CTRL, review, show


def test_a_narrow_window_keeps_run_step_stop_and_the_search_and_lists_the_rest(
    window: MainWindow, session, qtbot: QtBot
):
    review(qtbot, window, session)
    window.resize(640, 400)
    tool_bar = window.tool_bar
    qtbot.waitUntil(tool_bar.search_button.isVisible)
    for name in ("run", "step", "stop"):
        button = tool_bar.buttons[name]
        assert button.isVisible()
        assert tool_bar.rect().contains(button.geometry())
    assert not tool_bar.search.isVisible()
    assert tool_bar.rect().contains(tool_bar.search_button.geometry())
    tool_bar.more.menu().aboutToShow.emit()
    listed = [action.text().replace("&", "") for action in tool_bar.more.menu().actions()]
    assert {"Over", "Into", "Out", "Phase", "Record by hand", "Preset", "LLM", "Mechanisms"} <= set(listed)
    assert not {"Run", "Step", "Stop"} & set(listed)
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_K, CTRL)
    qtbot.waitUntil(tool_bar.search.hasFocus)
    qtbot.waitUntil(lambda: tool_bar.rect().contains(tool_bar.search.geometry()))
    assert tool_bar.search.width() >= 120
    window.runs.tree.setFocus()
    qtbot.waitUntil(tool_bar.search_button.isVisible)
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: all(button.isVisible() for button in tool_bar.buttons.values()))
    assert not tool_bar.more.isVisible()


def test_nothing_is_clipped_at_the_first_size(window: MainWindow, session, qtbot: QtBot):
    review(qtbot, window, session)
    assert (window.width(), window.height()) == (1280, 800)
    tool_bar = window.tool_bar
    for name in ("fork", "run", "step", "over", "into", "out", "phase", "stop"):
        button = tool_bar.buttons[name]
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()
    for picker in (tool_bar.task, tool_bar.preset, tool_bar.mechanisms, tool_bar.llm):
        qtbot.waitUntil(lambda picker=picker: picker.width() >= picker.sizeHint().width())
    assert tool_bar.search.isVisible()
    form = window.action.form
    for label in form.findChildren(QLabel):
        if label.isVisible() and not label.wordWrap():
            assert label.width() >= label.minimumSizeHint().width()
    assert window.action.buttons.geometry().bottom() <= window.action.height()


def test_of_a_wider_bar_the_task_takes_the_room_and_the_search_stays_at_the_edge(
    window: MainWindow, qtbot: QtBot
):
    tool_bar = window.tool_bar
    for width, task in ((1440, 300), (1920, 360)):
        window.resize(width, 800)
        qtbot.waitUntil(lambda width=width: tool_bar.width() == width)
        qtbot.waitUntil(lambda task=task: tool_bar.task.width() >= task)
        assert tool_bar.width() - tool_bar.search.geometry().right() < 20


def test_mechanisms_and_pace_are_set_from_bar_menu_and_keys(window: MainWindow, session, qtbot: QtBot):
    show(qtbot, window, session)
    assert window.tool_bar.mechanisms.value == "5/7 ◆2"
    menu = window.tool_bar.mechanisms.menu()
    run = next(action for action in window.menuBar().actions() if action.text() == "&Run").menu()
    assert menu.menuAction() in run.actions()
    next(action for action in menu.actions() if action.text().startswith("Memory")).trigger()
    assert session.asked == [("set_mechanism", "memory", False)]
    session.asked.clear()
    show(qtbot, window, session, pace=1.0)
    window.actions_by_name["slower"].trigger()
    window.actions_by_name["faster"].trigger()
    assert session.asked == [("set_pace", 2.0), ("set_pace", 0.5)]


def test_runs_are_searched_as_one_types_and_esc_gives_the_focus_back(
    window: MainWindow, session, qtbot: QtBot
):
    qtbot.keyClick(window, Qt.Key.Key_K, CTRL)
    assert window.tool_bar.search.hasFocus()
    qtbot.keyClicks(window.tool_bar.search, "lamp")
    qtbot.waitUntil(lambda: session.asked == [("search_runs", "lamp")])
    window.tool_bar.search.clear()
    window.docks.go_to("Observation")
    before = window.focusWidget()
    qtbot.keyClick(window, Qt.Key.Key_K, CTRL)
    search = window.tool_bar.search
    qtbot.waitUntil(search.hasFocus)
    qtbot.keyClicks(search, "a")
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert search.hasFocus()
    assert not search.text()
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert window.focusWidget() is before
