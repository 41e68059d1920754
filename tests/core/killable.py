"""Functions in processes of their own that can be killed, forked from one that has imported them already."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.core.trace.writer", "tests.core.exemplars.library.writer"])


class Killable:
    """Runs `work(channel, *arguments)`, which sends what it has done to its channel."""

    def __init__(self, work: Callable[..., None], *arguments: Any) -> None:
        self._channel: Connection
        self._channel, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=work, args=(theirs, *arguments), daemon=True)
        self._process.start()
        theirs.close()

    def said(self) -> Any:
        """Wait for the next that it says; raises EOFError once it is dead and everything was heard."""
        return self._channel.recv()

    def go_on(self, what: Any = None) -> None:
        """Let it go on after what it said last, with `what`, where it waits for that."""
        self._channel.send(what)

    def kill(self) -> list[Any]:
        """Kill it as the system does, and return what it said that was not heard before."""
        self._process.kill()
        self._process.join()
        unheard = []
        try:
            while True:
                unheard.append(self._channel.recv())
        except (EOFError, OSError):  # The last one may be cut in the middle.
            return unheard
        finally:
            self._channel.close()
