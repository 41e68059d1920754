"""The dialog that attaches an agent: what it asks for, and what it shows of the one that is attached."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from core.attach.addresses import Addresses
from core.debugger.attach.views import AttachRequest, AttachView
from gui.attach.dialog import AttachDialog

REQUEST = AttachRequest(
    command=("python", "my agent.py"),
    folder="/home/me/agent",
    task="miniwob/click-test-2",
    seed=3,
    browser="chromium",
    env=("GROQ_API_KEY",),
)
ADDRESSES = Addresses(
    llm="http://127.0.0.1:40123/v1",
    key="backstep-7Qx",
    browser="http://127.0.0.1:40123/cdp/9f3a",
    sdk="http://127.0.0.1:40123/sdk/b81c/",
)
ATTACHED = AttachView(
    request=REQUEST, addresses=ADDRESSES, running=True, output=("Step 1", "I click the first button.")
)


@pytest.fixture
def dialog(theme, qtbot: QtBot) -> AttachDialog:
    dialog = AttachDialog(theme)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def test_it_asks_for_what_the_fields_say(dialog: AttachDialog, qtbot: QtBot):
    dialog.offer(REQUEST)
    with qtbot.waitSignal(dialog.attach_requested) as asked:
        qtbot.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked.args == [REQUEST]


def test_a_task_brings_its_own_page_and_instruction(dialog: AttachDialog):
    dialog.offer(REQUEST.replace(url="http://x/", instruction="Buy."))
    assert dialog.request == REQUEST
    assert not dialog.url.isEnabled()
    dialog.task.setText("")
    assert (dialog.request.url, dialog.request.instruction) == ("http://x/", "Buy.")
    assert dialog.url.isEnabled()
    assert not dialog.seed.isEnabled()


def test_an_open_quotation_mark_is_told_and_nothing_is_asked_for(dialog: AttachDialog, qtbot: QtBot):
    dialog.command.setText("python 'my agent.py")
    with qtbot.assertNotEmitted(dialog.attach_requested):
        dialog.attach_button.click()
    assert "quotation mark" in dialog.problem.text()


def test_the_addresses_of_an_attached_agent_are_shown_and_copied(dialog: AttachDialog):
    assert not dialog.copy_button.isEnabled()
    dialog.show_view(ATTACHED)
    assert dialog.state.text() == "The program is running."
    assert dialog.output.source == "Step 1\nI click the first button."
    dialog.copy_button.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines == [
        "export OPENAI_BASE_URL=http://127.0.0.1:40123/v1",
        "export OPENAI_API_KEY=backstep-7Qx",
        "export BACKSTEP_CDP_URL=http://127.0.0.1:40123/cdp/9f3a",
        "export BACKSTEP_SDK_URL=http://127.0.0.1:40123/sdk/b81c/",
    ]


def test_without_a_program_only_the_addresses_are_asked_for(dialog: AttachDialog):
    assert dialog.attach_button.text() == "Show addresses"
    dialog.show_view(ATTACHED.replace(running=False, output=()))
    assert dialog.state.text() == "Start your agent with these addresses."


def test_an_attached_agent_is_let_go_of(dialog: AttachDialog, qtbot: QtBot):
    assert not dialog.detach_button.isEnabled()
    dialog.show_view(ATTACHED)
    with qtbot.waitSignal(dialog.detach_requested):
        dialog.detach_button.click()
    dialog.show_view(ATTACHED.replace(addresses=None, running=False))
    assert dialog.state.text() == "The agent is detached."
    assert dialog.output.source.startswith("Step 1")


def test_why_no_agent_was_attached_is_shown(dialog: AttachDialog):
    dialog.show_view(AttachView(problem="There is no program pyton; give its path."))
    assert dialog.problem.text() == "There is no program pyton; give its path."
