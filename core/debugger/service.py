"""The base of all features: a service that takes commands and sends views.

A service runs on the session's loop. Any thread can call its commands: each returns at once and queues its
work. The service shows one frozen view, which `changed` sends whole whenever a part of it changes.
"""

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from core.debugger.background_read import LatestRead, ask_file
from core.debugger.commands import command
from core.debugger.jobs import Job, JobView
from core.debugger.services import Services
from core.exemplars.memory import Memory
from core.schema.errors import BackstepError, UsageError
from core.schema.record import Record
from core.schema.signal import Signal
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

T = TypeVar("T")
View = TypeVar("View", bound=Record)
AnyJobView = TypeVar("AnyJobView", bound=JobView)

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a text begins with that a spreadsheet takes for a formula."""
_PROGRESS_STEPS = 100
"""Into how many parts the progress of a job is divided."""


class ChangeAnswer(NamedTuple):
    """What became of a change that somebody asked for."""

    token: int
    """As it was given with the command."""
    problem: str
    """Empty if it went well; else what is wrong, in a sentence."""


class Service(Generic[View]):
    """Holds a view and at most one job, which is cancelled when the session is closed.

    A subclass writes its commands as coroutine methods with `@command`.
    """

    view: View
    """What is shown; a subclass gives the first one."""

    def __init__(self, session: "Session") -> None:
        self.changed: Signal[View] = Signal()
        self.session = session
        self._latest: dict[str, LatestRead] = {}
        self._job: asyncio.Task[None] | None = None
        self._worked: tuple[Job, ...] = ()
        """The jobs that were announced last."""
        session.closers.append(self.close)

    def send(self, view: View) -> None:
        """Make `view` the current one and send it."""
        self.view = view
        self.changed.send(view)
        jobs = self.jobs
        if jobs != self._worked:
            self._worked = jobs
            self.session.worked.send(self)

    def show(self, **changes: Any) -> None:
        """Change fields of the view and send it."""
        self.send(self.view.replace(**changes))

    def failed(self, problem: str) -> None:
        """Show why a command or a job failed, as one sentence; the view needs a field `problem`."""
        self.show(problem=problem)

    def queue(self, work: Callable[[], Awaitable[None]], /) -> None:
        """Queue the work of a command."""
        self.session.queue(self.guarded(work))

    async def guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work; a failure that a user can do something about is shown, any other one is raised."""
        try:
            await work()
        except BackstepError as error:
            self.failed(str(error))

    # What the session works with

    @property
    def services(self) -> Services:
        """Settings, tasks, LLMs, trace and browser; raises UsageError before the session has begun."""
        return self.session.services()

    @property
    def memory(self) -> Memory:
        """The exemplars; raises UsageError before the session has begun."""
        return self.services.resources.memory

    async def read(self, question: Callable[[TraceStore], T]) -> T:
        """Ask the database in a thread, through a connection of its own; raises what the question raises."""
        return await ask_file(self.session.store, question)

    async def answer(
        self,
        topic: str,
        question: Callable[[TraceStore], T],
        send: Callable[[T], None],
        on_failure: Callable[[str], T],
    ) -> None:
        """Send the answer to a question, or what `on_failure` makes of the sentence that says why there is none.

        Nothing is sent where another question of the same topic was asked meanwhile.
        """
        latest = self._latest.setdefault(topic, LatestRead(self.session.crash))
        latest.withdraw()
        latest.ask(lambda: self.read(question), send, lambda problem: send(on_failure(problem)))
        await latest.settled()

    # The job

    @property
    def jobs(self) -> tuple[Job, ...]:
        """What goes on in the background, as the view has it, for the list of all such work."""
        return ()

    @property
    def outcome(self) -> tuple[str, str]:
        """The result of the job that ended last: why it failed, and what was done; either may be empty."""
        return getattr(self.view, "problem", ""), getattr(self.view, "notice", "")

    async def end_job(self, key: str) -> None:
        """End one of `jobs`, as its own window would."""
        await self.stop()

    @property
    def is_busy(self) -> bool:
        return self._job is not None and not self._job.done()

    def start(self, work: Callable[[], Awaitable[None]], busy: str) -> None:
        """Begin the job; raises UsageError with the sentence `busy` if one is in progress."""
        if self.is_busy:
            raise UsageError(busy)
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


class JobService(Service[AnyJobView]):
    """A service of the library whose view shows the progress of its job."""

    @property
    def jobs(self) -> tuple[Job, ...]:
        view = self.view
        return (Job(title=view.doing, done=view.done, of=view.of, opens="library"),) if view.busy else ()

    def begin(
        self,
        doing: str,
        work: Callable[[], Awaitable[None]],
        failed: Callable[[str], None] | None = None,
        **changes: Any,
    ) -> None:
        """Begin the job; raises UsageError if one is in progress.

        `changes` are made to the view at once. A failure is passed to `failed`,
        without it to the service's own.
        """
        if self.is_busy:
            raise UsageError(f"“{self.view.doing}” is still running. Wait for it to end, or cancel it.")
        self.show(busy=True, doing=doing, done=0, of=0, **changes)
        self.start(partial(self._carry_out, work, failed or self.failed), "")

    async def _carry_out(self, work: Callable[[], Awaitable[None]], failed: Callable[[str], None]) -> None:
        try:
            await work()
        except BackstepError as error:
            failed(str(error))
        except Exception:
            failed(f"“{self.view.doing}” failed because of an internal error.")
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


def table_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as comma-separated values (RFC 4180) under a heading, which is the keys of the first one.

    A text that a spreadsheet would take for a formula begins with an apostrophe; of `bool`, 1 is true.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
