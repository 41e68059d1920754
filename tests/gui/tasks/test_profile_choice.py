import pytest
from pytestqt.qtbot import QtBot

from core.debugger.snapshots import Catalogue
from gui.task_chooser.chooser import ProfileChoice, TaskChooser
from gui.widgets.remembered import OpenedTask
from tests.gui import samples


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
    assert "cannot name a profile" in choice.note.text()
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
