"""The window of the exemplars: the library, and beside it the pages of lookups and of duplicates."""

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


class LibraryWindow(WatchedWindow):
    """Requests go out only as signals; closing it stops no running work."""

    run_opened = Signal(int, int)
    """Run and step to show in the main window."""

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
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setTabBarAutoHide(True)
        self.tabs.addTab(self.page, "Library")
        in_column(self, (self.tabs, 1), self.notices, spacing=0)
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
        kept.keep_part("library/columns-2", self.page.table.layout_state)
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
        if (columns := kept.part("library/columns-2")) is not None:
            self.page.table.restore_layout(columns)

    def _on_search(self) -> None:
        if self.tabs.currentWidget() is self.page:
            self.page.filters.search.reach()

    def _on_problem(self, text: str) -> None:
        self.notices.show_notice(Notice(text=text, bad=True))

    def _on_not_undone(self, title: str, why: str) -> None:
        if self.isVisible():
            self.notices.show_notice(Notice(text=f"{title}. {why}", bad=True))
