"""Retrieval and Duplicates, the pages of the library window besides the library: connected and remembered."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from core.debugger.exemplars.analyses.views import BenchQuery
from core.debugger.steps.views import StepView
from gui.exemplars.analyses.duplicates import DuplicatesPage
from gui.exemplars.analyses.retrieval_page import RetrievalPage
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.exemplars.service import ExemplarServices


class AnalysesController(FeatureController):
    """Creates the pages when the library is opened."""

    exemplar_opened = Signal(str)

    def __init__(self, window: MainWindow, services: "ExemplarServices") -> None:
        super().__init__(window)
        self._services = services
        self._remembered = window.remembered
        self.retrieval = RetrievalPage(window.theme)
        self.duplicates = DuplicatesPage(window.theme, window.exemplar_history)
        for page, service in (
            (self.retrieval, services.retrieval),
            (self.duplicates, services.duplicates),
        ):
            self.follow(service.changed, page.show_view)
            page.cancel_requested.connect(service.cancel)
            page.exemplar_opened.connect(self.exemplar_opened)
        self._connect_retrieval()
        self._connect_duplicates()

    def _connect_retrieval(self) -> None:
        page, service = self.retrieval, self._services.retrieval
        queries = self._remembered.bench_queries
        page.form.show_last(queries)
        if queries:
            page.form.settings.show_settings(queries[0].settings)
        page.map_button.setChecked(self._remembered.map_shown)
        page.map_toggled.connect(self._on_map)
        page.look_up_requested.connect(self._on_look_up)
        page.draft_requested.connect(service.compare_with)
        page.take_requested.connect(service.take)
        page.never_requested.connect(service.never)
        self.follow(service.taken, page.form.show_task)
        self.window.step_shown.connect(self._on_step)
        service.announce()

    def _connect_duplicates(self) -> None:
        duplicates, service = self.duplicates, self._services.duplicates
        duplicates.within.setValue(self._remembered.duplicates_within)
        duplicates.find_requested.connect(self._on_find)
        duplicates.pair_requested.connect(service.open_pair)
        duplicates.keep_requested.connect(lambda id, other, apart: service.keep_both(id, other, apart=apart))
        duplicates.merge_requested.connect(service.merge)

    def _on_step(self, step: StepView) -> None:
        """Offer the step in view to be taken, unless the person is at it."""
        if step.run and not self.retrieval.isVisible():
            self.retrieval.form.run.setValue(step.run)
            self.retrieval.form.step.setValue(max(step.number, 1))

    def _on_map(self, on: bool) -> None:
        self._remembered.map_shown = on
        if on:
            self._services.retrieval.draw()

    def _on_look_up(self, query: BenchQuery, with_map: bool) -> None:
        self._remembered.add_bench_query(query)
        self.retrieval.form.show_last(self._remembered.bench_queries)
        self._services.retrieval.look_up(query, with_map=with_map)

    def _on_find(self, within: float, with_kept: bool) -> None:
        self._remembered.duplicates_within = within
        self._services.duplicates.find(within, with_kept=with_kept)
