"""The worker thread: Playwright, the LLM client and the trace run on its asyncio loop."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")


class Worker:
    """Runs coroutines in its own thread; errors are logged and announced."""

    def __init__(self) -> None:
        self.on_failure: Callable[[BaseException], None] = lambda error: None
        """Is given what a coroutine has raised."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="backstep worker", daemon=True)

    def start(self) -> None:
        """Start the thread; calling it again does nothing."""
        if self._thread.ident is None:
            self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            # What was posted in the last moment is begun and cancelled, so that nothing is left unawaited.
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    @property
    def is_here(self) -> bool:
        """Whether the caller is in the worker's thread."""
        return threading.current_thread() is self._thread

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._loop

    def post(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Queue a coroutine, from any thread, and return at once."""
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("The worker has ended.")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        future.add_done_callback(self._check)
        return future

    def _check(self, future: "Future[Any]") -> None:
        if future.cancelled():
            return
        error = future.exception()
        if error is not None:
            log.error("The worker failed", exc_info=error)
            self.on_failure(error)

    def stop(self, timeout: float = 10.0) -> None:
        """Cancel what is in progress and end the thread; waits at most `timeout` seconds."""
        if self._loop.is_closed():
            return

        def end() -> None:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.call_later(0.05, self._loop.stop)

        self._loop.call_soon_threadsafe(end)
        self._thread.join(timeout)
