"""Experiments: Bisect in a separate window, and the pages of the library that measure and replay exemplars."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from core.debugger.experiments.bisect import BisectRequest
from core.debugger.experiments.views import BisectView, WorthView
from core.debugger.experiments.worth_records import Subject, WorthRequest
from core.debugger.snapshots import Catalogue
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.experiments.service import Experiments
    from gui.exemplars.library.library_window import LibraryWindow
    from gui.experiments.bisect import BisectWindow
    from gui.experiments.replays import AttributionPage, ReplayPage
    from gui.experiments.worth import WorthPage


class ExperimentsController(FeatureController):
    """Opens the window and adds the pages, passes on their requests, and shows the results."""

    def __init__(self, window: MainWindow, service: "Experiments") -> None:
        super().__init__(window)
        self._service = service
        self._catalogue = Catalogue()
        self._run = 0
        self._chose_again = False
        """Whether the last choices were restored in the form of Worth."""
        self._library: LibraryWindow | None = None
        self.bisect_window: BisectWindow | None = None
        """Created when it is opened."""
        self.worth: WorthPage | None = None
        self.replay: ReplayPage | None = None
        self.attribution: AttributionPage | None = None
        """The pages, created when the library is opened."""
        self.follow(service.bisect.changed, self._show_bisect)
        self.follow(service.worth.changed, self._show_view)
        self.follow(window.session.catalogue_changed, self._show_catalogue)
        window.runs.bisect_requested.connect(self.open_bisect)
        window.library_made.connect(self._add_pages)
        window.worth_requested.connect(self._on_worth_requested)
        window.replay_requested.connect(self._on_replay_requested)

    @Slot(int)
    def open_bisect(self, run: int) -> None:
        """Show the choices for a bisection of this run, and its earlier bisections."""
        if self.bisect_window is None:
            from gui.experiments.bisect import BisectWindow

            self.bisect_window = BisectWindow(self.window.theme, self.window)
            self.bisect_window.show_catalogue(self._catalogue)
            page = self.bisect_window.page
            page.start_requested.connect(self._on_bisect)
            page.cancel_requested.connect(self._service.bisect.cancel)
            page.export_requested.connect(self._service.bisect.export)
            page.run_opened.connect(self.window.show_run)
            last = self.window.remembered.bisect
            if last is not None:
                page.form.choose_again(last)
        if run != self._run:
            self._run = run
            self.bisect_window.wait(run)
        self._service.bisect.open(run)
        self.window.frame.show_beside(self.bisect_window, "bisect/geometry")

    @Slot(object)
    def _add_pages(self, library: "LibraryWindow") -> None:
        """Add the pages to the library, which is created when it is first opened; they are only imported now."""
        from gui.experiments.replays import AttributionPage, ReplayPage
        from gui.experiments.worth import WorthPage

        window, service, self._library = self.window, self._service.worth, library
        self.worth = WorthPage(window.theme, library)
        self.replay = ReplayPage(window.theme, library)
        self.attribution = AttributionPage(window.theme, library)
        for name, page in (("Worth", self.worth), ("Replay", self.replay), ("Credit", self.attribution)):
            library.add_page(name, page)
        self.worth.start_requested.connect(self._on_start)
        self.worth.form.subject_chosen.connect(service.open)
        self.worth.export_requested.connect(service.export)
        self.worth.run_opened.connect(window.show_run)
        self.worth.compare_requested.connect(window.compare_requested)
        self.replay.replay_requested.connect(service.replay)
        for page in (self.worth, self.replay):
            page.cancel_requested.connect(service.cancel)
        for page in (self.replay, self.attribution):
            page.exemplar_opened.connect(window.exemplar_requested)
        self._show_catalogue(self._catalogue)
        service.open(self.worth.form.subject)

    # Requests

    def _on_bisect(self, request: BisectRequest) -> None:
        self.window.remembered.bisect = request
        self._service.bisect.bisect(request)

    def _on_start(self, request: WorthRequest) -> None:
        self.window.remembered.worth = request
        self._service.worth.measure(request)

    @Slot(str)
    def _on_worth_requested(self, id: str) -> None:
        self._service.worth.open(Subject(name=id))
        self._show_page(self.worth)

    @Slot(object)
    def _on_replay_requested(self, ids: tuple[str, ...]) -> None:
        if ids:
            self._service.worth.replay(ids)
            self._show_page(self.replay)

    def _show_page(self, page: QWidget | None) -> None:
        if self._library is not None and page is not None:
            self._library.show_page(page)

    # Results

    @Slot(object)
    def _show_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        if self.bisect_window is not None:
            self.bisect_window.show_catalogue(catalogue)
        if self.worth is not None:
            self.worth.show_catalogue(catalogue)
            last = self.window.remembered.worth
            if last is not None and catalogue.presets and not self._chose_again:
                self._chose_again = True
                self.worth.form.choose_again(last)

    @Slot(object)
    def _show_bisect(self, view: BisectView) -> None:
        if self.bisect_window is not None and view.run == self._run:
            self.bisect_window.show_view(view)

    @Slot(object)
    def _show_view(self, view: WorthView) -> None:
        for page in (self.worth, self.replay, self.attribution):
            if page is not None:
                page.show_view(view)


install = ExperimentsController
