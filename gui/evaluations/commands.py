"""Commands of the evaluations."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import RUN, VIEW, Command

HELP = "evaluations.md#in-the-window"
COMMANDS = (
    Command("evaluations", "E&valuations…", "Ctrl+Shift+V", "graph", VIEW, 1.5,
        "Run many tasks with several agents or LLMs, and compare their success",
        lambda feature: feature.controller.open()),
    Command("bisect", "Bisect…", "Ctrl+Shift+I", "graph-line", RUN, 2.4,
        "Find the step from which the run in view can still succeed",
        lambda feature: feature.window.runs.bisect_requested.emit(feature.run_in_view), FeatureCommands.why_no_run,
        help="debugging.md#bisect-a-run"),
)  # fmt: skip
