"""The analyses of the exemplars at the window, each by its desk."""

from core.debugger.analyses.background import Host
from core.debugger.analyses.bench_desk import BenchDesk
from core.debugger.analyses.duplicates_desk import DuplicatesDesk
from core.debugger.analyses.leaving_desk import LeavingDesk
from core.debugger.analyses.map_desk import MapDesk


class AnalysisDesk:
    """The `AnalysisDeskCommands` of the window."""

    def __init__(self, host: Host) -> None:
        self.duplicates = DuplicatesDesk(host)
        self.map = MapDesk(host)
        self.bench = BenchDesk(host)
        self.leaving = LeavingDesk(host)
