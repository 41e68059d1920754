"""The pages of the library window that analyse all exemplars at once: connected to their services, and remembered."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.analyses.views import BenchQuery
from gui.exemplars.analyses.bench_page import BenchPage
from gui.exemplars.analyses.duplicates_page import DuplicatesPage
from gui.exemplars.analyses.leave_one_out_page import LeaveOneOutPage
from gui.exemplars.analyses.map_page import MapPage
from gui.exemplars.analyses.trying_pages import CreditPage, ReplayPage, WorthPage
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.exemplars.service import ExemplarServices


class AnalysesController(FeatureController):
    """Creates the pages. Import it when the library is opened, because the map imports numpy."""

    exemplar_opened = Signal(str)

    def __init__(self, window: MainWindow, services: "ExemplarServices") -> None:
        super().__init__(window)
        self._services = services
        self._remembered = window.remembered
        self.duplicates = DuplicatesPage(window.theme, window.history)
        self.map = MapPage(window.theme)
        self.bench = BenchPage(window.theme)
        self.leave_one_out = LeaveOneOutPage(window.theme)
        self.worth = WorthPage(window.theme)
        self.replay = ReplayPage(window.theme)
        self.credit = CreditPage(window.theme)
        self.pages: tuple[tuple[str, QWidget], ...] = (
            ("Duplicates", self.duplicates),
            ("Map", self.map),
            ("Retrieval", self.bench),
            ("Leave one out", self.leave_one_out),
            ("Worth", self.worth),
            ("Replay", self.replay),
            ("Credit", self.credit),
        )
        """With their names, in the order of their tabs."""
        for page, service in (
            (self.duplicates, services.duplicates),
            (self.map, services.map),
            (self.bench, services.bench),
            (self.leave_one_out, services.leave_one_out),
        ):
            self.follow(service.changed, page.show_view)
            page.cancel_requested.connect(service.cancel)
            page.exemplar_opened.connect(self.exemplar_opened)
        self._connect_duplicates()
        self._connect_bench()
        self._connect_trying()
        self.map.draw_requested.connect(services.map.draw)
        self.map.task_requested.connect(services.map.show_task)
        self.leave_one_out.votes.setValue(self._remembered.leaving_votes)
        self.leave_one_out.begin_requested.connect(self._on_leave_out)
        self.leave_one_out.export_requested.connect(services.leave_one_out.export)

    def _connect_duplicates(self) -> None:
        page, service = self.duplicates, self._services.duplicates
        page.within.setValue(self._remembered.duplicates_within)
        page.find_requested.connect(self._on_find)
        page.pair_requested.connect(service.open_pair)
        page.keep_requested.connect(lambda id, other, apart: service.keep_both(id, other, apart=apart))
        page.merge_requested.connect(service.merge)

    def _connect_bench(self) -> None:
        page, service = self.bench, self._services.bench
        queries = self._remembered.bench_queries
        page.form.show_last(queries)
        if queries:
            page.form.settings.show_settings(queries[0].settings)
        page.look_up_requested.connect(self._on_look_up)
        page.draft_requested.connect(service.compare_with)
        page.take_requested.connect(service.take)
        service.announce()

    def _connect_trying(self) -> None:
        service = self._services.trying
        for page in (self.worth, self.replay, self.credit):
            self.follow(service.changed, page.show_view)
            page.exemplar_opened.connect(self.exemplar_opened)
        self.replay.cancel_requested.connect(service.cancel)
        self.replay.replay_requested.connect(service.replay)
        self.worth.worth_requested.connect(partial(self.window.worth_requested.emit, None))
        self.worth.evaluation_opened.connect(self.window.evaluation_requested)
        service.read_again()

    def _on_find(self, within: float, with_kept: bool) -> None:
        self._remembered.duplicates_within = within
        self._services.duplicates.find(within, with_kept=with_kept)

    def _on_look_up(self, query: BenchQuery) -> None:
        self._remembered.add_bench_query(query)
        self.bench.form.show_last(self._remembered.bench_queries)
        self._services.bench.look_up(query)

    def _on_leave_out(self, votes: int, texts: str) -> None:
        self._remembered.leaving_votes = votes
        self._services.leave_one_out.leave_out(votes, texts)
