"""The services of the exemplars: the library, the editor, saving a run, recording by hand, and the analyses."""

from typing import TYPE_CHECKING

from core.debugger.exemplars.analyses.duplicates import DuplicatesService
from core.debugger.exemplars.analyses.leave_one_out import LeaveOneOutService
from core.debugger.exemplars.analyses.map import MapService
from core.debugger.exemplars.analyses.retrieval_bench import RetrievalBenchService
from core.debugger.exemplars.editor.service import EditorService
from core.debugger.exemplars.library.importing import ImportService
from core.debugger.exemplars.library.service import LibraryService
from core.debugger.exemplars.recording.service import RecordingService
from core.debugger.exemplars.saving.service import SavingService

if TYPE_CHECKING:
    from core.debugger.session import Session


def make_service(session: "Session") -> "ExemplarServices":
    return ExemplarServices(session)


class ExemplarServices:
    """One service for each window, and for each page of the library."""

    def __init__(self, session: "Session") -> None:
        self.library = LibraryService(session)
        self.imports = ImportService(self.library)
        self.editor = EditorService(session)
        self.saving = SavingService(session)
        self.recording = RecordingService(session)
        self.duplicates = DuplicatesService(session)
        self.map = MapService(session)
        self.bench = RetrievalBenchService(session)
        self.leave_one_out = LeaveOneOutService(session)
