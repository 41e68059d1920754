"""A browser with the pages of its tabs.

If the browser does not answer, a part of it is replaced and an event reports this: the renderer of the tab,
then the profile with all tabs, then the connection (see `core.browser.recovery`). If the renderer is
replaced, the page is loaded again. If the profile or connection is replaced, the page is gone
(`LiveBrowser.lost`) until a profile is opened again, which going back to a step does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from playwright.async_api import Error
from playwright.async_api import Page as PlaywrightPage

from core.browser.boundary import Border
from core.browser.floods import shortened
from core.browser.hanging import ScriptPatience, outlasts
from core.browser.host import BrowserHost
from core.browser.log.listener import PageListener
from core.browser.log.records import cut
from core.browser.page import Page
from core.browser.page_protocol import PageProtocol, Refs
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
from core.browser.sent_requests import Holding
from core.schema.errors import BrowserError
from core.schema.events import BrowserEvent, BrowserEventKind, TabId
from core.schema.restore import Sent
from core.system.patience import within

log = logging.getLogger(__name__)
T = TypeVar("T")

START_SECONDS = 30.0
_ANSWER_SECONDS = 2.0
PAGE_SECONDS = 20.0
"""So long a tab that a page opened may take to be announced and attached to: its own script may be at work."""
_RENDERER_SECONDS = 4.0
"""So long the end of a renderer may take."""
ENDED = "The browser has ended; go back to a step, or open the task again."
GO_BACK = "To continue, go back to a step or open the task again."
_FLOODED = "The browser did not answer because of the page; the page's renderer was ended."
_RUNGS: dict[Rung, str] = {
    "profile": "It was replaced by a new profile with an empty tab.",
    "connection": "It was disconnected and connected again, with an empty tab.",
}
_DEVTOOLS = "devtools://"
"""Where the browser's own DevTools begin, which are a page of it, too."""
_BY_SCRIPT = "The page asked ("
"""How hosts begin to tell of an alert, a confirm or a prompt, which the protocol tells of too."""


_LOOKS_PER_QUESTION = 25
"""After so many looks for the page of a tab the host is asked whether it still has the tab."""


class _TabClosed(Unanswered):
    """A tab was closed, by its page or an agent, before it was announced."""

    def __init__(self) -> None:
        super().__init__("a tab was closed before it was announced", connection=False)


class LiveBrowser:
    """Connects a host's tabs to Playwright's pages, and replaces what does not answer."""

    def __init__(
        self,
        host: BrowserHost,
        connect: Callable[[BrowserHost, PageListener], Connection],
        border: Border,
        holding: Holding,
    ) -> None:
        """`connect` makes the connection to a host. Pages are kept to `border`, and not hurried while something is
        held."""
        self.host = host
        self.border = border
        self.holding = holding
        self.lost = ""
        """What was replaced and why, in whole sentences: the page is gone since then. Empty while there is one."""
        self.log = PageListener()
        self.refs = Refs()
        self.script_patience = ScriptPatience()
        self.connection = connect(host, self.log)
        self.unchecked: set[Page] = set()
        """Tabs whose first document was asked for before they were attached to."""
        self.on_attached: Callable[[Page], Awaitable[None]] | None = None
        """Is awaited with each tab that is attached to."""
        self._connect = connect
        self._current: Page
        self._replacing = asyncio.Lock()
        self._left_sent: tuple[Sent, ...] = ()
        self._pages: dict[TabId, Page] = {}
        self._found: dict[PlaywrightPage, TabId] = {}
        self._events: list[BrowserEvent] = []
        self._crashes: set[TabId] = set()
        self._listeners: list[Callable[[BrowserEvent], None]] = []

    # Beginning and end

    @property
    def lives(self) -> bool:
        """Whether the browser is there; it may not answer all the same."""
        return self.connection.connected

    async def start(self) -> None:
        """Start Playwright and connect to the host's browser; raises BrowserError."""
        self.host.events.follow(self.note)
        try:
            async with within(START_SECONDS):
                await self.connection.begin()
        except (Error, TimeoutError) as error:
            await self.connection.end(by_force=True)
            said = reason_of(error) if str(error) else f"it did not start within {START_SECONDS:g} s"
            raise BrowserError(f"The browser cannot be controlled: {said}.") from error
        except BaseException:
            await self.connection.end(by_force=True)
            raise

    async def open_profile(self, name: str | None) -> None:
        """Close all tabs and begin with one empty tab in a clean profile, or in the named one.

        A browser that has died meanwhile is started, or connected to, again;
        so is one that does not answer. Raises BrowserError, and UsageError for
        a name that cannot be used.
        """
        async with self._replacing, self.connection.opening():
            if not self.lives:
                await self.connection.end(by_force=True)
                await self.start()
            await self._begin_with(name, (None, "profile", "connection"), "")
        self.lost, self._left_sent = "", ()

    async def _begin_with(self, name: str | None, rungs: Sequence[Rung | None], why: str) -> None:
        """Open a profile with one empty tab, after replacing what a rung names; the next one follows if that fails.

        `why` says what did not answer. Raises BrowserError after the last rung, and UsageError.
        """
        silent = False
        seconds = START_SECONDS if name else TAB_SECONDS  # A named profile may be a browser of its own.
        for rung in rungs:
            if silent and rung != "connection" and "connection" in rungs:
                continue  # If nothing is answered, another profile is no help.
            if rung == "connection" and await self.connection.serves_others():
                break  # They are not to lose their pages for the sake of this one.
            if rung is not None:
                self.note(BrowserEvent(kind="replaced", text=f"{why} {_RUNGS[rung]}"))
            try:
                if rung == "connection":
                    await self.connection.end(by_force=True)
                    await self.start()
                self._pages.clear()
                self._found.clear()
                self.unchecked.clear()
                self.refs = Refs()
                opened = self.host.open_profile(name)
                tab = await self.connection.awaited(opened, "a new profile was not opened", seconds=seconds)
                self.log.forget()
                self.host.events.forget()
                self.connection.forget_pages()
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

    async def asked(self, work: Awaitable[T], what: str, *, seconds: float = TAB_SECONDS) -> T:
        """Await something the browser must do; if it does not, it is replaced and BrowserError raised."""
        try:
            return await self.connection.awaited(work, what, seconds=seconds)
        except Unanswered as error:
            if not self.lives:
                raise await self.ended() from error
            raise await self._replace("connection" if error.connection else "profile", str(error)) from error

    async def ended(self) -> BrowserError:
        return await self._replace("connection", "The browser has ended.")

    async def _replace(self, rung: Rung, why: str) -> BrowserError:
        """Replace the profile, or the connection, and return the error that says that the page is gone.

        Of several who ask at the same time for the same page, the first is heeded.
        """
        asked_by = self._current
        async with self._replacing:
            if self.lost or self._current is not asked_by:
                return self._is_lost() if self.lost else BrowserError(ENDED)
            self._left_sent = self.take_sent()
            self.lost = f"{why} {_RUNGS[rung]}"
            try:
                await self._begin_with(None, ("profile", "connection") if rung == "profile" else (rung,), why)
            except BrowserError as error:
                self.lost = f"{why} {error}"
            return self._is_lost()

    def _is_lost(self) -> BrowserError:
        return BrowserError(f"{self.lost} {GO_BACK}")

    @property
    def current(self) -> Page:
        """The tab that is acted in; raises BrowserError if the browser was replaced and has none of the run."""
        self._raise_if_lost()
        return self._current

    def _raise_if_lost(self) -> None:
        if self.lost:
            raise self._is_lost()

    async def check_lost(self) -> None:
        self._raise_if_lost()
        if not self.lives:
            raise await self.ended()

    async def move_to(self, host: BrowserHost) -> None:
        """Release the browser, and have the next profile be opened in another one; the page is gone meanwhile."""
        async with self._replacing:
            self.lost = "The page was in the previous browser."
            await self.connection.end()
            self.host, self.connection = host, self._connect(host, self.log)

    async def close(self) -> None:
        """Release the browser; what is already gone is not an error."""
        await self.connection.end()

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
        """Return what the tabs have sent since the last call."""
        left, self._left_sent = self._left_sent, ()
        return (*left, *(sent for page in self._pages.values() for sent in page.sent.take()))

    @property
    def untaken_sent(self) -> tuple[Sent, ...]:
        """What the next call of `take_sent` would return."""
        return (*self._left_sent, *(sent for page in self._pages.values() for sent in page.sent.untaken))

    def tell(self, event: BrowserEvent) -> None:
        """Note what a page can cause in any number, where not too many of the kind have come."""
        if self.host.events.admits(event.kind):
            self.note(event.replace(text=shortened(event.text), url=cut(event.url)[0]))

    def tell_here(self, kind: BrowserEventKind, text: str, url: str = "") -> None:
        """Note as `tell` does what happened in the current tab."""
        self.tell(BrowserEvent(kind=kind, text=text, tab=self._current.tab, url=url))

    def note(self, event: BrowserEvent) -> None:
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

    # Pages

    async def open_tabs(self) -> tuple[TabId, ...]:
        """Return the tabs in the order the person sees them; raises BrowserError."""
        return await self.asked(self.host.tabs(), "it did not list its tabs")

    def forget_page(self, tab: TabId) -> None:
        """Be attached to a tab no longer; what it has sent is still to be taken."""
        if (page := self._pages.pop(tab, None)) is not None:
            self._left_sent += page.sent.take()

    async def make_current(self, tab: TabId) -> None:
        """Activate a tab and attach to it if that has not been done; raises BrowserError.

        One that does not answer is closed, and if that is no help the profile is replaced. If the page or the agent
        closes the tab meanwhile, the tab that the host then says is current takes its place.
        """
        try:
            await self._attach(tab, seconds=PAGE_SECONDS)
        except _TabClosed:
            await self.make_current(
                await self.asked(self.host.current_tab(), "it did not report its current tab")
            )
        except FAILURES as error:
            if self.lost:
                raise self._is_lost() from error
            if not self.lives:
                raise await self.ended() from error
            why = f"{reason_of(error)}."
            rung: Rung = "profile" if await self.connection.answers() else "connection"
            if rung == "connection" or not await self._closed(tab, why):
                raise await self._replace(rung, why) from error

    async def _closed(self, tab: TabId, why: str) -> bool:
        """Close a tab that cannot be attached to, and go to one that was; return whether that is possible."""
        self.note(BrowserEvent(kind="replaced", text=f"{why} The tab was closed.", tab=tab))
        what = "the tab was not closed"
        try:
            known = [one for one in await self.open_tabs() if one in self._pages and one != tab]
            if known:
                await self.connection.awaited(self.host.close_tab(tab), what)
                await self._attach(known[-1])
            else:
                await self._attach(await self.connection.awaited(self.host.replace_tab(tab), what))
        except FAILURES as error:
            log.warning("Could not close a tab that does not answer: %s", error)
            return False
        return True

    async def _attach(self, tab: TabId, *, seconds: float = TAB_SECONDS) -> None:
        """Activate a tab, attach to it if that has not been done, and make it current; raises `FAILURES`."""
        what = "a tab was not made current"
        await self.connection.awaited(self.host.activate_tab(tab), what)
        if tab not in self._pages or self._pages[tab].playwright_page.is_closed():
            announced = self._wait_for_page(tab)
            what = "a tab was opened but not announced"
            found = await self.connection.awaited(announced, what, seconds=seconds)
            attached = Page.attach(tab, found, self)
            what = "a tab was not attached to"
            page = await self.connection.awaited(attached, what, seconds=seconds)
            self.forget_page(tab)
            self._pages[tab] = page
            self.unchecked.add(page)
            if self.on_attached is not None:
                await self.on_attached(page)
        self._current = self._pages[tab]

    async def replace_tab(self, tab: TabId) -> None:
        """Put an empty tab in the place of one whose renderer has ended, and make it current; raises BrowserError."""
        self.forget_page(tab)
        await self.make_current(await self.asked(self.host.replace_tab(tab), "a tab was not replaced"))

    async def _wait_for_page(self, tab: TabId) -> PlaywrightPage:
        looks = 0
        while (page := await self.playwright_page(tab)) is None:
            looks += 1
            if looks % _LOOKS_PER_QUESTION == 0 and await self._was_closed(tab):
                raise _TabClosed
            # Playwright tells of the page in a moment of its own; there is no event for one by its id.
            await asyncio.sleep(0.01)
        return page

    async def _was_closed(self, tab: TabId) -> bool:
        return tab not in await self.host.tabs() and await self.host.current_tab() != tab

    async def playwright_page(self, tab: TabId) -> PlaywrightPage | None:
        known = self._pages.get(tab)
        if known is not None and not known.playwright_page.is_closed():
            return known.playwright_page
        browser = self.connection.browser
        if browser is None or not self.connection.connected:
            raise BrowserError(ENDED)
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
            async with within(_ANSWER_SECONDS):
                session = await page.context.new_cdp_session(page)
                info: dict[str, Any] = await session.send("Target.getTargetInfo")
                # The session ends with the page: without a renderer, leaving it would never be answered.
                return str(info["targetInfo"]["targetId"])
        except (Error, TimeoutError):
            return ""

    # What does not answer

    async def check_browser(self, page: PageProtocol) -> None:
        """Make sure the browser answers, where a page of it does not; raises BrowserError if it was replaced."""
        self._raise_if_lost()
        url = page.playwright_page.url
        if self.connection.filter.flooded and await outlasts(
            page.channel, self.script_patience, url, self._flood_is_read, lambda: page.crashed
        ):
            return
        flooded = self.connection.filter.flooded
        if not flooded and await self.connection.answers(MOST_SIGNS):
            return
        if self.connection.connected and not self.connection.stalled:
            # A page that floods the connection with messages stops with its renderer.
            self.note(BrowserEvent(kind="hang", text=_FLOODED, tab=page.tab, url=url))
            if not await self.host.end_renderer(page.tab):
                await page.crash()
            # What a flood has left is not worth waiting for: it can be hundreds of MB.
            signs = FEW_SIGNS if flooded else MOST_SIGNS
            if await self.connection.answers(signs, reads_flood=not flooded):
                return
        raise await self._replace("connection", "The browser did not answer.")

    def _flood_is_read(self) -> bool:
        connection = self.connection
        return connection.connected and connection.filter.flooded and not connection.filter.endless

    async def end_renderer(self, page: PageProtocol) -> None:
        """End the renderer of a page that cannot be helped; raises BrowserError if the profile was replaced."""
        if not await self.host.end_renderer(page.tab):
            await page.crash()
        if not await page.ended(_RENDERER_SECONDS):
            raise await self._replace(
                "profile", "A page did not answer, and its renderer could not be stopped."
            )
