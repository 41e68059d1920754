"""One installed Chromium with one driver, and contexts for several runs at once.

Each run has its own tabs in its own context. Parts that do not answer are replaced as in
`core.browser.recovery`. All runs share the connection, and replacing it loses all their pages, so it is
replaced only if no run gets answers any more. A run that gets no profile while others get answers fails
alone. Only a few profiles are opened at a time, because this takes most of the processor time. The limits of
`core.browser.floods` apply to all runs together.
"""

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal

from playwright.async_api import Playwright

from core.browser.chromium import ChromiumHost
from core.browser.host import BrowserHost
from core.browser.log.listener import PageListener
from core.browser.recovery import SIGNS, Connection
from core.browser.tabs import Tabs


class SharedChromium:
    """Starts the browser when the first tabs are opened, and again if it has died."""

    def __init__(self, executable: str, *, dialogs: Literal["accept", "dismiss"] = "accept") -> None:
        self.host = ChromiumHost(executable, dialogs=dialogs)
        self.connection = Connection(self.host, PageListener())
        self._dialogs = dialogs
        self._starting = asyncio.Lock()
        self.opening = asyncio.Semaphore(max(2, os.cpu_count() or 1))
        """Held by those who open a profile."""

    def tabs(self) -> Tabs:
        """Return the tabs of one run, which has no part in those of the others."""
        host = _ContextHost(self.host, dialogs=self._dialogs)
        return Tabs(host, lambda host, log: _SharedConnection(self, host, log))

    async def start(self) -> Playwright:
        """Start the browser if it does not run; raises Error and BrowserError."""
        async with self._starting:
            if not self.connection.connected:
                await self.connection.end(by_force=True)
                await self.connection.begin()
            return self.host.launched[0]

    async def kill(self, browser: Any) -> None:
        """End the browser by force, unless it has been replaced by another one meanwhile."""
        async with self._starting:
            if self.connection.browser is browser:
                await self.connection.end(by_force=True)

    async def close(self) -> None:
        """End the browser."""
        await self.connection.end()


class _ContextHost(ChromiumHost):
    """Opens its contexts in the browser of another host, which starts and ends that browser."""

    def __init__(self, launcher: ChromiumHost, *, dialogs: Literal["accept", "dismiss"]) -> None:
        super().__init__(launcher.name, dialogs=dialogs)
        self._launcher = launcher

    async def connect(self, playwright: Playwright) -> Any:
        self._playwright, self._browser = self._launcher.launched
        return self._Contexts(self)

    async def close(self) -> None:
        await self._close_context()
        self._browser = None


class _SharedConnection(Connection):
    """The connection of one run's tabs over the shared driver."""

    def __init__(self, shared: SharedChromium, host: BrowserHost, log: PageListener) -> None:
        super().__init__(host, log)
        self.filter = shared.connection.filter
        self._shared = shared
        self._of: Any = None
        """What the shared connection had as its browser when this one began."""

    @property
    def connected(self) -> bool:
        shared = self._shared.connection
        return self._of is not None and self._of is shared.browser and shared.connected

    def forget_pages(self) -> None:
        """The pages of the others stay."""

    async def begin(self) -> None:
        playwright = await self._shared.start()
        self.browser = await self._host.connect(playwright)
        self._of = self._shared.connection.browser

    def opening(self) -> AbstractAsyncContextManager[Any]:
        return self._shared.opening

    async def serves_others(self) -> bool:
        return await self.answers()

    async def answers(self, signs: int = SIGNS, *, reads_flood: bool = True) -> bool:
        """Return whether the browser answers anybody who asks it something, in the time that it has."""
        shared = self._shared.connection
        before = shared.answered
        return self.connected and (
            await shared.answers(signs, reads_flood=reads_flood)
            or (self.connected and shared.answered > before)
        )

    async def end(self, *, by_force: bool = False) -> None:
        of, self._of, self.browser = self._of, None, None
        if of is None:
            return
        if not by_force:
            await self._host.close()
            return
        await self._host.kill()
        await self._shared.kill(of)
