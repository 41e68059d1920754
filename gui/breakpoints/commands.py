"""Commands for breakpoints and watches."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import RUN, Command

HELP = "window.md#breakpoints"


def _why_no_hit(feature: FeatureCommands) -> str:
    none = "No breakpoint has stopped at a step before this one"
    return "" if feature.window.breakpoints.can_go_to_hit else none


def _why_no_change(feature: FeatureCommands) -> str:
    none = "Choose a watch that changed at a step before this one"
    return "" if feature.window.breakpoints.can_go_to_change else none


def add_watch(feature: FeatureCommands) -> None:
    feature.window.place("Breakpoints").bring()
    feature.window.breakpoints.begin_watch()


COMMANDS = (
    Command("back_to_hit", "Back to the last &hit", "Ctrl+F5", "debug-reverse-continue", RUN, 2.6,
        "Show the last step before the one in view at which a breakpoint stops",
        lambda feature: feature.window.breakpoints.go_to_hit(), _why_no_hit),
    Command("back_to_change", "Back to the last chan&ge", "Ctrl+Shift+F5", "debug-reverse-continue", RUN, 2.7,
        "Show the last step before the one in view at which the chosen watch changed",
        lambda feature: feature.window.breakpoints.go_to_change(), _why_no_change),
    Command("add_breakpoint", "Add a brea&kpoint…", "Ctrl+Shift+B", "debug-breakpoint", RUN, 3.1,
        "Choose what stops the run", lambda feature: feature.controller.add()),
    Command("add_watch", "Add a &watch", "Ctrl+Shift+W", "eye", RUN, 3.2, "Show a value at every step", add_watch),
)  # fmt: skip
