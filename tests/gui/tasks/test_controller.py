"""One's own files of tasks in the task chooser, with the desk that reads them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from core.debugger.snapshots import Catalogue
from core.debugger.tasks.service import TaskDesk
from core.debugger.worker import Worker
from core.environments.registry import Environments
from core.settings.settings import load_settings
from gui.shell.main_window import MainWindow
from gui.task_chooser.chooser import TaskChooser
from gui.tasks.controller import TaskFiles
from tests.core.environments.test_own_tasks import config_file, task_file
from tests.gui import samples
from tests.gui.stand_ins import AskedSession


class Desk:
    """A window whose chooser has a desk with a loop of its own, and files that are really there."""

    def __init__(self, qtbot: QtBot, window: MainWindow, session: AskedSession, gone: Path) -> None:
        self._qtbot = qtbot
        self.window = window
        self._session = session
        self.environments = Environments(remembered_task_files=[gone])
        self.worker = Worker(lambda error: None)
        self.worker.start()
        desk = TaskDesk(self.worker.post, lambda: self.environments, self.announce)
        self._files = TaskFiles(desk, window.tasks)
        self.announce()

    def announce(self) -> None:
        tasks, sources = self.environments.tasks(), self.environments.sources
        self._session.catalogue_changed.send(Catalogue(tasks=tasks, sources=sources))

    @property
    def chooser(self) -> TaskChooser:
        if self.window.tasks.chooser is None or not self.window.tasks.chooser.isVisible():
            self.window.actions_by_name["new_task"].trigger()
        assert self.window.tasks.chooser is not None
        return self.window.tasks.chooser

    def wait_chosen(self, task: str) -> None:
        def chosen() -> bool:
            found = self.chooser.model.task(self.chooser.list.currentIndex())
            return found is not None and found.id == task

        self._qtbot.waitUntil(chosen)

    def wait_told(self, words: str) -> None:
        self._qtbot.waitUntil(
            lambda: self.chooser.answer.isVisible() and words in self.chooser.answer.words.text()
        )


@pytest.fixture
def desk(
    qtbot: QtBot, window: MainWindow, session: AskedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    desk = Desk(qtbot, window, session, tmp_path / "gone.toml")
    yield desk
    desk.worker.stop()


def picking(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    answer = ([str(path) for path in paths], "")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: answer)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(paths[0]) if paths else "")


def test_an_added_file_s_first_task_is_chosen_and_shows_its_file(desk: Desk, tmp_path, monkeypatch):
    picking(monkeypatch, task_file(tmp_path, "mine.toml", "lamp", "chair"))
    desk.chooser.search.setText("flight")
    desk.chooser.file_button.click()
    desk.wait_chosen("mine/lamp")
    desk.wait_told("2 tasks")
    index = desk.chooser.list.currentIndex()
    assert str(tmp_path / "mine.toml") in index.data(Qt.ItemDataRole.ToolTipRole)
    assert load_settings().task_files == (tmp_path / "mine.toml",)
    desk.chooser.search.setText("mine.toml")
    assert desk.chooser.model.rowCount() == 2


def test_the_menu_asks_for_a_file_too(desk: Desk, tmp_path, monkeypatch):
    picking(monkeypatch, task_file(tmp_path))
    desk.window.actions_by_name["add_tasks"].trigger()
    desk.wait_chosen("mine/lamp")


def test_a_folder_of_webarena_is_added(desk: Desk, tmp_path, monkeypatch):
    config_file(tmp_path, "0.json", 4)
    picking(monkeypatch, tmp_path)
    desk.chooser.folder_button.click()
    desk.wait_chosen("webarena/4")
    assert load_settings().webarena == (tmp_path,)


def test_nothing_is_asked_of_the_desk_where_no_file_is_chosen(desk: Desk, monkeypatch):
    picking(monkeypatch)
    desk.chooser.file_button.click()
    desk.chooser.folder_button.click()
    assert not desk.chooser.answer.isVisible()


def test_a_bad_file_is_told_with_its_line_and_all_else_stays(desk: Desk, tmp_path, monkeypatch):
    bad = tmp_path / "bad.toml"
    bad.write_text('[[tasks]]\nid = "a"\ninstruction = "b"\nurl = "example.org"\ntag = ["c"]\n')
    shown = desk.chooser.model.total
    picking(monkeypatch, bad)
    desk.chooser.file_button.click()
    desk.wait_told("line 5")
    assert "did you mean tags?" in desk.chooser.answer.words.text()
    assert "correct it" in desk.chooser.answer.words.text()
    assert desk.chooser.model.total == shown


def test_files_that_are_dropped_on_the_chooser_are_added(desk: Desk, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(task_file(tmp_path)))])
    place, action, left = QPointF(QPoint(5, 5)), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    entering = QDragEnterEvent(QPoint(5, 5), action, data, left, none)
    QApplication.sendEvent(desk.chooser, entering)
    assert entering.isAccepted()
    QApplication.sendEvent(desk.chooser, QDropEvent(place, action, data, left, none))
    desk.wait_chosen("mine/lamp")


def test_an_edit_shows_when_the_chooser_is_opened_again(desk: Desk, qtbot: QtBot, tmp_path, monkeypatch):
    picking(monkeypatch, task_file(tmp_path))
    desk.chooser.file_button.click()
    desk.wait_chosen("mine/lamp")
    desk.chooser.reject()
    task_file(tmp_path, "mine.toml", "lamp", "chair")
    qtbot.waitUntil(lambda: desk.chooser.model.index_of("mine/chair").isValid())


def test_a_removed_file_is_gone_from_both_lists_and_from_the_settings(
    desk: Desk, qtbot: QtBot, tmp_path, monkeypatch
):
    path = task_file(tmp_path)
    picking(monkeypatch, path)
    desk.chooser.file_button.click()
    desk.wait_chosen("mine/lamp")
    desk.chooser.files.remove_buttons[-1].click()
    qtbot.waitUntil(lambda: not desk.chooser.model.index_of("mine/lamp").isValid())
    desk.wait_told("taken out of the list")
    assert load_settings().task_files == ()
    assert path.exists()


def test_a_remembered_file_that_is_gone_is_one_warning_in_the_log(desk: Desk, qtbot: QtBot, tmp_path):
    qtbot.waitUntil(lambda: desk.window.log.model.total == 1)
    desk.announce()
    qtbot.waitUntil(lambda: desk.chooser.tabs.tabText(2) == "Task files (1) · 1 problem")
    assert desk.window.log.model.total == 1
    assert not desk.window.page.messages.shown
    assert len(desk.chooser.files.remove_buttons) == 1


def test_a_ticked_tag_stays_ticked_when_tasks_come_and_go(qtbot: QtBot, theme):
    chooser = TaskChooser(theme)
    qtbot.addWidget(chooser)
    chooser.show_catalogue(samples.FILES_CATALOGUE)
    chooser._chips["shop"].click()
    chooser.show_catalogue(samples.FILES_CATALOGUE.replace(problems=("x",)))
    assert chooser._chips["shop"].isChecked()
    assert chooser.model.rowCount() == 2


def test_a_catalogue_without_files_says_how_to_add_one(qtbot: QtBot, theme):
    chooser = TaskChooser(theme)
    qtbot.addWidget(chooser)
    chooser.show_catalogue(samples.CATALOGUE)
    assert "Add one below" in chooser.files.or_words.words.text()
    chooser.tabs.setCurrentIndex(2)
    assert not chooser.open_button.isEnabled()
