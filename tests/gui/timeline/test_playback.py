"""Playing a run back: one recorded step after another, until the last, a key or a person's choice."""

import pytest
from PySide6.QtCore import Qt

from gui.timeline.controller import install
from tests.gui import reading_samples, samples
from tests.gui.stand_ins import PicturingService


@pytest.fixture
def playing(window, session, qtbot, monkeypatch):
    """A window that shows what it asks for, with steps that take no time."""
    monkeypatch.setattr("gui.timeline.controller.seconds_shown", lambda view, at, speed: 0.001)
    service = PicturingService()
    install(window, service)
    session.session_changed.send(samples.SESSION)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.film.view.steps) == 5)
    session.asked.clear()
    return window


def recorded(number):
    row = samples.step_row(18, number)
    return samples.recorded_step().replace(number=number, row=row)


def shown(session):
    return [one[2] for one in session.asked if one[0] == "show_step"]


def show_next(window, session, qtbot, count):
    """Answer until so many steps have been asked for."""
    answered = 0
    while len(shown(session)) < count:
        if answered < len(shown(session)):
            answered += 1
            session.step_changed.send(recorded(shown(session)[-1]))
        qtbot.waitUntil(
            lambda answered=answered: len(shown(session)) > answered or not window.time.play.isChecked()
        )


def test_from_its_end_it_is_played_from_its_beginning_to_its_last_step(playing, session, qtbot):
    playing.actions_by_name["play_back"].trigger()
    show_next(playing, session, qtbot, 5)
    session.step_changed.send(samples.STEP)  # The last step is the one under way.
    qtbot.waitUntil(lambda: not playing.time.play.isChecked())
    assert shown(session) == [1, 2, 3, 4, 5]
    assert {one[0] for one in session.asked} == {"show_step"}


def test_it_is_played_from_a_step_in_its_middle_until_escape_or_another_choice(playing, session, qtbot):
    playing.time.speed.setCurrentIndex(playing.time.speed.findData("4"))
    assert playing.remembered.play_speed == "4"
    session.step_changed.send(recorded(3))
    qtbot.waitUntil(lambda: playing.step_in_view.number == 3)
    playing.actions_by_name["play_back"].trigger()
    show_next(playing, session, qtbot, 2)
    assert shown(session) == [3, 4]
    playing.actions_by_name["play_back"].trigger()
    assert not playing.time.play.isChecked()


def test_escape_stops_at_the_step_that_is_shown(playing, session, qtbot):
    playing.actions_by_name["play_back"].trigger()
    session.step_changed.send(recorded(1))
    qtbot.waitUntil(lambda: len(shown(session)) == 2)
    playing.activateWindow()
    qtbot.keyClick(playing, Qt.Key.Key_Escape)
    assert not playing.time.play.isChecked()
    assert ("show_now",) not in session.asked


def test_another_step_chosen_by_the_person_stops_it(playing, session, qtbot, monkeypatch):
    monkeypatch.setattr("gui.timeline.controller.seconds_shown", lambda view, at, speed: 60.0)
    playing.actions_by_name["play_back"].trigger()
    session.step_changed.send(recorded(1))
    qtbot.waitUntil(lambda: playing.step_in_view.number == 1)
    session.step_changed.send(recorded(4))
    qtbot.waitUntil(lambda: not playing.time.play.isChecked())
