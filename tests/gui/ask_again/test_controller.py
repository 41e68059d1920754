"""Ask again: opened from the tree of runs, its questions passed on, and an answer adopted."""

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.ask_again.views import Question
from core.debugger.session_view import RunsView
from gui.ask_again.controller import AskAgainController
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.ask_again.test_window import MESSAGES, VIEW, texts
from tests.gui.stand_ins import AskedService, choose_entry


@pytest.fixture
def service() -> AskedService:
    return AskedService()


@pytest.fixture
def controller(window: MainWindow, service: AskedService) -> AskAgainController:
    return AskAgainController(window, service)


def test_a_step_is_asked_again_from_its_row_and_its_questions_are_passed_on(
    window, controller, service, session, qtbot: QtBot
):
    steps = {7: tuple(samples.step_row(7, number) for number in (1, 2))}
    window.runs.show_runs(RunsView(runs=(samples.run_row(7),), total=1, current=7, steps=steps))
    choose_entry(window.runs, window.runs.model.step_index(7, 2), "Ask again")
    assert service.asked == [("open", 7, 2)]
    assert controller.dialog.isVisible()
    service.asked.clear()
    session.catalogue_changed.send(samples.CATALOGUE)
    controller.open(18, 3)
    assert "Reading the prompt" in controller.dialog.or_words.words.text()
    service.changed.send(VIEW)
    qtbot.waitUntil(controller.dialog.ask_button.isEnabled)
    qtbot.waitUntil(lambda: controller.dialog.llm.count() > len(samples.CATALOGUE.llms))
    controller.dialog.ask_button.click()
    assert service.asked == [("open", 18, 3), ("ask", Question(run=18, step=3, count=5))]
    controller.dialog.cancel_requested.emit()
    controller.dialog.exemplar_requested.emit(18, 3, "shop-lamp-01")
    assert service.asked[-2:] == [("cancel",), ("write_exemplar", 18, 3, "shop-lamp-01")]


def test_answers_for_a_step_that_was_left_do_not_show(controller, service, qtbot: QtBot):
    controller.open(18, 3)
    controller.open(18, 4)
    service.changed.send(VIEW)
    service.changed.send(VIEW.replace(step=4, messages=MESSAGES[:1]))
    qtbot.waitUntil(lambda: len(texts(controller.dialog)) == 1)
    service.changed.send(VIEW.replace(problem="A question is still out."))
    qtbot.waitUntil(lambda: controller.dialog.problem.text() == "A question is still out.")
    assert len(texts(controller.dialog)) == 1


def test_the_step_under_review_can_be_adopted_and_no_other(controller, service, session, qtbot: QtBot):
    session.session_changed.send(samples.SESSION.replace(run=18, step=3, mode="waiting", phase="review"))
    qtbot.waitUntil(lambda: controller._under_review == (18, 3))
    controller.open(18, 3)
    service.changed.send(VIEW)
    qtbot.waitUntil(controller.dialog.adopt_button.isEnabled)
    controller.open(18, 3)
    service.changed.send(VIEW)
    qtbot.waitUntil(lambda: bool(controller.dialog.answers.action))
    review = samples.SESSION.replace(run=18, mode="waiting", phase="review")
    session.session_changed.send(review.replace(step=3))
    qtbot.waitUntil(controller.dialog.adopt_button.isEnabled)
    controller.dialog.adopt_button.click()
    assert session.asked[-1] == ("edit_action", "click [6]")
    for other in (review.replace(step=4), review.replace(step=3, phase="act")):
        session.session_changed.send(review.replace(step=3))
        qtbot.waitUntil(controller.dialog.adopt_button.isEnabled)
        session.session_changed.send(other)
        qtbot.waitUntil(lambda: not controller.dialog.adopt_button.isEnabled())
