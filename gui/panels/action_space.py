"""Permissible actions: a list to search, to point from, and to choose from."""

import re

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QLabel, QStyle, QWidget

from core.debugger.breakpoints.kinds.actions import ActionChosen
from core.debugger.steps.views import PermissibleView, StepView
from core.schema.action_space import PermissibleRow
from core.schema.formats import thousands
from core.schema.observation import Element, Ref
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.commands import CHANGE, Command
from gui.widgets.copying import CopyEntry, action_copies
from gui.widgets.editable import EditablePanel, show_right
from gui.widgets.item_views import (
    RIGHT,
    ROW,
    FittedList,
    Index,
    MenuEntry,
    RowDelegate,
    RowMenu,
    RowsModel,
)
from gui.widgets.layouts import in_column, in_row
from gui.widgets.origin import paint_chosen
from gui.widgets.search import SearchField
from gui.widgets.words import OrWords, labelled, set_tone

_NAMED = re.compile(r'"(.+)"')
_NOTHING = "No permissible actions yet. F10 reads the page and recognises its state."


class PermissibleModel(RowsModel):
    """The rows that match the search, under a heading for each kind of action.

    A heading is a `str`, a row is a `PermissibleRow`.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        text, spoken = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole
        super().__init__(
            {text: self._spoken_text, spoken: self._spoken_text, Qt.ItemDataRole.ToolTipRole: _tooltip},
            parent,
        )
        self._view = PermissibleView()
        self._searched: tuple[str, ...] = ()
        self.matching = 0
        self.lit: Ref | None = None
        """The element whose actions are highlighted."""

    def show_view(self, view: PermissibleView, search: str) -> None:
        words = tuple(search.lower().split())
        changed = view.rows is not self._view.rows or words != self._searched
        self._searched, self._view = words, view
        entries = self._grouped(view.rows, words) if changed else self.rows
        if entries != self.rows:
            self.show_rows(entries)
        elif entries:
            self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))

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
        # A row with missing arguments stands for every action of its name.
        open_row = row.text == row.name or "[]" in row.text
        same_name = row.name == self._view.chosen.partition(" ")[0]
        return row.text == self._view.chosen or (same_name and open_row)

    def chosen_index(self) -> QModelIndex:
        for at, entry in enumerate(self.rows):
            if isinstance(entry, PermissibleRow) and self.is_chosen(entry):
                return self.index(at)
        return QModelIndex()

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.row(index), str):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def _spoken_text(self, entry: str | PermissibleRow) -> str:
        if isinstance(entry, str):
            return entry
        chosen = ", chosen" if self.is_chosen(entry) else ""
        undone = ", cannot be undone" if entry.cannot_be_undone else ""
        return f"{entry.text} {entry.label}{chosen}{undone}"


def _tooltip(entry: str | PermissibleRow) -> str:
    if isinstance(entry, str):
        return ""
    return f"{entry.text}\n{entry.label}\nDouble-click (Enter) puts it in place of the next action"


class PermissibleRows(RowDelegate):
    """A number, the element, and what to know before choosing the action."""

    def __init__(self, theme: Theme, model: PermissibleModel, parent: QWidget) -> None:
        super().__init__(theme, QSize(120, 23), parent)
        self._model = model

    def draw(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        entry = index.data(ROW)
        small, small_bold = self.theme.small_font(), self.theme.small_font(bold=True)
        if isinstance(entry, str):
            name, _, number = entry.partition("  ")
            room = rect.adjusted(10, 0, -10, 0)
            self.write(painter, room, name, small_bold, "dim")
            self.write(painter, room, number, small, "dim", RIGHT)
        elif entry is not None:
            chosen = self._model.is_chosen(entry)
            hovered = state & QStyle.StateFlag.State_MouseOver
            lit = entry.ref is not None and entry.ref == self._model.lit
            if chosen or hovered or lit or state & QStyle.StateFlag.State_Selected:
                painter.fillRect(rect, self.theme.colour("selected" if chosen or lit else "raised"))
            if lit:
                painter.setPen(self.theme.colour("agent"))
                painter.drawRect(rect.adjusted(0, 0, -1, -1))
            self.draw_focus(painter, rect, state)
            if chosen:
                mark = QRectF(rect.left() + 6, rect.center().y() - 5, 11, 11)
                paint_chosen(painter, mark, self.theme.colour("remedy"))
            room = rect.adjusted(20, 0, -10, 0)
            if entry.cannot_be_undone:
                words, tone = "cannot be undone", "bad"
            else:
                words, tone = "chosen" if chosen else "", "remedy"
            wide = self.write(painter, room, words, small, tone, RIGHT)
            room.setRight(room.right() - (wide + 8 if words else 0))
            if entry.ref is not None:
                font, ref = self.theme.machine_font(), str(entry.ref)
                width = max(26, QFontMetrics(font).horizontalAdvance(ref) + 2)
                self.write(
                    painter, QRect(room.topLeft(), QSize(width, room.height())), ref, font, "dim", RIGHT
                )
                room.setLeft(room.left() + width + 8)
            text = entry.label if entry.ref is not None and entry.label else entry.name
            wide = self.write(painter, room, text.replace("\n", " "), self.theme.text_font(bold=chosen))
            if entry.ref is None and entry.label:
                room.setLeft(room.left() + wide + 8)
                self.write(painter, room, entry.label.replace("\n", " "), small, "dim")


class PermissiblePanel(EditablePanel):
    """Shows `PermissibleView`. Hovering marks an outline, Enter or a double click chooses.

    Other actions that the page offers may be permitted for the step.
    """

    highlight_requested = Signal(object)
    """The ref whose outline to highlight, or None."""
    replace_requested = Signal(object)
    """The `PermissibleRow` that replaces the next action."""
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at an action of the list."""
    fact_changed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = PermissibleView()
        self._elements: tuple[Element, ...] = ()
        """The elements that the refs of the actions stand for."""
        self.model = PermissibleModel(self)
        self.search = SearchField(theme, "Search (Ctrl+F)", self)
        self.search.textChanged.connect(self._refresh)
        self.search.next_wanted.connect(self._on_enter_in_search)
        self.list = labelled(FittedList(self), "Permissible actions")
        self.list.setModel(self.model)
        self.list.setItemDelegate(PermissibleRows(theme, self.model, self))
        self.list.setMouseTracking(True)
        self.list.entered.connect(self._on_hovered)
        self.list.doubleClicked.connect(self._on_chosen)
        RowMenu(self.list, self.entries, copies=self._copies)
        self.list.installEventFilter(self)
        self.list.viewport().installEventFilter(self)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.left_out = QLabel(self)
        self.left_out.setContentsMargins(10, 2, 10, 4)
        self.left_out.setFont(theme.small_font())
        set_tone(self.left_out, "dim")
        self.left_out.hide()
        self.or_words = OrWords(self.list, self, _NOTHING)
        self.permit_button = key_button("Permit…", "", "", self.permit, self)
        head = in_row(None, (self.search, 1), self.permit_button, margins=(8, 5, 8, 4), spacing=6)
        in_column(self, head, (self.or_words, 1), self.left_out, spacing=0)

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self._elements = step.action.elements
        self.show_permissible(step.permissible)
        self.show_liveness(step)

    def show_rights(self) -> None:
        words = "Permit one more action of the page in this step (Ctrl+P, I)"
        show_right(self.permit_button, words, self.why_no_permit)

    @property
    def why_no_permit(self) -> str:
        """Return why no other action can be permitted, or an empty string."""
        none = "" if self._view.beside else "Every action of the page is already permissible"
        return self.why_not("ForceState") or none

    @Slot()
    def permit(self) -> None:
        """Ask which other action of the page to permit in this step."""
        if not self.why_no_permit:
            label = "The action of the page to permit in this step:"
            beside = self._view.beside
            self.ask_line("Permit one more action", label, self._permit, choices=beside, only=True)

    def _permit(self, name: str) -> None:
        self.ask_edit("PermitAction", action=name)

    def show_permissible(self, view: PermissibleView) -> None:
        """Replace what is shown with `view`; the search stays."""
        newly_chosen = (view.chosen, view.chosen_ref) != (self._view.chosen, self._view.chosen_ref)
        self._view = view
        self._refresh()
        if newly_chosen and not self.list.hasFocus():
            index = self.model.chosen_index()
            if index.isValid():
                self.list.scrollTo(index)
        self.left_out.setVisible(view.left_out > 0)
        self.left_out.setText(f"{thousands(view.left_out)} more left out of the prompt")

    def show_element(self, ref: Ref | None, *, reveal: bool) -> None:
        """Highlight the actions on an element, and scroll to the first if requested; None highlights none."""
        if ref != self.model.lit:
            self.model.lit = ref
            self.list.viewport().update()
        if reveal and ref is not None:
            acting = (at for at, row in enumerate(self.model.rows) if isinstance(row, PermissibleRow))
            first = next((at for at in acting if self.model.rows[at].ref == ref), None)
            if first is not None:
                self.list.scrollTo(self.model.index(first))

    def focus_search(self) -> None:
        self.search.reach()

    def entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a row."""
        row = self.model.row(index)
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

    def _copies(self, index: QModelIndex) -> tuple[CopyEntry, ...]:
        row = self.model.row(index)
        return action_copies(row.text, self._elements) if isinstance(row, PermissibleRow) else ()

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
        self.list.fit()
        none_matches = "" if self.model.rows else f'No permissible action matches "{search}".'
        self.or_words.say(none_matches if total else self._view.message or _NOTHING)
        of = f"{thousands(self.model.matching)} of " if search.strip() else ""
        self.fact_changed.emit(f"{of}{thousands(total)}" if total else "")

    def _on_enter_in_search(self) -> None:
        first = next((at for at, row in enumerate(self.model.rows) if isinstance(row, PermissibleRow)), None)
        if first is not None:
            self.list.setFocus()
            self.list.setCurrentIndex(self.model.index(first))

    def _on_hovered(self, index: QModelIndex) -> None:
        entry = self.model.row(index)
        self.highlight_requested.emit(entry.ref if isinstance(entry, PermissibleRow) else None)

    def _on_current(self, index: QModelIndex, previous: QModelIndex) -> None:
        if self.list.hasFocus():
            self._on_hovered(index)

    def _on_chosen(self, index: QModelIndex) -> None:
        entry = self.model.row(index)
        if isinstance(entry, PermissibleRow):
            self.replace_requested.emit(entry)

    COMMANDS = (
        Command("permit", "Perm&it one more action…", "Ctrl+P, I", "add", CHANGE, 6.5,
            "Permit another action of the page in this step", permit, lambda self: self.why_no_permit),
    )  # fmt: skip
