"""Playwright's driver and its connection to a host's browser: starts them, checks whether they answer, and
kills them.

Parts that do not answer are replaced, the smallest first: the renderer of a tab, then the profile with its
tabs, then the connection. `core.browser.live_browser` does this. `Connection.answers` distinguishes a dead part from
a busy machine with a question that does not concern any page.
"""

import asyncio
import logging
from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any, Literal, TypeVar

from playwright.async_api import Browser, CDPSession, Error, Playwright

from core.browser.channel import let_go
from core.browser.driver_process import take_driver
from core.browser.floods import MessageFilter, thin
from core.browser.hanging import FLOOD_WAIT
from core.browser.host import BrowserHost
from core.browser.log.listener import PageListener
from core.schema.errors import BrowserError
from core.system.patience import Limit, within

log = logging.getLogger(__name__)
T = TypeVar("T")

Rung = Literal["profile", "connection"]
"""What is replaced where ending a tab's renderer is not enough."""

TAB_SECONDS = 8.0
"""A new, empty tab is given up after this long, where the browser answers meanwhile."""
_PATIENCE = 2.0
"""After this long without an answer the browser is asked whether it answers at all."""
SIGNS = 20
_SIGN_SECONDS = 0.25
"""So often, and each time so long, the answer to that is waited for."""
FEW_SIGNS, MOST_SIGNS = 8, 40
"""The same where it is known that messages come which were sent before the answer, as long as they come."""
_DRIVER_AT_ONCE = 1.0
"""In this time a driver that runs answers a question that it need not pass on."""
DRIVER_SECONDS = 60.0
"""A driver that does not is waited for this long: its process may have been stopped for a while."""
_ANSWER = b'{"id":'
"""How an answer of the driver begins; an event has no number."""
_LEAVE_SECONDS = 1.5
"""So long a driver may take to end by itself."""


class Unanswered(Exception):
    """The browser did not answer; `connection` is true if it answers nothing at all."""

    def __init__(self, what: str, *, connection: bool) -> None:
        super().__init__(f"The browser did not answer: {what}.")
        self.connection = connection


class Connection:
    """One driver at a time, and its connected browser."""

    def __init__(self, host: BrowserHost, log: PageListener) -> None:
        self._host = host
        self.filter = MessageFilter(log.leave_out, log.note_too_long)
        self._manager: Any = None
        self._playwright: Playwright | None = None
        self._sign: CDPSession | None = None
        self._messages = 0
        self.stalled = False
        """Whether the driver itself did not answer when it was last asked: no page is to blame."""
        self.answered = 0
        """How many questions of any kind the driver has answered."""
        self.browser: Browser | None = None

    @property
    def connected(self) -> bool:
        """Whether driver and browser are there; they may not answer all the same."""
        process = self._process
        alive = process is None or process.returncode is None
        return self.browser is not None and alive and self.browser.is_connected()

    def forget_pages(self) -> None:
        """Begin again with other pages."""
        self.filter.forget()

    @property
    def _transport(self) -> Any:
        # WORKAROUND: Playwright cannot end a driver that does not read, nor tell that one is busy (1.65).
        return getattr(getattr(self._manager, "_client", None), "_transport", None)

    @property
    def _process(self) -> Any:
        return getattr(self._transport, "_proc", None)

    async def begin(self) -> None:
        """Start a driver and connect to the host's browser; raises Error and BrowserError."""
        self._manager, self._playwright = await take_driver()
        self.stalled = False
        self._listen(self._transport)
        self.browser = await self._host.connect(self._playwright)
        self._sign = await self.browser.new_browser_cdp_session()

    def _listen(self, transport: Any) -> None:
        # Nobody asks Playwright why its driver ended, of which asyncio would complain.
        transport.on_error_future.add_done_callback(lambda end: end.cancelled() or end.exception())
        thin(transport, self.filter, self._on_message)

    def _on_message(self, data: bytes) -> None:
        self._messages += 1
        self.answered += data.startswith(_ANSWER)

    def opening(self) -> AbstractAsyncContextManager[Any]:
        """Hold while a profile is opened: where a browser has many, not all are opened at once."""
        return nullcontext()

    async def serves_others(self) -> bool:
        """Whether the browser answers others at this moment, who would lose their pages with the connection."""
        return False

    async def answers(self, signs: int = SIGNS, *, reads_flood: bool = True) -> bool:
        """Return whether the browser answers a question that concerns no page.

        After `signs` quarters of a second it does not, or after 5 s in which
        nothing else came though the driver answers. Time in which this loop stood still, or the thread
        that serves the browser, does not count, nor does time in which a flood
        is read that comes before the answer, unless `reads_flood` is false.
        """
        if self._sign is None or not self.connected:
            return False
        asked = asyncio.ensure_future(self._sign.send("Browser.getVersion"))
        try:
            silent = tried = 0
            flood = Limit(FLOOD_WAIT)
            while tried < signs:
                await self._host.awake()
                messages = self._messages
                with suppress(TimeoutError):
                    async with within(_SIGN_SECONDS):
                        await asyncio.wait({asked})
                if asked.done():
                    return asked.exception() is None
                silent = silent + 1 if messages == self._messages else 0
                tried += not (
                    reads_flood
                    and self.filter.flooded
                    and not silent
                    and not self.filter.endless
                    and flood.left() > 0
                )
                if silent >= SIGNS:
                    if not await self._driver_resumes():
                        return False
                    silent = tried = 0
            return False
        finally:
            let_go(asked)

    async def _driver_resumes(self) -> bool:
        """Return whether the driver was not running and does now; it is waited for."""
        playwright = self._playwright
        if playwright is None:
            return False
        asked = asyncio.ensure_future(playwright.request.new_context())
        try:
            await asyncio.wait({asked}, timeout=_DRIVER_AT_ONCE)
            if asked.done():
                return False
            limit = Limit(DRIVER_SECONDS)
            while not asked.done() and self.connected and limit.left() > 0:
                await asyncio.wait({asked}, timeout=_SIGN_SECONDS)
            self.stalled = not asked.done()
            return not self.stalled
        finally:
            let_go(asked)

    async def awaited(self, work: Awaitable[T], what: str, *, seconds: float = TAB_SECONDS) -> T:
        """Await something the browser must do, for `seconds` at most as long as it answers anything else.

        `what` names it in the error. Raises Unanswered, and what `work` raises.
        """
        task = asyncio.ensure_future(work)
        waited = 0.0
        try:
            while True:
                with suppress(TimeoutError):
                    async with within(_PATIENCE):
                        await asyncio.wait({task})
                if task.done():
                    return task.result()
                waited += _PATIENCE
                if not await self.answers():
                    raise Unanswered(what, connection=True)
                if waited >= seconds and not task.done():
                    raise Unanswered(what, connection=False)
        except Error as error:
            if self.connected:
                raise
            raise Unanswered(what, connection=True) from error
        finally:
            let_go(task)

    async def end(self, *, by_force: bool = False) -> None:
        """Release the browser and end the driver; kill what does not end, or everything if `by_force`."""
        playwright, process = self._playwright, self._process
        self._playwright = None
        if playwright is None:
            return
        try:
            if by_force:
                await self._host.kill()
            else:
                await self.awaited(self._host.close(), "it did not close")
        except (Error, Unanswered) as error:
            log.info("Disconnecting from the browser: %s", error)
            await self._host.kill()
            by_force = True
        finally:
            self._sign, self.browser = None, None
        leaving = asyncio.ensure_future(playwright.stop())
        try:
            await asyncio.wait({leaving}, timeout=_LEAVE_SECONDS if by_force else 10)
        finally:
            if process is not None and process.returncode is None:
                log.warning("Playwright's driver did not exit and was killed.")
                process.kill()
        try:
            await asyncio.wait({leaving}, timeout=_LEAVE_SECONDS)
        finally:
            let_go(leaving)  # The driver may have died before; it raises whatever its pipe did.


def reason_of(error: Exception) -> str:
    """Return the first line of what went wrong, without its full stop."""
    said = str(error).partition("\n")[0] or type(error).__name__
    return said.rstrip(".")


FAILURES = (Unanswered, Error, TimeoutError, BrowserError)
"""What a browser that is to be replaced raises."""
