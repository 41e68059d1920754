"""Requests of pages that going back does not undo: recorded, and held until a watcher releases or refuses them."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from playwright.async_api import BrowserContext, Error, Route

from core.schema.restore import Sent

READING = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""
_LONGEST = 2000
"""Characters of an address that are kept."""


_MOST = 500
"""What is kept of a tab between two calls of `take`, one by one."""


def cut(url: str) -> str:
    """Return an address as it is kept."""
    return url[:_LONGEST]


class SentLog:
    """Collects the requests of a tab's documents from the events of the protocol."""

    def __init__(self) -> None:
        self._sockets: dict[str, str] = {}
        self._sent: list[Sent] = []
        self._more = 0
        """How many were sent after the first `_MOST`, of which only the number is kept."""

    def on_request(self, event: dict[str, object]) -> None:
        request = event["request"]
        assert isinstance(request, dict)
        # A redirected request comes again under its id, and is sent again.
        if request["method"] not in READING:
            self._add(Sent(method=request["method"], url=cut(str(request["url"]))))

    def on_socket(self, event: dict[str, object]) -> None:
        self._sockets[str(event["requestId"])] = cut(str(event["url"]))

    def on_socket_closed(self, event: dict[str, object]) -> None:
        self._sockets.pop(str(event["requestId"]), None)

    def on_frame_sent(self, event: dict[str, object]) -> None:
        url = self._sockets.get(str(event["requestId"]), "a WebSocket")
        self._add(Sent(method="SEND", url=url, socket=True))

    def _add(self, sent: Sent) -> None:
        if len(self._sent) < _MOST:
            self._sent.append(sent)
        else:
            self._more += 1

    @property
    def untaken(self) -> tuple[Sent, ...]:
        """What the next call of `take` would return."""
        if not self._more:
            return tuple(self._sent)
        return (*self._sent, Sent(method=f"{self._more:,} more", url="of which only the number was recorded"))

    def take(self) -> tuple[Sent, ...]:
        """Return what was sent since the last call."""
        sent = self.untaken
        self._sent, self._more = [], 0
        return sent


log = logging.getLogger(__name__)

Ask = Callable[[Sent], Awaitable[bool]]
"""Is awaited with what is about to leave; False refuses it."""
_ANY = re.compile("^https?:")


class Holding:
    """Holds the requests of pages while this is switched on, and asks about one at a time.

    Requests that only read pass, with a small delay and without the browser's cache. Messages over an open
    WebSocket cannot be held.
    """

    def __init__(self) -> None:
        self.held = 0
        """How many requests wait now."""
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._waiting: set[asyncio.Task[bool]] = set()

    @asynccontextmanager
    async def on(self, context: BrowserContext, ask: Ask) -> AsyncGenerator[None, None]:
        """Ask before anything is sent, until left; what waits then is awaited, or refused if that is cancelled."""

        async def hold(route: Route) -> None:
            try:
                await self._hold(route, ask)
            except Error as error:
                log.info("A held request is gone: %s", error.message)

        try:
            await context.route(_ANY, hold)
            yield
            await self.over()
        finally:
            self.refuse_waiting()
            await self.over()  # Else what is refused would leave as the hold ends.
            try:
                await context.unroute(_ANY, hold)
            except Error as error:
                log.info("The browser ended while requests were held: %s", error.message)

    def refuse_waiting(self) -> None:
        """Refuse all that is held: nobody is asked about it any more."""
        for task in tuple(self._waiting):
            task.cancel()

    async def begins(self) -> None:
        """Wait until something is held."""
        while not self.held:
            self._changed.clear()
            await self._changed.wait()

    async def over(self) -> None:
        """Wait until nothing is held any more."""
        while self.held:
            self._changed.clear()
            await self._changed.wait()

    async def _hold(self, route: Route, ask: Ask) -> None:
        request = route.request
        if request.method in READING:
            await route.fallback()
            return
        if await self.answered(ask(Sent(method=request.method, url=cut(request.url)))):
            await route.fallback()
        else:
            await route.abort("blockedbyclient")

    async def answered(self, question: Awaitable[bool]) -> bool:
        """Return the answer to a question about what is held; False if it is not answered any more."""
        asking = asyncio.ensure_future(self._in_turn(question))
        self._waiting.add(asking)
        self._count(1)
        try:
            await asyncio.wait([asking])
            return not asking.cancelled() and asking.result()
        finally:
            self._waiting.discard(asking)
            self._count(-1)

    async def _in_turn(self, question: Awaitable[bool]) -> bool:
        async with self._turn:
            return await question

    def _count(self, by: int) -> None:
        self.held += by
        self._changed.set()
