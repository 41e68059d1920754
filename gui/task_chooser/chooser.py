"""The task chooser: a search over all tasks, a seed, any page of the web, and one's own files of tasks."""

import random

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.debugger.snapshots import Catalogue
from core.debugger.tasks.views import TaskFilesAnswer
from core.environments.own_tasks import TaskSource
from gui.task_chooser.files_tab import FilesAnswer, TaskFilesTab
from gui.task_chooser.list import OPEN_TASK, TaskList, TaskRows
from gui.task_chooser.profile_choice import ProfileChoice
from gui.theme.theme import Theme
from gui.widgets.formats import count
from gui.widgets.layouts import FlowLayout
from gui.widgets.remembered import OpenedTask
from gui.widgets.search import SearchField
from gui.widgets.words import EmptyText, OrWords, set_flag, set_tone

_MOST_TAGS = 14
_LARGEST_SEED = 2**31 - 1
_TASKS, _WEB, _FILES = range(3)


class TaskChooser(QDialog):
    """Chooses a task and a seed, or a URL and an instruction; Enter opens."""

    opened = Signal(object)
    """The `OpenedTask` to open."""
    file_requested = Signal()
    """A file of tasks is to be asked for."""
    folder_requested = Signal()
    add_requested = Signal(object)
    """A tuple of paths that were dropped here."""
    remove_requested = Signal(str)
    """The path of a file whose tasks are not wanted."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("New task")
        self._catalogue: Catalogue | None = None
        self._chips: dict[str, QPushButton] = {}
        self.model = TaskList(self)
        self.tabs = QTabWidget(self)
        self.tabs.addTab(self._tasks_tab(theme), "Tasks")
        self.tabs.addTab(self._web_tab(theme), "The open web")
        self.files = TaskFilesTab(theme, self)
        self.files.remove_requested.connect(self.remove_requested)
        self.tabs.addTab(self.files, "Task files")
        self.tabs.currentChanged.connect(self._refresh)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.open_button = buttons.addButton("Open", QDialogButtonBox.ButtonRole.AcceptRole)
        set_flag(self.open_button, "accent", True)
        self.open_button.setToolTip("Open it; a run under way is ended as stopped (Enter)")
        self.open_button.setDefault(True)
        buttons.accepted.connect(self._on_open)
        buttons.rejected.connect(self.reject)
        self.answer = FilesAnswer(self)
        self._wanted = ""
        """A task that was just added and is to be chosen when the catalogue has it."""
        foot = QHBoxLayout()
        self.file_button = self._add_button(
            "Add tasks from a file…",
            "A task file (TOML or JSON) or WebArena's configuration; it is remembered",
            "Ctrl+O",
        )
        self.file_button.clicked.connect(self.file_requested)
        self.folder_button = self._add_button(
            "From a folder…", "A folder of WebArena's 0.json, 1.json …; it is remembered", "Ctrl+Shift+O"
        )
        self.folder_button.clicked.connect(self.folder_requested)
        foot.addWidget(self.file_button)
        foot.addWidget(self.folder_button)
        foot.addWidget(buttons, 1)
        self.setAcceptDrops(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 14, 12)
        layout.setSpacing(10)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.answer)
        layout.addLayout(foot)
        self.resize(720, 600)
        self._find()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these tasks."""
        if catalogue is self._catalogue:
            return
        self._catalogue = catalogue
        self.model.show_tasks(catalogue.tasks, catalogue.sources)
        self._fill_chips(catalogue)
        self.profile.show_names(catalogue.profiles)
        self._find()
        self._show_sources(catalogue.sources)
        self._choose_wanted()

    def show_answer(self, answer: TaskFilesAnswer | None) -> None:
        """Say what became of adding or removing files, and choose the first task that was added."""
        self.answer.say(answer)
        self._wanted = answer.task if answer is not None else ""
        self._choose_wanted()

    def show_chosen(self, opened: OpenedTask | None) -> None:
        """Begin at this task; focus goes to the search."""
        self.show_answer(None)
        if opened is not None and opened.task == OPEN_TASK:
            self.url.setText(opened.url)
            self.instruction.setPlainText(opened.instruction)
            self.profile.show_chosen(opened.profile)
        elif opened is not None:
            self.seed.setValue(opened.seed)
            self._choose(opened.task)
        self.search.setFocus()
        self.search.selectAll()

    def _choose(self, task: str) -> bool:
        index = self.model.index_of(task)
        if index.isValid():
            self.list.setCurrentIndex(index)
            self.list.scrollTo(index, QListView.ScrollHint.PositionAtCenter)
        return index.isValid()

    def _choose_wanted(self) -> None:
        if not self._wanted:
            return
        if not self.model.index_of(self._wanted).isValid():
            self.search.clear()
            for chip in self._chips.values():
                chip.setChecked(False)
        if self._choose(self._wanted):
            self._wanted = ""
            self.tabs.setCurrentIndex(_TASKS)

    def _show_sources(self, sources: tuple[TaskSource, ...]) -> None:
        self.files.show_sources(sources)
        bad = sum(1 for source in sources if source.problem)
        told = f"Task files ({len(sources)})" if sources else "Task files"
        self.tabs.setTabText(_FILES, f"{told} · {count(bad, 'problem')}" if bad else told)

    def _add_button(self, text: str, words: str, key: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.setShortcut(key)
        button.setToolTip(f"{words} ({key})")
        return button

    def _tasks_tab(self, theme: Theme) -> QWidget:
        tab = QWidget(self)
        self.search = SearchField(theme, "Search by name, instruction, tag or file", tab)
        self.search.textChanged.connect(self._find)
        self.search.next_wanted.connect(self._on_open)
        self.search.installEventFilter(self)
        chips = QWidget(tab)
        self._chip_row = FlowLayout(chips)
        self.list = QListView(tab)
        self.list.setModel(self.model)
        self.list.setItemDelegate(TaskRows(theme, tab))
        self.list.setUniformItemSizes(True)
        self.list.setAccessibleName("Tasks")
        self.list.doubleClicked.connect(self._on_open)
        self.list.selectionModel().currentChanged.connect(self._refresh)
        self.or_words = OrWords(self.list, tab)
        self.counted = QLabel(tab)
        self.counted.setFont(theme.small_font())
        set_tone(self.counted, "dim")
        self.seed = QSpinBox(tab)
        self.seed.setRange(0, _LARGEST_SEED)
        self.seed.setAccessibleName("Seed")
        self.seed.setToolTip("The same seed gives the same page")
        self.seed.setMinimumWidth(110)
        self.dice = QToolButton(tab)
        self.dice.setText("Random")
        self.dice.setIcon(theme.icon("sync"))
        self.dice.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.dice.setShortcut("Alt+R")
        self.dice.setToolTip("A random seed (Alt+R)")
        self.dice.clicked.connect(lambda: self.seed.setValue(random.randrange(10_000)))
        foot = QHBoxLayout()
        foot.addWidget(self.counted, 1)
        foot.addWidget(QLabel("Seed", tab))
        foot.addWidget(self.seed)
        foot.addWidget(self.dice)
        column = QVBoxLayout(tab)
        column.setContentsMargins(12, 12, 12, 10)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(chips)
        column.addWidget(self.or_words, 1)
        column.addLayout(foot)
        return tab

    def _web_tab(self, theme: Theme) -> QWidget:
        tab = QWidget(self)
        self.url = QLineEdit(tab)
        self.url.setPlaceholderText("https://example.org")
        self.url.setAccessibleName("URL")
        self.url.textChanged.connect(self._refresh)
        self.instruction = QPlainTextEdit(tab)
        self.instruction.setProperty("framed", True)
        self.instruction.setPlaceholderText("What is to be done there, as you would tell a person")
        self.instruction.setAccessibleName("Instruction")
        self.instruction.setTabChangesFocus(True)
        self.instruction.setMaximumHeight(120)
        self.instruction.textChanged.connect(self._refresh)
        form = QFormLayout(tab)
        form.setContentsMargins(12, 14, 12, 10)
        form.setVerticalSpacing(10)
        form.setHorizontalSpacing(14)
        form.addRow("URL", self.url)
        form.addRow("Instruction", self.instruction)
        self.profile = ProfileChoice(tab)
        self.profile.changed.connect(self._refresh)
        form.addRow("Profile", self.profile)
        form.addRow(
            EmptyText(
                "Nobody judges this task: when the run ends you say whether it succeeded. "
                "To log in, take the page with F6; a named profile keeps the login for the next run.",
                tab,
            )
        )
        return tab

    def _fill_chips(self, catalogue: Catalogue) -> None:
        checked = {tag for tag, chip in self._chips.items() if chip.isChecked()}
        while self._chip_row.count():
            item = self._chip_row.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.deleteLater()
        counts: dict[str, int] = {}
        for task in catalogue.tasks:
            for tag in {task.environment, *task.tags}:
                counts[tag] = counts.get(tag, 0) + 1
        listed = sum(1 for task in catalogue.tasks if task.id != OPEN_TASK)
        own = {task.partition("/")[0] for source in catalogue.sources for task in source.tasks}
        useful = [tag for tag, number in counts.items() if tag in own or 1 < number < listed]
        useful.sort(key=lambda tag: (tag not in own, -counts[tag], tag))
        self._chips = {}
        for tag in sorted(useful[:_MOST_TAGS]):
            chip = QPushButton(f"{tag} {counts[tag]}")
            chip.setCheckable(True)
            chip.setAutoDefault(False)
            chip.setProperty("chip", True)
            chip.setAccessibleName(f"Only tasks tagged {tag}")
            chip.setChecked(tag in checked)
            chip.toggled.connect(self._find)
            self._chip_row.addWidget(chip)
            self._chips[tag] = chip

    def _find(self) -> None:
        before = self.model.task(self.list.currentIndex())
        self.model.find(self.search.text(), {tag for tag, chip in self._chips.items() if chip.isChecked()})
        shown = self.model.rowCount()
        index = self.model.index_of(before.id) if before else QModelIndex()
        self.list.setCurrentIndex(index if index.isValid() else self.model.index(0))
        if not self.model.total:
            self.or_words.say("The tasks are still being listed…")
        else:
            self.or_words.say("" if shown else "No task has all of these words and tags.")
        self.counted.setText(
            count(shown, "task")
            if shown == self.model.total
            else f"{shown} of {count(self.model.total, 'task')}"
        )
        self._refresh()

    def _refresh(self) -> None:
        if hasattr(self, "open_button"):
            self.open_button.setEnabled(self._chosen() is not None)
            task = self.model.task(self.list.currentIndex())
            seeded = task is None or task.seeded
            self.seed.setEnabled(seeded)
            self.dice.setEnabled(seeded)

    def _chosen(self) -> OpenedTask | None:
        if self.tabs.currentIndex() == _FILES:
            return None
        if self.tabs.currentIndex() == _WEB:
            url, instruction = self.url.text().strip(), self.instruction.toPlainText().strip()
            if not (url and instruction and self.profile.usable):
                return None
            return OpenedTask(task=OPEN_TASK, url=url, instruction=instruction, profile=self.profile.value)
        task = self.model.task(self.list.currentIndex())
        return OpenedTask(task=task.id, seed=self.seed.value() if task.seeded else 0) if task else None

    def _on_open(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self.accept()
            self.opened.emit(chosen)

    def eventFilter(self, watched, event) -> bool:  # type: ignore[no-untyped-def]
        if watched is self.search and event.type() == event.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}.get(
                event.key()
            )
            if step is not None:
                row = min(max(0, self.list.currentIndex().row() + step), self.model.rowCount() - 1)
                self.list.setCurrentIndex(self.model.index(row))
                return True
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := _dropped(event):
            event.acceptProposedAction()
            self.add_requested.emit(paths)


def _dropped(event: QDropEvent) -> tuple[str, ...]:
    return tuple(url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile())
