"""Browsers that an agent launches: the window's browser replaces each of them, and each has its own tabs in it.

The first gets the tab of the window for its first page, which it gives back;
every other page of it is a new tab.
"""

import asyncio

from core.browser.host import BrowserHost
from core.schema.events import TabId


class LaunchedBrowser:
    """One browser that was launched; made by `LaunchedBrowsers`."""

    def __init__(self, *, empty: bool) -> None:
        """An `empty` one begins without a page."""
        self.empty = empty
        self.tabs: dict[TabId, str] = {}
        """Its tabs, each with the browser context that it was opened in; nothing for the browser's own."""
        self.lent: TabId = ""
        """The tab of the window that it has."""
        self.connections = 0
        self.over = asyncio.Event()
        """Whether it was closed."""

    def opened(self, tab: TabId) -> bool:
        """Return whether a tab was opened for it, and closes with it."""
        return tab in self.tabs and tab != self.lent

    def give_back(self, tab: TabId) -> None:
        """Release a tab of the window's."""
        self.tabs.pop(tab, None)
        if tab == self.lent:
            self.lent = ""


class LaunchedBrowsers:
    """The open ones, in the order of their launches, and their tabs."""

    def __init__(self, host: BrowserHost) -> None:
        self._host = host
        self._open: dict[str, LaunchedBrowser] = {}
        self._lent = False
        """Whether the window's tab was lent before: it shows then what is over."""
        self._contexts = 0
        """How many browser contexts have been made."""
        self._opening = asyncio.Lock()
        """A new tab is announced to all before it is known whose it is."""

    def enter(self, launch: str, *, empty: bool) -> LaunchedBrowser:
        """Count a connection to the browser of this id, which begins with its first."""
        browser = self._open.setdefault(launch, LaunchedBrowser(empty=empty))
        browser.connections += 1
        return browser

    async def leave(self, launch: str) -> None:
        """A connection has ended; with the last the browser ends, and its tabs go but for the window's."""
        browser = self._open[launch]
        browser.connections -= 1
        if not browser.connections:
            del self._open[launch]
            for tab in filter(browser.opened, browser.tabs):
                await self._host.close_tab(tab)

    def find(self, launch: str) -> LaunchedBrowser | None:
        """Return the browser of this id, if it is open."""
        return self._open.get(launch)

    def lends(self, browser: LaunchedBrowser) -> bool:
        """Return whether the next page of a browser is the window's tab."""
        return not browser.lent and next(iter(self._open.values()), None) is browser

    def take(self, browser: LaunchedBrowser, tab: TabId) -> None:
        """Note that a browser does something in a tab: if nobody has that, it is lent."""
        if not browser.lent and not any(tab in one.tabs for one in self._open.values()):
            browser.lent = tab
            browser.tabs[tab] = ""
            self._lent = True

    async def open_tab(self, browser: LaunchedBrowser, context: str = "") -> TabId:
        """Return a tab for a new page of a browser, which is shown."""
        async with self._opening:
            if self.lends(browser):
                tab = browser.lent = await self._window_tab()
            else:
                tab = await self._host.open_tab()
            browser.tabs[tab] = context
            return tab

    def begins_clean(self) -> bool:
        """Count a browser context, and return whether what an earlier one has left is to go first."""
        self._contexts += 1
        return self._contexts > 1 and len(self._open) == 1

    async def _window_tab(self) -> TabId:
        """Return the tab of the window that nobody has; an empty one where a browser before had it."""
        taken = {tab for browser in self._open.values() for tab in browser.tabs}
        current = await self._host.current_tab()
        tabs = (current, *await self._host.tabs())
        tab = next((tab for tab in tabs if tab not in taken), "")
        if not tab:
            return await self._host.open_tab()
        if self._lent:
            return await self._host.replace_tab(tab)
        self._lent = True
        await self._host.activate_tab(tab)
        return tab

    async def sees(self, browser: LaunchedBrowser, tab: TabId, opener: TabId = "") -> bool:
        """Return whether a page that the engine tells of is one of a browser's; `opener` is the page it came from."""
        async with self._opening:
            for one in self._open.values():
                if tab not in one.tabs and opener in one.tabs:
                    one.tabs[tab] = one.tabs[opener]
                if tab in one.tabs:
                    return one is browser
        return not browser.empty
