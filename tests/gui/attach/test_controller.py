"""Attach an agent: opened by its command, remembered, and by itself where there is something to be read."""

import time

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.attach.views import AttachRequest, AttachView, Hold
from core.debugger.catalogue import Catalogue
from core.schema.restore import Parted
from core.schema.task import Task
from gui.attach.controller import AttachController
from gui.shell.main_window import MainWindow
from tests.gui.attach.test_dialog import ADDRESSES, ATTACHED, REQUEST
from tests.gui.stand_ins import AskedService, AskedSession


@pytest.fixture
def service() -> AskedService:
    return AskedService()


@pytest.fixture
def controller(window: MainWindow, service: AskedService) -> AttachController:
    return AttachController(window, service)


def test_the_command_opens_it_and_its_request_is_passed_on_and_remembered(window, controller, service):
    window.actions_by_name["attach"].trigger()
    assert controller.dialog.isVisible()
    controller.dialog.offer(REQUEST)
    controller.dialog.attach_button.click()
    assert service.asked == [("attach", REQUEST)]
    assert window.remembered.attach == REQUEST
    window.remembered.attach = REQUEST
    controller.open()
    assert controller.dialog.request == REQUEST


def test_an_agent_that_runs_opens_no_dialog_and_is_told_of_over_the_page_until_it_goes_another_way(
    controller, service, qtbot: QtBot, session: AskedSession
):
    for view in (ATTACHED, ATTACHED.replace(running=False), ATTACHED.replace(addresses=None, running=False)):
        service.changed.send(view)
        qtbot.waitUntil(lambda view=view: controller._view == view)
    assert controller.dialog is None
    ended = Parted(step=2, why="At step 2 the agent ended; in the recorded run it asked its LLM.")
    service.changed.send(ATTACHED.replace(parted=ended))
    qtbot.waitUntil(lambda: controller._view.parted == ended)
    assert controller.parted is None
    messages = controller.window.page.messages
    service.changed.send(ATTACHED.replace(notices=("Set OPENAI_BASE_URL.",)))
    qtbot.waitUntil(lambda: messages.title.text() == "Partly attached")
    assert messages.text.text() == "Set OPENAI_BASE_URL."
    messages.dismiss()
    service.changed.send(ATTACHED.replace(notices=("Set OPENAI_BASE_URL.",), output=("more",)))
    qtbot.waitUntil(lambda: controller._view.output == ("more",))
    assert not messages.shown
    label = controller.patience
    service.changed.send(ATTACHED.replace(hold=Hold(since=time.monotonic() - 12, what="action")))
    qtbot.waitUntil(label.isVisible)
    assert label.text() == "Agent held for 12 s, about 18 s left"
    assert "Playwright gives up an action after 30 s" in label.toolTip()
    service.changed.send(ATTACHED.replace(hold=Hold(since=time.monotonic() - 12, what="call", gave_up=10.2)))
    qtbot.waitUntil(lambda: "it may have given up" in label.text())
    assert "The agent last gave up after 10 s" in label.toolTip()
    service.changed.send(ATTACHED)
    qtbot.waitUntil(lambda: not label.isVisible())
    service.changed.send(ATTACHED.replace(parted=PARTED))
    qtbot.waitUntil(lambda: controller.parted is not None and controller.parted.isVisible())
    parted = controller.parted
    assert "At step 2 the agent sends another request" in parted.words.text()
    assert parted.fact.text() == "1 line differs"
    parted.live_button.click()
    assert not parted.isVisible()
    assert session.asked == []
    service.changed.send(ATTACHED.replace(parted=PARTED, output=("more",)))
    qtbot.waitUntil(lambda: controller._view.output == ("more",))
    assert not parted.isVisible()
    service.changed.send(ATTACHED.replace(parted=PARTED.replace(step=1)))
    qtbot.waitUntil(parted.isVisible)
    parted.stop_button.click()
    assert session.asked == [("stop",)]
    assert not parted.isVisible()


@pytest.mark.parametrize(
    "view",
    [
        AttachView(request=AttachRequest(), addresses=ADDRESSES),
        AttachView(request=REQUEST, problem="There is no program pyton."),
    ],
)
def test_addresses_for_a_program_elsewhere_and_problems_open_it(controller, service, qtbot: QtBot, view):
    service.changed.send(view)
    qtbot.waitUntil(lambda: controller.dialog is not None)
    assert controller.dialog.isVisible()


def test_tasks_are_completed_by_their_names(controller, session: AskedSession, qtbot: QtBot):
    task = Task(id="shop/buy-1", environment="shop", instruction="Buy.")
    session.catalogue_changed.send(Catalogue(tasks=(task,)))
    qtbot.waitUntil(lambda: controller._tasks == ("shop/buy-1",))
    controller.open()
    assert controller.dialog.task.completer().model().rowCount() == 1


PARTED = Parted(
    step=2,
    why="At step 2 the agent sends another request than in call 2.",
    recorded="[user]\nPress one.\nOne Two Three",
    asked="[user]\nPress two.\nOne Two Three",
)
