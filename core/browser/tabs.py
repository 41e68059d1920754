"""The tabs of one browser for the agent: opens, activates and closes them, follows popups, and opens addresses."""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from playwright.async_api import Error
from playwright.async_api import Page as PlaywrightPage

from core.browser.boundary import Border
from core.browser.channel import PageGone, let_go
from core.browser.floods import shortened
from core.browser.hanging import answers
from core.browser.host import BrowserHost
from core.browser.live_browser import ENDED, GO_BACK, PAGE_SECONDS, LiveBrowser
from core.browser.log.listener import PageListener
from core.browser.net_errors import certificate_refused, network_reason
from core.browser.page import Page
from core.browser.recorded.offline_replay import Seal
from core.browser.recorded.recorder import NetworkRecorder
from core.browser.recovery import Connection
from core.browser.sent_requests import Ask, Holding
from core.browser.settling import DEFAULT_BOUNDS, Bounds, Settled, SettleMark, mark, settle
from core.schema.errors import ActionError, BrowserError
from core.schema.events import BrowserEvent, BrowserEventKind, TabId
from core.schema.hosts import site_of
from core.schema.observation import Tab
from core.schema.viewport import VIEWPORT
from core.system.patience import Limit, within

log = logging.getLogger(__name__)
T = TypeVar("T")

GOTO_SECONDS = 30.0
_TITLE_SECONDS = 2.0


class Tabs:
    """What the agent does with the tabs of a browser, and with the one that it acts in."""

    def __init__(
        self, host: BrowserHost, connect: Callable[[BrowserHost, PageListener], Connection] = Connection
    ) -> None:
        """`connect` makes the connection to a host, by default with its own driver."""
        self.network = NetworkRecorder()
        self.holding = Holding()
        self.border = Border(self.holding.answered, self._note_refused)
        """Keeps pages to what the task allows."""
        self.browser = LiveBrowser(host, connect, self.border, self.holding)
        self.inspected = False
        """Whether DevTools are open, by which a person can change a page at any time."""
        self.passwords: dict[str, str] = {}
        """What was typed into fields that hide it, by origin and XPath; or what the task says, by its bullets.

        Told nowhere, to type it again."""
        self.secrets: dict[str, str] = {}
        """The secrets of the task by the names that actions have for them."""
        self._typed_secrets: dict[tuple[str, str], dict[str, str]] = {}
        self._seals: list[Seal] = []

    def typed_secrets(self, task: str, url: str) -> dict[str, str]:
        """Return what a person has typed secretly in a task that begins at a URL's site, by name, to add to."""
        return self._typed_secrets.setdefault((task, site_of(url) or url), {})

    # Beginning and end

    async def open_profile(self, name: str | None = None, viewport: tuple[int, int] = VIEWPORT) -> Page:
        """Begin with one empty tab, as `LiveBrowser.open_profile` does, and raise as it does.

        `viewport` is the width and height of its pages in CSS pixels.
        """
        self.browser.host.viewport = viewport
        await self.browser.open_profile(name)
        context = self.current.playwright_page.context
        try:
            for seal in self._seals:
                await seal.put_on(context)
        except Error as error:
            raise BrowserError(ENDED) from error
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
        seal.on_remark = lambda remark: self.browser.tell_here("held_back", remark)
        self._seals.append(seal)

    async def open_up(self) -> None:
        """Let the pages reach their servers again."""
        while self._seals:
            await self._seals.pop().take_off()

    # Tabs

    @property
    def current(self) -> Page:
        """The tab that is acted in; raises BrowserError if the browser was replaced and has none of the run."""
        return self.browser.current

    async def list(self) -> tuple[Tab, ...]:
        """Return the tabs in the order the person sees them."""
        if not self.browser.lives:
            raise await self.browser.ended()
        tabs = []
        for index, tab in enumerate(await self.browser.open_tabs()):
            page = await self.browser.playwright_page(tab)
            title = "" if page is None else await self._title(tab, page)
            url = page.url if page is not None else ""
            tabs.append(Tab(index=index, title=title, url=url, current=tab == self.current.tab))
        return tuple(tabs)

    async def _title(self, tab: TabId, page: PlaywrightPage) -> str:
        if tab == self.current.tab:
            return ""  # The walker reads it with the page; asking again would cost a round trip.
        try:
            async with within(_TITLE_SECONDS):
                return shortened(await page.title())
        except (Error, TimeoutError):
            return ""  # It crashed, loops, or was closed just now.

    async def open(self) -> None:
        """Open an empty tab and make it current."""
        await self.browser.make_current(
            await self.browser.asked(self.browser.host.open_tab(), "a tab was not opened")
        )

    async def focus(self, index: int) -> None:
        """Make the tab at `index` current; raises ActionError when there is none."""
        tabs = await self.browser.open_tabs()
        if index >= len(tabs):
            raise ActionError(f"There is no tab {index}; there are {len(tabs)}, counted from 0.")
        await self.browser.make_current(tabs[index])

    async def close_current(self) -> None:
        """Close the current tab; raises ActionError for the last one."""
        if len(await self.browser.open_tabs()) <= 1:
            raise ActionError("The only tab cannot be closed.")
        gone = self.current.tab
        await self.browser.asked(self.browser.host.close_tab(gone), "a tab was not closed")
        self.browser.forget_page(gone)
        await self.browser.make_current(await self.browser.host.current_tab())

    async def follow(self) -> bool:
        """Take hold of the tab the host says is current; returns whether it is another than before."""
        tab = await self.browser.asked(self.browser.host.current_tab(), "it did not report its current tab")
        if tab == self.current.tab and not self.current.playwright_page.is_closed():
            return False
        await self.browser.make_current(tab)
        return True

    async def revive(self) -> None:
        """Bring a crashed current tab back at its URL and wait; raises BrowserError.

        A page that ends its renderer there once more is left: the tab is empty then.
        """
        tab, url = self.current.tab, self.current.playwright_page.url
        await self.browser.replace_tab(tab)
        if url in ("", "about:blank"):
            return
        try:
            await self._goto(self.current, url)
            await settle(self.current, SettleMark(0, 0))
        except (Error, PageGone) as error:
            text = f"The crashed page {url} could not be reloaded."
            self.browser.note(BrowserEvent(kind="load_failed", text=text, tab=self.current.tab, url=url))
            log.info("Loading a crashed page again: %s", error)
        if self.current.crashed:
            await self.browser.replace_tab(self.current.tab)
            raise BrowserError(f"The page {url} crashed its renderer twice; the tab is now empty. {GO_BACK}")

    async def check_arrival(self) -> None:
        """Close a new tab whose page may not be opened; raises BrowserError, ActionError if it is the only one."""
        page = self.current
        url = page.playwright_page.url
        if page not in self.browser.unchecked or url in ("", "about:blank"):
            return
        self.browser.unchecked.discard(page)
        if not await self.border.admits(url, True):
            await self.close_current()

    def _note_refused(self, sentence: str, url: str) -> None:
        self.browser.tell_here("refused", sentence, url)

    # Going places

    async def goto(self, url: str) -> Settled:
        """Open a URL in the current tab and wait; raises ActionError with the browser's reason."""
        page = self.current
        before = mark(page)
        self.border.refused = ""
        try:
            await self._goto(page, url)
        except Error as error:
            if not self.browser.lives:
                raise await self.browser.ended() from error
            if self.border.refused:
                raise ActionError(self.border.refused) from error
            text = error.message.partition("\n")[0]
            message = f"{url} could not be opened: {_reason(text)}."
            kind: BrowserEventKind = "certificate" if certificate_refused(text) else "load_failed"
            self.browser.note(BrowserEvent(kind=kind, text=message, tab=page.tab, url=url))
            await settle(page, before)  # The browser puts a page of its own in its place.
            raise ActionError(message) from error
        return await self.settle(before)

    async def _goto(self, page: Page, url: str) -> None:
        """Start loading a URL; retries if an earlier navigation interrupts it.

        Raises Error, also if the server does not answer in time; a later answer is not loaded.
        """
        for left in (1, 0):
            begun = asyncio.ensure_future(page.playwright_page.goto(url, wait_until="commit", timeout=0))
            opened = asyncio.ensure_future(
                self.browser.asked(begun, f"{url} was not opened", seconds=math.inf)
            )
            try:
                await self._unless_held(opened, GOTO_SECONDS)
                return
            except TimeoutError as error:
                await answers(page.channel, "Page.stopLoading")
                raise Error("Timeout") from error
            except Error as error:
                if "interrupted by another navigation" not in error.message or not left:
                    raise
            await settle(page, mark(page))

    async def _unless_held(self, task: "asyncio.Future[T]", seconds: float) -> T:
        """Await a task for so many seconds in which nothing is held; raises TimeoutError, with the task cancelled."""
        try:
            while True:
                try:
                    async with within(seconds):
                        await asyncio.wait({task})
                    return task.result()
                except TimeoutError:
                    if task.done() or not self.holding.held:
                        raise
                    await self.holding.over()
        finally:
            let_go(task)

    @asynccontextmanager
    async def held(self, ask: Ask) -> AsyncGenerator[None, None]:
        """Ask before the pages send anything, until left; waits for the page stand still meanwhile.

        Raises BrowserError if the browser has ended.
        """
        try:
            async with self.holding.on(self.current.playwright_page.context, ask):
                yield
        except Error as error:
            raise BrowserError(ENDED) from error

    async def settle(self, since: SettleMark, bounds: Bounds = DEFAULT_BOUNDS) -> Settled:
        """Wait for the current tab to settle; follows a popup the action opened.

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
            since = mark(page)  # The action chose another tab, if nothing has been begun.
        settled = await settle(page, since, bounds)
        if not self.browser.lives:
            raise await self.browser.ended()
        if page.windows_opened > since.windows:
            await new_tab(self.browser.host, page)
        if await self.follow():
            return await settle(self.current, SettleMark(0, 0), bounds)
        if page.windows_opened > since.windows:
            settled = await settle(page, replace(since, windows=page.windows_opened), bounds)
        return settled

    def mark(self) -> SettleMark:
        return mark(self.current)


def _reason(text: str) -> str:
    if "Timeout" in text:
        return f"it did not answer within {GOTO_SECONDS:g} s"
    if "Download is starting" in text:
        return "it is a download, and downloads are refused"
    if "invalid URL" in text:
        return "that is not a web address"
    return network_reason(text) or text


_WINDOW_SECONDS = 2.0
_LOOK_SECONDS = 0.25


async def new_tab(host: BrowserHost, opener: Page) -> None:
    """Wait until the tab that the page asked for is there; one that was refused or closed never is."""
    limit, whole = Limit(_WINDOW_SECONDS), Limit(PAGE_SECONDS)
    while await host.current_tab() == opener.tab:
        if limit.left() <= 0:
            if whole.left() <= 0 or not await _comes_late(host, opener):
                return
            limit = Limit(_LOOK_SECONDS)
        await asyncio.sleep(0.01)


async def _comes_late(host: BrowserHost, opener: Page) -> bool:
    """Return whether the browser has a tab of the page that has not been told of."""
    known = await host.tabs()
    try:
        targets = (await opener.channel.session.send("Target.getTargets"))["targetInfos"]
    except Error:
        return False  # The page has closed itself.
    return any(target.get("openerId") == opener.tab and target["targetId"] not in known for target in targets)
