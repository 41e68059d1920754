"""The command that fixes a run."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import RUN, Command
from gui.widgets.enabled_commands import NO_RUN

HELP = "debugging.md#fix-a-failed-run"


def _why_not(feature: FeatureCommands) -> str:
    none = feature.run_in_view is None and feature.window.runs.chosen_run is None
    return NO_RUN if none else ""


def fix(feature: FeatureCommands) -> None:
    runs = feature.window.runs
    if (chosen := runs.chosen_step) is not None:
        feature.controller.open(*chosen)
    elif (run := runs.chosen_run or feature.run_in_view) is not None:
        feature.controller.open(run, 0)


COMMANDS = (
    Command("fix", "Fix…", "Ctrl+.", "tools", RUN, 2.1,
        "Show the causes of the run in view with changes to prove and keep, or change something and run again",
        fix, _why_not),
)  # fmt: skip
