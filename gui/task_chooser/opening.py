"""How a task comes to be opened: from the chooser, the welcome, the recent ones, or once more."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.snapshots import Catalogue, SessionView
from gui.task_chooser.chooser import TaskChooser
from gui.task_chooser.welcome import Welcome, WelcomeOffer
from gui.theme.theme import Theme
from gui.widgets.remembered import OpenedTask, Remembered

if TYPE_CHECKING:
    from core.debugger.session import Session


class TaskOpening(QObject):
    """Asks the session to open tasks and remembers which; its dialogs belong to `window`."""

    recent_changed = Signal(object)
    """The `OpenedTask`s opened last, newest first."""
    hinted = Signal(str, str)
    """A title and a hint for what was begun from the welcome."""
    settings_wanted = Signal()
    chooser_made = Signal(object)
    """The `TaskChooser`, when it is first asked for."""
    chooser_opened = Signal()

    def __init__(self, session: "Session", remembered: Remembered, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._remembered = remembered
        self._theme = theme
        self._window = window
        self._catalogue = Catalogue()
        self._view = SessionView()
        self.chooser: TaskChooser | None = None
        """Made when it is first asked for, as is the welcome."""
        self.welcome: Welcome | None = None

    def show_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        if self.chooser is not None:
            self.chooser.show_catalogue(catalogue)

    def show_session(self, view: SessionView) -> None:
        self._view = view

    @Slot(object)
    def open_task(self, opened: OpenedTask) -> None:
        """Open a task and remember it as the last one."""
        self._remembered.add_recent(opened)
        self.recent_changed.emit(self._remembered.recent)
        self._session.tasks.open(
            opened.task,
            opened.seed,
            url=opened.url,
            instruction=opened.instruction,
            profile=opened.profile,
        )

    @Slot()
    def choose_task(self) -> None:
        """Open the task chooser."""
        if self.chooser is None:
            self.chooser = TaskChooser(self._theme, self._window)
            self.chooser.opened.connect(self.open_task)
            self.chooser_made.emit(self.chooser)
        self.chooser.show_catalogue(self._catalogue)
        self.chooser.show_chosen(self._remembered.last_task)
        self.chooser.open()
        self.chooser_opened.emit()

    @Slot()
    def add_tasks(self) -> None:
        """Open the task chooser and ask for a file of tasks."""
        self.choose_task()
        if self.chooser is not None:
            self.chooser.file_requested.emit()

    @Slot()
    def open_again(self) -> None:
        """Open the same task with the same seed."""
        self._reopen(self._view.seed)

    @Slot()
    def open_next_seed(self) -> None:
        """Open the same task with the next seed."""
        self._reopen(self._view.seed + 1)

    @Slot()
    def show_welcome(self) -> None:
        if self.welcome is None:
            self.welcome = Welcome(self._theme, self._window)
            self.welcome.tried.connect(self._on_tried)
            self.welcome.seen.connect(self._on_welcome_seen)
        self.welcome.show()
        self.welcome.raise_()

    def welcome_at_first_start(self) -> None:
        """Show the welcome unless it was seen and not asked for again."""
        if not self._remembered.welcome_seen:
            self.show_welcome()

    def _reopen(self, seed: int) -> None:
        last = self._remembered.last_task
        if last is not None and last.task == self._view.task:
            self.open_task(last.replace(seed=seed))
        else:
            self.open_task(OpenedTask(task=self._view.task, seed=seed))

    def _on_welcome_seen(self, show_again: bool) -> None:
        self._remembered.welcome_seen = not show_again

    def _on_tried(self, trial: WelcomeOffer) -> None:
        if trial.opens is None:
            self.settings_wanted.emit()
            return
        self._session.agent.set_llm("rules")
        self.open_task(trial.opens)
        self.hinted.emit(trial.title, trial.hint)
