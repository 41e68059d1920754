"""The command that opens the palette."""

from gui.widgets.commands import VIEW, Command

HELP = "window.md#command-palette"
COMMANDS = (
    Command("palette", "&Command palette…", "Ctrl+Shift+P", "terminal", VIEW, 1.1,
        "Find a command, panel, task, run, step, exemplar, setting or page of the documentation",
        lambda feature: feature.controller.open()),
)  # fmt: skip
