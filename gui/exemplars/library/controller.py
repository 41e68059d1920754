"""Joins the window of the library to what answers it."""

from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.library.import_views import ImportView
from core.debugger.exemplars.library.views import JobView, LibraryDeskCommands, PageView, Query
from gui.theme.theme import Theme
from gui.widgets.relay import Relay
from gui.widgets.remembered import Remembered

if TYPE_CHECKING:
    # The window is loaded when it is opened: the main window is to come quickly.
    from gui.exemplars.library.import_dialog import ImportDialog
    from gui.exemplars.library.library_window import LibraryWindow
    from gui.exemplars.library.row_table import Standing


_PARTS = tuple(
    f"gui.exemplars.library.{name}"
    for name in (
        "row_table",
        "filter_bar",
        "version_pane",
        "detail_pane",
        "library_page",
        "library_window",
    )
)
_BETWEEN_MS = 200


class LibraryController(QObject):
    """Opens the window, sends what it asks to the desk and shows what comes back."""

    run_opened = Signal(int, int)
    made = Signal(object)
    """The `LibraryWindow`, as soon as there is one: to add pages and to connect what it asks."""

    def __init__(
        self, desk: LibraryDeskCommands, theme: Theme, remembered: Remembered, window: QWidget
    ) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._remembered = remembered
        self._window = window
        self._job = JobView()
        self.shown: LibraryWindow | None = None
        """The window, once it was opened."""
        self.importing: ImportDialog | None = None
        self._listed = Relay(desk.listed, keep="latest", parent=self)
        self._paged = Relay(desk.paged, keep="every", parent=self)
        self._counted = Relay(desk.counted, keep="latest", parent=self)
        self._detailed = Relay(desk.detailed, keep="latest", parent=self)
        self._compared = Relay(desk.compared, keep="latest", parent=self)
        self._told = Relay(desk.told, keep="latest", parent=self)
        self._working = Relay(desk.working, keep="latest", parent=self)
        self._checked = Relay(desk.checked, keep="latest", parent=self)
        self._planned = Relay(desk.imports.planned, keep="latest", parent=self)
        self._parts: list[str] = []
        self._idle = QTimer(self)
        self._idle.setInterval(_BETWEEN_MS)
        self._idle.timeout.connect(self._load_next)
        self._working.received.connect(self._show_work)
        self._planned.received.connect(self._show_import)

    def prepare(self) -> None:
        """Load the window's modules one at a time while nothing else is to be done, so that it opens at once."""
        self._parts = list(_PARTS)
        self._idle.start()

    def _load_next(self) -> None:
        if not self._parts or self.shown is not None:
            self._idle.stop()
            return
        import_module(self._parts.pop(0))

    def open(self, id: str = "") -> None:
        """Show the library as it was left, with this exemplar in view where an id is given."""
        shown = self._opened()
        shown.show()
        shown.raise_()
        shown.activateWindow()
        if id:
            shown.reveal(id)

    def _opened(self) -> "LibraryWindow":
        if self.shown is not None:
            return self.shown
        # The list is read while the window is built.
        self._desk.list_rows(self._remembered.library_query)
        from gui.exemplars.library.library_window import LibraryWindow

        shown = self.shown = LibraryWindow(self._theme, self._remembered, self._window)
        page, desk = shown.page, self._desk
        page.query_wanted.connect(self._on_query)
        page.table.rows_model.page_wanted.connect(desk.page)
        page.table.row_chosen.connect(desk.show)
        page.table.stood.connect(self._on_stood)
        page.detail.compare_wanted.connect(desk.compare)
        page.detail.current_wanted.connect(desk.make_current)
        shown.check_requested.connect(desk.check)
        shown.archive_requested.connect(desk.archive)
        shown.export_requested.connect(desk.export)
        shown.reindex_requested.connect(desk.reindex)
        shown.import_requested.connect(self._on_import)
        shown.run_opened.connect(self.run_opened)
        shown.watched.connect(self._on_watched)
        shown.notices.cancel_wanted.connect(desk.cancel)
        shown.notices.undo_wanted.connect(desk.undo)
        self._listed.received.connect(page.show_list)
        self._paged.received.connect(self._show_pages)
        self._counted.received.connect(page.show_counts)
        self._detailed.received.connect(page.detail.show_detail)
        self._compared.received.connect(page.detail.show_compared)
        self._checked.received.connect(page.show_check)
        self._told.received.connect(shown.tell)
        shown.notices.show_work(self._job)
        shown.begin()
        self.made.emit(shown)
        return shown

    @Slot(object)
    def _show_pages(self, pages: tuple[PageView, ...]) -> None:
        assert self.shown is not None
        for one in pages:
            self.shown.page.show_page(one)

    @Slot(object)
    def _show_work(self, job: JobView) -> None:
        self._job = job
        if self.shown is not None:
            self.shown.notices.show_work(job)
        if self.importing is not None:
            self.importing.show_work(job)

    @Slot(object)
    def _show_import(self, view: ImportView) -> None:
        if self.importing is not None and self.importing.isVisible():
            self.importing.show_view(view)

    def _on_query(self, query: Query, keep: tuple[str, ...], anchor: str, first: int) -> None:
        self._desk.list_rows(query, keep, anchor, first)

    def _on_stood(self, standing: "Standing") -> None:
        self._desk.stand(standing.keep, standing.anchor, standing.first)

    def _on_watched(self, on: bool) -> None:
        if on:
            self._desk.look()
        else:
            self._desk.rest()

    def _on_import(self) -> None:
        from gui.exemplars.library.import_dialog import ImportDialog

        if self.importing is not None:
            self.importing.deleteLater()
        self.importing = dialog = ImportDialog(self._theme, self.shown)
        dialog.read_requested.connect(self._desk.imports.read)
        dialog.plan_requested.connect(self._desk.imports.plan)
        dialog.import_requested.connect(self._desk.imports.carry_out)
        dialog.cancel_requested.connect(self._desk.cancel)
        dialog.show_work(self._job)
        dialog.open()
