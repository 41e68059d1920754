"""The task chooser, the welcome, the LLM settings and the list of keys."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.catalogue import Catalogue
from core.debugger.llms.views import LLMAnswer, LLMEntry
from core.llm.endpoints import Endpoint
from gui.llms.dialog import SettingsDialog
from gui.shell.help import KeysDialog
from gui.task_chooser.chooser import ProfileChoice, TaskChooser
from gui.task_chooser.opening import TRIALS, Welcome
from gui.widgets.remembered import OpenedTask
from tests.gui import samples

PRESETS = (
    Endpoint(name="openai", title="OpenAI", base_url="https://api.openai.com/v1", needs_key=True),
    Endpoint(
        name="ollama",
        title="Ollama",
        base_url="http://127.0.0.1:11434/v1",
        note="Start it with: ollama serve.",
    ),
)
LLAMA = LLMEntry(
    name="llama", base_url=PRESETS[1].base_url, model="llama3.3", temperature=0.2, key_stored=True
)


@pytest.fixture
def chooser(qtbot: QtBot, theme) -> TaskChooser:
    chooser = TaskChooser(theme)
    qtbot.addWidget(chooser)
    chooser.show_catalogue(samples.CATALOGUE)
    chooser.show()
    qtbot.waitExposed(chooser)
    chooser.activateWindow()
    return chooser


def ids(chooser: TaskChooser) -> list[str]:
    return [chooser.model.row(chooser.model.index(row)).id for row in range(chooser.model.rowCount())]


def test_tasks_are_found_by_name_instruction_and_tag(chooser: TaskChooser):
    chooser.search.setText("email form")
    assert ids(chooser) == ["miniwob/email-inbox"]
    chooser.search.setText("cheapest flight")
    assert len(ids(chooser)) == 104
    chooser.search.setText("submarine")
    assert "No task" in chooser.or_words.words.text()
    assert not chooser.open_button.isEnabled()


def test_a_task_of_exactly_the_name_that_is_written_is_chosen(chooser: TaskChooser):
    longer = samples.CATALOGUE.tasks[0].replace(id="miniwob/login-user-popup")
    chooser.show_catalogue(samples.CATALOGUE.replace(tasks=(longer, *samples.CATALOGUE.tasks)))
    chooser.show_chosen(OpenedTask(task=longer.id, seed=0))
    for written in ("login", "login-user", "Login-User "):
        chooser.search.setText(written)
        chosen = chooser.model.row(chooser.list.currentIndex()).id
        assert chosen == (longer.id if written == "login" else "miniwob/login-user")


def test_a_tag_narrows_the_list(chooser: TaskChooser):
    chooser._chips["click"].click()
    assert len(ids(chooser)) == 52
    chooser._chips["form"].click()
    assert ids(chooser) == []


def test_enter_opens_the_task_with_its_seed(chooser: TaskChooser, qtbot: QtBot):
    chooser.show_chosen(OpenedTask(task="miniwob/login-user", seed=4))
    chooser.seed.setValue(7)
    with qtbot.waitSignal(chooser.opened) as opened:
        qtbot.keyClick(chooser.search, Qt.Key.Key_Return)
    assert opened.args == [OpenedTask(task="miniwob/login-user", seed=7)]
    assert not chooser.isVisible()


def test_the_arrow_keys_choose_from_within_the_search(chooser: TaskChooser, qtbot: QtBot):
    qtbot.keyClick(chooser.search, Qt.Key.Key_Down)
    qtbot.keyClick(chooser.search, Qt.Key.Key_Down)
    assert chooser.model.row(chooser.list.currentIndex()).id == "miniwob/email-inbox"
    for _ in range(5):
        qtbot.keyClick(chooser.search, Qt.Key.Key_Up)
    assert chooser.list.currentIndex().row() == 0


def test_the_dice_give_another_seed(chooser: TaskChooser):
    seeds = set()
    for _ in range(6):
        chooser.dice.click()
        seeds.add(chooser.seed.value())
    assert len(seeds) > 1


def test_any_page_of_the_web_needs_a_url_and_an_instruction(chooser: TaskChooser, qtbot: QtBot):
    chooser.tabs.setCurrentIndex(1)
    assert not chooser.open_button.isEnabled()
    chooser.url.setText("example.org")
    chooser.instruction.setPlainText("Find the imprint.")
    with qtbot.waitSignal(chooser.opened) as opened:
        chooser.open_button.click()
    assert opened.args == [OpenedTask(task="web/open", url="example.org", instruction="Find the imprint.")]


def test_the_open_web_is_not_a_row_of_the_list(chooser: TaskChooser):
    assert "web/open" not in ids(chooser)


def test_a_chooser_without_tasks_says_that_they_are_coming(qtbot: QtBot, theme):
    chooser = TaskChooser(theme)
    qtbot.addWidget(chooser)
    chooser.show_catalogue(Catalogue())
    assert "Listing the tasks" in chooser.or_words.words.text()


@pytest.fixture
def choice(qtbot: QtBot, theme) -> ProfileChoice:
    choice = ProfileChoice()
    qtbot.addWidget(choice)
    choice.show()
    qtbot.waitExposed(choice)
    return choice


def texts(choice: ProfileChoice) -> list[str]:
    return [choice.box.itemText(at) for at in range(choice.box.count())]


def test_a_profile_is_clean_unless_one_is_chosen(choice: ProfileChoice):
    choice.show_names(("shop", "work"))
    assert choice.value == ""
    assert choice.usable
    assert texts(choice)[1:3] == ["shop", "work"]
    choice.box.setCurrentIndex(2)
    assert choice.value == "work"
    assert choice.line.isHidden()


def test_a_new_name_is_asked_for_and_checked(choice: ProfileChoice):
    choice.box.setCurrentIndex(choice.box.count() - 1)
    assert choice.line.isVisible()
    assert not choice.usable
    choice.line.setText("../elsewhere")
    assert not choice.usable
    assert "is not a valid profile name" in choice.note.text()
    choice.line.setText("shop.account-1")
    assert choice.usable
    assert choice.value == "shop.account-1"
    assert choice.note.isHidden()


def test_what_is_chosen_stays_when_the_names_are_listed_anew(choice: ProfileChoice):
    choice.show_chosen("work")
    assert choice.line.text() == "work"
    choice.show_names(("shop", "work"))
    assert choice.box.currentText() == "work"
    assert choice.line.isHidden()
    choice.show_names(("shop",))
    assert choice.value == "work"


def test_the_open_web_is_opened_in_the_profile_that_was_chosen(qtbot: QtBot, theme):
    chooser = TaskChooser(theme)
    qtbot.addWidget(chooser)
    chooser.show_catalogue(
        Catalogue(**{**dict(samples.CATALOGUE), "profiles": ("work",)}),
    )
    chooser.tabs.setCurrentIndex(1)
    chooser.url.setText("example.org")
    chooser.instruction.setPlainText("Look.")
    chooser.profile.show_chosen("work")
    with qtbot.waitSignal(chooser.opened) as opened:
        chooser.open_button.click()
    assert opened.args[0] == OpenedTask(
        task="web/open", url="example.org", instruction="Look.", profile="work"
    )
    chooser.show_chosen(opened.args[0])
    assert chooser.profile.value == "work"
    chooser.profile.show_chosen("not usable")
    assert not chooser.open_button.isEnabled()


def test_each_of_the_three_trials_starts_its_own(qtbot: QtBot, theme):
    for number, trial in enumerate(TRIALS):
        welcome = Welcome(theme)
        qtbot.addWidget(welcome)
        with qtbot.waitSignals([welcome.tried, welcome.seen]):
            welcome.tried.connect(lambda got, trial=trial: got is trial or pytest.fail("another trial"))
            welcome.buttons[number].click()
        assert not welcome.isVisible()


def test_the_welcome_is_not_shown_again_unless_asked_for(qtbot: QtBot, theme):
    welcome = Welcome(theme)
    qtbot.addWidget(welcome)
    welcome.show()
    with qtbot.waitSignal(welcome.seen) as seen:
        welcome.reject()
    assert seen.args == [False]
    welcome.show()
    welcome.again.setChecked(True)
    with qtbot.waitSignal(welcome.seen) as seen:
        welcome.reject()
    assert seen.args == [True]


@pytest.fixture
def dialog(qtbot: QtBot, theme) -> SettingsDialog:
    dialog = SettingsDialog(theme, PRESETS)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def test_a_shown_llm_comes_back_as_it_was(dialog: SettingsDialog):
    dialog.show_llms((LLAMA,), "llama")
    assert dialog.entry() == LLAMA


def test_all_that_can_be_set_of_an_llm_comes_back_as_it_was(dialog: SettingsDialog):
    entry = LLAMA.replace(
        max_tokens=2048,
        reasoning_effort="low",
        parallel_tool_calls=False,
        headers={"X-Team": "$TEAM_KEY"},
        body={"options": {"num_ctx": 8192}, "top_k": 5},
        api_version="2024-10-21",
        deployment="mine-4o",
        max_cost=2.5,
        requests_per_minute=30,
        tokens_per_minute=9000,
        honoured="It calls no tools.",
    )
    dialog.show_llms((LLAMA, entry.replace(name="other"), entry), "llama")
    dialog.show_entry(entry)
    assert dialog.entry() == entry
    assert dialog.answer.text() == "It calls no tools."
    unlimited = LLAMA.replace(max_tokens=0, parallel_tool_calls=True)
    dialog.show_entry(unlimited)
    assert dialog.entry() == unlimited


def test_what_the_fields_round_or_cannot_show_stays_as_it_is_until_it_is_changed(dialog: SettingsDialog):
    entry = LLAMA.replace(
        max_cost=0.00000004, temperature=0.1234567, timeout_seconds=0.5, attempts=50, max_tokens=2_000_000
    )
    dialog.show_llms((LLAMA, entry.replace(name="fine")), "fine")
    dialog.description.setText("mine")
    assert dialog.entry() == entry.replace(name="fine", description="mine")
    dialog.attempts.setValue(3)
    dialog.total.setValue(7200)
    assert dialog.entry().attempts == 3
    assert dialog.entry().total_timeout_seconds == 7200
    assert dialog.entry().timeout_seconds == 0.5


def test_a_small_cost_limit_and_a_fine_temperature_are_shown_and_set_as_they_are(dialog: SettingsDialog):
    dialog.show_llms((LLAMA.replace(max_cost=0.004, temperature=0.123),), "llama")
    assert dialog.cost.text() == "$0.004"
    assert dialog.temperature.text() == "0.123"
    dialog.cost.setValue(0.0005)
    dialog.temperature.setValue(0.0625)
    assert (dialog.entry().max_cost, dialog.entry().temperature) == (0.0005, 0.0625)
    dialog.cost.setValue(2.5)
    assert dialog.cost.text() == "$2.5"
    dialog.cost.setValue(0)
    assert dialog.cost.text() == "any cost"
    assert dialog.entry().max_cost is None


def test_headers_that_are_no_json_object_are_refused(dialog: SettingsDialog):
    dialog.show_llms((LLAMA,), "llama")
    dialog.headers.setText("X-Team: mine")
    assert "Headers must be one JSON object" in dialog.hint.text()
    assert not dialog.save_button.isEnabled()
    dialog.headers.setText('{"X-Team": "mine"}')
    assert dialog.save_button.isEnabled()
    assert dialog.entry().headers == {"X-Team": "mine"}


def test_a_new_llm_says_what_is_still_missing(dialog: SettingsDialog):
    assert "Enter a name" in dialog.hint.text()
    assert not dialog.save_button.isEnabled()
    dialog.name.setText("mine")
    assert "base URL" in dialog.hint.text()
    dialog.base_url.setEditText(PRESETS[1].base_url)
    dialog.model.setText("llama3.3")
    assert dialog.problem() == ""
    assert "ollama serve" in dialog.hint.text()
    assert dialog.save_button.isEnabled()


def test_a_model_file_needs_no_base_url(dialog: SettingsDialog):
    dialog.name.setText("mine")
    dialog.model.setText("gguf:/models/small.gguf")
    assert dialog.problem() == ""
    assert dialog.save_button.isEnabled()


@pytest.mark.parametrize("name", ["rules", "two words", "llama", 'a"b'])
def test_a_name_that_cannot_be_used_is_refused(dialog: SettingsDialog, name):
    dialog.show_llms((LLAMA,))
    dialog.show_entry(LLMEntry(name="", base_url="http://x/v1", model="m"))
    dialog.name.setText(name)
    assert dialog.problem() != ""
    assert not dialog.save_button.isEnabled()


def test_choosing_a_server_fills_in_its_address(dialog: SettingsDialog):
    dialog.base_url.setCurrentIndex(0)
    dialog.base_url.activated.emit(0)
    assert dialog.entry().base_url == "https://api.openai.com/v1"
    assert "needs a key" in dialog.hint.text()


def test_a_key_leaves_the_form_only_as_a_secret(dialog: SettingsDialog, qtbot: QtBot):
    dialog.show_llms((LLAMA,), "llama")
    dialog.key.setText("sk-123")
    with qtbot.waitSignal(dialog.save_requested) as asked:
        dialog.save_button.click()
    assert "sk-123" not in repr(asked.args)
    assert asked.args[0] == LLAMA
    assert asked.args[1].get_secret_value() == "sk-123"
    dialog.show_llms((LLAMA,), "llama")
    assert dialog.key.text() == ""
    assert "A key is stored" in dialog.key.placeholderText()


def test_a_test_waits_for_its_answer(dialog: SettingsDialog, qtbot: QtBot):
    dialog.show_llms((LLAMA,), "llama")
    with qtbot.waitSignal(dialog.test_requested):
        dialog.test_button.click()
    assert dialog.answer.text() == "Asking the server…"
    with qtbot.assertNotEmitted(dialog.test_requested):
        dialog.test_button.click()
    dialog.show_answer(LLMAnswer(ok=True, text="Asking for a tool call…", under_way=True))
    assert dialog.answer.text() == "Asking for a tool call…"
    with qtbot.assertNotEmitted(dialog.test_requested):
        dialog.test_button.click()
    dialog.show_answer(LLMAnswer(ok=False, text="Nobody answers at 127.0.0.1:11434."))
    assert dialog.answer.text().startswith("✗ Nobody answers")
    assert dialog.test_button.isEnabled()


def test_the_list_of_keys_has_commands_panels_and_keys_in_panels(qtbot: QtBot, window):
    dialog = KeysDialog(window.theme, window.commands, window)
    dialog.show()
    qtbot.waitExposed(dialog)
    keys = {line.cells[0] for line in dialog.table.lines}
    assert {"F10", "F5", "Shift+F5", "Ctrl+K", "Alt+4", "N, Shift+N"} <= keys
    assert dialog.table.horizontalScrollBar().maximum() == 0
    assert dialog.width() <= 1280
    qtbot.keyClicks(dialog.search, "alt+4")
    assert [line.cells[0] for line in dialog.table.lines] == ["Alt+4"]
    dialog.search.setText("compare difference")
    assert [line.cells for line in dialog.table.lines] == [
        ("N, Shift+N", "in a panel", "In Compare: next and previous difference")
    ]
    dialog.search.setText("zzzz")
    assert "zzzz" in dialog.none.words.text()


def test_the_result_of_a_test_goes_once_the_fields_change(qtbot: QtBot, theme):
    dialog = SettingsDialog(theme, PRESETS)
    qtbot.addWidget(dialog)
    dialog.show_llms((LLAMA,), "llama")
    dialog.show_answer(LLMAnswer(ok=True, text="It answers."))
    assert "answers" in dialog.answer.text()
    dialog.model.setText("qwen3")
    assert dialog.answer.text() == ""


def test_a_test_leaves_the_focus_where_it_is(qtbot: QtBot, theme):
    dialog = SettingsDialog(theme, PRESETS)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    dialog.show_llms((LLAMA,), "llama")
    dialog.test_button.setFocus()
    with qtbot.waitSignal(dialog.test_requested):
        dialog.test_button.click()
    assert dialog.focusWidget() is dialog.test_button
