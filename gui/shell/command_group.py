"""Commands that no panel carries out: those of the window and of its features."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gui.widgets.commands import Command
from gui.widgets.enabled_commands import NO_RUN, why_no_step

if TYPE_CHECKING:
    from core.debugger.session import Session
    from gui.shell.parts import WindowParts


class CommandGroup:
    """Has commands in `COMMANDS`; `help` is their page and heading of the documentation."""

    help = "keys.md"
    needs_session = True
    COMMANDS: tuple[Command, ...] = ()

    def __init__(self, window: "WindowParts") -> None:
        self.window = window

    @property
    def is_ready(self) -> bool:
        return not self.needs_session or hasattr(self.window, "session")

    @property
    def session(self) -> "Session":
        return self.window.session

    @property
    def is_live(self) -> bool:
        """Whether the current step is in view."""
        step = self.window.step_in_view
        return step is None or step.live

    @property
    def run_in_view(self) -> int | None:
        step = self.window.step_in_view
        return step.run if step is not None else self.window.view.run

    def why_no_run(self) -> str:
        return NO_RUN if self.run_in_view is None else ""

    def back_to(self) -> tuple[int, int] | None:
        """Return run and number of the step that Back goes to: the state before that step.

        That is the focused row of the tree, the recorded step in view, or the last finished step.
        """
        step, chosen = self.window.step_in_view, self.window.runs.chosen_step
        if chosen is not None and (step is None or chosen != (step.run, step.number)):
            return chosen
        if step is None or not step.number:
            return None
        if not step.live:
            return step.run, step.number
        over = step.row is not None and step.row.sealed
        last = step.number if over else step.number - 1
        return (step.run, last) if last else None

    def why_no_back(self) -> str:
        view, place = self.window.view, self.back_to()
        if view.mode == "opening" or (place is None and view.run is None):
            return why_no_step(view)
        return "There is no step to go back to yet" if place is None else ""


class FeatureCommands(CommandGroup):
    """The commands of a feature, from its ``commands.py``: they are in the menus before the feature is installed."""

    def __init__(self, window: "WindowParts", feature: str) -> None:
        super().__init__(window)
        self._feature = feature
        module = import_module(f"gui.{feature}.commands")
        self.COMMANDS, self.help = module.COMMANDS, module.HELP

    @property
    def is_ready(self) -> bool:
        return self._feature in self.window.controllers

    @property
    def controller(self) -> Any:
        """What the feature's `install` made; only if it is ready."""
        return self.window.controllers[self._feature]
