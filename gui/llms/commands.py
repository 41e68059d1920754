"""The command that opens the settings of the LLMs."""

from gui.widgets.commands import FILE, Command

HELP = "llms.md#connect-a-server"
COMMANDS = (
    Command("llm_settings", "&LLM settings…", "Ctrl+,", "settings-gear", FILE, 3.1,
        "Add an LLM, or change base URL and key", lambda feature: feature.window.llm_settings_requested.emit()),
)  # fmt: skip
