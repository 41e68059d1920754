"""What the windows of exemplars ask of the session, apart from the windows: these take long to load."""

from dataclasses import dataclass

from core.debugger.exemplars.analyses.views import AnalysisDeskCommands
from core.debugger.exemplars.editor.views import EditorDeskCommands
from core.debugger.exemplars.library.views import LibraryDeskCommands
from core.debugger.exemplars.saving.views import KeepDeskCommands, RecordDeskCommands
from core.debugger.experiments.evaluation_views import ProvingDeskCommands


@dataclass(frozen=True)
class ExemplarDesks:
    """One desk for each."""

    library: LibraryDeskCommands
    editor: EditorDeskCommands
    analyses: AnalysisDeskCommands
    proving: ProvingDeskCommands
    keeps: KeepDeskCommands
    records: RecordDeskCommands
