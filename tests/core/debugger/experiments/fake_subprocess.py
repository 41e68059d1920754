"""A desk whose process is a script of the test's, with all its views."""

import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

SECONDS = 60
TELLS = """
import sys, time
for line in sys.argv[1:]:
    print(line, flush=True)
"""
WAITS = TELLS + "\ntime.sleep(600)\n"
"""Ends only when it is ended."""


class DeskApart:
    """Keeps what the process was asked for, and the views."""

    def __init__(
        self, stage: Any, make: Callable[[Any, Callable[..., list[str]]], Any], script: str, *lines: str
    ) -> None:
        """`make` makes the desk of a session and of what gives the words of its process."""
        self.asked: list[Any] = []
        self.session = SimpleNamespace(
            workshop=lambda: stage.workshop,
            store=stage.workshop.store,
            agent_run=None,
            query="",
            send_runs=lambda query: None,
            log=lambda *words: None,
            queue=lambda work: stage.thread.start(work),
            closers=[],
        )

        def command(wanted: Any, database: Any) -> list[str]:
            self.asked.append(wanted)
            return [sys.executable, "-c", script, *lines]

        self.desk = make(self.session, command)
        self.views: list[Any] = []
        self._changed = threading.Condition()
        self.desk.changed.connect(self._keep)

    def _keep(self, view: Any) -> None:
        with self._changed:
            self.views.append(view)
            self._changed.notify_all()

    def wait(self, met: Callable[[Any], object]) -> Any:
        """Wait for a view, and return it."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.views and met(self.views[-1]), SECONDS)
        return self.views[-1]
