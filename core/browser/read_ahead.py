"""Reads a page while waiting for it to settle. After an action, most pages have already settled.

The reading begins after the first painted frame without a change, unless the page is unchanged since the last
reading. After the wait, `Capturer.unchanged` checks whether the reading is still valid. Large pages are not
read ahead, because reading them twice takes long.
"""

import asyncio

from core.browser.capturer import Capturer
from core.browser.channel import PageGone, let_go
from core.browser.settling import SettleMark
from core.browser.tabs import Tabs
from core.schema.errors import ActionError, BrowserError
from core.schema.observation import Capture

_QUICK = 50.0
"""Milliseconds that reading the page may take."""


class ReadAhead:
    """One reading ahead of the current page. It starts when it is created, just before the wait."""

    def __init__(self, tabs: Tabs, capturer: Capturer, since: SettleMark, last: Capture | None) -> None:
        """What began after `since` is awaited; `last` is how the page was read before."""
        self._tabs = tabs
        self._capturer = capturer
        self._since = since
        self._last = last
        self._begun = False
        self._reading = asyncio.ensure_future(self._read())

    async def capture(self) -> Capture | None:
        """Return how the page was read last, by now; None if that is not known."""
        if not self._begun:
            let_go(self._reading)
            return self._last
        # One that has begun is let end: it may have numbered elements.
        return await self._reading

    async def _read(self) -> Capture | None:
        try:
            page = self._tabs.current
            if self._capturer.took > _QUICK or not await page.evaluate("__backstep.rests()"):
                return None
            loading = page.loading
            if loading.navigations != self._since.navigations or loading.requested:
                return None
            if not loading.loaded.is_set() or page.requests.open_since(self._since.requests):
                return None
            if self._last is not None and await self._capturer.unchanged(page, self._last):
                return None
            self._begun = True
            return await self._capturer.capture(page, await self._tabs.list())
        except (PageGone, ActionError, BrowserError):
            return None
