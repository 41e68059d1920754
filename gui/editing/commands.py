"""The command that edits files of the agent."""

from gui.widgets.commands import EDIT, Command

HELP = "debugging.md#edit-files-of-the-agent"
COMMANDS = (
    Command("edit_file", "Edit a file of t&he agent…", "Ctrl+Shift+O", "go-to-file", EDIT, 2.1,
        "Edit a policy, preset, state space or prompt, with the prompt that would result",
        lambda feature: feature.controller.list_files()),
)  # fmt: skip
