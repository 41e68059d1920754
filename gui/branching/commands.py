"""The command that forks a run."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import RUN, Command

HELP = "debugging.md#fork-a-run"


def fork(feature: FeatureCommands) -> None:
    if (place := feature.back_to()) is not None:
        feature.controller.open(*place)


COMMANDS = (
    Command("fork", "&Fork…", "Ctrl+Shift+F", "repo-forked", RUN, 2.3,
        "Go back to the step in view on a branch with another preset, LLM, policies or exemplars", fork,
        FeatureCommands.why_no_back),
)  # fmt: skip
