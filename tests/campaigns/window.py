"""The window with a task that runs in it, as a program: `python -m tests.campaigns.window WORDS…`, as for main.py.

It is started by `main.entry`. Once the task waits to be stepped, Run is
pressed; each step that the window shows as done is told as a line.
"""

from typing import Any

from PySide6.QtCore import QObject, QTimer

import gui.application
import main

_LOOK_MILLISECONDS = 10


class Runner(QObject):
    """Presses Run once in a window, and tells what it shows as done."""

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self._window = window
        self._pressed = False
        self._told = 0
        timer = QTimer(self)
        timer.timeout.connect(self._look)
        timer.start(_LOOK_MILLISECONDS)

    def _look(self) -> None:
        view, run = self._window.view, self._window.actions_by_name["run"]
        if view.mode == "waiting" and not self._pressed and run.isEnabled():
            self._pressed = True
            run.trigger()
        done = view.step if view.mode == "ended" else view.step - 1
        for step in range(self._told + 1, done + 1):
            print(f"run {view.run}, step {step} is done", flush=True)
        self._told = max(self._told, done)
        if view.mode in ("ended", "failed"):
            print(f"run {view.run}: {view.mode}. {view.message}", flush=True)
            self.deleteLater()


def run_in_window() -> None:
    """Start the program with the words of the command line."""
    install = gui.application.install_features

    def installed(window: Any, services: Any) -> Any:
        Runner(window)
        return install(window, services)

    gui.application.install_features = installed
    main.entry()


if __name__ == "__main__":
    run_in_window()
