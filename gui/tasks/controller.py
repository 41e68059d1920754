"""The user's task files in the task chooser: chosen, added and removed."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog

from core.debugger.tasks.views import TaskFilesAnswer
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.task_chooser.chooser import TaskChooser

if TYPE_CHECKING:
    from core.debugger.tasks.service import TaskFilesService

_TYPES = "Task files and WebArena configurations (*.toml *.json);;All files (*)"


class TaskFilesController(FeatureController):
    """Asks for files and folders, passes them on, and shows the results."""

    def __init__(self, window: MainWindow, service: "TaskFilesService") -> None:
        super().__init__(window)
        self._service = service
        self._chooser: TaskChooser | None = None
        self._folder = ""
        """The folder of the last file."""
        window.tasks.chooser_made.connect(self._on_chooser)
        window.tasks.chooser_opened.connect(service.refresh)
        self.follow(service.changed, self._show_answer)

    @Slot(object)
    def _on_chooser(self, chooser: TaskChooser) -> None:
        self._chooser = chooser
        chooser.file_requested.connect(self._on_file)
        chooser.folder_requested.connect(self._on_folder)
        chooser.add_requested.connect(self._service.add)
        chooser.remove_requested.connect(self._service.remove)

    @Slot()
    def _on_file(self) -> None:
        paths, _type = QFileDialog.getOpenFileNames(
            self._chooser, "Add tasks from a file", self._folder, _TYPES
        )
        self._add(tuple(paths))

    @Slot()
    def _on_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(
            self._chooser, "Add WebArena configurations from a folder", self._folder
        )
        self._add((path,) if path else ())

    def _add(self, paths: tuple[str, ...]) -> None:
        if paths:
            self._folder = paths[0].replace("\\", "/").rpartition("/")[0]
            self._service.add(paths)

    @Slot(object)
    def _show_answer(self, answer: TaskFilesAnswer) -> None:
        if self._chooser is not None:
            self._chooser.show_answer(answer)


install = TaskFilesController
