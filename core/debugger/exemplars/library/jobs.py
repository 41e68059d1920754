"""The long work on the library: one piece at a time goes on in the background, tells how far it is and can be ended."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from core.debugger.exemplars.library.views import JobKind, JobView, Told
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal

_INTERVAL = 0.08
"""Seconds between two tellings."""


class Job:
    """What a piece of work is told by and asks: how far it is, and whether it is to end."""

    def __init__(self, kind: JobKind, doing: str, send: Callable[[JobView], None]) -> None:
        self.view = JobView(kind=kind, doing=doing)
        self.cancelled = False
        self._send = send
        self._last = 0.0
        send(self.view)

    def tell(self, done: int, of: int, doing: str = "") -> None:
        """Say how far it is; may be called from any thread, and far more often than it is told."""
        self.view = self.view.replace(done=done, of=of, doing=doing or self.view.doing)
        now = time.monotonic()
        if now - self._last >= _INTERVAL or doing:
            self._last = now
            self._send(self.view)


class Jobs:
    """Carries out one job; a second one is refused."""

    def __init__(self, told: Signal[Told]) -> None:
        self.working: Signal[JobView] = Signal()
        self._told = told
        self._job: Job | None = None
        self._going: asyncio.Task[None] | None = None

    def start(
        self,
        kind: JobKind,
        doing: str,
        work: Callable[[Job], Coroutine[Any, Any, None]],
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Begin the work in the background; what it raises is told, by `failed` where that is given.

        Raises UsageError where something goes on already.
        """
        if self._going is not None and not self._going.done():
            assert self._job is not None
            raise UsageError(f"“{self._job.view.doing}” goes on still: wait for its end, or cancel it.")
        job = self._job = Job(kind, doing, self.working.send)
        self._going = asyncio.ensure_future(self._carry_out(job, work, failed))

    def cancel(self) -> None:
        """End what goes on, as soon as it comes to a place where it can be left."""
        job, going = self._job, self._going
        if job is None or going is None or going.done():
            return
        job.cancelled = True
        if job.view.kind in ("read", "index"):
            going.cancel()  # They wait for a thread or for the embedding, and leave nothing half done.

    async def close(self) -> None:
        going = self._going
        if going is not None and not going.done():
            self.cancel()
            going.cancel()
            await asyncio.wait([going])

    async def _carry_out(
        self,
        job: Job,
        work: Callable[[Job], Coroutine[Any, Any, None]],
        failed: Callable[[str], None] | None,
    ) -> None:
        try:
            await work(job)
        except asyncio.CancelledError:
            if failed is not None:
                failed(f"“{job.view.doing}” was cancelled.")
            else:
                self._told.send(Told(text=f"“{job.view.doing}” was cancelled."))
        except BackstepError as error:
            if failed is not None:
                failed(str(error))
            else:
                self._told.send(Told(text=str(error), bad=True))
        finally:
            self.working.send(JobView())
