"""Joins the pages to what answers them."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.analyses.views import AnalysisDeskCommands, BenchQuery
from core.schema.exemplar import Exemplar
from gui.theme.theme import Theme
from gui.widgets.relay import Relay
from gui.widgets.remembered import Remembered


class AnalysisController(QObject):
    """Makes the pages when they are first asked for, sends what they ask, and remembers what was chosen."""

    exemplar_opened = Signal(str)

    def __init__(
        self, desk: AnalysisDeskCommands, theme: Theme, remembered: Remembered, window: QWidget
    ) -> None:
        super().__init__(window)
        self._desk = desk
        self._theme = theme
        self._remembered = remembered
        self._pages: tuple[tuple[str, QWidget], ...] = ()

    @property
    def pages(self) -> tuple[tuple[str, QWidget], ...]:
        """The pages with their names, in the order of their tabs."""
        if not self._pages:
            self._make()
        return self._pages

    def show_task(self, task: str, observation: str = "") -> None:
        """Make this the current task of the map and of the bench."""
        if not self._pages:
            self._make()
        self.map.show_task(task, observation)
        self.bench.show_task(task, observation)

    def compare_with(self, exemplar: Exemplar | None) -> None:
        """Try lookups with this exemplar in place of the stored one."""
        if not self._pages:
            self._make()
        self.bench.compare_with(exemplar)

    def _make(self) -> None:
        from gui.exemplars.analyses.bench_page import BenchPage
        from gui.exemplars.analyses.duplicates_page import DuplicatesPage
        from gui.exemplars.analyses.leave_one_out_page import LeavingPage
        from gui.exemplars.analyses.map_page import MapPage

        self.duplicates: DuplicatesPage = DuplicatesPage(self._theme)
        self.map: MapPage = MapPage(self._theme)
        self.bench: BenchPage = BenchPage(self._theme)
        self.leaving: LeavingPage = LeavingPage(self._theme)
        self._pages = (
            ("Duplicates", self.duplicates),
            ("Map", self.map),
            ("Retrieval", self.bench),
            ("Leave one out", self.leaving),
        )
        for _, page in self._pages:
            page.exemplar_opened.connect(self.exemplar_opened)
        self._join_duplicates()
        self._join_map()
        self._join_bench()
        self._join_leaving()

    def _join_duplicates(self) -> None:
        page, desk = self.duplicates, self._desk.duplicates
        Relay(desk.changed, keep="latest", parent=self).received.connect(page.show_view)
        page.within.setValue(self._remembered.duplicates_within)
        page.find_requested.connect(self._on_find)
        page.cancel_requested.connect(desk.cancel)
        page.pair_requested.connect(desk.open_pair)
        page.keep_requested.connect(lambda id, other, apart: desk.keep_both(id, other, apart=apart))
        page.merge_requested.connect(desk.merge)
        page.undo_requested.connect(desk.undo)

    def _join_map(self) -> None:
        page, desk = self.map, self._desk.map
        Relay(desk.changed, keep="latest", parent=self).received.connect(page.show_view)
        page.draw_requested.connect(desk.draw)
        page.cancel_requested.connect(desk.cancel)
        page.task_requested.connect(desk.show_task)

    def _join_bench(self) -> None:
        page, desk = self.bench, self._desk.bench
        Relay(desk.changed, keep="latest", parent=self).received.connect(page.show_view)
        queries = self._remembered.bench_queries
        page.form.show_last(queries)
        if queries:
            page.form.settings.show_settings(queries[0].settings)
        page.look_up_requested.connect(self._on_look_up)
        page.draft_requested.connect(desk.compare_with)
        page.take_requested.connect(desk.take)
        page.cancel_requested.connect(desk.cancel)
        desk.announce()

    def _join_leaving(self) -> None:
        page, desk = self.leaving, self._desk.leaving
        Relay(desk.changed, keep="latest", parent=self).received.connect(page.show_view)
        page.votes.setValue(self._remembered.leaving_votes)
        page.begin_requested.connect(self._on_leave)
        page.cancel_requested.connect(desk.cancel)
        page.export_requested.connect(desk.export)

    def _on_find(self, within: float, with_kept: bool) -> None:
        self._remembered.duplicates_within = within
        self._desk.duplicates.find(within, with_kept=with_kept)

    def _on_look_up(self, query: BenchQuery) -> None:
        self._remembered.add_bench_query(query)
        self.bench.form.show_last(self._remembered.bench_queries)
        self._desk.bench.look_up(query)

    def _on_leave(self, votes: int, texts: str) -> None:
        self._remembered.leaving_votes = votes
        self._desk.leaving.begin(votes, texts)
