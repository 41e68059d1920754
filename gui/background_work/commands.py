"""Commands for background work."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import VIEW, Command

HELP = "window.md#background-work"


def notify(feature: FeatureCommands) -> None:
    feature.window.remembered.notifies = not feature.window.remembered.notifies


COMMANDS = (
    Command("background_work", "Bac&kground work…", "Ctrl+Shift+U", "server-process", VIEW, 1.6,
        "List background work with its progress, and cancel it", lambda feature: feature.controller.open()),
    Command("notify", "Notif&y when work ends", "Ctrl+Alt+N", "bell", VIEW, 1.7,
        "Show a desktop notification when work ends or stops while another program is in front", notify,
        checked=lambda feature: feature.window.remembered.notifies),
)  # fmt: skip
