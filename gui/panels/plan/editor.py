"""The plan while a person edits it: a list whose items are renamed, moved, added and deleted in place."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QToolButton, QWidget

from core.debugger.steps.views import PlanView
from gui.theme.theme import Theme
from gui.widgets.buttons import icon_button, key_button
from gui.widgets.item_views import RowMenu
from gui.widgets.keys import takes_key
from gui.widgets.layouts import FlowLayout, in_column
from gui.widgets.words import NoteLabel, labelled

_CURRENT = Qt.ItemDataRole.UserRole
_EDITABLE = Qt.ItemFlag.ItemIsEditable
_NEW = "new subtask"
_EMPTY = "A plan needs at least one subtask: add one (Insert), or cancel (Esc)."
_NOT_NOW = "The plan cannot be replaced now: go back to now (Esc ends editing), or wait until the run rests."


class PlanEditor(QWidget):
    """Holds a draft of the plan until it is applied or cancelled.

    One item is the current one, where the run continues. Blank items are dropped when the draft is applied.
    """

    applied = Signal(object, int)
    """The texts as a tuple, and the index of the current one, from 0."""
    cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._allowed = True
        self.list = labelled(QListWidget(self), "Subtasks of the plan, to be edited")
        RowMenu(self.list)
        self.list.setWordWrap(True)
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        triggers = QAbstractItemView.EditTrigger
        self.list.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)
        self.list.setTabKeyNavigation(False)
        self.list.setIconSize(QSize(13, 13))
        self.list.setMinimumHeight(110)
        self.list.installEventFilter(self)
        self.list.itemChanged.connect(self._refresh)
        self.list.model().rowsMoved.connect(self._refresh)
        self.note = NoteLabel("remedy", parent=self)
        tools = QWidget(self)
        row = FlowLayout(tools)
        self.add_button = self._tool(row, "add", "Add a subtask below (Insert)", self.add)
        self.rename_button = self._tool(row, "edit", "Rename the subtask (F2 or Enter)", self.rename)
        self.delete_button = self._tool(row, "trash", "Delete the subtask (Delete)", self.delete)
        self.up_button = self._tool(row, "arrow-up", "Move the subtask up (Alt+Up)", partial(self._move, -1))
        self.down_button = self._tool(
            row, "arrow-down", "Move the subtask down (Alt+Down)", partial(self._move, 1)
        )
        go_on = "Make this subtask the current one (Space)"
        self.current_button = self._tool(row, "arrow-right", go_on, self.choose)
        put = "Apply this plan (Ctrl+Enter)"
        self.apply_button = key_button("Apply", put, "", self.apply, tools)
        self.apply_button.setProperty("accent", True)
        leave = "Leave the plan as it is (Esc)"
        self.cancel_button = key_button("Cancel", leave, "", self.cancelled.emit, tools)
        row.addWidget(self.apply_button)
        row.addWidget(self.cancel_button)
        in_column(self, self.list, self.note, tools, margins=(10, 2, 10, 6), spacing=5)
        theme.changed.connect(self._refresh)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self._items())

    @property
    def _naming(self) -> bool:
        return self.list.state() == QAbstractItemView.State.EditingState

    @property
    def current(self) -> int:
        """The index of the current subtask, from 0."""
        return next((at for at, item in enumerate(self._items()) if item.data(_CURRENT)), 0)

    def begin(self, view: PlanView) -> None:
        """Start from this plan; if it has no current subtask, the first that is not done becomes current."""
        self.list.blockSignals(True)
        self.list.clear()
        states = [subtask.status for subtask in view.subtasks]
        if "current" in states:
            current = states.index("current")
        elif "waiting" in states:
            current = states.index("waiting")
        else:
            current = max(0, len(states) - 1)
        for at, subtask in enumerate(view.subtasks):
            self._insert(at, subtask.text, current=at == current)
        self.list.blockSignals(False)
        self.list.setCurrentRow(current)
        self._refresh()
        if not states:
            self.add()

    def allow(self, on: bool) -> None:
        """Allow the draft to be applied, or show why it cannot be applied now; the draft stays."""
        self._allowed = on
        self._refresh()

    def add(self) -> None:
        at = self.list.currentRow() + 1
        item = self._insert(at, _NEW, current=self.list.count() == 0)
        self.list.setCurrentItem(item)
        self._refresh()
        self.list.editItem(item)

    def rename(self) -> None:
        if item := self.list.currentItem():
            self.list.editItem(item)

    def delete(self) -> None:
        at = self.list.currentRow()
        if at < 0:
            return
        was_current = bool(self.list.takeItem(at).data(_CURRENT))
        if was_current and self.list.count():
            self.list.item(min(at, self.list.count() - 1)).setData(_CURRENT, True)
        self._refresh()

    def choose(self) -> None:
        """Make the selected subtask the current one."""
        for item in self._items():
            item.setData(_CURRENT, item is self.list.currentItem())
        self._refresh()

    def apply(self) -> None:
        if not self.apply_button.isEnabled():
            return
        self.list.setFocus()  # an open editor in an item commits its text
        kept = [(at, text.strip()) for at, text in enumerate(self.texts) if text.strip()]
        if kept:
            current = next((new for new, (at, _text) in enumerate(kept) if at >= self.current), len(kept) - 1)
            self.applied.emit(tuple(text for _at, text in kept), current)
        self._refresh()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        # Some of these keys are also commands of the window. While the list has the focus, they belong to the list.
        if watched is self.list and isinstance(event, QKeyEvent):
            action = self._answer_to(event)
            if action is not None and takes_key(event, action):
                return True
        return super().eventFilter(watched, event)  # type: ignore[arg-type]

    def _answer_to(self, event: QKeyEvent) -> Callable[[], object] | None:
        keys: dict[str, Callable[[], object]] = {
            "Ins": self.add,
            "Del": self.delete,
            "Alt+Up": self.up_button.click,
            "Alt+Down": self.down_button.click,
            "Space": self.choose,
            "Return": self.rename,
            "Enter": self.rename,
            "Ctrl+Return": self.apply,
            "Ctrl+Enter": self.apply,
            "Esc": self.cancelled.emit,
        }
        if self._naming:  # the editor in the item gets all other keys
            keys = {key: action for key, action in keys.items() if key.startswith("Ctrl+")}
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return keys.get(QKeySequence(event.key() | modifiers.value).toString())

    def _move(self, offset: int) -> None:
        at = self.list.currentRow()
        if at >= 0 and 0 <= at + offset < self.list.count():
            self.list.blockSignals(True)
            item = self.list.takeItem(at)
            self.list.insertItem(at + offset, item)
            self.list.blockSignals(False)
            self.list.setCurrentRow(at + offset)
            self._refresh()

    def _insert(self, at: int, text: str, *, current: bool) -> QListWidgetItem:
        item = QListWidgetItem(text)
        item.setFlags(item.flags() | _EDITABLE)
        item.setData(_CURRENT, current)
        self.list.insertItem(at, item)
        return item

    def _items(self) -> Sequence[QListWidgetItem]:
        return [self.list.item(at) for at in range(self.list.count())]

    def _tool(self, row: FlowLayout, icon: str, words: str, slot: Callable[[], None]) -> QToolButton:
        button = icon_button(self._theme, icon, words, slot, self, size=16)
        button.setFixedSize(22, 26)
        row.addWidget(button)
        return button

    def _refresh(self) -> None:
        self.list.blockSignals(True)
        for item in self._items():
            current = bool(item.data(_CURRENT))
            icon, tone = ("arrow-right", "agent") if current else ("circle-outline", "dim")
            item.setIcon(self._theme.icon(icon, tone=tone))
            item.setFont(self._theme.text_font(bold=current))
            said = f"{item.text()}, the current one" if current else item.text()
            item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
        self.list.blockSignals(False)
        self.list.viewport().update()
        whole = any(text.strip() for text in self.texts)
        self.note.show_text(_NOT_NOW if not self._allowed else "" if whole else _EMPTY)
        self.apply_button.setEnabled(self._allowed and whole)
        there = self.list.count() > 0
        moving = (self.up_button, self.down_button)
        for button in (self.rename_button, self.delete_button, self.current_button, *moving):
            button.setEnabled(there)
