"""The command that attaches an agent."""

from gui.widgets.commands import RUN, Command

HELP = "attach.md#attach-your-agent"
COMMANDS = (
    Command("attach", "Attach &your agent…", "Ctrl+Shift+A", "plug", RUN, 6.1,
        "Run your own agent in this window's browser, and step through it", lambda feature: feature.controller.open()),
)  # fmt: skip
