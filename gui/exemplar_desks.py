"""What the windows of exemplars ask of the session, apart from the windows: these take long to load."""

from dataclasses import dataclass

from core.debugger.analysis_views import AnalysisDeskCommands
from core.debugger.editor_views import EditorDeskCommands
from core.debugger.keep_views import KeepDeskCommands, RecordDeskCommands
from core.debugger.library_views import LibraryDeskCommands
from core.debugger.proving_views import ProvingDeskCommands


@dataclass(frozen=True)
class ExemplarDesks:
    """One desk for each."""

    library: LibraryDeskCommands
    editor: EditorDeskCommands
    analyses: AnalysisDeskCommands
    proving: ProvingDeskCommands
    keeps: KeepDeskCommands
    records: RecordDeskCommands
