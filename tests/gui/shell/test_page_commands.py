"""The commands of the live page: given while the person has it, and DevTools while nobody else acts in it."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.session_view import SessionView
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.stand_ins import AskedSession, DrawnPage

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


def show(qtbot: QtBot, window: MainWindow, session: AskedSession, view: SessionView) -> None:
    session.session_changed.send(view)
    qtbot.waitUntil(lambda: window.view == view)


def test_the_keys_of_a_browser_are_heard_while_the_person_has_the_page(
    window: MainWindow, session: AskedSession, page: DrawnPage, qtbot: QtBot
) -> None:
    qtbot.waitUntil(window.isActiveWindow)
    show(qtbot, window, session, samples.SESSION)
    qtbot.keyClick(window, Qt.Key.Key_Left, ALT)
    assert page.asked == []
    show(qtbot, window, session, samples.SESSION.replace(handed_over=True))
    page.setFocus()
    for key, held in (
        (Qt.Key.Key_Left, ALT),
        (Qt.Key.Key_R, CTRL | ALT),
        (Qt.Key.Key_0, CTRL),
        (Qt.Key.Key_F, CTRL),
    ):
        qtbot.keyClick(window, key, held)
    assert page.asked == ["back", "reload", "zoom_reset", "search"]


def test_devtools_wait_for_the_agent_and_go_with_their_dock(
    window: MainWindow, session: AskedSession, page: DrawnPage, qtbot: QtBot
) -> None:
    show(qtbot, window, session, samples.SESSION.replace(mode="acting"))
    assert not window.place("DevTools").is_offered
    window.docks.reach("DevTools")
    assert "pause it (F5)" in window.devtools.words.words.text()
    assert page.asked == []
    show(qtbot, window, session, samples.SESSION)
    assert page.asked == ["inspect"]
    assert window.devtools.inspector is not None
    assert session.asked.count(("inspected", True)) == 1
    window.place("DevTools").put_away()
    assert session.asked.count(("inspected", False)) == 1
    assert page.asked == ["inspect", "close inspector"]
    assert window.devtools.inspector is None
