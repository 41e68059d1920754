"""The library page: the query, the table of results, one exemplar in full, and the commands."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QTabBar, QToolButton, QWidget

from core.debugger.exemplars.library.views import CheckView, Chosen, CountsView, ListView, Query
from core.exemplars.library.records import ANY, NEW, Filter, LibraryRow
from core.schema.exemplar import Status
from core.schema.formats import count, thousands
from gui.exemplars.library.detail_pane import DetailPane
from gui.exemplars.library.filter_bar import FilterBar
from gui.exemplars.library.outcomes import CheckPane
from gui.exemplars.library.row_model import moment
from gui.exemplars.library.row_table import RowTable
from gui.shell.command_set import CommandSet
from gui.theme.theme import Theme
from gui.widgets.buttons import action_button, icon_button
from gui.widgets.commands import Command, Face
from gui.widgets.item_views import RowMenu
from gui.widgets.layouts import FlowLayout, in_column, on_panel, splitter
from gui.widgets.words import OrWords

if TYPE_CHECKING:
    # The formats of other programs take long to import and are only needed for an export.
    from gui.exemplars.library.exchange_dialogs import ExportDialog
    from gui.exemplars.library.index_dialog import IndexDialog
    from gui.exemplars.library.tag_dialog import TagDialog

_WAITING = "Reading the library…"
_EMPTY = (
    "The library is empty. An exemplar is a successful trajectory for use in prompts. Save one from a run in "
    "the tree of runs, write one with New (Ctrl+N), or import some with Import… (Ctrl+I)."
)
_NONE: dict[tuple[Status, ...], str] = {
    (
        "new",
    ): "Nothing is left to review. Imports and demonstrations are listed here until you have reviewed them.",
    ("retired",): "No exemplar is retired. Retire (Del) keeps an exemplar, but runs no longer recall it.",
}
_COMPARED = {"near duplicate", "of another family"}
"""What only a comparison of all finds."""
_NOT_FOUND = "The exemplar “{id}” no longer exists. It may have been in a file that was removed."
_RESTORE = Face("Bring back", "Mark it as reviewed again, so that runs recall it", "archive")
_MORE = ("check_all", "although", "tags", "compare", "index")
"""Commands that are in a menu beside the buttons."""
_OF_ROWS = ("reviewed", "although", "retire", "edit", "copy", "tags", "check", "replay", "worth", "export")
"""Commands in the menu of the rows."""


class LibraryPage(QWidget):
    """Shows `ListView`, `CountsView` and `DetailView`; requests go out only as signals."""

    query_wanted = Signal(object, object, str, int)
    """A `Query`, ids whose places are needed, the exemplar to show, and a place to show."""
    problem_found = Signal(str)
    """Something that could not be done."""
    new_requested = Signal()
    edit_requested = Signal(str)
    """The id of an exemplar."""
    copy_requested = Signal(str)
    review_requested = Signal(object, str, bool)
    """A `Chosen`, its new status, and whether it is used although it has faults."""
    edits_requested = Signal(object, object)
    """A `Chosen`, and the `Edits` to make."""
    check_requested = Signal(object)
    """A `Chosen`."""
    replay_requested = Signal(object)
    """A `Chosen`."""
    compare_requested = Signal()
    worth_requested = Signal(str)
    import_requested = Signal()
    export_requested = Signal(object, str, str, bool)
    """A `Chosen`, the name of the format, the path, and whether new ones are written, too."""
    index_requested = Signal(str, bool)
    """The embedding, and whether everything is embedded again."""

    COMMANDS = (
        Command("new", "New", "Ctrl+N", "add", "", 1.1, "Write an exemplar by hand",
            lambda page: page.new_requested.emit()),
        Command("edit", "Edit", "Ctrl+Return", "edit", "", 1.2, "Edit the exemplar",
            lambda page: page.edit_requested.emit(page.few[0]),
            lambda page: page.why_read_only or page.why_not_one),
        Command("copy", "Copy", "Ctrl+D", "copy", "", 1.3, "Copy this exemplar",
            lambda page: page.copy_requested.emit(page.few[0]), lambda page: page.why_not_one),
        Command("queue", "Review new", "Ctrl+Shift+N", "checklist", "", 1.31,
            "List what nobody has reviewed: imports and demonstrations",
            lambda page: page.review_new(), lambda page: page.why_nothing_new,
            face=lambda page: page.queue_face),
        Command("reviewed", "Reviewed", "Space", "check", "", 1.32,
            "Mark it as reviewed, so that runs recall it",
            lambda page: page.review_requested.emit(page.table.chosen, "reviewed", False),
            lambda page: page.why_none or page.why_reviewed),
        Command("retire", "Retire", "Del", "archive", "", 1.4, "Keep it, but recall it no more",
            lambda page: page.review_requested.emit(
                page.table.chosen, "reviewed" if page.are_retired else "retired", False
            ),
            lambda page: page.why_none, face=lambda page: _RESTORE if page.are_retired else None),
        Command("check", "Check", "Ctrl+K", "checklist", "", 1.5, "Check the selected exemplars for problems",
            lambda page: page.check_requested.emit(page.table.chosen), lambda page: page.why_none),
        Command("replay", "Replay", "Ctrl+R", "debug-restart", "", 1.6,
            "Replay them on their tasks, in the background",
            lambda page: page.replay_requested.emit(page.table.chosen), lambda page: page.why_none),
        Command("worth", "Worth…", "Ctrl+Shift+W", "graph-line", "", 1.7,
            "Run tasks with and without it, in the background",
            lambda page: page.worth_requested.emit(page.few[0]), lambda page: page.why_not_one),
        Command("import", "Import…", "Ctrl+I", "cloud-download", "", 1.8,
            "Import exemplars of Backstep or another program", lambda page: page.import_requested.emit()),
        Command("export", "Export…", "Ctrl+E", "export", "", 1.9,
            "Export exemplars to a file for Backstep or another program",
            lambda page: page.export(), lambda page: page.why_nothing_listed),
        Command("check_all", "Check all listed", "Ctrl+Shift+K", "checklist", "", 2.1,
            "Check all listed exemplars for problems",
            lambda page: page.check_requested.emit(page.all_found), lambda page: page.why_nothing_listed),
        Command("although", "Use although faulty", "Shift+Space", "warning", "", 2.12,
            "Mark it as reviewed, and recall it although it has faults",
            lambda page: page.review_requested.emit(page.table.chosen, "reviewed", True),
            lambda page: page.why_none),
        Command("tags", "Tags, family, weight…", "Ctrl+T", "tag", "", 2.15,
            "Change tags, family, weight and pin of the selected exemplars",
            lambda page: page.ask_tags(), lambda page: page.why_none or page.why_read_only),
        Command("compare", "Compare all", "Ctrl+Shift+A", "diff", "", 2.18,
            "Find the nearest other one of each exemplar, and the family that is found for it without itself",
            lambda page: page.compare_requested.emit()),
        Command("index", "Embedding and index…", "Ctrl+Shift+E", "refresh", "", 2.2,
            "Choose what exemplars are found by, and index them",
            lambda page: page.ask_embedding(), lambda page: page.why_no_embedding),
    )  # fmt: skip

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._query = Query()
        self._list = ListView()
        self._rows: tuple[LibraryRow, ...] | None = ()
        """The selected rows; None if they are too many to hold."""
        self._counts: CountsView | None = None
        """None while it is not known."""
        self._revealing = ""
        self._loosened = False
        self.filters = FilterBar(theme, self)
        self.table = RowTable(theme, self)
        self.commands = CommandSet(theme, [(self, "")], self)
        self.export_dialog: ExportDialog | None = None
        self.tag_dialog: TagDialog | None = None
        self.index_dialog: IndexDialog | None = None
        self.detail = DetailPane(theme, self)
        self.check = CheckPane(theme, self)
        self.check.hide()
        self.or_words = OrWords(self.table, self)
        self.or_words.say(_WAITING)
        self.left = splitter(Qt.Orientation.Vertical, self.or_words, self.check, sizes=(440, 180))
        self.split = splitter(
            Qt.Orientation.Horizontal, self.left, self.detail, sizes=(790, 450), stretch=(1,)
        )
        on_panel(self.or_words)
        on_panel(self.check)
        in_column(self, self.filters, self._command_bar(theme), (self.split, 1), spacing=0)
        RowMenu(self.table, record=lambda index: self.table.rows_model.row(index.row()))
        self.filters.changed.connect(self._on_query)
        self.filters.left.connect(self._on_left)
        self.table.sort_wanted.connect(self.filters.sort_by)
        self.table.opened.connect(self._on_opened)
        self.table.row_chosen.connect(self.detail.wait)
        self.table.selection_changed.connect(self.refresh)
        self.check.exemplar_chosen.connect(self.reveal)
        self.check.closed.connect(self.check.hide)
        self.refresh()

    def _command_bar(self, theme: Theme) -> FlowLayout:
        flow = FlowLayout(spacing=5)
        flow.setContentsMargins(10, 0, 10, 6)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for bound in self.commands:
            self.addAction(bound.action)
            if bound.record.id in _MORE:
                menu.addAction(bound.action)
            else:
                flow.addWidget(action_button(bound.action, self))
        # In a field, these are keys of the text.
        for id in ("reviewed", "although", "retire"):
            self.commands.by_id[id].action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self.table.addActions([self.commands.by_id[id].action for id in _OF_ROWS])
        more = icon_button(theme, "ellipsis", "More commands", parent=self, key="Alt+M", size=16)
        more.setShortcut("Alt+M")
        more.setMenu(menu)
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setProperty("picker", True)
        flow.addWidget(more)
        return flow

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
        """The ids of the selected rows, if all are loaded."""
        return tuple(row.id for row in self._rows or ())

    # Which commands there are for the selected rows

    @property
    def are_retired(self) -> bool:
        """Whether all of the selection is retired."""
        return bool(self._rows) and all(row.review.status == "retired" for row in self._rows or ())

    @property
    def queue_face(self) -> Face | None:
        """The button of the queue with how many are in it."""
        new = self._list.new
        return (
            Face(f"Review {thousands(new)} new", "List them. Space: reviewed. Del: retire", "")
            if new
            else None
        )

    @property
    def why_nothing_new(self) -> str:
        return "" if self._list.new else "Nothing is new. Imports and demonstrations are"

    @property
    def why_no_embedding(self) -> str:
        return "" if self._list.embedding else "The library is still being read"

    @property
    def why_reviewed(self) -> str:
        rows = self._rows
        return "It is reviewed" if rows and all(row.review.status == "reviewed" for row in rows) else ""

    @property
    def why_read_only(self) -> str:
        is_own = not self._rows or any(not row.read_only for row in self._rows)
        return "" if is_own else "A bundled exemplar is read-only. Save a copy (Ctrl+D)"

    @property
    def why_not_one(self) -> str:
        return "" if len(self.few) == 1 else "Select one exemplar"

    @property
    def why_none(self) -> str:
        return "Select exemplars first" if self._rows == () else ""

    @property
    def why_nothing_listed(self) -> str:
        return "" if self.total else "No exemplar is listed"

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
        focus = self.window().focusWidget()
        is_free = focus in (None, self.filters.search) or (isinstance(focus, QTabBar) and self.isVisible())
        if is_free and not (same or typed):
            self.table.setFocus()  # The person has not started typing.
        self.refresh()

    @Slot(object)
    def show_page(self, view: ListView) -> None:
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
        self._rows = self.table.selected
        self.commands.refresh()
        self.filters.words.setText(self._facts(self.table.selected_count))

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
        if view.compared is not None:
            old = ", changed since" if view.is_compared_old else ""
            parts.append(f"compared {moment(view.compared)}{old}")
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
        elif view.query.like and view.query.filter.statuses == ("retired",):
            self.or_words.say("Retired exemplars are not in the index. Search for words instead (Ctrl+M).")
        elif view.query.filter == Filter(statuses=view.query.filter.statuses):
            self.or_words.say(_NONE.get(view.query.filter.statuses, _EMPTY))
        else:
            self.or_words.say(self._looser())

    def _looser(self) -> str:
        view, counts = self._list, self._counts
        if counts is None or counts.filter != view.query.filter or counts.counts.total:
            return "No exemplars match."
        if _COMPARED & set(view.query.filter.found) and view.compared is None:
            return "Nothing was compared yet. Compare all (Ctrl+Shift+A) finds what this filter lists."
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
            {"order": self._query.order, "reverse": self._query.reverse, "filter": {"statuses": ANY}}
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
        if not self.table.isHidden():
            self.table.setFocus()
            self.table.choose_first()

    def _on_opened(self, id: str) -> None:
        """Edit an exemplar; one from a file can only be read."""
        row = next((row for row in self._rows or () if row.id == id), None)
        if row is not None and row.read_only:
            self.detail.tabs.setCurrentWidget(self.detail.texts)
            self.detail.trajectory.setFocus()
        else:
            self.edit_requested.emit(id)

    def review_new(self) -> None:
        """List what is to be reviewed."""
        self.filters.show_query(self._query.replace(filter=NEW, like=""))
        self._on_query()
        self.detail.tabs.setCurrentWidget(self.detail.texts)
        self.table.setFocus()

    def ask_tags(self) -> None:
        """Ask what to change of all that is selected."""
        from gui.exemplars.library.tag_dialog import TagDialog

        chosen, rows, offers = (
            self.table.chosen,
            self._rows or (),
            self._counts.offers if self._counts else {},
        )
        self.tag_dialog = dialog = TagDialog(
            selected=self.table.selected_count,
            tags=tuple(dict.fromkeys(tag for row in rows for tag in row.tags)),
            known=tuple(offers.get("tag", ())),
            families=tuple(offers.get("family", ())),
            parent=self.window(),
        )
        dialog.made.connect(lambda edits: self.edits_requested.emit(chosen, edits))
        dialog.open()

    def ask_embedding(self) -> None:
        """Ask for the embedding."""
        from gui.exemplars.library.index_dialog import IndexDialog

        self.index_dialog = dialog = IndexDialog(self._list.embedding, self._list.embeddings, self.window())
        dialog.chosen.connect(self.index_requested)
        dialog.open()

    def export(self) -> None:
        """Ask what to export, and where to."""
        from gui.exemplars.library.exchange_dialogs import ExportDialog

        self.export_dialog = dialog = ExportDialog(
            selected=self.table.selected_count, found=self.total, parent=self.window()
        )
        dialog.chosen.connect(
            lambda everything, form, path, with_new: self.export_requested.emit(
                self.all_found if everything else self.table.chosen, form, path, with_new
            )
        )
        dialog.open()
