"""The agent settings chosen in the window: preset, LLM, mechanisms, step limit. Each choice can be undone."""

from functools import partial
from typing import TYPE_CHECKING

from core.debugger.session_view import MechanismView, SessionView
from gui.shell.undo import Setting, UndoHistory
from gui.widgets.remembered import Remembered

if TYPE_CHECKING:
    from core.debugger.session import Session


class ChosenSettings:
    """Asks the session to apply the chosen settings."""

    def __init__(self, session: "Session", history: UndoHistory, remembered: Remembered) -> None:
        self._session = session
        self._history = history
        self._remembered = remembered

    def use_preset(self, name: str) -> None:
        """Use this preset now and after the next start."""

        def write(name: str) -> None:
            self._remembered.preset = name
            self._session.agent.set_preset(name)

        setting = Setting("preset", lambda view: view.preset, write)
        self._history.choose(setting, name, f"use the preset {name}")

    def use_llm(self, name: str) -> None:
        """Use this LLM now and after the next start."""

        def write(name: str) -> None:
            self._remembered.llm = name
            self._session.agent.set_llm(name)

        self._history.choose(Setting("LLM", lambda view: view.llm, write), name, f"use the LLM {name}")

    def try_llm(self, name: str) -> None:
        """Use this LLM until the program exits."""
        setting = Setting("LLM", lambda view: view.llm, self._session.agent.set_llm)
        self._history.choose(setting, name, f"use the LLM {name}")

    def switch_mechanism(self, name: str, on: bool) -> None:
        """Switch a mechanism of the current run on or off."""

        def read(view: SessionView) -> bool | None:
            mechanism = _mechanism(view, name)
            return mechanism.on if mechanism is not None else None

        setting = Setting(name, read, partial(self._session.agent.set_mechanism, name), of_run=True)
        self._history.choose(setting, on, f"switch {self._title(name)} {'on' if on else 'off'}")

    def set_amount(self, name: str, value: int) -> None:
        """Set the number of a mechanism of the current run."""

        def read(view: SessionView) -> int | None:
            mechanism = _mechanism(view, name)
            return mechanism.amount.value if mechanism is not None and mechanism.amount is not None else None

        setting = Setting(
            f"number of {name}", read, partial(self._session.agent.set_amount, name), of_run=True
        )
        self._history.choose(setting, value, f"set {self._title(name)} to {value}")

    def limit_steps(self, count: int) -> None:
        """End runs after this number of page actions."""
        setting = Setting("step limit", lambda view: view.max_steps, self._session.run_commands.set_max_steps)
        self._history.choose(setting, count, f"set the step limit to {count}")

    def _title(self, name: str) -> str:
        mechanism = _mechanism(self._history.view, name)
        return mechanism.title if mechanism is not None else name


def _mechanism(view: SessionView, name: str) -> MechanismView | None:
    return next((mechanism for mechanism in view.mechanisms if mechanism.name == name), None)
