"""The start of the window: the welcome, and what is remembered from the last time."""

from PySide6.QtCore import QSettings, Qt
from pytestqt.qtbot import QtBot

from core.debugger.session_view import RunsView
from gui.shell.main_window import MainWindow
from gui.widgets.remembered import OpenedTask
from tests.gui import samples
from tests.gui.shell.test_main_window import review, show
from tests.gui.stand_ins import AskedSession, DrawnPage


def test_layout_theme_and_choices_are_there_at_the_next_start(session, settings: QSettings, qtbot: QtBot):
    first = MainWindow(DrawnPage(), settings)
    first.begin(session)
    qtbot.addWidget(first)
    first.show()
    qtbot.waitExposed(first)
    first.resize(780, 600)
    first.place("Exemplars").put_away()
    first.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, first.docks.below)
    first.place("Prompt").bring()
    first.theme.choose("dark")
    first.tool_bar.preset_chosen.emit("laser")
    first.tool_bar.llm_chosen.emit("gpt-4o")
    first.menus.pace_chosen.emit(2.0)
    first.tasks.open_task(OpenedTask(task="miniwob/book-flight", seed=3))
    first.close()
    settings.sync()

    later = AskedSession()
    second = MainWindow(DrawnPage(), QSettings(settings.fileName(), QSettings.Format.IniFormat))
    second.begin(later)
    qtbot.addWidget(second)
    second.show()
    qtbot.waitExposed(second)
    assert (second.width(), second.height()) == (780, 600)
    assert second.place("Exemplars").folded
    assert second.dockWidgetArea(second.docks.below) == Qt.DockWidgetArea.LeftDockWidgetArea
    assert second.docks.below.front.name == "Prompt"
    assert second.theme.choice == "dark"
    second.restore_choices()
    assert later.asked == [("set_preset", "laser"), ("set_llm", "gpt-4o"), ("set_pace", 2.0)]
    assert second.remembered.last_task == OpenedTask(task="miniwob/book-flight", seed=3)
    second.layouts.reset()
    assert second.dockWidgetArea(second.docks.below) == Qt.DockWidgetArea.BottomDockWidgetArea
    assert not second.place("Exemplars").folded
    second.close()


def test_the_welcome_shows_at_the_first_start_only_and_asks_for_settings_or_a_task(
    window: MainWindow, session, qtbot: QtBot
):
    window.tasks.welcome_at_first_start()
    assert window.tasks.welcome is not None
    assert window.tasks.welcome.isVisible()
    window.tasks.welcome.buttons[0].click()
    assert ("open", "miniwob/click-test-2", 0, "", "", "", False) in session.asked
    assert window.remembered.welcome_seen
    window.tasks.welcome_at_first_start()
    assert not window.tasks.welcome.isVisible()
    window.tasks.show_welcome()
    with qtbot.waitSignal(window.llm_settings_requested):
        window.tasks.welcome.buttons[2].click()
    window.remembered.llm = "gpt-4o"
    window.restore_choices(llm="rules")
    assert ("set_llm", "rules") in session.asked


def test_what_was_begun_from_the_welcome_has_a_hint_once_its_page_is_open(
    window: MainWindow, session, qtbot: QtBot
):
    window.tasks.show_welcome()
    window.tasks.welcome.buttons[0].click()
    show(qtbot, window, session, mode="opening", task="miniwob/click-test-2", run=None)
    assert not window.page.messages.shown
    show(qtbot, window, session, mode="waiting", task="miniwob/click-test-2")
    assert "F10" in window.page.messages.text.text()
    assert window.page.messages.shown
    show(qtbot, window, session, mode="acting", task="miniwob/click-test-2")
    assert not window.page.messages.shown


def test_f10_in_the_welcome_steps_and_closes_it(window: MainWindow, session, qtbot: QtBot):
    review(qtbot, window, session)
    window.tasks.show_welcome()
    welcome = window.tasks.welcome
    assert welcome is not None
    qtbot.waitExposed(welcome)
    welcome.activateWindow()
    qtbot.waitUntil(welcome.isActiveWindow)
    qtbot.keyClick(welcome, Qt.Key.Key_F10)
    assert session.asked[-1] == ("step",)
    assert not welcome.isVisible()
    window.actions_by_name["welcome"].trigger()
    assert welcome.isVisible()
    welcome.reject()


def test_what_is_folded_in_the_tree_is_remembered(window: MainWindow):
    steps = tuple(samples.step_row(8, number) for number in (1, 2))
    window.runs.show_runs(RunsView(runs=(samples.run_row(8),), total=1, current=8, steps={8: steps}))
    window.runs.tree.expand(window.runs.model.run_index(8))
    assert window.remembered.folding.startswith("8")
