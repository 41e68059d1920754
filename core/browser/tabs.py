"""The tabs of one browser, as the agent acts in them: opened, focused, closed, popped up."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error, Playwright, async_playwright
from playwright.async_api import Page as PlaywrightPage

from core.browser.host import BrowserEvent, BrowserHost, TabId
from core.browser.page import Page, PageGone
from core.browser.settle import Bounds, Mark, Settled, mark, settle
from core.errors import ActionError, BrowserError
from core.observation import Tab

log = logging.getLogger(__name__)

GOTO_SECONDS = 30.0


class Tabs:
    """Joins a host's tabs to Playwright's pages, and knows which one is current."""

    def __init__(self, host: BrowserHost) -> None:
        self.host = host
        self.current: Page
        self._playwright: Playwright | None = None
        self._browser: PlaywrightBrowser | None = None
        self._pages: dict[TabId, Page] = {}
        self._found: dict[int, TabId] = {}
        self._events: list[BrowserEvent] = []
        self._listeners: list[Callable[[BrowserEvent], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        host.on_event(self._on_host_event)

    # Beginning and end

    async def start(self) -> None:
        """Start Playwright and connect to the host's browser; raises BrowserError."""
        self._loop = asyncio.get_running_loop()
        try:
            self._playwright = await async_playwright().start()
            self._browser = await self.host.connect(self._playwright)
        except Error as error:
            await self.close()
            raise BrowserError(f"The browser cannot be driven: {str(error).splitlines()[0]}") from error

    async def open_profile(self, name: str | None = None) -> Page:
        """Close all tabs and begin with one empty tab in a clean profile, or in the named one."""
        self._pages.clear()
        tab = await self.host.open_profile(name)
        await self.make_current(tab)
        return self.current

    async def close(self) -> None:
        """Let go of the browser; what is already gone is no error."""
        if self._playwright is not None:
            try:
                await self.host.close()
                async with asyncio.timeout(10):
                    await self._playwright.stop()
            except (Error, TimeoutError) as error:
                log.info("Letting go of the browser: %s", error)
            self._playwright = None

    # What happens beside what was asked

    def on_event(self, listener: Callable[[BrowserEvent], None]) -> None:
        """Call `listener` in the loop's thread with each event as it comes."""
        self._listeners.append(listener)

    def take_events(self) -> tuple[BrowserEvent, ...]:
        """Return the events since the last call."""
        events, self._events = tuple(self._events), []
        return events

    def _on_host_event(self, event: BrowserEvent) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._note, event)

    def _note(self, event: BrowserEvent) -> None:
        self._events.append(event)
        if event.kind == "crash" and (page := self._pages.get(event.tab)):
            page.crashed = True
        for listener in self._listeners:
            listener(event)

    # Tabs

    async def list(self) -> tuple[Tab, ...]:
        """Return the tabs in the order the person sees them."""
        tabs = []
        for index, tab in enumerate(await self.host.tabs()):
            page = await self._playwright_page(tab)
            try:
                title = "" if page is None or len(self._pages) == 0 else await self._title(tab, page)
            except Error:
                title = ""
            url = page.url if page is not None else ""
            tabs.append(Tab(index=index, title=title, url=url, current=tab == self.current.tab))
        return tuple(tabs)

    async def _title(self, tab: TabId, page: PlaywrightPage) -> str:
        if tab == self.current.tab:
            return ""  # The walker reads it with the page; asking again would cost a round trip.
        async with asyncio.timeout(2):
            return await page.title()

    async def open(self) -> None:
        """Open an empty tab and make it current."""
        await self.make_current(await self.host.open_tab())

    async def focus(self, index: int) -> None:
        """Make the tab at `index` current; raises ActionError when there is none."""
        tabs = await self.host.tabs()
        if index >= len(tabs):
            raise ActionError(f"There is no tab {index}; there are {len(tabs)}, counted from 0.")
        await self.make_current(tabs[index])

    async def close_current(self) -> None:
        """Close the current tab; raises ActionError for the last one."""
        if len(await self.host.tabs()) <= 1:
            raise ActionError("This is the only tab: it stays open.")
        gone = self.current.tab
        await self.host.close_tab(gone)
        self._pages.pop(gone, None)
        await self.make_current(await self.host.current_tab())

    async def follow(self) -> bool:
        """Take hold of what the host says is current; returns whether that changed (a popup, a closed tab)."""
        tab = await self.host.current_tab()
        if tab == self.current.tab and not self.current.playwright_page.is_closed():
            return False
        await self.make_current(tab)
        return True

    async def make_current(self, tab: TabId) -> None:
        """Activate a tab and attach to it where that has not been done."""
        await self.host.activate_tab(tab)
        if tab not in self._pages:
            found = await self._wait_for_page(tab)
            self._pages[tab] = await Page.attach(tab, found, self._note)
        self.current = self._pages[tab]

    async def revive(self) -> None:
        """Bring a crashed current tab back at its URL."""
        tab = self.current.tab
        self._pages.pop(tab, None)
        await self.host.reload_crashed(tab)
        await self.make_current(await self.host.current_tab())

    async def _wait_for_page(self, tab: TabId) -> PlaywrightPage:
        deadline = asyncio.get_running_loop().time() + 10
        while asyncio.get_running_loop().time() < deadline:
            page = await self._playwright_page(tab)
            if page is not None:
                return page
            # Playwright tells of the page in a moment of its own; there is no event for one by its id.
            await asyncio.sleep(0.01)
        raise BrowserError("A tab was opened but the browser never announced it; restart the program.")

    async def _playwright_page(self, tab: TabId) -> PlaywrightPage | None:
        if tab in self._pages:
            return self._pages[tab].playwright_page
        assert self._browser is not None
        for context in self._browser.contexts:
            for page in context.pages:
                if page.is_closed():
                    continue
                known = self._found.get(id(page))
                if known is None:
                    known = await self._target_id(page)
                    self._found[id(page)] = known
                if known == tab:
                    return page
        return None

    @staticmethod
    async def _target_id(page: PlaywrightPage) -> TabId:
        try:
            session = await page.context.new_cdp_session(page)
            info: dict[str, Any] = await session.send("Target.getTargetInfo")
            await session.detach()
            return str(info["targetInfo"]["targetId"])
        except Error:
            return ""

    # Going places

    async def goto(self, url: str) -> Settled:
        """Open a URL in the current tab and wait; raises ActionError with the browser's reason."""
        page = self.current
        before = mark(page)
        try:
            await page.playwright_page.goto(url, wait_until="commit", timeout=GOTO_SECONDS * 1000)
        except Error as error:
            text = str(error).splitlines()[0]
            kind = "certificate" if "ERR_CERT" in text else "load_failed"
            message = f"{url} could not be opened: {_reason(text)}"
            self._note(BrowserEvent(kind=kind, text=message, tab=page.tab, url=url))
            raise ActionError(message) from error
        return await self.settle(before)

    async def settle(self, since: Mark, bounds: Bounds = Bounds()) -> Settled:
        """Wait for the current tab to come to rest; follows a popup the action opened."""
        settled = await settle(self.current, since, bounds)
        if await self.follow():
            settled = await settle(self.current, Mark(0, 0), bounds)
        return settled

    def mark(self) -> Mark:
        return mark(self.current)


def _reason(text: str) -> str:
    reasons = {
        "ERR_NAME_NOT_RESOLVED": "its host name is unknown",
        "ERR_CONNECTION_REFUSED": "nothing answers at that address",
        "ERR_CONNECTION_RESET": "the connection was cut",
        "ERR_CERT": "its certificate is not valid",
        "ERR_INTERNET_DISCONNECTED": "there is no network",
        "ERR_EMPTY_RESPONSE": "the server closed the connection without an answer",
        "ERR_FILE_NOT_FOUND": "there is no such file",
        "ERR_ABORTED": "the page stopped it, or it is a download",
        "Timeout": f"it did not answer within {GOTO_SECONDS:g} s",
        "invalid URL": "that is not a web address",
    }
    for sign, words in reasons.items():
        if sign in text:
            return f"{words}."
    return text


__all__ = ["PageGone", "Tabs"]
