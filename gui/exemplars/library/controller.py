"""The window of the library: loaded in advance, opened with an exemplar in view, and connected to its service."""

from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal, Slot

from core.debugger.exemplars.library.views import ImportView, LibraryJob, ListView, Notice
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    # The window is imported when it is opened, so that the main window starts quickly.
    from core.debugger.exemplars.library.importing import ImportService
    from core.debugger.exemplars.library.service import LibraryService
    from gui.exemplars.library.exchange_dialogs import ImportDialog
    from gui.exemplars.library.library_window import LibraryWindow

_PARTS = tuple(
    f"gui.exemplars.library.{name}"
    for name in ("row_table", "filter_bar", "detail_pane", "library_page", "library_window")
)
_BETWEEN_MS = 200


class LibraryController(FeatureController):
    """Opens the window, passes on its requests, and shows the results."""

    made = Signal(object)
    """The `LibraryWindow`, sent when it is created, to add pages and to connect its requests."""

    def __init__(self, window: MainWindow, service: "LibraryService", imports: "ImportService") -> None:
        super().__init__(window)
        self._service = service
        self._imports = imports
        self._job = LibraryJob()
        self.shown: LibraryWindow | None = None
        """The window, after it was opened."""
        self.importing: ImportDialog | None = None
        self._parts: list[str] = []
        self._idle = QTimer(self)
        self._idle.setInterval(_BETWEEN_MS)
        self._idle.timeout.connect(self._load_next)
        self.follow(service.changed, self._show_job)
        self.follow(imports.changed, self._show_import)
        # The window is opened before any of these is sent.
        self.follow(service.listed, lambda view: self._opened.page.show_list(view))
        self.follow(service.paged, self._show_pages, keep="every")
        self.follow(service.counted, lambda view: self._opened.page.show_counts(view))
        self.follow(service.detailed, lambda view: self._opened.page.detail.show_detail(view))
        self.follow(service.compared, lambda view: self._opened.page.detail.versions.show_compared(view))
        self.follow(service.checked, lambda view: self._opened.page.show_check(view))
        self.follow(service.noticed, self._show_notice)

    def prepare(self) -> None:
        """Import the window's modules one at a time while the program is idle, so that it opens at once."""
        self._parts = list(_PARTS)
        self._idle.start()

    def _load_next(self) -> None:
        if not self._parts or self.shown is not None:
            self._idle.stop()
            return
        import_module(self._parts.pop(0))

    def open(self, id: str = "") -> None:
        """Show the library as it was left, with this exemplar in view if an id is given."""
        if self.shown is None:
            # The list is read while the window is built.
            self._service.list_rows(self.window.remembered.library_query)
            self.shown = self._make()
            self.made.emit(self.shown)
        self.window.frame.show_beside(self.shown, "library/geometry")
        if id:
            self.shown.reveal(id)

    @property
    def _opened(self) -> "LibraryWindow":
        assert self.shown is not None
        return self.shown

    def _make(self) -> "LibraryWindow":
        from gui.exemplars.library.library_window import LibraryWindow

        service = self._service
        shown = LibraryWindow(
            self.window.theme, self.window.remembered, self.window.exemplar_history, self.window
        )
        page = shown.page
        page.query_wanted.connect(service.list_rows)
        page.table.rows_model.page_wanted.connect(service.page)
        page.table.row_chosen.connect(service.show_exemplar)
        page.table.position_changed.connect(service.set_position)
        page.detail.versions.compare_wanted.connect(service.compare)
        page.detail.versions.version_wanted.connect(service.make_current)
        page.check_requested.connect(service.check)
        page.review_requested.connect(service.review)
        page.edits_requested.connect(service.edit)
        page.export_requested.connect(service.export)
        page.index_requested.connect(service.index)
        page.replay_requested.connect(service.replay)
        page.compare_requested.connect(service.compare_all)
        page.import_requested.connect(self._on_import)
        shown.watched.connect(lambda on: service.watch() if on else service.unwatch())
        shown.notices.cancel_wanted.connect(service.cancel)
        shown.notices.work.show_job(self._job)
        return shown

    def _show_pages(self, pages: tuple[ListView, ...]) -> None:
        for page in pages:
            self._opened.page.show_page(page)

    @Slot(object)
    def _show_notice(self, notice: Notice) -> None:
        if self.shown is not None and self.shown.isVisible():
            self.shown.notices.show_notice(notice)
        else:  # Another window has asked for it.
            undone = " Undo it in the library (Ctrl+L)." if notice.change else ""
            self.window.page.messages.say("Exemplars", f"{notice.text}{undone}")

    @Slot(object)
    def _show_job(self, job: LibraryJob) -> None:
        self._job = job
        if self.shown is not None:
            self.shown.notices.work.show_job(job)
        if self.importing is not None:
            self.importing.show_job(job)

    @Slot(object)
    def _show_import(self, view: ImportView) -> None:
        if self.importing is not None and self.importing.isVisible():
            self.importing.show_view(view)

    def _on_import(self) -> None:
        from gui.exemplars.library.exchange_dialogs import ImportDialog

        if self.importing is not None:
            self.importing.deleteLater()
        self.importing = dialog = ImportDialog(self.window.theme, self.shown)
        imports = self._imports
        dialog.read_requested.connect(imports.read_files)
        dialog.plan_requested.connect(imports.plan)
        dialog.import_requested.connect(imports.carry_out)
        dialog.cancel_requested.connect(self._service.cancel)
        dialog.show_job(self._job)
        dialog.open()
