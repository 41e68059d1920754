"""The tabs of one browser for the agent: opens, activates, closes and replaces them, and follows popups.

If the browser does not answer, a part of it is replaced and an event reports this: the renderer of the tab,
then the profile with all tabs, then the connection (see `core.browser.recovery`). If the renderer is
replaced, the page is loaded again. If the profile or connection is replaced, the page is gone (`Tabs.lost`)
until a profile is opened again, which going back to a step does.
"""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from playwright.async_api import Error
from playwright.async_api import Page as PlaywrightPage

from core.browser.boundary import Border
from core.browser.channel import PageGone, let_go
from core.browser.floods import shortened
from core.browser.hanging import ScriptPatience, answers, outlasts
from core.browser.host import BrowserHost
from core.browser.log.listener import PageListener
from core.browser.log.records import cut
from core.browser.net_errors import certificate_refused, network_reason
from core.browser.new_tabs import PAGE_SECONDS, new_tab
from core.browser.page import Page
from core.browser.page_protocol import Refs
from core.browser.recorded.offline_replay import Seal
from core.browser.recorded.recorder import NetworkRecorder
from core.browser.recovery import (
    FAILURES,
    FEW_SIGNS,
    MOST_SIGNS,
    TAB_SECONDS,
    Connection,
    Rung,
    Unanswered,
    reason_of,
)
from core.browser.sent_requests import Ask, Holding
from core.browser.settling import DEFAULT_BOUNDS, Bounds, Settled, SettleMark, mark, settle
from core.schema.errors import ActionError, BrowserError
from core.schema.events import BrowserEvent, BrowserEventKind, TabId
from core.schema.observation import Tab
from core.schema.restore import Sent
from core.system.patience import within

log = logging.getLogger(__name__)
T = TypeVar("T")

GOTO_SECONDS = 30.0
START_SECONDS = 30.0
_TITLE_SECONDS = 2.0
_RENDERER_SECONDS = 4.0
"""So long the end of a renderer may take."""
_ENDED = "The browser has ended; go back to a step, or open the task again."
_GO_BACK = "To continue, go back to a step or open the task again."
_FLOODED = "The browser did not answer because of the page; the page's renderer was ended."
_RUNGS: dict[Rung, str] = {
    "profile": "It was replaced by a new profile with an empty tab.",
    "connection": "It was disconnected and connected again, with an empty tab.",
}
_DEVTOOLS = "devtools://"
"""Where the browser's own DevTools begin, which are a page of it, too."""
_BY_SCRIPT = "The page asked ("
"""How hosts begin to tell of an alert, a confirm or a prompt, which the protocol tells of too."""


class Tabs:
    """Connects a host's tabs to Playwright's pages, and knows the current one."""

    def __init__(
        self, host: BrowserHost, connect: Callable[[BrowserHost, PageListener], Connection] = Connection
    ) -> None:
        """`connect` makes the connection to a host, by default with its own driver."""
        self.host = host
        self.lost = ""
        """What was replaced and why, in whole sentences: the page is gone since then. Empty while there is one."""
        self.log = PageListener()
        self.script_patience = ScriptPatience()
        self._current: Page
        self._connect = connect
        self._connection = connect(host, self.log)
        self._replacing = asyncio.Lock()
        self._left_sent: tuple[Sent, ...] = ()
        self._pages: dict[TabId, Page] = {}
        self._found: dict[PlaywrightPage, TabId] = {}
        self._refs = Refs()
        self._events: list[BrowserEvent] = []
        self._crashes: set[TabId] = set()
        self._listeners: list[Callable[[BrowserEvent], None]] = []
        self.network = NetworkRecorder()
        self.holding = Holding()
        self.passwords: dict[str, str] = {}
        """What was typed into fields that hide it, by origin and XPath; or what the task says, by its bullets.

        Told nowhere, to type it again."""
        self.secrets: dict[str, str] = {}
        """The secrets of the task by the names that actions have for them."""
        self.border = Border(self.holding.answered, self._note_refused)
        """Keeps pages to what the task allows."""
        self._unchecked: set[Page] = set()
        """Tabs whose first document was asked for before they were attached to."""
        self._seals: list[Seal] = []

    # Beginning and end

    async def start(self) -> None:
        """Start Playwright and connect to the host's browser; raises BrowserError."""
        self.host.events.follow(self._note)
        try:
            async with within(START_SECONDS):
                await self._connection.begin()
        except (Error, TimeoutError) as error:
            await self._connection.end(by_force=True)
            said = reason_of(error) if str(error) else f"it did not start within {START_SECONDS:g} s"
            raise BrowserError(f"The browser cannot be controlled: {said}.") from error
        except BaseException:
            await self._connection.end(by_force=True)
            raise

    async def open_profile(self, name: str | None = None) -> Page:
        """Close all tabs and begin with one empty tab in a clean profile, or in the named one.

        A browser that has died meanwhile is started, or connected to, again;
        so is one that does not answer. Raises BrowserError, and UsageError for
        a name that cannot be used.
        """
        async with self._replacing, self._connection.opening():
            if not self._connection.connected:
                await self._connection.end(by_force=True)
                await self.start()
            await self._begin_with(name, (None, "profile", "connection"), "")
        self.lost, self._left_sent = "", ()
        context = self.current.playwright_page.context
        try:
            for seal in self._seals:
                await seal.put_on(context)
        except Error as error:
            raise BrowserError(_ENDED) from error
        self.network.follow(context, logins=name is None)
        return self.current

    async def _begin_with(self, name: str | None, rungs: Sequence[Rung | None], why: str) -> None:
        """Open a profile with one empty tab, after replacing what a rung names; the next one follows if that fails.

        `why` says what did not answer. Raises BrowserError after the last rung, and UsageError.
        """
        silent = False
        seconds = START_SECONDS if name else TAB_SECONDS  # A named profile may be a browser of its own.
        for rung in rungs:
            if silent and rung != "connection" and "connection" in rungs:
                continue  # If nothing is answered, another profile is no help.
            if rung == "connection" and await self._connection.serves_others():
                break  # They are not to lose their pages for the sake of this one.
            if rung is not None:
                self._note(BrowserEvent(kind="replaced", text=f"{why} {_RUNGS[rung]}"))
            try:
                if rung == "connection":
                    await self._connection.end(by_force=True)
                    await self.start()
                self._pages.clear()
                self._found.clear()
                self._unchecked.clear()
                self._refs = Refs()
                opened = self.host.open_profile(name)
                tab = await self._connection.awaited(opened, "a new profile was not opened", seconds=seconds)
                self.log.forget()
                self.host.events.forget()
                self._connection.forget_pages()
                await self._attach(tab)
            except FAILURES as error:
                log.warning("Opening a profile: %s", error)
                silent = isinstance(error, Unanswered) and error.connection
                why = f"{reason_of(error)}."
            else:
                return
        raise BrowserError(
            f"The browser could not be started, not even at a second attempt. {why} The command doctor "
            "lists what is missing."
        )

    async def _asked(self, work: Awaitable[T], what: str, *, seconds: float = TAB_SECONDS) -> T:
        """Await something the browser must do; if it does not, it is replaced and BrowserError raised."""
        try:
            return await self._connection.awaited(work, what, seconds=seconds)
        except Unanswered as error:
            if not self._browser_lives():
                raise await self._ended() from error
            raise await self._replace("connection" if error.connection else "profile", str(error)) from error

    async def _ended(self) -> BrowserError:
        return await self._replace("connection", "The browser has ended.")

    async def _replace(self, rung: Rung, why: str) -> BrowserError:
        """Replace the profile, or the connection, and return the error that says that the page is gone.

        Of several who ask at the same time for the same page, the first is heeded.
        """
        asked_by = self._current
        async with self._replacing:
            if self.lost or self._current is not asked_by:
                return self._is_lost() if self.lost else BrowserError(_ENDED)
            self._left_sent = self.take_sent()
            self.lost = f"{why} {_RUNGS[rung]}"
            try:
                await self._begin_with(None, ("profile", "connection") if rung == "profile" else (rung,), why)
            except BrowserError as error:
                self.lost = f"{why} {error}"
            return self._is_lost()

    def _is_lost(self) -> BrowserError:
        return BrowserError(f"{self.lost} {_GO_BACK}")

    @property
    def current(self) -> Page:
        """The tab that is acted in; raises BrowserError if the browser was replaced and has none of the run."""
        self._check_lost()
        return self._current

    def _check_lost(self) -> None:
        if self.lost:
            raise self._is_lost()

    async def _check_ended(self) -> None:
        self._check_lost()
        if not self._browser_lives():
            raise await self._ended()

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
        seal.on_remark = lambda remark: self._note_if_few(
            BrowserEvent(kind="held_back", text=remark, tab=self._current.tab)
        )
        self._seals.append(seal)

    async def open_up(self) -> None:
        """Let the pages reach their servers again."""
        while self._seals:
            await self._seals.pop().take_off()

    async def move_to(self, host: BrowserHost) -> None:
        """Release the browser, and have the next profile be opened in another one; the page is gone meanwhile."""
        async with self._replacing:
            self.lost = "The page was in the previous browser."
            await self._connection.end()
            self.host, self._connection = host, self._connect(host, self.log)

    async def close(self) -> None:
        """Release the browser; what is already gone is not an error."""
        await self._connection.end()

    # What happens besides what was asked

    def on_event(self, listener: Callable[[BrowserEvent], None]) -> None:
        """Call `listener` in the loop's thread with each event as it comes."""
        self._listeners.append(listener)

    def take_events(self) -> tuple[BrowserEvent, ...]:
        """Return the events since the last call; if there were too many, only their number per kind."""
        self.host.events.tell_left_out()
        events, self._events = tuple(self._events), []
        return events

    def take_sent(self) -> tuple[Sent, ...]:
        """Return what the open tabs have sent since the last call."""
        left, self._left_sent = self._left_sent, ()
        return (*left, *(sent for page in self._pages.values() for sent in page.sent.take()))

    @property
    def untaken_sent(self) -> tuple[Sent, ...]:
        """What the next call of `take_sent` would return."""
        return (*self._left_sent, *(sent for page in self._pages.values() for sent in page.sent.untaken))

    def _note_if_few(self, event: BrowserEvent) -> None:
        """Note what a page can cause in any number, where not too many of the kind have come."""
        if self.host.events.admits(event.kind):
            self._note(event.replace(text=shortened(event.text), url=cut(event.url)[0]))

    def _note(self, event: BrowserEvent) -> None:
        if self._already_noted(event):
            return
        self._events.append(event)
        if event.kind == "dialog" and not event.text.startswith(_BY_SCRIPT):
            self.log.note_question(event.text, event.url)
        if event.kind == "crash" and (page := self._pages.get(event.tab)):
            page.end_waiting()
        for listener in self._listeners:
            listener(event)

    def _already_noted(self, event: BrowserEvent) -> bool:
        # Several watch the same thing: the host and the page see a crash, a load and a page its failure.
        if event.kind == "crash":
            known = event.tab in self._crashes
            self._crashes.add(event.tab)
            return known
        if event.kind in ("certificate", "load_failed") and event.url:
            url = event.url.rstrip("/")
            return any(one.kind == event.kind and one.url.rstrip("/") == url for one in self._events)
        return False

    # Tabs

    async def list(self) -> tuple[Tab, ...]:
        """Return the tabs in the order the person sees them."""
        if not self._browser_lives():
            raise await self._ended()
        tabs = []
        for index, tab in enumerate(await self._open_tabs()):
            page = await self._playwright_page(tab)
            title = "" if page is None else await self._title(tab, page)
            url = page.url if page is not None else ""
            tabs.append(Tab(index=index, title=title, url=url, current=tab == self.current.tab))
        return tuple(tabs)

    async def _open_tabs(self) -> tuple[TabId, ...]:
        return await self._asked(self.host.tabs(), "it did not list its tabs")

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
        await self.make_current(await self._asked(self.host.open_tab(), "a tab was not opened"))

    async def focus(self, index: int) -> None:
        """Make the tab at `index` current; raises ActionError when there is none."""
        tabs = await self._open_tabs()
        if index >= len(tabs):
            raise ActionError(f"There is no tab {index}; there are {len(tabs)}, counted from 0.")
        await self.make_current(tabs[index])

    async def close_current(self) -> None:
        """Close the current tab; raises ActionError for the last one."""
        if len(await self._open_tabs()) <= 1:
            raise ActionError("The only tab cannot be closed.")
        gone = self.current.tab
        await self._asked(self.host.close_tab(gone), "a tab was not closed")
        self._pages.pop(gone, None)
        await self.make_current(await self.host.current_tab())

    async def follow(self) -> bool:
        """Take hold of the tab the host says is current; returns whether it is another than before."""
        tab = await self._asked(self.host.current_tab(), "it did not report its current tab")
        if tab == self.current.tab and not self.current.playwright_page.is_closed():
            return False
        await self.make_current(tab)
        return True

    async def make_current(self, tab: TabId) -> None:
        """Activate a tab and attach to it if that has not been done; raises BrowserError.

        One that does not answer is closed, and if that is no help the profile is replaced.
        """
        try:
            await self._attach(tab, seconds=PAGE_SECONDS)
        except FAILURES as error:
            if self.lost:
                raise self._is_lost() from error
            if not self._browser_lives():
                raise await self._ended() from error
            why = f"{reason_of(error)}."
            rung: Rung = "profile" if await self._connection.answers() else "connection"
            if rung == "connection" or not await self._closed(tab, why):
                raise await self._replace(rung, why) from error

    async def _closed(self, tab: TabId, why: str) -> bool:
        """Close a tab that cannot be attached to, and go to one that was; return whether that is possible."""
        self._note(BrowserEvent(kind="replaced", text=f"{why} The tab was closed.", tab=tab))
        what = "the tab was not closed"
        try:
            known = [one for one in await self._open_tabs() if one in self._pages and one != tab]
            if known:
                await self._connection.awaited(self.host.close_tab(tab), what)
                await self._attach(known[-1])
            else:
                await self._attach(await self._connection.awaited(self.host.replace_tab(tab), what))
        except FAILURES as error:
            log.warning("Could not close a tab that does not answer: %s", error)
            return False
        return True

    async def _attach(self, tab: TabId, *, seconds: float = TAB_SECONDS) -> None:
        """Activate a tab, attach to it if that has not been done, and make it current; raises `FAILURES`."""
        what = "a tab was not made current"
        await self._connection.awaited(self.host.activate_tab(tab), what)
        if tab not in self._pages or self._pages[tab].playwright_page.is_closed():
            announced = self._wait_for_page(tab)
            what = "a tab was opened but not announced"
            found = await self._connection.awaited(announced, what, seconds=seconds)
            attached = Page.attach(tab, found, self._note_if_few, self._refs, self.log)
            what = "a tab was not attached to"
            page = await self._connection.awaited(attached, what, seconds=seconds)
            page.patient = lambda: self.holding.held > 0
            page.admits = self.border.admits
            page.flooded = lambda: self._connection.flooded
            page.unread_requests = lambda: self._connection.unread_requests
            page.give_up_requests = lambda: self._connection.give_up_requests()
            page.check_lost = self._check_ended
            page.check_browser = lambda: self._check_browser(page)
            page.end_renderer = lambda: self._end_renderer(page)
            page.script_patience = self.script_patience
            self._pages[tab] = page
            self._unchecked.add(page)
        self._current = self._pages[tab]

    async def _check_browser(self, page: Page) -> None:
        """Make sure the browser answers, where a page of it does not; raises BrowserError if it was replaced."""
        self._check_lost()
        url = page.playwright_page.url
        if self._connection.flooded and await outlasts(
            page.channel, self.script_patience, url, self._flood_is_read, lambda: page.crashed
        ):
            return
        flooded = self._connection.flooded
        if not flooded and await self._connection.answers(MOST_SIGNS):
            return
        if self._connection.connected and not self._connection.stalled:
            # A page that floods the connection with messages stops with its renderer.
            self._note(BrowserEvent(kind="hang", text=_FLOODED, tab=page.tab, url=url))
            if not await self.host.end_renderer(page.tab):
                await page.crash()
            # What a flood has left is not worth waiting for: it can be hundreds of MB.
            signs = FEW_SIGNS if flooded else MOST_SIGNS
            if await self._connection.answers(signs, reads_flood=not flooded):
                return
        raise await self._replace("connection", "The browser did not answer.")

    def _flood_is_read(self) -> bool:
        connection = self._connection
        return connection.connected and connection.flooded and not connection.endless

    async def _end_renderer(self, page: Page) -> None:
        """End the renderer of a page that cannot be helped; raises BrowserError if the profile was replaced."""
        if not await self.host.end_renderer(page.tab):
            await page.crash()
        if not await page.ended(_RENDERER_SECONDS):
            raise await self._replace(
                "profile", "A page did not answer, and its renderer could not be stopped."
            )

    async def revive(self) -> None:
        """Bring a crashed current tab back at its URL and wait; raises BrowserError.

        A page that ends its renderer there once more is left: the tab is empty then.
        """
        tab, url = self.current.tab, self.current.playwright_page.url
        await self._replace_tab(tab)
        if url in ("", "about:blank"):
            return
        try:
            await self._goto(self.current, url)
            await settle(self.current, SettleMark(0, 0))
        except (Error, PageGone) as error:
            text = f"The crashed page {url} could not be reloaded."
            self._note(BrowserEvent(kind="load_failed", text=text, tab=self.current.tab, url=url))
            log.info("Loading a crashed page again: %s", error)
        if self.current.crashed:
            await self._replace_tab(self.current.tab)
            raise BrowserError(f"The page {url} crashed its renderer twice; the tab is now empty. {_GO_BACK}")

    async def _replace_tab(self, tab: TabId) -> None:
        """Put an empty tab in the place of one whose renderer has ended, and make it current; raises BrowserError."""
        self._pages.pop(tab, None)
        await self.make_current(await self._asked(self.host.replace_tab(tab), "a tab was not replaced"))

    async def _wait_for_page(self, tab: TabId) -> PlaywrightPage:
        while True:
            page = await self._playwright_page(tab)
            if page is not None:
                return page
            # Playwright tells of the page in a moment of its own; there is no event for one by its id.
            await asyncio.sleep(0.01)

    async def _playwright_page(self, tab: TabId) -> PlaywrightPage | None:
        known = self._pages.get(tab)
        if known is not None and not known.playwright_page.is_closed():
            return known.playwright_page
        browser = self._connection.browser
        if browser is None or not self._connection.connected:
            raise BrowserError(_ENDED)
        for context in browser.contexts:
            for page in context.pages:
                if page.is_closed() or page.url.startswith(_DEVTOOLS):
                    continue
                if page not in self._found and (target := await self._target_id(page)):
                    self._found[page] = target
                if self._found.get(page) == tab:
                    return page
        return None

    @staticmethod
    async def _target_id(page: PlaywrightPage) -> TabId:
        try:
            async with within(_TITLE_SECONDS):
                session = await page.context.new_cdp_session(page)
                info: dict[str, Any] = await session.send("Target.getTargetInfo")
                # The session ends with the page: without a renderer, leaving it would never be answered.
                return str(info["targetInfo"]["targetId"])
        except (Error, TimeoutError):
            return ""

    # Going places

    def _note_refused(self, sentence: str, url: str) -> None:
        self._note_if_few(BrowserEvent(kind="refused", text=sentence, tab=self._current.tab, url=url))

    async def check_arrival(self) -> None:
        """Close a new tab whose page may not be opened; raises BrowserError, ActionError if it is the only one."""
        page = self.current
        url = page.playwright_page.url
        if page not in self._unchecked or url in ("", "about:blank"):
            return
        self._unchecked.discard(page)
        if not await self.border.admits(url, True):
            await self.close_current()

    async def goto(self, url: str) -> Settled:
        """Open a URL in the current tab and wait; raises ActionError with the browser's reason."""
        page = self.current
        before = mark(page)
        self.border.refused = ""
        try:
            await self._goto(page, url)
        except Error as error:
            if not self._browser_lives():
                raise await self._ended() from error
            if self.border.refused:
                raise ActionError(self.border.refused) from error
            text = error.message.partition("\n")[0]
            message = f"{url} could not be opened: {_reason(text)}."
            kind: BrowserEventKind = "certificate" if certificate_refused(text) else "load_failed"
            self._note(BrowserEvent(kind=kind, text=message, tab=page.tab, url=url))
            await settle(page, before)  # The browser puts a page of its own in its place.
            raise ActionError(message) from error
        return await self.settle(before)

    async def _goto(self, page: Page, url: str) -> None:
        """Start loading a URL; retries if an earlier navigation interrupts it.

        Raises Error, also if the server does not answer in time; a later answer is not loaded.
        """
        for left in (1, 0):
            begun = asyncio.ensure_future(page.playwright_page.goto(url, wait_until="commit", timeout=0))
            opened = asyncio.ensure_future(self._asked(begun, f"{url} was not opened", seconds=math.inf))
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

    def _browser_lives(self) -> bool:
        return self._connection.connected

    @asynccontextmanager
    async def held(self, ask: Ask) -> AsyncGenerator[None, None]:
        """Ask before the pages send anything, until left; waits for the page stand still meanwhile.

        Raises BrowserError if the browser has ended.
        """
        try:
            async with self.holding.on(self.current.playwright_page.context, ask):
                yield
        except Error as error:
            raise BrowserError(_ENDED) from error

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
        if not self._browser_lives():
            raise await self._ended()
        if page.windows_opened > since.windows:
            await new_tab(self.host, page)
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
