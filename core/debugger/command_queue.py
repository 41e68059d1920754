"""The way of commands from any thread to the session's loop."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from core.debugger.worker import Worker
from core.schema.errors import BackstepError


class CommandQueue:
    """Queues commands: they begin once the session has started, and are dropped once it is closed."""

    def __init__(self, worker: Worker, complain: Callable[[str], None]) -> None:
        """`complain` is told why a command could not be carried out."""
        self._worker = worker
        self._complain = complain
        self._started = asyncio.Event()
        self._closed = False

    # From any thread

    def post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Queue a command; a BackstepError of it is complained of."""
        try:
            self._worker.post(self._guarded(work))
        except RuntimeError:
            return  # The session is over; a last click has nothing to reach.

    def now(self, change: Callable[[], object]) -> None:
        """Queue a command that does not wait for anything."""

        async def work() -> None:
            change()

        self.post(work)

    def queue(self, work: Coroutine[Any, Any, None]) -> None:
        """Queue a command that is a coroutine already."""

        async def whole() -> None:
            try:
                await self._guarded(lambda: work)
            finally:
                work.close()  # Where the session was closed first it was never begun.

        try:
            self._worker.post(whole())
        except RuntimeError:
            work.close()

    # In the worker's loop

    def start(self) -> None:
        """Let the commands that wait begin."""
        self._started.set()

    def close(self) -> None:
        """Begin no command any more."""
        self._closed = True

    async def _guarded(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await self._started.wait()
        if self._closed:
            return
        try:
            await work()
        except BackstepError as error:
            self._complain(str(error))
