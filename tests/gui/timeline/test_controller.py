"""The time bar and the page's log: read for the step in view, where they can be seen."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.shell.main_window import MainWindow
from gui.timeline.controller import TimelineController
from tests.gui import reading_samples, samples
from tests.gui.stand_ins import AskedService, AskedSession


@pytest.fixture
def service() -> AskedService:
    return AskedService("logged")


@pytest.fixture
def controller(
    window: MainWindow, service: AskedService, session: AskedSession, qtbot: QtBot
) -> TimelineController:
    controller = TimelineController(window, service)
    session.session_changed.send(samples.SESSION)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    return controller


def test_what_is_read_follows_the_step_in_view(window, controller, service, session, qtbot):
    assert ("read_times", 18) in service.asked
    assert ("read_log", 18, 5) not in service.asked
    window.dock("Page log").raise_()
    qtbot.waitUntil(lambda: ("read_log", 18, 5) in service.asked)
    service.logged.send(reading_samples.LOG)
    qtbot.waitUntil(lambda: window.page_log.model.total == 10)
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    assert window.time.bar.viewed.number == 5
    choices = [window.diff.other.itemText(at) for at in range(window.diff.other.count())]
    assert [text[:7] for text in choices[1:]] == [f"step {number}:" for number in range(1, 6)]


def test_the_time_bar_is_shown_hidden_and_reached_by_its_key(window, controller, service, qtbot):
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    assert not window.time.isVisible()  # At first the page has the room.
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.time.isVisible()
    assert window.focusWidget() is window.time.bar
    window.time.hide()
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.time.isVisible()


def test_a_step_of_the_bar_is_asked_of_the_session(window, controller, service, session, qtbot):
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    window.time.bar.go(-2)
    assert session.asked[-1] == ("show_step", 18, 3)
