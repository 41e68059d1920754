"""The time bar and the page's log: read for the step in view, where they can be seen."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.steps.views import ScreenshotView
from core.debugger.timeline.views import StepPictures, TimeView
from gui.shell.main_window import MainWindow
from gui.timeline.controller import install
from tests.gui import reading_samples, samples
from tests.gui.stand_ins import AskedSession, PicturingService

_CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def service() -> PicturingService:
    return PicturingService()


@pytest.fixture
def controller(window: MainWindow, service: PicturingService, session: AskedSession, qtbot: QtBot) -> None:
    install(window, service)
    session.session_changed.send(samples.SESSION)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.step_in_view is not None)


def test_what_is_read_follows_the_step_in_view_and_the_time_bar_is_reached_by_its_key(
    window, controller, service, session, qtbot
):
    assert ("read_times", 18) in service.asked
    assert ("read_log", 18, 5) not in service.asked
    window.place("Log").bring()
    qtbot.waitUntil(lambda: ("read_log", 18, 5) in service.asked)
    service.logged.send(reading_samples.LOG)
    qtbot.waitUntil(lambda: len([row for row in window.log.model.of_step if row.source != "call"]) == 10)
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    assert window.time.film.at.number == 5
    choices = [window.diff.other.itemText(at) for at in range(window.diff.other.count())]
    assert [text[:7] for text in choices[1:]] == [f"step {number}:" for number in range(1, 6)]
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    assert window.time.film.isVisible()
    assert not window.time.bar.isVisible()  # At first the page has the room.
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert window.time.bar.isVisible()
    assert window.focusWidget() is window.time.bar
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert not window.time.bar.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_T, _CTRL_SHIFT)
    assert not window.time.film.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_T, _CTRL_SHIFT)
    assert window.time.film.isVisible()
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.bar.view.steps) == 5)
    window.time.film.scrub_to(2)
    window.time.film.rest()
    assert session.asked[-1] == ("show_step", 18, 3)


def test_a_run_without_steps_says_what_to_do(window, controller, service, session, qtbot):
    session.step_changed.send(samples.STEP.replace(run=19, number=0, row=None))
    qtbot.waitUntil(lambda: service.asked[-1] == ("read_times", 19))
    service.changed.send(TimeView(run=19))
    qtbot.waitUntil(lambda: "The run has no steps yet" in window.time.film.words)


def test_what_another_program_does_to_the_run_in_view_is_read(window, controller, service, session, qtbot):
    row = samples.run_row(18, outcome="running", steps=5)
    qtbot.waitUntil(lambda: window.view == samples.SESSION)
    for run in (17, 18):
        session.step_changed.send(samples.recorded_step().replace(run=run))
        qtbot.waitUntil(lambda run=run: service.asked[-1] == ("read_times", run))
    service.changed.send(reading_samples.times().replace(run=18, row=row))
    qtbot.waitUntil(lambda: window.time.film.view.row == row)
    session.runs_changed.send(samples.RUNS.replace(runs=(samples.run_row(19), row)))
    qtbot.waitUntil(lambda: window.runs.model.run_index(19).isValid())
    service.asked.clear()
    session.runs_changed.send(samples.RUNS.replace(runs=(row.replace(steps=6),)))
    qtbot.waitUntil(lambda: ("read_times", 18) in service.asked)


def test_the_steps_of_a_run_that_the_tree_does_not_list_are_gone_through_by_key(
    window, controller, service, session, qtbot
):
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.step_in_view == samples.recorded_step())
    previous, following = (window.actions_by_name[name] for name in ("previous", "next_recorded"))
    assert not previous.isEnabled()
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(previous.isEnabled)
    previous.trigger()
    assert session.asked[-1] == ("show_step", 18, 2)
    following.trigger()
    assert session.asked[-1] == ("show_step", 18, 4)
    session.step_changed.send(samples.recorded_step().replace(run=17))
    qtbot.waitUntil(lambda: not previous.isEnabled())
    assert not following.isEnabled()


def test_the_axis_says_which_page_of_which_step_is_in_view(window, controller, service, session, qtbot):
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: window.time.title.text() == "Step 5 of 5")
    sides = window.time.sides
    assert sides["live"].isChecked()
    assert not sides["before"].isEnabled()  # Step 5 is under review: now is before it.
    assert not window.actions_by_name["flip"].isEnabled()
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(sides["before"].isChecked)
    assert window.time.title.text() == "Step 3 of 5"
    qtbot.keyClick(window, Qt.Key.Key_F4)
    assert session.asked[-1] == ("show_step", 18, 3, "after")
    session.step_changed.send(samples.recorded_step().replace(side="after"))
    qtbot.waitUntil(sides["after"].isChecked)
    assert window.page.state_words.text().startswith("After step 3 of run 18")
    qtbot.keyClick(window, Qt.Key.Key_F4)
    assert session.asked[-1] == ("show_step", 18, 3, "before")
    sides["live"].click()
    assert session.asked[-1] == ("show_now",)
    service.changed.send(reading_samples.times())
    done = samples.STEP.replace(row=samples.step_row(18, 5, outcome="done"))
    session.step_changed.send(done)
    qtbot.waitUntil(lambda: window.time.where.text() == "page now; panels before step 5")
    qtbot.keyClick(window, Qt.Key.Key_F4)
    assert session.asked[-1] == ("show_step", 18, 5, "before")


def pictures(number: int, *, after: bool = True) -> StepPictures:
    shot = ScreenshotView(data=samples.screenshot(), viewport=(680, 400))
    return StepPictures(
        run=18,
        number=number,
        row=samples.step_row(18, number),
        before=shot,
        after=shot if after else ScreenshotView(missing="This is the last step."),
    )


def test_scrubbing_shows_steps_over_the_page_and_only_the_last_of_those_overtaken(
    window, controller, service, session, qtbot
):
    answers = []
    service.look = lambda run, number: answers.append(number)
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.film.view.steps) == 5)
    for at in range(4):
        window.time.film.scrub_to(at)
    assert answers == [1]  # One is read at a time.
    service.looked.send(pictures(1))
    qtbot.waitUntil(lambda: answers == [1, 4])
    assert window.page.state_words.text().startswith("Before step 1 of run 18")
    assert window.time.sides["before"].isChecked()
    session.step_changed.send(samples.STEP.replace(observation=samples.ABSTRACTED))  # The run goes on.
    qtbot.waitUntil(lambda: window.step_in_view.observation == samples.ABSTRACTED)
    assert window.page.covered
    service.looked.send(pictures(4))
    qtbot.waitUntil(lambda: window.page.state_words.text().startswith("Before step 4"))
    assert window.time.title.text() == "Step 4 of 5"  # Not that of the run that goes on.
    assert window.time.where.text() == "page before step 4; panels before step 5"
    assert window.time.sides["before"].isChecked()
    window.time.film.rest()
    assert session.asked[-1] == ("show_step", 18, 4)
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: not window.page.covered)
    assert window.time.sides["live"].isChecked()


@pytest.mark.parametrize("live", [True, False])
def test_escape_while_scrubbing_returns_to_the_step_before(window, controller, service, session, qtbot, live):
    before = samples.STEP if live else samples.recorded_step().replace(side="after")
    service.changed.send(reading_samples.times())
    session.step_changed.send(before)
    qtbot.waitUntil(lambda: len(window.time.film.view.steps) == 5 and window.step_in_view == before)
    film, now = window.time.film, window.actions_by_name["now"]
    assert now.isEnabled() == (not live)
    film.scrub_to(film.currentIndex().row() - 2)
    qtbot.waitUntil(now.isEnabled)
    session.asked.clear()
    now.trigger()
    assert not film.is_scrubbing
    wanted = ("show_now",) if live else ("show_step", 18, before.number, "after")
    assert session.asked == [wanted]
    session.step_changed.send(before.replace(observation=samples.ABSTRACTED))
    qtbot.waitUntil(lambda: film.at.number == before.number)


def test_a_step_that_was_requested_before_does_not_end_scrubbing(window, controller, service, session, qtbot):
    service.look = lambda run, number: None
    service.changed.send(reading_samples.times())
    qtbot.waitUntil(lambda: len(window.time.film.view.steps) == 5)
    film, late = window.time.film, samples.recorded_step().replace(number=2, row=samples.step_row(18, 2))
    film.scrub_to(1)
    film.rest()
    film.scrub_to(2)
    service.looked.send(pictures(3))
    qtbot.waitUntil(lambda: window.page.state_words.text().startswith("Before step 3"))
    session.step_changed.send(late)
    qtbot.waitUntil(lambda: window.step_in_view == late)
    assert window.page.state_words.text().startswith("Before step 3")
    film.scrub_to(3)
    service.looked.send(pictures(4))
    qtbot.waitUntil(lambda: window.page.state_words.text().startswith("Before step 4"))
    window.actions_by_name["now"].trigger()
    assert session.asked[-1] == ("show_step", 18, 2, late.side)
    assert not film.is_scrubbing


def test_a_look_at_a_page_after_a_step_ends_with_the_live_page(window, controller, service, session, qtbot):
    service.look = lambda run, number: None
    service.changed.send(reading_samples.times())
    session.step_changed.send(samples.recorded_step().replace(side="after"))
    qtbot.waitUntil(lambda: window.time.sides["after"].isChecked())
    session.step_changed.send(samples.STEP)
    qtbot.waitUntil(lambda: window.time.sides["live"].isChecked())
    window.time.film.scrub_to(1)
    service.looked.send(pictures(2))
    qtbot.waitUntil(lambda: window.page.state_words.text().startswith("Before step 2"))
    assert window.time.sides["before"].isChecked()


def test_the_recorded_page_is_shown_beside_the_restored_one(window, controller, service, session, qtbot):
    session.session_changed.send(
        samples.SESSION.replace(mode="waiting", message="It looks different.", doubt="picture")
    )
    qtbot.waitUntil(window.page.messages.pictures_button.isVisible)
    window.page.messages.pictures_button.click()
    assert ("look_restored", 18) in service.asked
    service.looked.send(pictures(3).replace(row=None, restored=True))
    cover = window.page.cover
    qtbot.waitUntil(cover.after.isVisible)
    assert [head.text() for head in cover._heads] == ["As recorded", "As restored"]
    assert "as recorded and as restored" in window.page.state_words.text()


def test_before_and_after_are_read_for_the_recorded_step_or_it_is_said_why_not(
    window, controller, service, session, qtbot
):
    service.steps[18, 3] = pictures(3)
    session.step_changed.send(samples.recorded_step())
    qtbot.waitUntil(lambda: window.page.covered)
    assert ("look", 18, 3) not in service.asked
    window.actions_by_name["before_after"].trigger()
    cover = window.page.cover
    qtbot.waitUntil(lambda: cover.after.words == "")
    assert cover.after.isVisible()
    window.actions_by_name["before_after"].trigger()
    assert cover.picture.slides
    assert not cover.after.isVisible()
    assert window.remembered.cover_mode == "slider"
    service.steps[18, 2] = pictures(2, after=False)
    window.page.cover.set_mode("side")
    session.step_changed.send(samples.recorded_step().replace(number=2, row=samples.step_row(18, 2)))
    qtbot.waitUntil(lambda: window.page.cover.after.words == "This is the last step.")
    window.page.cover.set_mode("slider")
    assert not window.page.cover.picture.slides
    assert "This is the last step." in window.page.cover.caption.text()
