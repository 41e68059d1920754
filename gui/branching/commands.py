"""The command that tries again from a step."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import RUN, BarPlace, Command

HELP = "debugging.md#fork-a-run"


def fork(feature: FeatureCommands) -> None:
    if (place := feature.back_to()) is not None:
        feature.controller.open(*place)


COMMANDS = (
    Command("fork", "Try again &from here…", "Ctrl+Shift+F", "debug-step-back", RUN, 2.3,
        "Go back to the step in view, with another preset, LLM, policies or exemplars, or find the step that decides",
        fork, FeatureCommands.why_no_back, bar=BarPlace(1, 10)),
)  # fmt: skip
