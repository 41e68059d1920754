"""Permissible actions: a list to search, to point from, and to choose from."""

import re
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QListView,
    QStyle,
    QWidget,
)

from core.debugger.breakpoints.kinds.actions import ActionChosen
from core.debugger.snapshots import PermissibleView
from core.schema.action_space import PermissibleRow
from gui.theme.theme import Theme
from gui.widgets.formats import thousands
from gui.widgets.item_views import LEFT, RIGHT, MenuEntry, RowDelegate, RowMenu, draw_cut
from gui.widgets.layouts import in_column
from gui.widgets.origin import paint_chosen
from gui.widgets.search import SearchField
from gui.widgets.words import OrWords, set_tone

ROW = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_NAMED = re.compile(r'"(.+)"')
_NOTHING = "Nothing is permissible yet. The list fills when a step has recognised its state (F10)."


class PermissibleModel(QAbstractListModel):
    """The rows that match the search, under a heading for each kind of action.

    A heading is a `str`, a row is a `PermissibleRow`.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view = PermissibleView()
        self._entries: list[str | PermissibleRow] = []
        self._words: tuple[str, ...] = ()
        self.matching = 0

    def show_view(self, view: PermissibleView, search: str) -> None:
        words = tuple(search.lower().split())
        if view.rows is not self._view.rows or words != self._words:
            entries = self._grouped(view.rows, words)
            if entries != self._entries:
                self.beginResetModel()
                self._entries = entries
                self._words = words
                self._view = view
                self.endResetModel()
                return
        self._words = words
        self._view = view
        if self._entries:
            self.dataChanged.emit(self.index(0), self.index(len(self._entries) - 1))

    def _grouped(
        self, rows: tuple[PermissibleRow, ...], words: tuple[str, ...]
    ) -> list[str | PermissibleRow]:
        groups: dict[str, list[PermissibleRow]] = {}
        self.matching = 0
        for row in rows:
            text = f"{row.text} {row.label}".lower()
            if all(word in text for word in words):
                groups.setdefault(row.name, []).append(row)
                self.matching += 1
        entries: list[str | PermissibleRow] = []
        for name, some in groups.items():
            if len(some) > 1 or some[0].ref is not None:
                entries.append(f"{name}  {thousands(len(some))}")
            entries.extend(some)
        return entries

    def is_chosen(self, row: PermissibleRow) -> bool:
        if self._view.chosen_ref is not None:
            return row.ref == self._view.chosen_ref and row.name == self._view.chosen.partition(" ")[0]
        if row.ref is not None or not self._view.chosen:
            return False
        # A row whose arguments are still to be given stands for every action of its name.
        open_row = row.text == row.name or "[]" in row.text
        same_name = row.name == self._view.chosen.partition(" ")[0]
        return row.text == self._view.chosen or (same_name and open_row)

    def chosen_index(self) -> QModelIndex:
        for at, entry in enumerate(self._entries):
            if isinstance(entry, PermissibleRow) and self.is_chosen(entry):
                return self.index(at)
        return QModelIndex()

    def entry(self, index: Index) -> str | PermissibleRow | None:
        return self._entries[index.row()] if 0 <= index.row() < len(self._entries) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._entries)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.entry(index), str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entry(index)
        if entry is None:
            return None
        if role == ROW:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if isinstance(entry, str):
                return entry
            marks = (", chosen" if self.is_chosen(entry) else "") + (
                ", cannot be undone" if entry.cannot_be_undone else ""
            )
            return f"{entry.text} {entry.label}{marks}"
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(entry, PermissibleRow):
            return f"{entry.text}\n{entry.label}\nDouble-click (Enter) puts it in place of the next action"
        return None


class PermissibleRows(RowDelegate):
    """A number, what it acts on, and what must be known before choosing it."""

    def __init__(self, theme: Theme, model: PermissibleModel, parent: QWidget) -> None:
        super().__init__(theme, QSize(120, 23), parent)
        self._model = model

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        entry = index.data(ROW)
        if isinstance(entry, str):
            name, _, number = entry.partition("  ")
            painter.setFont(self.theme.small_font(bold=True))
            painter.setPen(self.theme.colour("dim"))
            painter.drawText(rect.adjusted(10, 0, -10, 0), int(LEFT), name)
            painter.setFont(self.theme.small_font())
            painter.drawText(rect.adjusted(10, 0, -10, 0), int(RIGHT), number)
        elif entry is not None:
            chosen = self._model.is_chosen(entry)
            hovered = state & QStyle.StateFlag.State_MouseOver
            if chosen or hovered or state & QStyle.StateFlag.State_Selected:
                painter.fillRect(rect, self.theme.colour("selected" if chosen else "raised"))
            if state & QStyle.StateFlag.State_HasFocus:
                painter.setPen(self.theme.colour("agent"))
                painter.drawRect(rect.adjusted(0, 0, -1, -1))
            if chosen:
                mark = QRectF(rect.left() + 6, rect.center().y() - 5, 11, 11)
                paint_chosen(painter, mark, self.theme.colour("remedy"))
            room = rect.adjusted(20, 0, -10, 0)
            words = "chosen" if chosen else ""
            if entry.cannot_be_undone:
                words = "cannot be undone"
            painter.setFont(self.theme.small_font())
            painter.setPen(self.theme.colour("bad" if entry.cannot_be_undone else "remedy"))
            painter.drawText(room, int(RIGHT), words)
            room.setRight(room.right() - (painter.fontMetrics().horizontalAdvance(words) + 8 if words else 0))
            if entry.ref is not None:
                painter.setFont(self.theme.machine_font())
                painter.setPen(self.theme.colour("dim"))
                width = max(26, painter.fontMetrics().horizontalAdvance(str(entry.ref)) + 2)
                draw_cut(painter, QRect(room.left(), room.top(), width, room.height()), str(entry.ref), RIGHT)
                room.setLeft(room.left() + width + 8)
            painter.setFont(self.theme.text_font(bold=chosen))
            painter.setPen(self.theme.colour("text"))
            text = entry.label if entry.ref is not None and entry.label else entry.name
            draw_cut(painter, room, text.replace("\n", " "))
            if entry.ref is None and entry.label:
                room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance(text) + 8)
                painter.setFont(self.theme.small_font())
                painter.setPen(self.theme.colour("dim"))
                draw_cut(painter, room, entry.label.replace("\n", " "))


class PermissiblePanel(QWidget):
    """Shows `PermissibleView`; hovering marks an outline, Enter or a double click chooses."""

    highlight_requested = Signal(object)
    """The ref whose outline is to stand out, or None."""
    replace_requested = Signal(object)
    """The `PermissibleRow` to put in place of the next action."""
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at an action of the list."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = PermissibleView()
        self.model = PermissibleModel(self)
        self.search = SearchField(theme, "Search (Ctrl+F)", self)
        self.search.textChanged.connect(self._on_search)
        self.search.next_wanted.connect(self._on_enter_in_search)
        self.list = QListView(self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(PermissibleRows(theme, self.model, self))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setAccessibleName("Permissible actions")
        self.list.entered.connect(self._on_hovered)
        self.list.doubleClicked.connect(self._on_chosen)
        RowMenu(self.list, self.entries)
        self.list.installEventFilter(self)
        self.list.viewport().installEventFilter(self)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.left_out = QLabel(self)
        self.left_out.setContentsMargins(10, 2, 10, 4)
        self.left_out.setFont(theme.small_font())
        set_tone(self.left_out, "dim")
        self.left_out.hide()
        self.or_words = OrWords(self.list, self)
        self.or_words.say(_NOTHING)
        head = in_column(None, self.search, margins=(8, 5, 8, 4))
        in_column(self, head, (self.or_words, 1), self.left_out, spacing=0)
        theme.changed.connect(self.list.viewport().update)

    @Slot(object)
    def show_permissible(self, view: PermissibleView) -> None:
        """Replace what is on screen with `view`; the search stays."""
        newly_chosen = (view.chosen, view.chosen_ref) != (self._view.chosen, self._view.chosen_ref)
        self._view = view
        self._refresh()
        if newly_chosen and not self.list.hasFocus():
            index = self.model.chosen_index()
            if index.isValid():
                self.list.scrollTo(index)
        self.left_out.setVisible(view.left_out > 0)
        self.left_out.setText(f"{thousands(view.left_out)} more left out of the prompt")

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return what can be asked for of a row."""
        row = self.model.entry(index)
        if not isinstance(row, PermissibleRow):
            return ()
        want = self.breakpoint_wanted.emit
        every = MenuEntry(f"Stop at every {row.name}", lambda: want(ActionChosen(action=row.name)))
        named = _NAMED.search(row.label)
        if row.ref is None or named is None:
            return (every,)
        target = named[1]
        here = MenuEntry(
            f"Stop at {row.name} on “{target}”",
            lambda: want(ActionChosen(action=row.name, target=target)),
        )
        return (here, every)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.list.viewport() and event.type() == QEvent.Type.Leave:
            self.highlight_requested.emit(None)
        elif watched is self.list and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._on_chosen(self.list.currentIndex())
                return True
        elif watched is self.list and event.type() == QEvent.Type.FocusOut:
            self.highlight_requested.emit(None)
        return super().eventFilter(watched, event)

    def _refresh(self) -> None:
        search = self.search.text()
        self.model.show_view(self._view, search)
        total = len(self._view.rows)
        if not total:
            self.or_words.say(_NOTHING)
        elif not self.model.rowCount():
            self.or_words.say(f'No permissible action matches "{search}".')
        else:
            self.or_words.say("")
        shown = (
            f"{thousands(self.model.matching)} of {thousands(total)}" if search.strip() else thousands(total)
        )
        self.fact_changed.emit(shown if total else "")

    def _on_search(self) -> None:
        self._refresh()

    def _on_enter_in_search(self) -> None:
        for at in range(self.model.rowCount()):
            index = self.model.index(at)
            if isinstance(self.model.entry(index), PermissibleRow):
                self.list.setFocus()
                self.list.setCurrentIndex(index)
                return

    def _on_hovered(self, index: QModelIndex) -> None:
        entry = self.model.entry(index)
        self.highlight_requested.emit(entry.ref if isinstance(entry, PermissibleRow) else None)

    def _on_current(self, index: QModelIndex, previous: QModelIndex) -> None:
        if self.list.hasFocus():
            self._on_hovered(index)

    def _on_chosen(self, index: QModelIndex) -> None:
        entry = self.model.entry(index)
        if isinstance(entry, PermissibleRow):
            self.replace_requested.emit(entry)
