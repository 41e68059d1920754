"""The window of the exemplars: the library, and beside it the pages of lookups and of quality."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShortcut
from PySide6.QtWidgets import QTabWidget, QWidget

from core.debugger.exemplars.library.views import Notice
from gui.exemplars.library.library_page import LibraryPage
from gui.exemplars.library.outcomes import NoticeBar
from gui.shell.undo import UndoHistory
from gui.shell.undo_button import add_undo_keys
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column
from gui.widgets.remembered import Remembered
from gui.widgets.watched_window import WatchedWindow

if TYPE_CHECKING:
    # The formats of other programs take long to import and are only needed for an export.
    from gui.exemplars.library.exchange_dialogs import ExportDialog


class LibraryWindow(WatchedWindow):
    """Requests go out only as signals; closing it stops no running work."""

    edit_requested = Signal(str)
    """The id of an exemplar."""
    copy_requested = Signal(str)
    new_requested = Signal()
    run_opened = Signal(int, int)
    """Run and step to show in the main window."""
    replay_requested = Signal(object)
    """Ids of exemplars."""
    worth_requested = Signal(str)
    import_requested = Signal()
    export_requested = Signal(object, str, str)
    """A `Chosen`, the name of the format, and the path."""
    check_requested = Signal(object)
    """A `Chosen`."""
    archive_requested = Signal(object, bool)
    """A `Chosen`, and whether to move it to the archive."""
    reindex_requested = Signal()

    def __init__(
        self, theme: Theme, remembered: Remembered, history: UndoHistory, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Exemplars")
        self.setMinimumSize(640, 420)
        self._theme = theme
        self._remembered = remembered
        # It gets its parent when it is complete, so that the style sheet is applied only once.
        self.page = LibraryPage(theme)
        self.notices = NoticeBar(theme, history, self)
        self.export_dialog: ExportDialog | None = None
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setTabBarAutoHide(True)
        self.tabs.addTab(self.page, "Library")
        self.tabs.currentChanged.connect(self._on_tab)
        in_column(self, (self.tabs, 1), self.notices, spacing=0)
        self.page.command_asked.connect(self._on_command)
        self.page.problem_found.connect(self._on_problem)
        self.page.detail.run_opened.connect(self.run_opened)
        add_undo_keys(self, history)
        history.said.connect(self._on_not_undone)
        QShortcut("Ctrl+F", self, self._on_search)
        QShortcut("Ctrl+Shift+F", self, self.page.detail.focus_search)
        theme.size_window(self, 1240, 760)
        self._restore()

    def reveal(self, id: str) -> None:
        """Select an exemplar and show it."""
        self.tabs.setCurrentWidget(self.page)
        self.page.reveal(id)

    def keep(self) -> None:
        """Remember splitters, columns, filters and order."""
        kept = self._remembered
        kept.keep_part("library/split", self.page.split.saveState())
        kept.keep_part("library/columns", self.page.table.layout_state)
        kept.library_query = self.page.filters.query

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            # First close what covers the library, then the library.
            if self.notices.has_notice:
                self.notices.dismiss()
                return
            if self.page.check.isVisible():
                self.page.check.hide()
                return
        super().keyPressEvent(event)

    def _restore(self) -> None:
        kept = self._remembered
        self.page.begin(kept.library_query)
        if (split := kept.part("library/split")) is not None:
            self.page.split.restoreState(split)
        if (columns := kept.part("library/columns")) is not None:
            self.page.table.restore_layout(columns)

    def _on_tab(self) -> None:
        on = self.tabs.currentWidget() is self.page
        for action in self.page.commands.actions():
            action.setEnabled(on)
        if on:
            self.page.refresh()

    def _on_search(self) -> None:
        if self.tabs.currentWidget() is self.page:
            self.page.filters.search.reach()

    def _on_problem(self, text: str) -> None:
        self.notices.show_notice(Notice(text=text, bad=True))

    def _on_not_undone(self, title: str, why: str) -> None:
        if self.isVisible():
            self.notices.show_notice(Notice(text=f"{title}. {why}", bad=True))

    def _on_command(self, name: str) -> None:
        page = self.page
        current = page.table.current
        match name:
            case "new":
                self.new_requested.emit()
            case "open":
                self._open(current)
            case "edit":
                self.edit_requested.emit(page.few[0])
            case "copy":
                self.copy_requested.emit(page.few[0])
            case "archive":
                self.archive_requested.emit(page.table.chosen, not page.commands.brings_back)
            case "check":
                self.check_requested.emit(page.table.chosen)
            case "check_all":
                self.check_requested.emit(page.all_found)
            case "replay":
                self.replay_requested.emit(page.few)
            case "worth":
                self.worth_requested.emit(page.few[0])
            case "import":
                self.import_requested.emit()
            case "export":
                self._export()
            case "reindex":
                self.reindex_requested.emit()

    def _open(self, id: str) -> None:
        """Edit an exemplar; one from a file can only be read."""
        rows = self.page.table.selected
        row = next((one for one in rows or () if one.id == id), None)
        if row is not None and row.read_only:
            detail = self.page.detail
            detail.tabs.setCurrentWidget(detail.texts)
            detail.trajectory.setFocus()
        elif id:
            self.edit_requested.emit(id)

    def _export(self) -> None:
        from gui.exemplars.library.exchange_dialogs import ExportDialog

        page = self.page
        self.export_dialog = dialog = ExportDialog(
            selected=page.table.selected_count, found=page.total, parent=self
        )
        dialog.chosen.connect(
            lambda everything, form, path: self.export_requested.emit(
                page.all_found if everything else page.table.chosen, form, path
            )
        )
        dialog.open()
