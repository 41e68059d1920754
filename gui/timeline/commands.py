"""Commands of the time bar."""

from gui.shell.command_group import FeatureCommands
from gui.widgets.commands import VIEW, Command

HELP = "window.md#time-bar"


def _why_no_playing(feature: FeatureCommands) -> str:
    step = feature.window.step_in_view
    none = "No step of a run is in view: open a task (Ctrl+N) or choose a run"
    return none if step is None or not step.number else ""


COMMANDS = (
    Command("play_back", "Play the &run back", "Ctrl+Alt+P", "play", VIEW, 2.3,
        "Show the recorded steps of the run in view one after another. Press again, or Esc, to stop",
        lambda feature: feature.window.time.play.toggle(), _why_no_playing, help="window.md#play-a-run-back"),
    Command("time_bar", "&Time bar", "Ctrl+T", "history", VIEW, 3.2,
        "Show where the time of the run went, and go to it. Press again to hide it",
        lambda feature: feature.window.time.reach()),
    Command("fold_film", "Fol&d the filmstrip", "Ctrl+Shift+T", "fold", VIEW, 3.3,
        "Fold the pictures of the steps to a line, or show them again",
        lambda feature: feature.window.time.toggle_film(), help="window.md#filmstrip"),
)  # fmt: skip
