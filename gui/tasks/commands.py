"""The command that adds the user's tasks."""

from gui.widgets.commands import FILE, Command

HELP = "tasks.md#add-your-own-tasks"
COMMANDS = (
    Command("add_tasks", "Add tasks &from a file…", "Ctrl+O", "file-add", FILE, 1.2,
        "Add a task file or WebArena's configuration to the tasks", lambda feature: feature.window.tasks.add_tasks()),
)  # fmt: skip
