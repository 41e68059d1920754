"""The task chooser: a search over all tasks, a seed, or any page of the web."""

import random
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QPainter
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
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from core.debugger.snapshots import Catalogue
from core.task import Task
from gui.remembered import OpenedTask
from gui.theme import Theme
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.formats import count
from gui.widgets.search_field import SearchField
from gui.widgets.words import OrWords, Words, set_flag, set_tone

OPEN_TASK = "web/open"
TASK = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_MOST_TAGS = 14
_LARGEST_SEED = 2**31 - 1


class TaskList(QAbstractListModel):
    """The tasks that have all the words and all the tags, in the catalogue's order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: tuple[Task, ...] = ()
        self._rows: list[Task] = []

    def show_tasks(self, tasks: tuple[Task, ...]) -> None:
        self._tasks = tuple(task for task in tasks if task.id != OPEN_TASK)

    @property
    def total(self) -> int:
        return len(self._tasks)

    def find(self, search: str, tags: set[str]) -> None:
        words = search.lower().split()
        self.beginResetModel()
        self._rows = [
            task
            for task in self._tasks
            if tags <= {task.environment, *task.tags}
            and all(word in f"{task.id} {task.instruction} {' '.join(task.tags)}".lower() for word in words)
        ]
        self.endResetModel()

    def task(self, index: Index) -> Task | None:
        return self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None

    def index_of(self, task: str) -> QModelIndex:
        return next((self.index(at) for at, row in enumerate(self._rows) if row.id == task), QModelIndex())

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        task = self.task(index)
        if task is None:
            return None
        if role == TASK:
            return task
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{task.id}\n{task.instruction}\n{', '.join(task.tags)}"
        return f"{task.id}: {task.instruction}" if role == Qt.ItemDataRole.DisplayRole else None


class _Delegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(240, 44)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        task: Task | None = index.data(TASK)
        if task is None:
            return
        rect: QRect = option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._theme.colour("selected"))
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), self._theme.colour("agent"))
        upper = QRect(rect.left() + 12, rect.top() + 4, rect.width() - 24, 19)
        lower = upper.translated(0, 18)
        left = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(self._theme.small_font())
        painter.setPen(self._theme.colour("dim"))
        tags = ", ".join(task.tags[:4])
        tags = painter.fontMetrics().elidedText(tags, Qt.TextElideMode.ElideRight, upper.width() // 2)
        painter.drawText(upper, right, tags)
        painter.setPen(self._theme.colour("dim"))
        words = task.instruction or "The seed decides the instruction."
        painter.setFont(self._theme.text_font())
        cut = painter.fontMetrics().elidedText(
            words.replace("\n", " "), Qt.TextElideMode.ElideRight, lower.width()
        )
        painter.drawText(lower, left, cut)
        painter.setFont(self._theme.text_font(bold=True))
        painter.setPen(self._theme.colour("text"))
        painter.drawText(upper, left, task.id)
        painter.restore()


class TaskChooser(QDialog):
    """Chooses a task and a seed, or a URL and an instruction; Enter opens."""

    opened = Signal(object)
    """The `OpenedTask` to open."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("New task")
        self._catalogue: Catalogue | None = None
        self._chips: dict[str, QPushButton] = {}
        self.model = TaskList(self)
        self.tabs = QTabWidget(self)
        self.tabs.addTab(self._tasks_tab(theme), "Tasks")
        self.tabs.addTab(self._web_tab(theme), "The open web")
        self.tabs.currentChanged.connect(self._refresh)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.open_button = buttons.addButton("Open", QDialogButtonBox.ButtonRole.AcceptRole)
        set_flag(self.open_button, "accent", True)
        self.open_button.setToolTip("Open it in a clean profile; a run under way is ended as stopped (Enter)")
        self.open_button.setDefault(True)
        buttons.accepted.connect(self._on_open)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 14, 12)
        layout.setSpacing(10)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(buttons)
        self.resize(680, 580)
        self._find()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Offer these tasks."""
        if catalogue is self._catalogue:
            return
        self._catalogue = catalogue
        self.model.show_tasks(catalogue.tasks)
        self._fill_chips(catalogue.tasks)
        self._find()

    def show_chosen(self, opened: OpenedTask | None) -> None:
        """Begin at this task; focus goes to the search."""
        if opened is not None and opened.task == OPEN_TASK:
            self.url.setText(opened.url)
            self.instruction.setPlainText(opened.instruction)
        elif opened is not None:
            self.seed.setValue(opened.seed)
            index = self.model.index_of(opened.task)
            if index.isValid():
                self.list.setCurrentIndex(index)
                self.list.scrollTo(index, QListView.ScrollHint.PositionAtCenter)
        self.search.setFocus()
        self.search.selectAll()

    def _tasks_tab(self, theme: Theme) -> QWidget:
        tab = QWidget(self)
        self.search = SearchField(theme, "Search by name, instruction or tag", tab)
        self.search.textChanged.connect(self._find)
        self.search.next_wanted.connect(self._on_open)
        self.search.installEventFilter(self)
        chips = QWidget(tab)
        self._chip_row = FlowLayout(chips)
        self.list = QListView(tab)
        self.list.setModel(self.model)
        self.list.setItemDelegate(_Delegate(theme, tab))
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
        form.addRow(
            Words(
                "Nobody judges this task: when the run ends you say whether it succeeded. "
                "The page opens in a clean profile, without your logins.",
                tab,
            )
        )
        return tab

    def _fill_chips(self, tasks: tuple[Task, ...]) -> None:
        while self._chip_row.count():
            item = self._chip_row.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.deleteLater()
        counts: dict[str, int] = {}
        for task in tasks:
            for tag in {task.environment, *task.tags}:
                counts[tag] = counts.get(tag, 0) + 1
        listed = sum(1 for task in tasks if task.id != OPEN_TASK)
        useful = [tag for tag, number in counts.items() if 1 < number < listed]
        useful.sort(key=lambda tag: (-counts[tag], tag))
        self._chips = {}
        for tag in sorted(useful[:_MOST_TAGS]):
            chip = QPushButton(f"{tag} {counts[tag]}")
            chip.setCheckable(True)
            chip.setAutoDefault(False)
            chip.setProperty("chip", True)
            chip.setAccessibleName(f"Only tasks tagged {tag}")
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
        if self.tabs.currentIndex() == 1:
            url, instruction = self.url.text().strip(), self.instruction.toPlainText().strip()
            return (
                OpenedTask(task=OPEN_TASK, url=url, instruction=instruction) if url and instruction else None
            )
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
