"""The analyses of the exemplars at the window, each by its desk."""

from core.debugger.exemplars.analyses.duplicates import DuplicatesDesk
from core.debugger.exemplars.analyses.job import Host
from core.debugger.exemplars.analyses.leave_one_out import LeavingDesk
from core.debugger.exemplars.analyses.map import MapDesk
from core.debugger.exemplars.analyses.retrieval_bench import BenchDesk


class AnalysisDesk:
    """The `AnalysisDeskCommands` of the window."""

    def __init__(self, host: Host) -> None:
        self.duplicates = DuplicatesDesk(host)
        self.map = MapDesk(host)
        self.bench = BenchDesk(host)
        self.leaving = LeavingDesk(host)
