"""Retrieval and Quality, the pages of the library window besides the library: connected and remembered."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from core.debugger.exemplars.analyses.views import BenchQuery
from gui.exemplars.analyses.quality_page import QualityPage
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
        self.quality = QualityPage(window.theme, window.history)
        quality = self.quality
        for page, service in (
            (self.retrieval, services.retrieval),
            (quality.duplicates, services.duplicates),
            (quality.leave_one_out, services.leave_one_out),
            (quality.worth, services.trying),
            (quality.replay, services.trying),
            (quality.credit, services.trying),
        ):
            self.follow(service.changed, page.show_view)
            page.cancel_requested.connect(service.cancel)
            page.exemplar_opened.connect(self.exemplar_opened)
        self._connect_retrieval()
        self._connect_quality()

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
        self.follow(service.taken, page.form.show_task)
        service.announce()

    def _connect_quality(self) -> None:
        services, quality = self._services, self.quality
        duplicates, leave_one_out = quality.duplicates, quality.leave_one_out
        duplicates.within.setValue(self._remembered.duplicates_within)
        duplicates.find_requested.connect(self._on_find)
        duplicates.pair_requested.connect(services.duplicates.open_pair)
        duplicates.keep_requested.connect(
            lambda id, other, apart: services.duplicates.keep_both(id, other, apart=apart)
        )
        duplicates.merge_requested.connect(services.duplicates.merge)
        leave_one_out.votes.setValue(self._remembered.leaving_votes)
        leave_one_out.begin_requested.connect(self._on_leave_out)
        leave_one_out.export_requested.connect(services.leave_one_out.export)
        quality.replay.replay_requested.connect(services.trying.replay)
        quality.worth.worth_requested.connect(partial(self.window.worth_requested.emit, None))
        quality.worth.evaluation_opened.connect(self.window.evaluation_requested)
        services.trying.read_again()

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

    def _on_leave_out(self, votes: int, texts: str) -> None:
        self._remembered.leaving_votes = votes
        self._services.leave_one_out.leave_out(votes, texts)
