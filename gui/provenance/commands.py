"""The command that tells where words come from."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import VIEW, Command
from gui.widgets.provenance_menu import selected_in

HELP = "debugging.md#find-where-words-come-from"


def why(feature: FeatureCommands) -> None:
    window, step = feature.window, feature.window.step_in_view
    text, chosen = selected_in(window.focusWidget()), window.runs.chosen_step
    if text or chosen is None:
        chosen = (step.run, step.number) if step is not None else (0, 0)
    feature.controller.explain(*chosen, text)


COMMANDS = (
    Command("why", "Where it comes fro&m…", "Ctrl+I", "quote", VIEW, 2.6,
        "Find where the selected words, or those of the step's action, occur in prompt, page and elsewhere", why),
)  # fmt: skip
