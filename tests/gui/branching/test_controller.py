"""Fork: opened by its command, passed on, and closed once the branch is made."""

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.session_view import RunsView
from core.debugger.steps.views import StepView
from core.schema.changes import Changes
from gui.branching.controller import ForkController
from gui.shell.main_window import MainWindow
from tests.gui import samples
from tests.gui.branching.test_dialog import CATALOGUE, VIEW, pick
from tests.gui.stand_ins import AskedService, AskedSession


@pytest.fixture
def service() -> AskedService:
    return AskedService()


@pytest.fixture
def controller(
    window: MainWindow, service: AskedService, session: AskedSession, qtbot: QtBot
) -> ForkController:
    controller = ForkController(window, service)
    session.catalogue_changed.send(CATALOGUE)
    qtbot.waitUntil(lambda: controller._catalogue == CATALOGUE)
    return controller


def test_the_command_opens_it_for_the_step_in_view(window, controller, service, session, qtbot: QtBot):
    steps = tuple(samples.step_row(8, number) for number in (1, 2))
    window.runs.show_runs(RunsView(runs=(samples.run_row(8),), total=1, current=8, steps={8: steps}))
    session.step_changed.send(StepView(run=8, number=2, row=steps[1], live=False))
    qtbot.waitUntil(lambda: window.actions_by_name["fork"].isEnabled())
    window.actions_by_name["fork"].trigger()
    assert service.asked == [("open", 8, 2)]
    assert controller.dialog.isVisible()


def test_the_dialog_closes_once_the_branch_is_made_and_offers_the_same_next_time(
    controller, service, qtbot: QtBot
):
    controller.open(12, 3)
    service.changed.send(VIEW)
    qtbot.waitUntil(lambda: controller.dialog.fork_button.isEnabled())
    pick(controller.dialog.form.preset, "laser")
    controller.dialog.fork_button.click()
    assert service.asked == [("open", 12, 3), ("fork", 12, 3, Changes(preset="laser"), False)]
    service.changed.send(VIEW.replace(made=13))
    qtbot.waitUntil(lambda: not controller.dialog.isVisible())
    controller.open(12, 4)
    service.changed.send(VIEW.replace(step=4))
    qtbot.waitUntil(lambda: controller.dialog.last_button.isEnabled())
    assert controller.dialog.form.changes == Changes()
    controller.dialog.last_button.click()
    assert controller.dialog.form.changes == Changes(preset="laser")


def test_a_view_of_a_step_that_was_left_is_not_shown(controller, service, qtbot: QtBot):
    controller.open(12, 3)
    controller.open(12, 4)
    service.changed.send(VIEW.replace(made=13))
    service.changed.send(VIEW.replace(step=4))
    qtbot.waitUntil(lambda: controller.dialog.fork_button.isEnabled())
    assert controller.dialog.isVisible()


def test_giving_up_reaches_the_service(controller, service, qtbot: QtBot):
    controller.open(12, 3)
    controller.dialog.cancel_requested.emit()
    assert service.asked[-1] == ("cancel",)
