"""The settings of the user's LLMs: opened with the list, and each form passed on."""

import pytest
from pytestqt.qtbot import QtBot

from core.debugger.llms.views import LLMAnswer, LLMEntry, LLMList
from core.llm.endpoints import Endpoint
from gui.llms.controller import LLMSettingsController
from gui.llms.dialog import SettingsDialog
from gui.shell.main_window import MainWindow
from tests.gui.stand_ins import AskedService

ENTRY = LLMEntry(name="llama", base_url="http://127.0.0.1:11434/v1", model="llama3.3", key_stored=True)
LIST = LLMList(
    entries=(ENTRY,),
    servers=(Endpoint(name="ollama", title="Ollama", base_url=ENTRY.base_url),),
    chosen="llama",
)


@pytest.fixture
def service() -> AskedService:
    return AskedService("answered")


@pytest.fixture
def dialog(window: MainWindow, service: AskedService, qtbot: QtBot) -> SettingsDialog:
    """The dialog, asked for and shown with its list."""
    LLMSettingsController(window, service)
    window.llm_settings_requested.emit()
    assert service.asked == [("list_llms",)]
    service.asked.clear()
    service.changed.send(LIST)
    qtbot.waitUntil(lambda: window.findChild(SettingsDialog) is not None)
    dialog = window.findChild(SettingsDialog)
    assert dialog.isVisible()
    return dialog


def test_it_opens_with_the_llms_of_the_settings(dialog):
    assert dialog.entry() == ENTRY


@pytest.mark.parametrize("command", ["test", "save"])
def test_a_form_is_passed_on_with_its_key_as_a_secret(dialog, service, command):
    dialog.key.setText("sk-123")
    {"test": dialog.test_button, "save": dialog.save_button}[command].click()
    [(name, entry, key)] = service.asked
    assert (name, entry, key.get_secret_value()) == (command, ENTRY, "sk-123")


def test_an_answer_is_shown_in_the_dialog(dialog, service, qtbot: QtBot):
    dialog.test_button.click()
    service.answered.send(LLMAnswer(ok=False, text="Nobody answers at 127.0.0.1:11434."))
    qtbot.waitUntil(lambda: dialog.answer.text() == "✗ Nobody answers at 127.0.0.1:11434.")
