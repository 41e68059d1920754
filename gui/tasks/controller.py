"""Joins the task chooser to the desk that adds, reads and removes files of tasks."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog

from core.debugger.commands import TaskDeskAnswer, TaskDeskCommands
from gui.tasks.chooser import TaskChooser
from gui.tasks.opening import TaskOpening
from gui.widgets.relay import Relay

_TYPES = "Task files and WebArena's configuration (*.toml *.json);;All files (*)"


class TaskFiles(QObject):
    """Asks for files and folders, sends them to the desk, and shows what it answers."""

    def __init__(self, desk: TaskDeskCommands, tasks: TaskOpening) -> None:
        super().__init__(tasks)
        self._desk = desk
        self._chooser: TaskChooser | None = None
        self._folder = ""
        """Where the last file was found."""
        tasks.chooser_made.connect(self._on_chooser)
        tasks.chooser_opened.connect(desk.refresh)
        self._answered = Relay(desk.answered, keep="latest", parent=self)
        self._answered.received.connect(self._show_answer)

    @Slot(object)
    def _on_chooser(self, chooser: TaskChooser) -> None:
        self._chooser = chooser
        chooser.file_requested.connect(self._on_file)
        chooser.folder_requested.connect(self._on_folder)
        chooser.add_requested.connect(self._desk.add)
        chooser.remove_requested.connect(self._desk.remove)

    @Slot()
    def _on_file(self) -> None:
        paths, _type = QFileDialog.getOpenFileNames(
            self._chooser, "Add tasks from a file", self._folder, _TYPES
        )
        self._add(tuple(paths))

    @Slot()
    def _on_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(
            self._chooser, "Add WebArena's configuration from a folder", self._folder
        )
        self._add((path,) if path else ())

    def _add(self, paths: tuple[str, ...]) -> None:
        if paths:
            self._folder = paths[0].replace("\\", "/").rpartition("/")[0]
            self._desk.add(paths)

    @Slot(object)
    def _show_answer(self, answer: TaskDeskAnswer) -> None:
        if self._chooser is not None:
            self._chooser.show_answer(answer)
