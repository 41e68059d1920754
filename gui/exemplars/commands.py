"""Commands for exemplars: their library, and how runs become exemplars."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import ACTION, RUN, VIEW, BarPlace, Command, Face

_STOP = Face(
    "Stop recor&ding", "End the recording and save it as an exemplar", "record", "Stop recording", "bad"
)

HELP = "exemplars.md#the-library"
COMMANDS = (
    Command("library", "E&xemplars…", "Ctrl+L", "library", VIEW, 1.4,
        "Open the library of exemplars to search, check, import and export",
        lambda feature: feature.controller.library.open()),
    Command("keep", "Save as e&xemplar…", "Ctrl+Shift+K", "save", RUN, 2.5,
        "Save the run in view as an exemplar for runs of similar tasks",
        lambda feature: feature.window.runs.keep_requested.emit(feature.run_in_view, ()), FeatureCommands.why_no_run,
        help="exemplars.md#save-an-exemplar"),
    Command("record", "Recor&d by hand", "Ctrl+Shift+D", "record", ACTION, 2.4,
        "Record how you do the task in the page, and save it as an exemplar",
        lambda feature: feature.controller.recording.toggle(), bar=BarPlace(9, folds=1, text="Record"),
        checked=lambda feature: feature.window.page.recording.recording or feature.window.page.recording.starting,
        face=lambda feature: _STOP if feature.window.page.recording.recording else None,
        help="debugging.md#record-by-hand"),
)  # fmt: skip
