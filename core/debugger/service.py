"""What every feature of the debugger is made of: a service that takes commands and sends views.

A service lives on the session's loop. The window calls its commands from any
thread: each returns at once and queues its work. What the service has to show
is one frozen view, sent whole by `changed` whenever a part of it changes.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from core.debugger.background_read import ask_file
from core.debugger.job_view import JobView
from core.debugger.services import Services
from core.schema.errors import BackstepError, UsageError
from core.schema.record import Record
from core.schema.signal import Signal
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

T = TypeVar("T")
P = ParamSpec("P")
View = TypeVar("View", bound=Record)
AnyService = TypeVar("AnyService", bound="Service[Any]")

_PROGRESS_STEPS = 100
"""Into how many parts the progress of a job is divided."""


def command(
    work: Callable[Concatenate[AnyService, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[AnyService, P], None]:
    """Make a coroutine method a command: calling it queues the work on the session's loop and returns at once.

    A `BackstepError` that the work raises goes to the service's `failed`.
    """

    def queue(self: AnyService, /, *args: P.args, **kwargs: P.kwargs) -> None:
        async def whole() -> None:
            await self.guarded(work(self, *args, **kwargs))

        self.session.queue(whole())

    functools.update_wrapper(queue, work)
    return queue


class Service(Generic[View]):
    """Holds a view and at most one job, which is cancelled when the session is closed.

    A subclass writes its commands as coroutine methods with `@command`.
    """

    def __init__(self, session: "Session", view: View) -> None:
        self.changed: Signal[View] = Signal()
        self.session = session
        self.view = view
        self._job: asyncio.Task[None] | None = None
        session.closers.append(self.close)

    def send(self, view: View) -> None:
        """Make `view` the current one and send it."""
        self.view = view
        self.changed.send(view)

    def show(self, **changes: Any) -> None:
        """Change fields of the view and send it."""
        self.send(self.view.replace(**changes))

    def failed(self, problem: str) -> None:
        """Show why a command or a job failed, as one sentence; the view needs a field `problem`."""
        self.show(problem=problem)

    async def guarded(self, work: Awaitable[None]) -> None:
        """Do the work; a failure that a user can do something about is shown, any other one is raised."""
        try:
            await work
        except BackstepError as error:
            self.failed(str(error))

    # What the session works with

    @property
    def services(self) -> Services:
        """Settings, tasks, LLMs, trace and browser; raises UsageError before the session has begun."""
        return self.session.services()

    async def read(self, question: Callable[[TraceStore], T]) -> T:
        """Ask the database in a thread, through a connection of its own; raises what the question raises."""
        return await ask_file(self.session.store, question)

    # The job

    @property
    def is_busy(self) -> bool:
        return self._job is not None and not self._job.done()

    def start(self, work: Coroutine[Any, Any, None], busy: str) -> None:
        """Begin the job; raises UsageError with the sentence `busy` where one is under way."""
        if self.is_busy:
            work.close()
            raise UsageError(busy)
        self._job = asyncio.ensure_future(self.guarded(work))

    async def restart(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin the job in place of the one under way, which is cancelled first."""
        await self.stop()
        self._job = asyncio.ensure_future(self.guarded(work))

    async def stop(self) -> None:
        """Cancel the job and wait for its end."""
        job, self._job = self._job, None
        if job is not None and not job.done():
            job.cancel()
            await asyncio.wait([job])

    async def close(self) -> None:
        """The session is closing: end the job."""
        await self.stop()

    def progress(self, show: Callable[[int, int], None]) -> Callable[[int, int], None]:
        """Return a reporter of (done, total) that passes on one report a percent."""
        last = -1

        def report(done: int, total: int) -> None:
            nonlocal last
            part = done * _PROGRESS_STEPS // max(1, total)
            if part != last:
                last = part
                show(done, total)

        return report


AnyJobView = TypeVar("AnyJobView", bound=JobView)


class JobService(Service[AnyJobView]):
    """A service whose view shows how far its job is."""

    def begin(
        self,
        doing: str,
        work: Callable[[], Awaitable[None]],
        failed: Callable[[str], None] | None = None,
        **changes: Any,
    ) -> None:
        """Begin the job; raises UsageError where one is under way.

        `changes` are made to the view at once. A failure is told to `failed`,
        without it to the service's own.
        """
        if self.is_busy:
            raise UsageError(f"“{self.view.doing}” goes on still: wait for its end, or cancel it.")
        self.show(busy=True, doing=doing, done=0, of=0, **changes)
        self.start(self._carry_out(work, failed or self.failed), "")

    async def _carry_out(self, work: Callable[[], Awaitable[None]], failed: Callable[[str], None]) -> None:
        try:
            await work()
        except BackstepError as error:
            failed(str(error))
        except Exception:
            failed(f"“{self.view.doing}” failed: this is a mistake of the program's own.")
            raise
        finally:
            self.show(busy=False, doing="")

    def reporting(self, doing: str = "") -> Callable[[int, int], None]:
        """Return a reporter of (done, of) that shows how far this part of the job is."""
        return self.progress(lambda done, of: self.show(doing=doing or self.view.doing, done=done, of=of))

    @command
    async def cancel(self) -> None:
        """End the job; what it has shown stays in view."""
        await self.stop()

    async def stop(self) -> None:
        await super().stop()
        if self.view.busy:  # It had not even begun.
            self.show(busy=False, doing="")


class LatestAnswer:
    """Reads one answer at a time; of several questions asked meanwhile only the last is read."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._lock = asyncio.Lock()
        self._asked = 0

    async def read(
        self, question: Callable[[TraceStore], T], on_failure: Callable[[str], T], send: Callable[[T], None]
    ) -> None:
        """Send the answer, or what `on_failure` makes of the sentence that says why there is none.

        Nothing is sent where another question was asked meanwhile.
        """
        self._asked = asked = self._asked + 1
        async with self._lock:
            if self._asked != asked:
                return
            try:
                answer = await ask_file(self._session.store, question)
            except BackstepError as error:
                answer = on_failure(str(error))
        if self._asked == asked:
            send(answer)
