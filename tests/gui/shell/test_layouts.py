"""Watch, Debug and Curate: what each shows, and that each is there again as it was left."""

import pytest
from PySide6.QtCore import QSettings, Qt
from pytestqt.qtbot import QtBot

from core.debugger.session_view import CommandResult
from gui.shell.docks import BELOW, PANELS
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
    """Return the panels that can be seen without choosing another page."""
    return {name for name, place in window.docks.places.items() if place.is_seen}


def opened(qtbot: QtBot, settings: QSettings) -> MainWindow:
    window = MainWindow(DrawnPage(), settings)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def test_watch_gives_the_page_the_room_and_curate_what_exemplars_are_made_of(
    window: MainWindow, qtbot: QtBot
):
    sections = {record.name for record in PANELS if record.dock != BELOW}
    assert shown(window) == sections | {"Observation"}
    assert [name for name in LAYOUTS if window.actions_by_name[f"layout_{name}"].isChecked()] == ["debug"]
    before = window.docks.below.height()
    press(qtbot, window, "curate")
    assert shown(window) == {"Runs & steps", "Exemplars", "Observation"}
    qtbot.waitUntil(lambda: window.docks.below.height() > before)
    before = window.page.width() * window.page.height()
    press(qtbot, window, "watch")
    assert shown(window) == {"Runs & steps", "Action"}
    assert window.actions_by_name["layout_watch"].isChecked()
    qtbot.waitUntil(lambda: window.page.width() * window.page.height() > before)


def test_what_is_folded_and_hidden_in_a_layout_is_remembered_for_that_one(qtbot: QtBot, settings: QSettings):
    window = opened(qtbot, settings)
    press(qtbot, window, "curate")
    window.docks.below.hide()
    window.place("Action").fold_wanted.emit(False)
    window.place("Exemplars").fold_wanted.emit(True)
    press(qtbot, window, "debug")
    assert {"Observation", "Exemplars", "Action"} <= shown(window)
    press(qtbot, window, "curate")
    window.close()
    again = opened(qtbot, settings)
    assert again.layouts.current == "curate"
    assert shown(again) == {"Runs & steps", "Action"}


def test_reset_brings_the_current_layout_back_and_no_other(window: MainWindow, qtbot: QtBot):
    window.docks.below.hide()
    press(qtbot, window, "watch")
    window.place("Log").bring()
    window.place("Action").fold_wanted.emit(True)
    window.actions_by_name["reset_layout"].trigger()
    assert shown(window) == {"Runs & steps", "Action"}
    press(qtbot, window, "debug")
    assert "Log" not in shown(window)


def test_the_page_that_was_in_front_is_in_front_at_the_next_start(qtbot: QtBot, settings: QSettings):
    window = opened(qtbot, settings)
    window.place("Prompt").bring()
    window.close()
    assert "Prompt" in shown(opened(qtbot, settings))


def test_what_a_command_came_to_is_seen_in_each_layout(window: MainWindow, session, qtbot: QtBot):
    messages = window.page.messages
    for number, layout in enumerate(LAYOUTS, start=1):
        press(qtbot, window, layout)
        told = CommandResult(number=number, text=f"The run was written to run-{number}.html.", done=True)
        session.session_changed.send(samples.SESSION.replace(told=told))
        session.step_changed.send(samples.recorded_step())
        qtbot.waitUntil(
            lambda number=number: f"run-{number}.html" in messages.text.text() + messages.title.text()
        )
        assert messages.isVisible()
        assert messages.height() > 0


def test_larger_text_makes_the_panels_wider_and_is_remembered(window: MainWindow, qtbot: QtBot, settings):
    before = window.place("Runs & steps").width()
    window.theme.resize_text(140)
    qtbot.waitUntil(lambda: window.place("Runs & steps").width() > before * 1.2)
    window.theme.resize_text(100)
    title = window.place("Action").title.name
    sizes = (title.font().pointSizeF(), window.font().pointSizeF(), window.theme.small_font().pointSizeF())
    for _press in range(9):
        qtbot.keyClick(window, Qt.Key.Key_Plus, CTRL_ALT)
    after = (title.font().pointSizeF(), window.font().pointSizeF(), window.theme.small_font().pointSizeF())
    assert after == pytest.approx([size * 1.6 for size in sizes], rel=0.01)
    assert Theme(settings).text_size == 160
    qtbot.keyClick(window, Qt.Key.Key_0, CTRL_ALT)
    assert title.font().pointSizeF() == pytest.approx(sizes[0], rel=0.01)
