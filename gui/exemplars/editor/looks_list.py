"""The looks of a draft in order: selected, moved, inserted, removed, merged and split."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QItemSelectionModel, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QDropEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from core.memory.editing import changes
from core.memory.editing.faults import Fault
from core.schema.errors import UsageError
from core.schema.exemplar import DraftStep
from gui.exemplars.editor.fields import Edits, faults_at
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import in_column
from gui.widgets.words import OrWords

_NONE = "There are no looks. Insert one with the button below (Insert)."


class LooksList(QWidget):
    """Shows the looks of `edits` and changes their order and number."""

    current_changed = Signal(int)
    """The index of the look in view, from 0; -1 for none."""
    noted = Signal(str)
    """A message about a change, or why it was not made."""

    def __init__(
        self, theme: Theme, edits: Edits, action: Callable[[], int], parent: QWidget | None = None
    ) -> None:
        """`action` returns the index of the action with the cursor, from 0, at which a look is split."""
        super().__init__(parent)
        self._theme = theme
        self._edits = edits
        self._action = action
        self._faults: tuple[Fault, ...] = ()
        self._tokens: tuple[int, ...] = ()
        self.list = _Looks(self)
        self.list.dropped.connect(self._on_dropped)
        self.list.currentRowChanged.connect(self.current_changed)
        self.list.itemSelectionChanged.connect(self._enable)
        self.or_words = OrWords(self.list, self)
        self.insert_button = self._button("Insert", "Insert a look after this one", "Insert", self.insert)
        self.delete_button = self._button("Delete", "Delete the selected looks", "Delete", self.delete)
        self.copy_button = self._button("Duplicate", "Duplicate the selected looks", "Ctrl+D", self.duplicate)
        self.up_button = self._button("Up", "Move the selected looks up", "Alt+Up", lambda: self.shift(-1))
        self.down_button = self._button(
            "Down", "Move the selected looks down", "Alt+Down", lambda: self.shift(1)
        )
        self.merge_button = self._button(
            "Merge", "Merge the selected looks, with the actions of all", "Ctrl+M", self.merge, wide=True
        )
        self.split_button = self._button(
            "Split", "Split the look at the action with the cursor", "Ctrl+Shift+M", self.split, wide=True
        )
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(4)
        pairs = (
            (self.insert_button, self.delete_button),
            (self.merge_button, self.split_button),
            (self.up_button, self.down_button),
        )
        for row, (left, right) in enumerate(pairs):
            grid.addWidget(left, row, 0)
            grid.addWidget(right, row, 1)
        grid.addWidget(self.copy_button, 3, 0, 1, 2)
        in_column(self, (self.or_words, 1), grid, margins=(8, 6, 6, 8), spacing=6)
        edits.changed.connect(self.refresh)

    @property
    def current(self) -> int:
        return self.list.currentRow()

    @property
    def chosen(self) -> tuple[int, ...]:
        """The selected looks, in order."""
        return tuple(sorted(index.row() for index in self.list.selectedIndexes()))

    def choose(self, first: int, last: int | None = None) -> None:
        """Select these looks, and show the first of them."""
        self.list.clearSelection()
        self.list.setCurrentRow(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        for row in range(first, (first if last is None else last) + 1):
            if (item := self.list.item(row)) is not None:
                item.setSelected(True)

    def refresh(self) -> None:
        """Show the looks of the current draft; the selection stays by index."""
        steps = self._edits.now.steps
        before = self.current
        with QSignalBlocker(self.list):
            while self.list.count() > len(steps):
                self.list.takeItem(self.list.count() - 1)
            while self.list.count() < len(steps):
                self.list.addItem(QListWidgetItem())
            for at, step in enumerate(steps):
                self._fill(self.list.item(at), at, step)
            if steps and self.list.currentRow() < 0:
                self.list.setCurrentRow(0)
        self.or_words.say("" if steps else _NONE)
        if self.current != before:
            self.current_changed.emit(self.current)
        self._enable()

    def show_checked(self, faults: tuple[Fault, ...], tokens: tuple[int, ...]) -> None:
        """Show for each look what is wrong with it and how long it is."""
        self._faults, self._tokens = faults, tokens
        self.refresh()

    # Input of the person

    def insert(self) -> None:
        at = self.current + 1
        self._edits.do("insert a look", changes.inserted(self._edits.now, at))
        self.choose(at)

    def delete(self) -> None:
        chosen = self.chosen
        if chosen:
            name = "delete a look" if len(chosen) == 1 else f"delete {len(chosen)} looks"
            self._edits.do(name, changes.deleted(self._edits.now, chosen))
            self.choose(max(0, min(chosen[0], len(self._edits.now.steps) - 1)))

    def duplicate(self) -> None:
        chosen = self.chosen
        if chosen:
            self._edits.do("duplicate looks", changes.duplicated(self._edits.now, chosen))
            self.choose(chosen[-1] + 1, chosen[-1] + len(chosen))

    def shift(self, offset: int) -> None:
        chosen = self.chosen
        if chosen and 0 <= (chosen[0] if offset < 0 else chosen[-1]) + offset < len(self._edits.now.steps):
            self._move(chosen, chosen[0] - 1 if offset < 0 else chosen[-1] + 2)

    def merge(self) -> None:
        chosen = self.chosen
        self._try("merge looks", lambda: changes.merged(self._edits.now, chosen), min(chosen, default=0))

    def split(self) -> None:
        at = self.current
        if at >= 0:
            self._try("split a look", lambda: changes.split(self._edits.now, at, self._action()), at + 1)

    def _try(self, name: str, change: Callable[[], changes.Edited], then: int) -> None:
        """Make a change and select the look `then`, or show why it cannot be made."""
        try:
            made = change()
        except UsageError as error:
            self.noted.emit(str(error))
            return
        self._edits.do(name, made.draft)
        self.choose(then)
        self.noted.emit(" ".join(made.remarks))

    def _move(self, chosen: Sequence[int], to: int) -> None:
        draft, place = changes.moved(self._edits.now, chosen, to)
        self._edits.do("move looks" if len(chosen) > 1 else "move a look", draft)
        self.choose(place, place + len(chosen) - 1)

    def _on_dropped(self, to: int) -> None:
        if self.chosen:
            self._move(self.chosen, to)

    # Display

    def _fill(self, item: QListWidgetItem, at: int, step: DraftStep) -> None:
        actions = "; ".join(step.actions).replace("\n", " ") or "no action yet"
        here = [one for _, one in faults_at(self._faults, "look", at)]
        wrong = [one for one in here if one.level != "note"]
        facts = [count(len(wrong), "problem")] if wrong else []
        if at < len(self._tokens):
            facts.append(count(self._tokens[at], "token"))
        if len(step.actions) > 1:
            facts.append(f"{len(step.actions)} actions")
        text = f"{at + 1}. {actions}\n{' · '.join(facts)}"
        if item.text() != text:
            item.setText(text)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"Look {text.replace(chr(10), ', ')}")
        item.setIcon(self._theme.icon("error", tone="bad") if wrong else self._theme.icon("blank"))
        item.setToolTip("\n".join((step.thought, *(one.text for one in here))).strip())

    def _enable(self) -> None:
        chosen, total = self.chosen, len(self._edits.now.steps)
        self.delete_button.setEnabled(bool(chosen))
        self.copy_button.setEnabled(bool(chosen))
        self.up_button.setEnabled(bool(chosen) and chosen[0] > 0)
        self.down_button.setEnabled(bool(chosen) and chosen[-1] < total - 1)
        self.merge_button.setEnabled(len(chosen) > 1)
        at = self.current
        self.split_button.setEnabled(0 <= at < total and len(self._edits.now.steps[at].actions) > 1)

    def _button(
        self, text: str, words: str, key: str, do: Callable[[], None], *, wide: bool = False
    ) -> QPushButton:
        """With `wide`, the key works in the whole window, otherwise only in the list: text fields need it."""
        button = key_button(text, f"{words} ({key})", "", do, self)
        owner: QWidget = self.window() if wide else self.list
        shortcut = QShortcut(QKeySequence(key), owner)
        context = Qt.ShortcutContext
        shortcut.setContext(context.WindowShortcut if wide else context.WidgetWithChildrenShortcut)
        shortcut.activated.connect(do)
        return button


class _Looks(QListWidget):
    dropped = Signal(int)
    """The selected looks were dropped before this one."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName("Looks")
        RowMenu(self)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setIconSize(QSize(14, 14))
        self.setUniformItemSizes(True)

    def dropEvent(self, event: QDropEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        below = self.dropIndicatorPosition() == QAbstractItemView.DropIndicatorPosition.BelowItem
        to = index.row() + int(below) if index.isValid() else self.count()
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        self.dropped.emit(to)
