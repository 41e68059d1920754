"""The rows of the task chooser: tasks found by words and tags, and how one is drawn."""

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QWidget

from core.environments.own_tasks import TaskSource
from core.schema.task import Task
from gui.theme.theme import Theme
from gui.widgets.item_views import LEFT, RIGHT, Index, RowDelegate

OPEN_TASK = "web/open"
TASK = Qt.ItemDataRole.UserRole
FILE = Qt.ItemDataRole.UserRole + 1
"""The name of the file that a task comes from, or nothing."""
_GAP = 12


class TaskList(QAbstractListModel):
    """The tasks that have all the words and all the tags, in the catalogue's order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: tuple[Task, ...] = ()
        self._sources: dict[str, TaskSource] = {}
        self._rows: list[Task] = []

    def show_tasks(self, tasks: tuple[Task, ...], sources: tuple[TaskSource, ...] = ()) -> None:
        self._tasks = tuple(task for task in tasks if task.id != OPEN_TASK)
        self._sources = {task: source for source in sources for task in source.tasks}

    @property
    def total(self) -> int:
        return len(self._tasks)

    def find(self, search: str, tags: set[str]) -> None:
        words = search.lower().split()
        self.beginResetModel()
        self._rows = [
            task
            for task in self._tasks
            if tags <= {task.environment, *task.tags} and all(word in self._text(task) for word in words)
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
        source = self._sources.get(task.id)
        if role == FILE:
            return source.name if source else ""
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = [task.id, task.instruction, ", ".join(task.tags), f"From {source.path}" if source else ""]
            return "\n".join(line for line in lines if line)
        return f"{task.id}: {task.instruction}" if role == Qt.ItemDataRole.DisplayRole else None

    def _text(self, task: Task) -> str:
        source = self._sources.get(task.id)
        file = source.name if source else ""
        return f"{task.id} {task.instruction} {' '.join(task.tags)} {file}".lower()


class TaskRows(RowDelegate):
    """Draws a task: its id, its tags and its file on one line, the instruction below."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, QSize(240, 44), parent)

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        task: Task | None = index.data(TASK)
        if task is None:
            return
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self.theme.colour("selected"))
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), self.theme.colour("agent"))
        upper = QRect(rect.left() + 12, rect.top() + 4, rect.width() - 24, 19)
        lower = upper.translated(0, 18)
        left, right = int(LEFT), int(RIGHT)
        painter.setFont(self.theme.text_font(bold=True))
        painter.setPen(self.theme.colour("text"))
        name = _cut(painter, task.id, upper.width() * 3 // 5, Qt.TextElideMode.ElideMiddle)
        painter.drawText(upper, left, name)
        room = upper.width() - painter.fontMetrics().horizontalAdvance(name) - _GAP
        painter.setFont(self.theme.small_font())
        painter.setPen(self.theme.colour("dim"))
        file = _cut(painter, index.data(FILE), room, Qt.TextElideMode.ElideMiddle)
        painter.drawText(upper, right, file)
        used = painter.fontMetrics().horizontalAdvance(file) + _GAP if file else 0
        tags = _cut(painter, ", ".join(task.tags[:4]), min(room - used, upper.width() // 2))
        painter.setPen(self.theme.colour("faint" if file else "dim"))
        painter.drawText(upper.adjusted(0, 0, -used, 0), right, tags)
        painter.setPen(self.theme.colour("dim"))
        painter.setFont(self.theme.text_font())
        words = task.instruction or "The seed decides the instruction."
        painter.drawText(lower, left, _cut(painter, words.replace("\n", " "), lower.width()))


def _cut(
    painter: QPainter, text: str, room: int, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
) -> str:
    return painter.fontMetrics().elidedText(text, mode, max(room, 0))
