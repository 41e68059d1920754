"""Watch, Debug and Curate: what each shows, and that each is there again as it was left."""

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from core.debugger.session_view import CommandResult
from gui.shell.docks import PLACES
from gui.shell.layouts import LAYOUTS
from gui.shell.main_window import MainWindow
from gui.theme.theme import Theme
from tests.gui import samples
from tests.gui.stand_ins import DrawnPage

KEYS = {"watch": Qt.Key.Key_1, "debug": Qt.Key.Key_2, "curate": Qt.Key.Key_3}
CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def press(qtbot: QtBot, window: MainWindow, layout: str) -> None:
    qtbot.keyClick(window, KEYS[layout], CTRL_ALT)


def shown(window: MainWindow) -> set[str]:
    return {name for name, dock in window.docks.by_name.items() if not dock.isHidden()}


def opened(qtbot: QtBot, settings: QSettings) -> MainWindow:
    window = MainWindow(DrawnPage(), settings)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def test_a_first_start_shows_every_panel_and_marks_debug(window: MainWindow):
    assert shown(window) == {place.name for place in PLACES if not place.hidden}
    assert [name for name in LAYOUTS if window.actions_by_name[f"layout_{name}"].isChecked()] == ["debug"]


def test_watch_gives_the_page_the_room(window: MainWindow, qtbot: QtBot):
    before = window.page.width() * window.page.height()
    press(qtbot, window, "watch")
    assert shown(window) == {"Runs & steps", "Action"}
    assert window.actions_by_name["layout_watch"].isChecked()
    qtbot.waitUntil(lambda: window.page.width() * window.page.height() > before)


def test_curate_makes_what_exemplars_are_made_of_larger(window: MainWindow, qtbot: QtBot):
    before = window.dock("Observation").height()
    press(qtbot, window, "curate")
    assert shown(window) == {"Runs & steps", "Exemplars", "Observation", "Prompt", "Diff"}
    qtbot.waitUntil(lambda: window.dock("Observation").height() > before)


def test_what_is_moved_in_a_layout_is_remembered_for_that_one(qtbot: QtBot, settings: QSettings):
    window = opened(qtbot, settings)
    press(qtbot, window, "curate")
    window.dock("Calls").show()
    window.dock("Runs & steps").fold_wanted.emit(True)
    press(qtbot, window, "debug")
    assert shown(window) == {place.name for place in PLACES if not place.hidden}
    assert not window.dock("Runs & steps").folded
    press(qtbot, window, "curate")
    window.close()
    again = opened(qtbot, settings)
    assert again.layouts.current == "curate"
    assert "Calls" in shown(again)
    assert again.dock("Runs & steps").folded


def test_reset_brings_the_current_layout_back_and_no_other(window: MainWindow, qtbot: QtBot):
    window.dock("Log").hide()
    press(qtbot, window, "watch")
    window.dock("Log").show()
    window.dock("Runs & steps").fold_wanted.emit(True)
    window.actions_by_name["reset_layout"].trigger()
    assert shown(window) == {"Runs & steps", "Action"}
    assert not window.dock("Runs & steps").folded
    press(qtbot, window, "debug")
    assert "Log" not in shown(window)


def test_a_layout_of_an_earlier_start_is_restored_as_debug(qtbot: QtBot, settings: QSettings):
    window = opened(qtbot, settings)
    window.dock("Page log").hide()
    window.close()
    assert {key for key in settings.allKeys() if key.endswith("state")} == {"layout/state"}
    assert "Page log" not in shown(opened(qtbot, settings))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_command_came_to_is_seen_in_each_layout(window: MainWindow, session, qtbot: QtBot, layout):
    press(qtbot, window, layout)
    told = CommandResult(number=1, text="The run was written to run.html.", done=True)
    session.session_changed.send(samples.SESSION.replace(told=told))
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.messages.isVisible() and window.page.messages.height() > 0)
    assert "run.html" in window.page.messages.text.text() + window.page.messages.title.text()


def test_text_grows_in_all_of_the_window_up_to_a_limit_and_is_remembered(window: MainWindow, qtbot, settings):
    title = window.dock("Action")._title.name
    sizes = (title.font().pointSizeF(), window.font().pointSizeF(), window.theme.small_font().pointSizeF())
    for _press in range(9):
        qtbot.keyClick(window, Qt.Key.Key_Plus, CTRL_ALT)
    after = (title.font().pointSizeF(), window.font().pointSizeF(), window.theme.small_font().pointSizeF())
    assert after == pytest.approx([size * 1.6 for size in sizes], rel=0.01)
    assert Theme(settings).text_size == 160
    qtbot.keyClick(window, Qt.Key.Key_0, CTRL_ALT)
    assert title.font().pointSizeF() == pytest.approx(sizes[0], rel=0.01)


def test_larger_text_makes_the_panels_beside_the_page_wider(window: MainWindow, qtbot: QtBot):
    before = window.dock("Runs & steps").width()
    window.theme.resize_text(140)
    qtbot.waitUntil(lambda: window.dock("Runs & steps").width() > before * 1.2)


def test_no_tab_bar_of_hidden_panels_stays_in_the_window(window: MainWindow, session, qtbot: QtBot):
    def tabs() -> list[str]:
        bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return [bar.tabText(0) for bar in bars if bar.isVisible() and bar.geometry().right() > 0]

    qtbot.waitUntil(lambda: len(tabs()) == 3)
    press(qtbot, window, "watch")
    session.session_changed.send(samples.SESSION)
    qtbot.waitUntil(lambda: window.view == samples.SESSION)
    qtbot.waitUntil(lambda: tabs() == [])
    press(qtbot, window, "debug")
    qtbot.waitUntil(lambda: len(tabs()) == 3)
