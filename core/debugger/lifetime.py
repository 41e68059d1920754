"""From start to close: the worker, the workshop behind a session, and the queue its commands go through."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from core.debugger.runner import Driver
from core.debugger.services import Workshop
from core.debugger.task_opening import Openings
from core.debugger.worker import Worker
from core.schema.errors import BackstepError, TraceError, UsageError


class Lifetime(Driver, ABC):
    """A driver with a thread of its own; what it is to do is queued, and begins once it has started."""

    def __init__(self, open_workshop: Callable[[], Awaitable[Workshop]]) -> None:
        super().__init__()
        self._open_workshop = open_workshop
        self._worker = Worker(self._on_worker_failure)
        self._workshop: Workshop | None = None
        self._lock = asyncio.Lock()
        """Held by whoever opens, ends or hands over a run."""
        self._openings = Openings(self._lock)
        self._started = asyncio.Event()
        self._failure = ""
        """Why the browser or the trace is not there."""
        self._closed = False
        self.closers: list[Callable[[], Awaitable[None]]] = []
        """What is to be ended in order before the session is closed."""

    # From the window's thread

    def start(self) -> None:
        """Begin: connect to the browser and the trace; what fails shows as the session's message."""
        self._worker.start()
        self._worker.post(self._start())

    def announce(self) -> None:
        """Send every snapshot once more, for a window that came later."""

        async def work() -> None:
            if self._workshop is not None:
                self.send_catalogue(self._workshop)
                self.send_runs()
            self.change()

        self._worker.post(work())

    def close(self) -> "Future[None]":
        """Begin to end the run and to let go of everything.

        Returns at once: until the future is done the worker may still need
        the GUI thread to answer for the browser. Then call `stop_worker`.
        """
        try:
            return self._worker.post(self._close())
        except RuntimeError:
            over: Future[None] = Future()
            over.set_result(None)
            return over

    def stop_worker(self) -> None:
        """End the worker's thread; nothing can be asked of the session any more."""
        self._worker.stop()

    def queue(self, work: Coroutine[Any, Any, None]) -> None:
        """Queue work on the session's loop, from any thread; a BackstepError of it becomes the message."""

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

    @abstractmethod
    def _listen(self, workshop: Workshop) -> None:
        """Connect to what happens in a workshop that has just been opened."""

    async def _start(self) -> None:
        try:
            async with self._lock:
                await self._connect()
        finally:
            self._started.set()

    async def _connect(self) -> None:
        self.set_mode("opening", "Starting the browser…")
        try:
            workshop = await self._open_workshop()
        except BackstepError as error:
            self._failure = str(error)
            self.fail(self._failure)
            return
        self._failure = ""
        self._workshop = workshop
        self.store = workshop.store
        self.breaking.open(workshop.store)
        self._listen(workshop)
        settings = workshop.settings
        self.change(
            preset=settings.preset, llm=settings.llm, max_steps=settings.max_steps, pace=settings.pace
        )
        self.send_catalogue(workshop)
        self.send_runs()
        self.set_mode("empty", "Choose a task (Ctrl+N).")

    async def _close(self) -> None:
        self._closed = True
        await self._openings.stop()
        for close in self.closers:
            await close()
        async with self._lock:
            await self.halt()
            workshop, self._workshop, self.store = self._workshop, None, None
            if workshop is None:
                return
            try:
                await self._finish_stopped()
            finally:
                await workshop.close()

    async def _finish_stopped(self) -> None:
        """End the run under way as stopped; one that the trace cannot end is found as interrupted later."""
        if self.agent_run is None or self.agent_run.ended:
            return
        try:
            await self.agent_run.finish("stopped")
        except TraceError as error:
            self.log("error", "trace", str(error))

    def _on_worker_failure(self, error: BaseException) -> None:
        self.fail(f"{type(error).__name__}: {error}. The log has the details; open the task anew.")

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            self._worker.post(self._guarded(work))
        except RuntimeError:
            return  # The session is over; a last click has nothing to reach.

    async def _guarded(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await self._started.wait()
        if self._closed:
            return
        try:
            await work()
        except BackstepError as error:
            self.complain(str(error))

    def _now(self, change: Callable[[], None]) -> None:
        async def work() -> None:
            change()

        self._post(work)

    def _need_workshop(self) -> Workshop:
        if self._workshop is None:
            raise UsageError(self._failure or "The browser is not ready yet; wait a moment and try again.")
        return self._workshop
