"""The lists of the task chooser: tasks found by words and tags, and the user's own task files."""

from PySide6.QtCore import QModelIndex, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QStyle, QVBoxLayout, QWidget

from core.debugger.tasks.views import TaskFilesAnswer
from core.environments.web import OPEN_TASK
from core.schema.formats import count
from core.schema.task import Task, TaskSource
from core.system.program import COMMAND
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.item_views import RIGHT, ROW, Index, RowDelegate, RowsModel
from gui.widgets.layouts import in_column, in_row
from gui.widgets.words import ElidedLabel, EmptyText, NoteLabel, OrWords, labelled, set_tone

FILE = Qt.ItemDataRole.UserRole + 1
"""The name of the file that a task comes from, or an empty string."""
_GAP = 12
_HIGHEST_ANSWER = 130
_MOST_UNSUPPORTED = 50
_NO_FILES = "You have no task files yet. Add one below, or drop it here."
_ABOUT = (
    "A task file (TOML or JSON) or a WebArena configuration, a file or a folder of them. A file stays where "
    "it is. Changes to it apply the next time you open the chooser or one of its tasks."
)


class TaskList(RowsModel):
    """The tasks that match all the words and all the tags, in the catalogue's order."""

    def __init__(self, parent: QObject | None = None) -> None:
        text, tooltip = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole
        super().__init__({text: _line, tooltip: self._whole, FILE: self._file}, parent)
        self._tasks: tuple[Task, ...] = ()
        self._sources: dict[str, TaskSource] = {}

    def show_tasks(self, tasks: tuple[Task, ...], sources: tuple[TaskSource, ...] = ()) -> None:
        self._tasks = tuple(task for task in tasks if task.id != OPEN_TASK)
        self._sources = {task: source for source in sources for task in source.tasks}

    @property
    def total(self) -> int:
        return len(self._tasks)

    def find(self, search: str, tags: set[str]) -> None:
        """Show the tasks that match everything; a task with exactly that name comes first."""
        words = search.lower().split()
        tagged = [task for task in self._tasks if tags <= {task.environment, *task.tags}]
        found = [task for task in tagged if all(word in self._text(task) for word in words)]
        self.show_rows(sorted(found, key=lambda task: not _is_named(task, search)))

    def is_named(self, search: str) -> bool:
        """Return whether the first row is a task with exactly this name."""
        return bool(self.rows) and _is_named(self.rows[0], search)

    def index_of(self, task: str) -> QModelIndex:
        return next((self.index(at) for at, row in enumerate(self.rows) if row.id == task), QModelIndex())

    def _file(self, task: Task) -> str:
        source = self._sources.get(task.id)
        return source.name if source else ""

    def _whole(self, task: Task) -> str:
        source = self._sources.get(task.id)
        lines = (task.id, task.instruction, ", ".join(task.tags), f"From {source.path}" if source else "")
        return "\n".join(filter(None, lines))

    def _text(self, task: Task) -> str:
        return f"{task.id} {task.instruction} {' '.join(task.tags)} {self._file(task)}".lower()


def _is_named(task: Task, search: str) -> bool:
    return search.strip().lower() in (task.id.lower(), task.id.rpartition("/")[2].lower())


def _line(task: Task) -> str:
    return f"{task.id}: {task.instruction}"


class TaskRows(RowDelegate):
    """Draws a task: its id, its tags and its file on one line, the instruction below."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, QSize(240, 44), parent)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        task: Task | None = index.data(ROW)
        if task is None:
            return
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), self.theme.colour("agent"))
        upper = QRect(rect.left() + 12, rect.top() + 4, rect.width() - 24, self.theme.scaled(19))
        lower = upper.translated(0, upper.height() - 1)
        bold, small = self.theme.text_font(bold=True), self.theme.small_font()
        name = _cut(bold, task.id, upper.width() * 3 // 5)
        room = upper.width() - self.write(painter, upper, name, bold) - _GAP
        file = _cut(small, index.data(FILE) or "", room)
        wide = self.write(painter, upper, file, small, "dim", RIGHT)
        used = wide + _GAP if file else 0
        half = upper.width() - upper.width() // 2
        tags = upper.adjusted(max(half - used, upper.width() - room), 0, -used, 0)
        self.write(painter, tags, ", ".join(task.tags[:4]), small, "faint" if file else "dim", RIGHT)
        words = task.instruction or "The seed decides the instruction."
        self.write(painter, lower, words.replace("\n", " "), self.theme.text_font(), "dim")


def _cut(font: QFont, text: str, room: int) -> str:
    """Return a name or a file with its middle elided if the space is too small."""
    return QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideMiddle, max(room, 0))


class TaskFilesTab(QWidget):
    """Shows each file with its tasks, its path and its problem, and a button to remove it."""

    remove_requested = Signal(str)
    """The path of a file."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sources: tuple[TaskSource, ...] = ()
        self.remove_buttons: list[QPushButton] = []
        self._cards = QWidget(self)
        self._column = QVBoxLayout(self._cards)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        scroll = labelled(QScrollArea(self, widgetResizable=True), "Task files")
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._cards)
        self.or_words = OrWords(scroll, self, _NO_FILES)
        about = EmptyText(_ABOUT, self)
        about.setContentsMargins(0, 0, 0, 0)
        in_column(self, about, (self.or_words, 1), margins=(12, 12, 12, 10), spacing=10)

    def show_sources(self, sources: tuple[TaskSource, ...]) -> None:
        """Replace the list."""
        if sources == self._sources:
            return
        self._sources = sources
        while self._column.count():
            item = self._column.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.remove_buttons = []
        for source in sources:
            self._column.addWidget(self._card(source))
        self._column.addStretch(1)
        self.or_words.say("" if sources else _NO_FILES)

    def _card(self, source: TaskSource) -> QWidget:
        card = QFrame(self._cards)
        card.setProperty("card", True)
        name = ElidedLabel(source.name, card, mode=Qt.TextElideMode.ElideMiddle)
        name.setFont(self._theme.text_font(bold=True))
        name.setAccessibleName(f"Task file {source.name}")
        facts = QLabel(_facts(source), card)
        facts.setFont(self._theme.small_font())
        set_tone(facts, "dim")
        path = str(source.path)
        takes_out = "Remove its tasks from the list. The file itself is kept"
        remove = key_button("Remove", takes_out, "", lambda: self.remove_requested.emit(path), card)
        remove.setAccessibleName(f"Remove {source.name}")
        self.remove_buttons.append(remove)
        head = in_row(None, (name, 1), facts, remove, spacing=10)
        place = ElidedLabel(path, card, mode=Qt.TextElideMode.ElideMiddle)
        place.setFont(self._theme.machine_font())
        set_tone(place, "dim")
        column = in_column(card, head, place, margins=(12, 8, 10, 9), spacing=4)
        if source.problem:
            column.addWidget(NoteLabel("bad", f"✗ {source.problem}", card))
        if source.unsupported:
            column.addWidget(NoteLabel("dim", _unsupported(source), card))
        return card


class FilesAnswer(QScrollArea):
    """The result of the last request, with a mark; hidden if there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.words = NoteLabel("good", parent=self)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setWidget(self.words)
        self.hide()

    def say(self, answer: TaskFilesAnswer | None) -> None:
        """Show an answer, or hide if it is empty."""
        self.setVisible(answer is not None)
        if answer is None:
            return
        self.words.show_text(("✓ " if answer.ok else "✗ ") + answer.text)
        self.words.setAccessibleName(answer.text)
        set_tone(self.words, "good" if answer.ok else "bad")
        self._fit()

    def resizeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        wanted = self.words.heightForWidth(max(self.viewport().width(), 100))
        self.setFixedHeight(min(wanted + 2, _HIGHEST_ANSWER))


def _unsupported(source: TaskSource) -> str:
    """Return the tasks that cannot be run, a line each, the first of very many."""
    lines = [task.sentence for task in source.unsupported[:_MOST_UNSUPPORTED]]
    if more := len(source.unsupported) - len(lines):
        lines.append(f"and {more} more, which {COMMAND} tasks lists.")
    return "\n".join(lines)


def _facts(source: TaskSource) -> str:
    kind = "task file" if source.kind == "tasks" else "WebArena"
    tasks = count(len(source.tasks), "task") if source.tasks else "no tasks"
    if source.unsupported:
        tasks += f" · {len(source.unsupported)} not supported"
    return " · ".join([kind, tasks] if source.remembered else [kind, tasks, "this time only"])
