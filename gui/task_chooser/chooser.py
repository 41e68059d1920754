"""The task chooser: a search over all tasks, a seed, any web page, and the user's own task files."""

import random
from collections import Counter

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QTabWidget,
    QToolButton,
    QWidget,
)

from core.browser.host import name_problem
from core.debugger.catalogue import Catalogue
from core.debugger.tasks.views import TaskFilesAnswer
from core.environments.web import OPEN_TASK
from core.schema.formats import count
from core.schema.task import TaskSource
from gui.task_chooser.lists import FilesAnswer, TaskFilesTab, TaskList, TaskRows
from gui.theme.theme import Theme
from gui.widgets.buttons import ICON_BESIDE_TEXT, key_button
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import FlowLayout, in_column, in_row
from gui.widgets.remembered import OpenedTask
from gui.widgets.search import SearchField
from gui.widgets.words import EmptyText, OrWords, labelled, set_flag, set_tone

_CLEAN, _NEW = "Clean, without logins", "A new profile that keeps logins…"
_MOST_TAGS = 14
_LARGEST_SEED = 2**31 - 1
_TASKS, _WEB, _FILES = range(3)
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
"""How far a key in the search field moves in the list."""
_NO_JUDGE = (
    "This task has no judge: when the run ends, you say whether it succeeded. "
    "To log in, take over the page with F6. A named profile keeps the login for the next run."
)


class ProfileChoice(QWidget):
    """Holds a profile's name; an empty one is a clean profile."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        keeps = "A named profile keeps cookies and logins from one run to the next"
        self.box = labelled(QComboBox(self), "Profile", keeps)
        self.box.currentIndexChanged.connect(self._on_changed)
        self.line = labelled(QLineEdit(self), "Name of the new profile")
        self.line.setPlaceholderText("Its name, such as work")
        self.line.textChanged.connect(self._on_changed)
        self.note = EmptyText(parent=self, tone="bad")
        self.note.setContentsMargins(0, 0, 0, 0)
        row = in_row(None, self.box, (self.line, 1), 0, spacing=8)
        in_column(self, row, self.note)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setFocusProxy(self.box)
        self.show_names(())

    @property
    def value(self) -> str:
        """The profile's name, or an empty string for a clean one; meaningless if there is a problem."""
        return self.line.text().strip() if self._is_new else str(self.box.currentData() or "")

    @property
    def usable(self) -> bool:
        return not self._is_new or not name_problem(self.line.text().strip())

    def show_names(self, names: tuple[str, ...]) -> None:
        """Offer these in addition to a clean and a new one; the current choice is kept if possible."""
        chosen = self.value
        self._names = names
        with QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItem(_CLEAN, "")
            for name in names:
                self.box.addItem(name, name)
            self.box.addItem(_NEW)
        self.show_chosen(chosen)

    def show_chosen(self, name: str) -> None:
        """Choose this profile; one that does not exist yet is a new one."""
        if not name or name in self._names:
            self.line.clear()
            self.box.setCurrentIndex(self.box.findData(name))
        else:
            self.box.setCurrentIndex(self.box.count() - 1)
            self.line.setText(name)
        self._on_changed()

    @property
    def _is_new(self) -> bool:
        return self.box.count() > 0 and self.box.currentIndex() == self.box.count() - 1

    def _on_changed(self) -> None:
        self.line.setVisible(self._is_new)
        name = self.line.text().strip()
        problem = name_problem(name) if self._is_new and name else ""
        self.note.setText(problem)
        self.note.setVisible(bool(problem))
        set_flag(self.line, "wrong", bool(problem))
        self.changed.emit()


class TaskChooser(QDialog):
    """Chooses a task and a seed, or a URL and an instruction; Enter opens."""

    opened = Signal(object)
    """The `OpenedTask` to open."""
    file_requested = Signal()
    """Ask for a file of tasks."""
    folder_requested = Signal()
    add_requested = Signal(object)
    """A tuple of paths that were dropped here."""
    remove_requested = Signal(str)
    """The path of a file whose tasks to remove."""

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
        self.open_button.setToolTip("Open the task. A run in progress is stopped (Enter)")
        self.open_button.setDefault(True)
        buttons.accepted.connect(self._on_open)
        buttons.rejected.connect(self.reject)
        self.answer = FilesAnswer(self)
        self._wanted = ""
        """A task that was just added, to choose when the catalogue contains it."""
        file = "Add a task file (TOML or JSON) or a WebArena configuration. It is remembered"
        folder = "Add a folder of WebArena's 0.json, 1.json …. It is remembered"
        self.file_button = key_button(
            "Add tasks from a file…", file, "Ctrl+O", self.file_requested.emit, self
        )
        self.folder_button = key_button(
            "From a folder…", folder, "Ctrl+Shift+O", self.folder_requested.emit, self
        )
        foot = in_row(None, self.file_button, self.folder_button, (buttons, 1))
        self.setAcceptDrops(True)
        in_column(self, (self.tabs, 1), self.answer, foot, margins=(14, 12, 14, 12), spacing=10)
        theme.size_window(self, 720, 600)
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
        """Show the result of adding or removing files, and choose the first added task."""
        self.answer.say(answer)
        self._wanted = answer.task if answer is not None else ""
        self._choose_wanted()

    def show_chosen(self, opened: OpenedTask | None) -> None:
        """Start at this task; the search gets the focus."""
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
        title = f"Task files ({len(sources)})" if sources else "Task files"
        self.tabs.setTabText(_FILES, f"{title} · {count(bad, 'problem')}" if bad else title)

    def _tasks_tab(self, theme: Theme) -> QWidget:
        tab = QWidget(self)
        self.search = SearchField(theme, "Search by name, instruction, tag or file", tab)
        self.search.textChanged.connect(self._find)
        self.search.next_wanted.connect(self._on_open)
        self.search.installEventFilter(self)
        chips = QWidget(tab)
        self._chip_row = FlowLayout(chips)
        self.list = labelled(QListView(tab, uniformItemSizes=True), "Tasks")
        self.list.setModel(self.model)
        self.list.setItemDelegate(TaskRows(theme, tab))
        RowMenu(self.list)
        self.list.doubleClicked.connect(self._on_open)
        self.list.selectionModel().currentChanged.connect(self._refresh)
        self.or_words = OrWords(self.list, tab)
        self.counted = QLabel(tab)
        self.counted.setFont(theme.small_font())
        set_tone(self.counted, "dim")
        self.seed = labelled(QSpinBox(tab), "Seed", "The same seed gives the same page")
        self.seed.setRange(0, _LARGEST_SEED)
        self.seed.setMinimumWidth(110)
        self.dice = QToolButton(tab, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.dice.setText("Random")
        self.dice.setIcon(theme.icon("sync"))
        self.dice.setIconSize(ICON_BESIDE_TEXT)
        self.dice.setShortcut("Alt+R")
        self.dice.setToolTip("A random seed (Alt+R)")
        self.dice.clicked.connect(lambda: self.seed.setValue(random.randrange(10_000)))
        foot = in_row(None, (self.counted, 1), QLabel("Seed", tab), self.seed, self.dice)
        in_column(tab, self.search, chips, (self.or_words, 1), foot, margins=(12, 12, 12, 10), spacing=8)
        return tab

    def _web_tab(self, theme: Theme) -> QWidget:
        tab = QWidget(self)
        self.url = labelled(QLineEdit(tab, placeholderText="https://example.org"), "URL")
        self.url.textChanged.connect(self._refresh)
        self.instruction = labelled(QPlainTextEdit(tab, tabChangesFocus=True), "Instruction")
        self.instruction.setProperty("framed", True)
        self.instruction.setPlaceholderText("What to do there, as you would tell a person")
        self.instruction.setMaximumHeight(120)
        self.instruction.textChanged.connect(self._refresh)
        form = QFormLayout(tab, verticalSpacing=10, horizontalSpacing=14)
        form.setContentsMargins(12, 14, 12, 10)
        self.profile = ProfileChoice(tab)
        self.profile.changed.connect(self._refresh)
        form.addRow("URL", self.url)
        form.addRow("Instruction", self.instruction)
        form.addRow("Profile", self.profile)
        form.addRow(EmptyText(_NO_JUDGE, tab))
        return tab

    def _fill_chips(self, catalogue: Catalogue) -> None:
        checked = {tag for tag, chip in self._chips.items() if chip.isChecked()}
        for chip in self._chips.values():
            self._chip_row.removeWidget(chip)
            chip.deleteLater()
        counts = Counter(tag for task in catalogue.tasks for tag in {task.environment, *task.tags})
        listed = sum(1 for task in catalogue.tasks if task.id != OPEN_TASK)
        own = {task.partition("/")[0] for source in catalogue.sources for task in source.tasks}
        useful = [tag for tag, number in counts.items() if tag in own or 1 < number < listed]
        useful.sort(key=lambda tag: (tag not in own, -counts[tag], tag))
        self._chips = {}
        for tag in sorted(useful[:_MOST_TAGS]):
            chip = labelled(QPushButton(f"{tag} {counts[tag]}"), f"Only tasks tagged {tag}")
            chip.setCheckable(True)
            chip.setAutoDefault(False)
            chip.setProperty("chip", True)
            chip.setChecked(tag in checked)
            chip.toggled.connect(self._find)
            self._chip_row.addWidget(chip)
            self._chips[tag] = chip

    def _find(self) -> None:
        before = self.model.row(self.list.currentIndex())
        self.model.find(self.search.text(), {tag for tag, chip in self._chips.items() if chip.isChecked()})
        shown = self.model.rowCount()
        named = self.model.is_named(self.search.text())
        index = self.model.index_of(before.id) if before and not named else QModelIndex()
        self.list.setCurrentIndex(index if index.isValid() else self.model.index(0))
        if not self.model.total:
            self.or_words.say("Listing the tasks…")
        else:
            self.or_words.say("" if shown else "No task matches all of these words and tags.")
        sources = self._catalogue.sources if self._catalogue is not None else ()
        unsupported = sum(len(source.unsupported) for source in sources)
        counted = count(self.model.total, "task")
        counted = counted if shown == self.model.total else f"{shown} of {counted}"
        self.counted.setText(
            f"{counted} · {unsupported} not supported (see Task files)" if unsupported else counted
        )
        self._refresh()

    def _refresh(self) -> None:
        if hasattr(self, "open_button"):
            self.open_button.setEnabled(self._chosen() is not None)
            task = self.model.row(self.list.currentIndex())
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
        task = self.model.row(self.list.currentIndex())
        return OpenedTask(task=task.id, seed=self.seed.value() if task.seeded else 0) if task else None

    def _on_open(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self.accept()
            self.opened.emit(chosen)

    def eventFilter(self, watched, event) -> bool:  # type: ignore[no-untyped-def]
        pressed = watched is self.search and event.type() == event.Type.KeyPress
        if not pressed or event.key() not in _STEPS:
            return super().eventFilter(watched, event)
        row = self.list.currentIndex().row() + _STEPS[event.key()]
        self.list.setCurrentIndex(self.model.index(min(max(0, row), self.model.rowCount() - 1)))
        return True

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _dropped(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := _dropped(event):
            event.acceptProposedAction()
            self.add_requested.emit(paths)


def _dropped(event: QDropEvent) -> tuple[str, ...]:
    return tuple(url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile())
