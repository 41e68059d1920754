"""The services of the exemplars: the library, the editor, saving a run, recording by hand, and the analyses."""

from typing import TYPE_CHECKING

from core.debugger.exemplars.analyses.duplicates import DuplicatesService
from core.debugger.exemplars.analyses.retrieval import RetrievalService
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.editor.service import EditorService
from core.debugger.exemplars.library.importing import ImportService
from core.debugger.exemplars.library.service import LibraryService
from core.debugger.exemplars.saving.service import RecordingService, SavingService

if TYPE_CHECKING:
    from core.debugger.session import Session


class ExemplarServices:
    """One service for each window, and for each analysis of the library."""

    def __init__(self, session: "Session") -> None:
        self.changes = ExemplarChanges(session)
        self.library = LibraryService(session, self.changes)
        self.imports = ImportService(self.library)
        self.editor = EditorService(session, self.changes)
        self.saving = SavingService(session, self.changes)
        self.recording = RecordingService(session)
        self.duplicates = DuplicatesService(session, self.changes)
        self.retrieval = RetrievalService(session, self.library)
        self.library.refreshed.connect(lambda _none: self.duplicates.follow())
        self.library.refreshed.connect(lambda _none: self.retrieval.announce())


make_service = ExemplarServices
