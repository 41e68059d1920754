"""The tabs of one browser, as the agent acts in them: opened, focused, closed, popped up."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from playwright.async_api import Browser as PlaywrightBrowser
from playwright.async_api import Error, Playwright, async_playwright
from playwright.async_api import Page as PlaywrightPage

from core.browser.host import BrowserHost
from core.browser.log.listener import PageListener
from core.browser.net_errors import certificate_refused, network_reason
from core.browser.page import Page
from core.browser.page_protocol import Refs
from core.browser.recorded.offline_replay import Seal
from core.browser.recorded.recorder import NetworkRecorder
from core.browser.sent_requests import Ask, Holding
from core.browser.settling import DEFAULT_BOUNDS, Bounds, Settled, SettleMark, mark, settle
from core.schema.errors import ActionError, BrowserError
from core.schema.events import BrowserEvent, BrowserEventKind, TabId
from core.schema.observation import Tab
from core.schema.restore import Sent

log = logging.getLogger(__name__)

GOTO_SECONDS = 30.0
START_SECONDS = 30.0
_TITLE_SECONDS = 2.0
_WINDOW_SECONDS = 2.0
_BY_SCRIPT = "The page asked ("
"""How hosts begin to tell of an alert, a confirm or a prompt, which the protocol tells of too."""


class Tabs:
    """Joins a host's tabs to Playwright's pages, and knows which one is current."""

    def __init__(self, host: BrowserHost) -> None:
        self.host = host
        self.current: Page
        self.log = PageListener()
        self._playwright: Playwright | None = None
        self._browser: PlaywrightBrowser | None = None
        self._pages: dict[TabId, Page] = {}
        self._found: dict[PlaywrightPage, TabId] = {}
        self._refs = Refs()
        self._events: list[BrowserEvent] = []
        self._crashes: set[TabId] = set()
        self._listeners: list[Callable[[BrowserEvent], None]] = []
        self.network = NetworkRecorder()
        self.holding = Holding()
        self._seals: list[Seal] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        host.on_event(self._on_host_event)

    # Beginning and end

    async def start(self) -> None:
        """Start Playwright and connect to the host's browser; raises BrowserError."""
        self._loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(START_SECONDS):
                self._playwright = await async_playwright().start()
                self._browser = await self.host.connect(self._playwright)
        except (Error, TimeoutError) as error:
            await self.close()
            said = str(error).partition("\n")[0] or f"it did not start within {START_SECONDS:g} s"
            raise BrowserError(f"The browser cannot be driven: {said}") from error
        except BaseException:
            await self.close()
            raise

    async def open_profile(self, name: str | None = None) -> Page:
        """Close all tabs and begin with one empty tab in a clean profile, or in the named one.

        A browser that has died meanwhile is started, or connected to, again.
        Raises BrowserError, and UsageError for a name that cannot be used.
        """
        if self._browser is None or not self._browser.is_connected():
            await self.close()
            await self.start()
        self._pages.clear()
        self._found.clear()
        self._refs = Refs()
        try:
            async with asyncio.timeout(START_SECONDS):
                tab = await self.host.open_profile(name)
                self.log.forget()
        except (Error, TimeoutError) as error:
            said = str(error).partition("\n")[0] or f"nothing came of it within {START_SECONDS:g} s"
            raise BrowserError(f"The browser could not open an empty tab: {said}") from error
        await self.make_current(tab)
        context = self.current.playwright_page.context
        try:
            for seal in self._seals:
                await seal.put_on(context)
        except Error as error:
            raise BrowserError("The browser has ended; open the task anew.") from error
        self.network.follow(context, logins=name is None)
        return self.current

    @asynccontextmanager
    async def sealed(self, seal: Seal) -> AsyncGenerator[None, None]:
        """Let nothing leave for a server until left; begins with the next profile that is opened."""
        self._seals.append(seal)
        try:
            yield
        finally:
            self._seals.remove(seal)
            await seal.take_off(free=not self._seals)
            for outer in self._seals:
                outer.catch_up(seal)

    @property
    def closed_off(self) -> bool:
        """Whether the pages reach no server."""
        return bool(self._seals)

    def close_off(self, seal: Seal) -> None:
        """Let nothing leave for a server from the next profile on, until `open_up`; what is held back is an event."""
        seal.on_remark = lambda remark: self._note(
            BrowserEvent(kind="held_back", text=remark, tab=self.current.tab)
        )
        self._seals.append(seal)

    async def open_up(self) -> None:
        """Let the pages reach their servers again."""
        while self._seals:
            await self._seals.pop().take_off()

    async def close(self) -> None:
        """Let go of the browser; what is already gone is no error."""
        playwright, self._playwright, self._browser = self._playwright, None, None
        if playwright is None:
            return
        try:
            async with asyncio.timeout(10):
                await self.host.close()
        except (Error, TimeoutError) as error:
            log.info("Letting go of the browser: %s", error)
        try:
            async with asyncio.timeout(10):
                await playwright.stop()
        except (Exception, asyncio.CancelledError) as error:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            # Playwright's driver may have died before; it raises whatever its pipe did.
            log.info("Ending Playwright: %s", error)

    # What happens beside what was asked

    def on_event(self, listener: Callable[[BrowserEvent], None]) -> None:
        """Call `listener` in the loop's thread with each event as it comes."""
        self._listeners.append(listener)

    def take_events(self) -> tuple[BrowserEvent, ...]:
        """Return the events since the last call."""
        events, self._events = tuple(self._events), []
        return events

    def take_sent(self) -> tuple[Sent, ...]:
        """Return what the tabs have sent since the last call, those that are closed by now left out."""
        return tuple(sent for page in self._pages.values() for sent in page.sent.take())

    @property
    def untaken_sent(self) -> tuple[Sent, ...]:
        """What the next call of `take_sent` would return."""
        return tuple(sent for page in self._pages.values() for sent in page.sent.untaken)

    def _on_host_event(self, event: BrowserEvent) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._note, event)

    def _note(self, event: BrowserEvent) -> None:
        if self._already_noted(event):
            return
        self._events.append(event)
        if event.kind == "dialog" and not event.text.startswith(_BY_SCRIPT):
            self.log.note_question(event.text, event.url)
        if event.kind == "crash" and (page := self._pages.get(event.tab)):
            page.crashed = True
        for listener in self._listeners:
            listener(event)

    def _already_noted(self, event: BrowserEvent) -> bool:
        # Several watch the same thing: the host and the page see a crash, a load and a page its failure.
        if event.kind == "crash":
            known = event.tab in self._crashes
            self._crashes.add(event.tab)
            return known
        if event.kind in ("certificate", "load_failed"):
            url = event.url.rstrip("/")
            return any(one.kind == event.kind and one.url.rstrip("/") == url for one in self._events)
        return False

    # Tabs

    async def list(self) -> tuple[Tab, ...]:
        """Return the tabs in the order the person sees them."""
        tabs = []
        for index, tab in enumerate(await self.host.tabs()):
            page = await self._playwright_page(tab)
            title = "" if page is None else await self._title(tab, page)
            url = page.url if page is not None else ""
            tabs.append(Tab(index=index, title=title, url=url, current=tab == self.current.tab))
        return tuple(tabs)

    async def _title(self, tab: TabId, page: PlaywrightPage) -> str:
        if tab == self.current.tab:
            return ""  # The walker reads it with the page; asking again would cost a round trip.
        try:
            async with asyncio.timeout(_TITLE_SECONDS):
                return await page.title()
        except (Error, TimeoutError):
            return ""  # It crashed, loops, or was closed just now.

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
        """Take hold of the tab the host says is current; returns whether it is another than before."""
        tab = await self.host.current_tab()
        if tab == self.current.tab and not self.current.playwright_page.is_closed():
            return False
        await self.make_current(tab)
        return True

    async def make_current(self, tab: TabId) -> None:
        """Activate a tab and attach to it where that has not been done; raises BrowserError."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self.host.activate_tab(tab)
                if tab not in self._pages or self._pages[tab].playwright_page.is_closed():
                    found = await self._wait_for_page(tab)
                    self._pages[tab] = await Page.attach(tab, found, self._note, self._refs, self.log)
                    self._pages[tab].patient = lambda: self.holding.held > 0
        except (Error, TimeoutError) as error:
            raise BrowserError("A tab of the browser cannot be driven; open the task anew.") from error
        self.current = self._pages[tab]

    async def revive(self) -> None:
        """Bring a crashed current tab back at its URL; raises BrowserError."""
        tab = self.current.tab
        self._pages.pop(tab, None)
        self._crashes.discard(tab)
        try:
            async with asyncio.timeout(START_SECONDS):
                await self.host.reload_crashed(tab)
        except (Error, TimeoutError) as error:
            raise BrowserError("The crashed page cannot be brought back; open the task anew.") from error
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
        known = self._pages.get(tab)
        if known is not None and not known.playwright_page.is_closed():
            return known.playwright_page
        if self._browser is None or not self._browser.is_connected():
            raise BrowserError("The browser has ended; open the task anew.")
        for context in self._browser.contexts:
            for page in context.pages:
                if page.is_closed():
                    continue
                if page not in self._found and (target := await self._target_id(page)):
                    self._found[page] = target
                if self._found.get(page) == tab:
                    return page
        return None

    @staticmethod
    async def _target_id(page: PlaywrightPage) -> TabId:
        try:
            async with asyncio.timeout(_TITLE_SECONDS):
                session = await page.context.new_cdp_session(page)
                info: dict[str, Any] = await session.send("Target.getTargetInfo")
                await session.detach()
                return str(info["targetInfo"]["targetId"])
        except (Error, TimeoutError):
            return ""

    # Going places

    async def goto(self, url: str) -> Settled:
        """Open a URL in the current tab and wait; raises ActionError with the browser's reason."""
        page = self.current
        before = mark(page)
        try:
            await self._goto(page, url)
        except Error as error:
            if not self._browser_lives():
                raise BrowserError("The browser has ended; open the task anew.") from error
            text = error.message.partition("\n")[0]
            message = f"{url} could not be opened: {_reason(text)}."
            kind: BrowserEventKind = "certificate" if certificate_refused(text) else "load_failed"
            self._note(BrowserEvent(kind=kind, text=message, tab=page.tab, url=url))
            await settle(page, before)  # The browser puts a page of its own in its place.
            raise ActionError(message) from error
        return await self.settle(before)

    @staticmethod
    async def _goto(page: Page, url: str) -> None:
        """Begin to load a URL; tried again where what was loading before gets in its way."""
        for left in (1, 0):
            try:
                await page.playwright_page.goto(url, wait_until="commit", timeout=GOTO_SECONDS * 1000)
                return
            except Error as error:
                if "interrupted by another navigation" not in error.message or not left:
                    raise
            await settle(page, mark(page))

    def _browser_lives(self) -> bool:
        return self._browser is not None and self._browser.is_connected()

    @asynccontextmanager
    async def held(self, ask: Ask) -> AsyncGenerator[None, None]:
        """Ask before the pages send anything, until left; waits for the page stand still meanwhile.

        Raises BrowserError where the browser has ended.
        """
        try:
            async with self.holding.on(self.current.playwright_page.context, ask):
                yield
        except Error as error:
            raise BrowserError("The browser has ended; open the task anew.") from error

    async def settle(self, since: SettleMark, bounds: Bounds = DEFAULT_BOUNDS) -> Settled:
        """Wait for the current tab to come to rest; follows a popup the action opened.

        Time in which something is held does not count. Raises BrowserError
        where the browser has ended.
        """
        while True:
            await self.holding.over()
            settling = asyncio.ensure_future(self._settle(since, bounds))
            held = asyncio.ensure_future(self.holding.begins())
            try:
                await asyncio.wait([settling, held], return_when=asyncio.FIRST_COMPLETED)
                if settling.done():
                    return settling.result()
            finally:
                settling.cancel()
                held.cancel()
                await asyncio.wait([settling])

    async def _settle(self, since: SettleMark, bounds: Bounds) -> Settled:
        page = self.current
        if since.tab != page.tab:
            since = mark(page)  # The action chose another tab, where nothing has been begun.
        settled = await settle(page, since, bounds)
        if not self._browser_lives():
            raise BrowserError("The browser has ended; open the task anew.")
        if page.windows_opened > since.windows:
            await self._window_comes(page)
        if await self.follow():
            return await settle(self.current, SettleMark(0, 0), bounds)
        if page.windows_opened > since.windows:
            settled = await settle(page, replace(since, windows=page.windows_opened), bounds)
        return settled

    async def _window_comes(self, opener: Page) -> None:
        """Wait until the tab that the page asked for is there; one that was refused or closed never is."""
        deadline = asyncio.get_running_loop().time() + _WINDOW_SECONDS
        while await self.host.current_tab() == opener.tab:
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.sleep(0.01)

    def mark(self) -> SettleMark:
        return mark(self.current)


def _reason(text: str) -> str:
    if "Timeout" in text:
        return f"it did not answer within {GOTO_SECONDS:g} s"
    if "Download is starting" in text:
        return "it is a download, which is refused"
    if "invalid URL" in text:
        return "that is not a web address"
    return network_reason(text) or text
