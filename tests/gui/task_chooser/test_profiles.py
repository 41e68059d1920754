"""A profile with logins is opened in the embedded browser only once a person has agreed to it."""

from PySide6.QtWidgets import QMessageBox

from core.debugger.catalogue import Catalogue
from gui.shell.main_window import MainWindow
from gui.widgets.remembered import OpenedTask


def asked_for_profile(window: MainWindow) -> QMessageBox:
    window.tasks.open_task(OpenedTask(task="web/open", url="http://x", instruction="Look.", profile="work"))
    box = window.tasks.asking
    assert box is not None
    assert box.isVisible()
    return box


def test_a_profile_with_logins_is_opened_only_once_a_person_agrees(window: MainWindow, session):
    box = asked_for_profile(window)
    assert "another user of this machine can control the browser of this window" in box.text()
    assert "the profile work" in box.text()
    box.button(QMessageBox.StandardButton.Cancel).click()
    assert session.asked == []
    assert window.remembered.recent == ()
    next(one for one in asked_for_profile(window).buttons() if one.text() == "&Open the profile").click()
    assert session.asked == [("open", "web/open", 0, "http://x", "Look.", "work", True)]
    assert window.tasks.asking is None


def test_a_profile_that_the_settings_allow_is_not_asked_about(window: MainWindow, session):
    window.tasks.show_catalogue(Catalogue(profiles=("work",), allowed_profiles=("work",)))
    window.tasks.open_task(OpenedTask(task="web/open", url="http://x", instruction="Look.", profile="work"))
    assert session.asked == [("open", "web/open", 0, "http://x", "Look.", "work", False)]
