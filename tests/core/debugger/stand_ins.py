"""What services are given in the tests in place of a session: a loop, a store, and parts of the services."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from core.agent.loop import AgentRun
from core.debugger.breakpoints.monitor import BreakpointMonitor
from core.llm.registry import LLMs
from core.schema.signal import Signal
from core.trace.store import TraceStore
from tests.core.stage import SECONDS, LoopThread


class StandInSession:
    """Does what is queued on a loop of its own, and keeps what a service asks it to show.

    `services` are those parts of the services that the service under test uses.
    """

    agent_run: AgentRun | None = None
    busy = False

    def __init__(
        self, *, store: TraceStore | None = None, thread: LoopThread | None = None, **services: Any
    ) -> None:
        self.store = store
        self.closers: list[Callable[[], Awaitable[None]]] = []
        self.worked: Signal[Any] = Signal()
        self.breaking = BreakpointMonitor(lambda hit: None)
        if store is not None:
            self.breaking.open(store)
        self.messages: list[str] = []
        """What is to be shown to the person, refusals among it."""
        self.shown: list[tuple[int, int]] = []
        """The recorded steps that were to be shown."""
        self.offered = 0
        """How often what can be chosen was announced."""
        self._services = SimpleNamespace(store=store, **services)
        self.thread = thread or LoopThread()
        self._owns_thread = thread is None
        self._queued: list[Future[Any]] = []
        self._kept: list[Coroutine[Any, Any, None]] | None = None

    # What services use

    def queue(self, work: Coroutine[Any, Any, None]) -> None:
        if self._kept is not None:
            self._kept.append(work)
        else:
            self._queued.append(self.thread.start(work))

    def services(self) -> Any:
        return self._services

    def offer(self) -> None:
        self.offered += 1

    @property
    def agent(self) -> "StandInSession":
        return self

    async def use_llms(self, llms: LLMs) -> None:
        self._services.llms = llms

    def crash(self, error: Exception) -> None:
        raise error

    def change(self, *, message: str) -> None:
        self.messages.append(message)

    def tell(self, text: str, *, done: bool = True) -> None:
        self.messages.append(text)

    def show_recorded(self, run: int, number: int, side: object = None) -> None:
        self.shown.append((run, number))

    # What tests use

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Begin what is queued meanwhile at the end, all of it at the same time."""
        self._kept = kept = []

        async def all_of_it() -> None:
            await asyncio.gather(*kept)

        yield
        self._kept = None
        self._queued.append(self.thread.start(all_of_it()))

    def done(self) -> None:
        """Wait until all queued work is done and its jobs have begun; raises what it raised."""
        while self._queued:
            self._queued.pop(0).result(SECONDS)
        self.thread.run(asyncio.sleep(0))

    def close(self) -> None:
        """Close the services, and the loop where it is its own."""
        for close in self.closers:
            self.thread.run(close())
        if self._owns_thread:
            self.thread.close()
