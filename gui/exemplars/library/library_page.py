"""The library page: the query, the table of results, one exemplar in full, and the commands."""

from typing import NamedTuple

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from core.debugger.exemplars.library.views import CheckView, Chosen, CountsView, ListView, PageView, Query
from core.memory.library.records import Filter, LibraryRow
from gui.exemplars.library.detail_pane import DetailPane
from gui.exemplars.library.filter_bar import FilterBar
from gui.exemplars.library.outcomes import CheckPane
from gui.exemplars.library.row_table import RowTable
from gui.theme.theme import Theme
from gui.widgets.buttons import ICON_BESIDE_TEXT, icon_button, key_button
from gui.widgets.formats import count, thousands
from gui.widgets.item_views import MenuEntry, RowMenu
from gui.widgets.layouts import FlowLayout, in_column, on_panel, splitter
from gui.widgets.words import OrWords

_MOST = 1000
"""Maximum number of exemplars that can be replayed or measured at once."""
_WAITING = "Reading the library…"
_EMPTY = (
    "The library is empty. An exemplar is a successful trajectory for use in prompts. Save one from a run in "
    "the tree of runs, write one with New (Ctrl+N), or import some with Import… (Ctrl+I)."
)
_NO_ARCHIVE = "The archive is empty. Archive (Del) moves an exemplar here, so that runs no longer recall it."
_NOT_FOUND = "The exemplar “{id}” no longer exists. It may have been in a file that was removed."
_TEXTS = (
    ("new", "New", "Ctrl+N", "add", "Write an exemplar by hand"),
    ("edit", "Edit", "Ctrl+Return", "edit", "Edit the exemplar"),
    ("copy", "Copy", "Ctrl+D", "copy", "Copy this exemplar"),
    ("archive", "Archive", "Del", "archive", "Keep it, but recall it no more. You can restore it from the archive"),
    ("check", "Check", "Ctrl+K", "checklist", "Check the selected exemplars for problems"),
    ("check_all", "Check all listed", "Ctrl+Shift+K", "checklist", "Check all listed exemplars for problems"),
    ("replay", "Replay", "Ctrl+R", "debug-restart", "Replay them on their tasks, in the background"),
    ("worth", "Worth…", "Ctrl+Shift+W", "graph-line", "Run tasks with and without them, in the background"),
    ("import", "Import…", "Ctrl+I", "cloud-download", "Import exemplars of Backstep or another program"),
    ("export", "Export…", "Ctrl+E", "export", "Export exemplars to a file for Backstep or another program"),
)  # fmt: skip


class _Command(NamedTuple):
    name: str
    text: str
    key: str
    icon: str
    words: str

    @property
    def tooltip(self) -> str:
        key = QKeySequence(self.key).toString(QKeySequence.SequenceFormat.NativeText)
        return f"{self.words} ({key})"


_COMMANDS = tuple(_Command(*texts) for texts in _TEXTS)


class LibraryCommands(QWidget):
    """A row of buttons; `asked` sends the name of the command."""

    asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.actions_by_name: dict[str, QAction] = {}
        self.buttons: dict[str, QPushButton] = {}
        self.brings_back = False
        """Whether the selection is in the archive, so that it can be restored."""
        flow = FlowLayout(self, spacing=5)
        flow.setContentsMargins(10, 0, 10, 6)
        for one in _COMMANDS:
            action = self._action(one.name, one.text, one.tooltip)
            action.setIcon(theme.icon(one.icon))
            if one.name != "archive":  # Delete works only in the table: in a field it deletes letters.
                action.setShortcut(QKeySequence(one.key))
            self.addAction(action)
            if one.name == "check_all":
                continue
            button = self.buttons[one.name] = key_button(one.text, one.tooltip, "", action.trigger, self)
            button.setIcon(action.icon())
            button.setIconSize(ICON_BESIDE_TEXT)
            theme.changed.connect(button.update)
            flow.addWidget(button)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.addAction(self.actions_by_name["check_all"])
        menu.addAction(
            self._action(
                "reindex",
                "Rebuild the index",
                "Rebuild the index of the embeddings",
            )
        )
        self.more = icon_button(theme, "ellipsis", "More commands", parent=self, key="Alt+M", size=16)
        self.more.setShortcut("Alt+M")
        self.more.setMenu(menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setProperty("picker", True)
        flow.addWidget(self.more)

    def _action(self, name: str, text: str, tooltip: str) -> QAction:
        action = self.actions_by_name[name] = QAction(text, self)
        action.setToolTip(tooltip)
        action.triggered.connect(lambda: self.asked.emit(name))
        return action

    def refresh(self, rows: tuple[LibraryRow, ...] | None, selected: int, total: int) -> None:
        """Enable the commands for these rows; None means too many to hold."""
        single = rows is not None and len(rows) == 1
        several = rows is not None and 0 < len(rows) <= _MOST
        own = rows is None or any(not row.read_only for row in rows)
        self.brings_back = bool(rows) and own and all(row.archived for row in rows or () if not row.read_only)
        why = "" if rows is None or own else "An exemplar in a file is read-only. Save a copy (Ctrl+D)"
        too_many = f"Select at most {count(_MOST, 'exemplar')}" if selected else "Select exemplars first"
        states = {
            "edit": (single and own, why or "Select one exemplar"),
            "copy": (single, "Select one exemplar"),
            "archive": (bool(selected) and own, why or "Select exemplars first"),
            "check": (bool(selected), "Select exemplars first"),
            "check_all": (bool(total), "No exemplar is listed"),
            "replay": (several, too_many),
            "worth": (several, too_many),
            "export": (bool(total), "No exemplar is listed"),
        }
        commands = {command.name: command for command in _COMMANDS}
        if self.brings_back:
            words = "Restore it from the archive, so that runs recall it again"
            commands["archive"] = commands["archive"]._replace(words=words)
        for name, (on, unless) in states.items():
            for shown in (self.actions_by_name[name], self.buttons.get(name)):
                if shown is not None:
                    shown.setEnabled(on)
                    shown.setToolTip(commands[name].tooltip if on else unless)
        self.buttons["archive"].setText("Bring back" if self.brings_back else "Archive")


class LibraryPage(QWidget):
    """Shows `ListView`, `CountsView` and `DetailView`; requests go out only as signals."""

    query_wanted = Signal(object, object, str, int)
    """A `Query`, ids whose places are needed, the exemplar to show, and a place to show."""
    command_asked = Signal(str)
    problem_found = Signal(str)
    """Something that could not be done."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._query = Query()
        self._list = ListView()
        self._counts: CountsView | None = None
        """None while it is not known."""
        self._revealing = ""
        self._loosened = False
        self.filters = FilterBar(theme, self)
        self.commands = LibraryCommands(theme, self)
        self.table = RowTable(theme, self)
        self.detail = DetailPane(theme, self)
        self.check = CheckPane(theme, self)
        self.check.hide()
        self.or_words = OrWords(self.table, self)
        self.or_words.say(_WAITING)
        self.left = splitter(Qt.Orientation.Vertical, self.or_words, self.check, sizes=(440, 180))
        self.split = splitter(
            Qt.Orientation.Horizontal, self.left, self.detail, sizes=(780, 480), stretch=(1,)
        )
        on_panel(self.or_words)
        on_panel(self.check)
        in_column(self, self.filters, self.commands, (self.split, 1), spacing=0)
        self.menu = RowMenu(
            self.table,
            lambda _index: self._entries(),
            record=lambda index: self.table.rows_model.row(index.row()),
        )
        self.filters.changed.connect(self._on_query)
        self.filters.left.connect(self._on_left)
        self.commands.asked.connect(self._on_command)
        self.table.sort_wanted.connect(self.filters.sort_by)
        self.table.archive_wanted.connect(lambda: self._on_command("archive"))
        self.table.opened.connect(lambda _id: self._on_command("open"))
        self.table.row_chosen.connect(self.detail.wait)
        self.table.selection_changed.connect(self.refresh)
        self.check.exemplar_chosen.connect(self.reveal)
        self.check.closed.connect(self.check.hide)
        self.refresh()

    @property
    def query(self) -> Query:
        return self._query

    @property
    def all_found(self) -> Chosen:
        """Everything that is listed."""
        if self._list.query.like:
            return Chosen(ids=tuple(row.id for row in self._list.rows))
        return Chosen(query=self._list.query, ranges=((0, self._list.total),))

    @property
    def total(self) -> int:
        return self._list.total

    @property
    def few(self) -> tuple[str, ...]:
        """The ids of the selected rows, if they are few enough."""
        rows = self.table.selected
        return tuple(row.id for row in rows) if rows is not None and len(rows) <= _MOST else ()

    def begin(self, query: Query) -> None:
        """Show this query, whose list has been requested."""
        self.filters.show_query(query)
        self._query = query

    def reveal(self, id: str) -> None:
        """Select an exemplar and show it; filters that hide it are removed."""
        self._revealing, self._loosened = id, False
        self.table.want(id)
        self._ask(self._query, anchor=id)

    @Slot(object)
    def show_list(self, view: ListView) -> None:
        """Replace the rows."""
        if view.query != self._query:
            return
        if not view.ready:
            self.or_words.say(view.problem or view.waiting or _WAITING)
            if view.problem or not self._list.ready:
                self._list = view
            self.refresh()
            return
        if self._revealing and self._look_for(view):
            return
        same = self._list.ready and self._list.query == view.query
        self._list = view
        self.table.show_list(view, same=same)
        self.table.choose_first()
        if not view.total:
            self.table.clearSelection()
            self.detail.wait("")
        self._say()
        typed = self.filters.search.text()
        if self.window().focusWidget() in (None, self.filters.search) and not (same or typed):
            self.table.setFocus()  # The person has not started typing.
        self.refresh()

    @Slot(object)
    def show_page(self, view: PageView) -> None:
        self.table.rows_model.show_page(view)
        if view.problem:
            self.problem_found.emit(view.problem)

    @Slot(object)
    def show_counts(self, view: CountsView) -> None:
        """Offer the existing values, and show the number of results."""
        if view.filter != self._query.filter:
            return
        self._counts = view
        self.filters.show_counts(view)
        self._say()
        self.refresh()

    @Slot(object)
    def show_check(self, view: CheckView) -> None:
        self.check.show_check(view)
        self.check.show()

    def refresh(self) -> None:
        """Enable the available commands, and show the number of exemplars."""
        selected = self.table.selected_count
        self.commands.refresh(self.table.selected, selected, self._list.total)
        self.filters.words.setText(self._facts(selected))

    def _facts(self, selected: int) -> str:
        view, counts = self._list, self._counts
        if not view.ready:
            return view.waiting
        of = "" if view.whole == view.total else f" of {thousands(view.whole)}"
        parts = [f"{thousands(view.total)}{of} {'exemplar' if view.whole == 1 else 'exemplars'}"]
        if view.query.like:
            parts[0] = f"the {thousands(view.total)} nearest{of} exemplars"
        if counts is not None and counts.filter == view.query.filter and not view.query.like:
            parts.append(count(counts.counts.families, "family", "families"))
            parts.append(count(counts.counts.tokens, "token"))
        if selected > 1:
            parts.append(f"{thousands(selected)} selected")
        return " · ".join(parts)

    def _say(self) -> None:
        """Show a message instead of the rows if there are none."""
        view = self._list
        if view.total:
            self.or_words.say("")
            return
        if not self.filters.narrowed:
            self.or_words.say(_EMPTY)
        elif view.query.like and view.query.filter.archived:
            self.or_words.say(
                "Archived exemplars cannot be searched by meaning. Search by words instead (Ctrl+M)."
            )
        elif view.query.filter == Filter(archived=True):
            self.or_words.say(_NO_ARCHIVE)
        else:
            self.or_words.say(self._looser())

    def _looser(self) -> str:
        view, counts = self._list, self._counts
        if counts is None or counts.filter != view.query.filter or counts.counts.total:
            return "No exemplars match."
        helps = [
            f"without {name} there would be {thousands(number)}" for name, number in counts.without if number
        ]
        if helps:
            return f"No exemplars match: {'; '.join(helps)}. Clear (Ctrl+Shift+C) removes all filters."
        if len(counts.without) > 1:
            return (
                "No exemplars match, and no single filter is the reason. Clear (Ctrl+Shift+C) removes all "
                "filters."
            )
        return _EMPTY if not view.whole else "No exemplars match. Clear (Ctrl+Shift+C) shows all."

    def _look_for(self, view: ListView) -> bool:
        """Relax the filters if they hide the exemplar to show; return whether another list was requested."""
        id = self._revealing
        if id in view.places or any(row.id == id for row in view.rows):
            self._revealing = ""
            return False
        if self._loosened:
            self._revealing = ""
            self.problem_found.emit(_NOT_FOUND.format(id=id))
            return False
        self._loosened = True
        query = Query.model_validate(
            {"order": self._query.order, "reverse": self._query.reverse, "filter": {"archived": None}}
        )
        self.filters.show_query(query)
        self._ask(query, anchor=id)
        return True

    def _ask(self, query: Query, *, anchor: str = "") -> None:
        self._query = query
        current = self.table.current
        keep = tuple(one for one in (current, anchor) if one)
        self.query_wanted.emit(query, keep, anchor, 0)

    # Input of the person

    def _on_query(self) -> None:
        self._revealing = ""
        self._ask(self.filters.query)

    def _on_left(self) -> None:
        if self.or_words.currentWidget() is self.table:
            self.table.setFocus()
            self.table.choose_first()

    def _on_command(self, name: str) -> None:
        action = self.commands.actions_by_name.get(name)
        if action is None or action.isEnabled():
            self.command_asked.emit(name)

    def _entries(self) -> tuple[MenuEntry, ...]:
        actions = self.commands.actions_by_name
        found = []
        for name in ("edit", "copy", "archive", "check", "replay", "worth", "export"):
            action = actions[name]
            text = self.commands.buttons[name].text()
            key = "Del" if name == "archive" else action.shortcut().toString()
            found.append(
                MenuEntry(text, action.trigger, key=key, enabled=action.isEnabled(), why=action.toolTip())
            )
        return tuple(found)
