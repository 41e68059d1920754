"""Commands: methods that any thread can call, and that run in the session's loop in its worker thread.

Playwright, the LLM client and the trace live on this asyncio loop.
"""

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from core.debugger.publisher import Publisher
from core.debugger.runner import GoalKind, RunGoal, Runner
from core.debugger.services import Current
from core.debugger.worker import Worker
from core.schema.errors import BackstepError

log = logging.getLogger(__name__)
T = TypeVar("T")


P = ParamSpec("P")


class TakesCommands(Protocol):
    """Something with commands: a part of the session, or the service of a feature."""

    def queue(self, work: Callable[[], Coroutine[Any, Any, None]], /) -> None: ...


Commanded = TypeVar("Commanded", bound=TakesCommands)


def command(work: Callable[Concatenate[Commanded, P], object]) -> Callable[Concatenate[Commanded, P], None]:
    """Make a method a command: calling it queues its work on the session's loop and returns at once.

    The work may be a coroutine method. A `BackstepError` that it raises is shown to the person.
    """

    def queue(self: Commanded, /, *args: P.args, **kwargs: P.kwargs) -> None:
        async def whole() -> None:
            done = work(self, *args, **kwargs)
            if inspect.isawaitable(done):
                await done

        self.queue(whole)

    functools.update_wrapper(queue, work)
    return queue


class CommandQueue:
    """Queues commands: they begin once the session has started, and are dropped once it is closed."""

    def __init__(self, worker: Worker, complain: Callable[[str], None]) -> None:
        """`complain` is called with why a command could not be carried out."""
        self._worker = worker
        self._complain = complain
        self._started = asyncio.Event()
        self._closed = False

    def post(self, work: Coroutine[Any, Any, None]) -> None:
        """Queue a command, from any thread; a BackstepError of it is complained of."""
        try:
            done = self._worker.post(self._guarded(work))
        except RuntimeError:
            work.close()  # The session is over; a last click has nothing to reach.
        else:
            done.add_done_callback(lambda _: work.close())  # It may never have begun.

    def start(self) -> None:
        """Let the commands that wait begin."""
        self._started.set()

    def close(self) -> None:
        """Begin no command any more."""
        self._closed = True

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        await self._started.wait()
        if self._closed:
            return
        try:
            await work
        except BackstepError as error:
            self._complain(str(error))


class Openings:
    """Lets one task or branch be opened at a time: each new one replaces the one before."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        """Held by whoever opens, ends or hands over a run."""
        self._asked = 0
        """How often an opening, or a stop, was asked for: only the last one counts."""
        self._under_way: asyncio.Task[Any] | None = None
        self._wanted = 0
        """How many are in progress or wait for the one before to be cancelled."""
        self.then: RunGoal | GoalKind | None = None
        """Where the run is to continue to once it is open, as the person asked meanwhile."""

    @property
    def busy(self) -> bool:
        return self._wanted > 0

    async def only(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """Cancel the current opening and do this one, in the current task.

        Returns None if another one, or a stop, was asked for meanwhile.
        """
        self._asked += 1
        self._wanted += 1
        self.then = None
        mine = self._asked
        try:
            await self._cancel()
            if mine != self._asked:
                return None
            self._under_way = asyncio.current_task()
            async with self.lock:
                return await work()
        finally:
            self._wanted -= 1
            if self._under_way is asyncio.current_task():
                self._under_way = None

    async def stop(self) -> bool:
        """Cancel the current opening and those that wait for it; return whether there was one."""
        self._asked += 1
        return await self._cancel()

    async def _cancel(self) -> bool:
        opening, self._under_way = self._under_way, None
        if opening is None or opening.done():
            return False
        opening.cancel()
        await asyncio.wait([opening])
        return True


@dataclass(frozen=True)
class SessionParts:
    """What all commands of a session share."""

    current: Current
    publisher: Publisher
    runner: Runner
    openings: Openings
    commands: CommandQueue


class SessionCommands:
    """The base of the session's commands, which are methods marked with `@command`.

    All other methods run in the worker's loop.
    """

    def __init__(self, parts: SessionParts) -> None:
        self._current = parts.current
        self._publisher = parts.publisher
        self._runner = parts.runner
        self._openings = parts.openings
        self._commands = parts.commands

    def queue(self, work: Callable[[], Coroutine[Any, Any, None]], /) -> None:
        self._commands.post(work())
