"""One's own files of tasks in the task chooser, with the service that reads them."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from core.debugger.catalogue import Catalogue
from core.debugger.tasks.service import TaskFilesService
from core.environments.registry import Environments
from core.settings.settings import load_settings
from gui.shell.main_window import MainWindow
from gui.task_chooser.chooser import TaskChooser
from gui.tasks.controller import TaskFilesController
from gui.widgets.words import NoteLabel
from tests.core.debugger.stand_ins import StandInSession
from tests.core.environments.test_own_tasks import config_file, task_file
from tests.gui import samples
from tests.gui.stand_ins import AskedSession


class Opened:
    """A window whose chooser has a service with a loop of its own, and files that are really there."""

    def __init__(self, qtbot: QtBot, window: MainWindow, session: AskedSession, gone: Path) -> None:
        self._qtbot = qtbot
        self.window = window
        self._session = session
        self.stand_in = StandInSession(environments=Environments(remembered_task_files=[gone]))
        self.stand_in.offer = self.announce
        TaskFilesController(window, TaskFilesService(self.stand_in))
        self.announce()

    def announce(self) -> None:
        environments = self.stand_in.services().environments
        tasks, sources = environments.tasks(), environments.sources
        self._session.catalogue_changed.send(Catalogue(tasks=tasks, sources=sources))

    @property
    def chooser(self) -> TaskChooser:
        if self.window.tasks.chooser is None or not self.window.tasks.chooser.isVisible():
            self.window.actions_by_name["new_task"].trigger()
        assert self.window.tasks.chooser is not None
        return self.window.tasks.chooser

    def wait_chosen(self, task: str) -> None:
        def chosen() -> bool:
            found = self.chooser.model.row(self.chooser.list.currentIndex())
            return found is not None and found.id == task

        self._qtbot.waitUntil(chosen)

    def wait_for_message(self, words: str) -> None:
        self._qtbot.waitUntil(
            lambda: self.chooser.answer.isVisible() and words in self.chooser.answer.words.text()
        )


@pytest.fixture
def opened(
    qtbot: QtBot, window: MainWindow, session: AskedSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Opened]:
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    opened = Opened(qtbot, window, session, tmp_path / "gone.toml")
    yield opened
    opened.stand_in.close()


def picking(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    answer = ([str(path) for path in paths], "")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: answer)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(paths[0]) if paths else "")


def test_an_added_file_s_first_task_is_chosen_and_nothing_is_added_where_no_file_is_chosen(
    opened: Opened, monkeypatch, tmp_path
):
    picking(monkeypatch)
    opened.chooser.file_button.click()
    opened.chooser.folder_button.click()
    assert not opened.chooser.answer.isVisible()
    picking(monkeypatch, task_file(tmp_path, "mine.toml", "lamp", "chair"))
    opened.chooser.search.setText("flight")
    opened.chooser.file_button.click()
    opened.wait_chosen("mine/lamp")
    opened.wait_for_message("2 tasks")
    index = opened.chooser.list.currentIndex()
    assert str(tmp_path / "mine.toml") in index.data(Qt.ItemDataRole.ToolTipRole)
    assert load_settings().task_files == (tmp_path / "mine.toml",)
    opened.chooser.search.setText("mine.toml")
    assert opened.chooser.model.rowCount() == 2


def test_a_folder_of_webarena_is_added_and_a_file_of_tasks_by_the_menu(opened: Opened, tmp_path, monkeypatch):
    config_file(tmp_path, "0.json", 4)
    picking(monkeypatch, tmp_path)
    opened.chooser.folder_button.click()
    opened.wait_chosen("webarena/4")
    assert load_settings().webarena == (tmp_path,)
    picking(monkeypatch, task_file(tmp_path))
    opened.window.actions_by_name["add_tasks"].trigger()
    opened.wait_chosen("mine/lamp")


def test_a_file_that_is_bad_or_of_another_kind_is_reported_and_all_else_stays(
    opened: Opened, tmp_path, monkeypatch
):
    bad = tmp_path / "bad.toml"
    bad.write_text('[[tasks]]\nid = "a"\ninstruction = "b"\nurl = "example.org"\ntag = ["c"]\n')
    shown = opened.chooser.model.total
    picking(monkeypatch, bad)
    opened.chooser.file_button.click()
    opened.wait_for_message("line 5")
    assert "did you mean tags?" in opened.chooser.answer.words.text()
    assert "Correct it" in opened.chooser.answer.words.text()
    assert opened.chooser.model.total == shown
    path = tmp_path / "trace.json"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("trace.trace", "{}")
    opened.chooser.add_requested.emit((str(path),))
    opened.wait_for_message("is a Playwright trace (a ZIP archive), which cannot be used here")


def test_files_that_are_dropped_on_the_chooser_are_added(opened: Opened, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(task_file(tmp_path)))])
    place, action, left = QPointF(QPoint(5, 5)), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    entering = QDragEnterEvent(QPoint(5, 5), action, data, left, none)
    QApplication.sendEvent(opened.chooser, entering)
    assert entering.isAccepted()
    QApplication.sendEvent(opened.chooser, QDropEvent(place, action, data, left, none))
    opened.wait_chosen("mine/lamp")


def test_a_file_added_by_the_menu_is_read_again_when_it_was_edited_and_can_be_removed(
    opened: Opened, qtbot: QtBot, tmp_path, monkeypatch
):
    picking(monkeypatch, task_file(tmp_path))
    opened.chooser.file_button.click()
    opened.wait_chosen("mine/lamp")
    opened.chooser.reject()
    task_file(tmp_path, "mine.toml", "lamp", "chair")
    qtbot.waitUntil(lambda: opened.chooser.model.index_of("mine/chair").isValid())
    path = task_file(tmp_path)
    picking(monkeypatch, path)
    opened.chooser.file_button.click()
    opened.wait_chosen("mine/lamp")
    opened.chooser.files.remove_buttons[-1].click()
    qtbot.waitUntil(lambda: not opened.chooser.model.index_of("mine/lamp").isValid())
    opened.wait_for_message("removed from the list")
    assert load_settings().task_files == ()
    assert path.exists()


def test_a_remembered_file_that_is_gone_is_one_warning_in_the_log(opened: Opened, qtbot: QtBot, tmp_path):
    qtbot.waitUntil(lambda: opened.window.log.model.total == 1)
    opened.announce()
    qtbot.waitUntil(lambda: opened.chooser.tabs.tabText(2) == "Task files (1) · 1 problem")
    assert opened.window.log.model.total == 1
    assert not opened.window.page.messages.shown
    assert len(opened.chooser.files.remove_buttons) == 1


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


def test_tasks_that_are_not_supported_are_counted_and_told_with_their_place(
    opened: Opened, tmp_path, monkeypatch
):
    path = config_file(tmp_path, "partly.json", 4)
    good = json.loads(path.read_text())
    good = good[0] if isinstance(good, list) else good
    bad = good | {"task_id": 5, "eval": {"eval_types": ["page_image_query"]}}
    path.write_text(json.dumps([good, bad], indent=1))
    picking(monkeypatch, path)
    opened.chooser.file_button.click()
    opened.wait_chosen("webarena/4")
    opened.wait_for_message("1 task, 1 more not supported (see Task files)")
    assert opened.chooser.counted.text().endswith("1 not supported (see Task files)")
    said = [label.text() for label in opened.chooser.files.findChildren(NoteLabel)]
    assert any("webarena/5 is not supported (partly.json, line " in one for one in said)
