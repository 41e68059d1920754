"""An experiment's service whose subprocess is a script of the test's, with all its views."""

import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from core.schema.signal import Signal

SECONDS = 60
PRINTS = "for line in {lines!r}: print(line, flush=True)"
WAITS = PRINTS + "\nimport time; time.sleep(600)"
"""Ends only when it is ended."""
FAILS = "import sys; print('The browser has ended.', file=sys.stderr); sys.exit(3)"


class FakeSubprocess:
    """Keeps the arguments that the subprocess was started with, and the views."""

    def __init__(self, stage: Any, make: Callable[[Any], Any], script: str = PRINTS, *lines: str) -> None:
        """`make` makes the service of a session; `script` prints `lines`, where it has a place for them."""
        self.asked: list[list[str]] = []
        self.session = SimpleNamespace(
            services=lambda: stage.services,
            store=stage.services.store,
            session=SimpleNamespace(max_steps=30),
            agent_run=None,
            query="",
            send_runs=lambda query: None,
            log=lambda *words: None,
            queue=lambda work: stage.thread.start(work),
            closers=[],
            worked=Signal(),
        )
        self.service = make(self.session)
        self.service.process.program = (sys.executable, "-c", script.format(lines=lines))
        run = self.service.process.run

        def keep_and_run(arguments: list[str], on_line: Callable[[str], None], **more: Any) -> Any:
            self.asked.append(arguments)
            return run(arguments, on_line, **more)

        self.service.process.run = keep_and_run
        self.views: list[Any] = []
        self._changed = threading.Condition()
        self.service.changed.connect(self._keep)

    def _keep(self, view: Any) -> None:
        with self._changed:
            self.views.append(view)
            self._changed.notify_all()

    def wait(self, met: Callable[[Any], object]) -> Any:
        """Wait for a view, and return it."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.views and met(self.views[-1]), SECONDS)
        return self.views[-1]
