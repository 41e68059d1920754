"""Shows a Chromium on a screen: pictures of the current tab, the list of tabs, and the person's input for the page.

There are pictures only of the current tab, only while the screen is watched, and at most ten a second, so
that a page that changes constantly does not slow the agent or person in it.
"""

import asyncio
import base64
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from playwright.async_api import Browser, CDPSession, Error, Page

from core.browser.channel import let_go
from core.browser.floods import shortened
from core.browser.input.person_input import InputQueue
from core.browser.screen import Screen, ScreenPicture, ShownBrowser, ShownTab
from core.schema.events import TabId
from core.system.patience import Limit, within

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.5
"""So often titles and addresses are asked for."""
_PICTURE_SECONDS = 0.2
"""So long a picture counts as one on its way, of which there are two at most."""
_REST_SECONDS = 0.4
"""After so long without a picture the page is taken to rest."""
_SILENT_SECONDS = 4.0
"""A page that has not answered for so long is said not to answer."""
_PICTURES = {"format": "png"}
_ENDED = "The browser has ended ({when}). Go back to a step (Ctrl+B), or open the task again (Ctrl+R)."
_CRASHED = "The page's process has ended ({when}); this is its last picture."
_SILENT = "The page has not answered since {when}; this is its last picture."


class Opened(NamedTuple):
    """What a browser has open."""

    alive: bool
    """Whether it runs."""
    browser: Browser | None = None
    pages: tuple[tuple[TabId, Page], ...] = ()
    current: TabId = ""
    crashed: bool = False
    """Whether the current tab is."""


class Screencast:
    """One browser on a screen. It starts when it is created, and ends with `close`."""

    def __init__(
        self, screen: Screen, opened: Callable[[], Opened], activate: Callable[[TabId], Awaitable[None]]
    ) -> None:
        self._screen = screen
        self._opened = opened
        self._input = InputQueue(self._page, activate, screen.copied.send)
        self._changed = asyncio.Event()
        self._told = ShownBrowser()
        self._pictured: Page | None = None
        self._session: CDPSession | None = None
        """The session that pictures come by."""
        self._last = b""
        """The picture that was sent last."""
        self._unseen = False
        """Whether the screen was hidden or shown since the pictures began: it has none of those sent before."""
        self._resting: asyncio.TimerHandle | None = None
        self._asked: asyncio.Future[Any] | None = None
        """A question to the page, which it answers unless it is busy for ever."""
        self._silent = False
        """Whether the last question was not answered in time."""
        self._patience = Limit(_SILENT_SECONDS)
        self._well = time.time()
        """When the page was last known to be well."""
        self._targets: tuple[Browser, CDPSession] | None = None
        self._working: set[asyncio.Future[Any]] = set()
        screen.connect(self._input.put, self._on_watched)
        self._following = asyncio.ensure_future(self._follow())

    def note_change(self) -> None:
        """Look again: another tab is current, or is there."""
        self._changed.set()

    def _on_watched(self) -> None:
        self._unseen = True
        self.note_change()

    async def close(self) -> None:
        """Send nothing more, and take nothing more in."""
        self._following.cancel()
        await asyncio.wait([self._following])
        await self._input.close()
        self._leave_page()

    def _page(self) -> Page | None:
        opened = self._opened()
        return next((page for tab, page in opened.pages if tab == opened.current), None)

    async def _follow(self) -> None:
        while True:
            self._changed.clear()
            opened, watched = self._opened(), self._screen.watched
            try:
                async with within(_SILENT_SECONDS):
                    await self._picture(opened, watched)
                    shown = await self._shown(opened)
            except (Error, TimeoutError) as error:
                log.info("Looking at the browser: %s", error)
                shown = self._told
                if self._patience.left() <= 0:
                    shown = shown.replace(running=True, problem=self._dated(_SILENT))
            if shown != self._told:
                self._told = shown
                self._screen.changed.send(shown)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS if watched else None):
                    await self._changed.wait()

    # Beside the picture

    async def _shown(self, opened: Opened) -> ShownBrowser:
        titles = await self._titles(opened.browser if opened.alive else None)
        tabs = []
        for tab, page in opened.pages:
            title, url = titles.get(tab, ("", page.url))
            tabs.append(ShownTab(tab=tab, title=shortened(title), url=shortened(url)))
        return ShownBrowser(
            running=True, tabs=tuple(tabs), current=opened.current, problem=self._problem(opened)
        )

    async def _titles(self, browser: Browser | None) -> dict[TabId, tuple[str, str]]:
        """Return titles and addresses by tab; the browser tells them, also of pages that do not answer."""
        if browser is None:
            return {}
        if self._targets is None or self._targets[0] is not browser:
            self._targets = browser, await browser.new_browser_cdp_session()
        found = await self._targets[1].send("Target.getTargets")
        return {one["targetId"]: (one["title"], one["url"]) for one in found["targetInfos"]}

    def _problem(self, opened: Opened) -> str:
        if not opened.alive:
            return self._dated(_ENDED)
        if opened.crashed:
            return self._dated(_CRASHED)
        if self._asked is None or self._asked.done():
            self._silent, self._well = False, time.time()
            self._ask()
        elif self._patience.left() <= 0:
            self._silent = True
            # The answer is lost if the page was replaced meanwhile, so another question is asked.
            let_go(self._asked)
            self._ask()
        return self._dated(_SILENT) if self._silent else ""

    def _ask(self) -> None:
        self._patience = Limit(_SILENT_SECONDS)
        if self._session is not None:
            self._asked = self._send(self._session, "Page.getLayoutMetrics")

    def _dated(self, problem: str) -> str:
        return problem.format(when=time.strftime("%H:%M:%S", time.localtime(self._well)))

    # Pictures

    async def _picture(self, opened: Opened, watched: bool) -> None:
        """Have pictures of the current tab, and of no other."""
        page = self._page() if watched and opened.alive and not opened.crashed else None
        if page is self._pictured and not self._unseen:
            return
        self._unseen = False
        self._leave_page()
        if page is None:
            return
        session = await page.context.new_cdp_session(page)
        session.on("Page.screencastFrame", partial(self._on_picture, opened.current, session))
        self._session, self._last = session, b""
        await session.send("Page.startScreencast", _PICTURES)
        self._pictured = page

    def _leave_page(self) -> None:
        session, self._session, self._pictured = self._session, None, None
        if self._resting is not None:
            self._resting.cancel()
        if self._asked is not None:
            let_go(self._asked)
            self._asked = None
        if session is not None:
            self._work(session.detach())

    def _on_picture(self, tab: TabId, session: CDPSession, event: dict[str, Any]) -> None:
        if session is not self._session:
            return
        loop = asyncio.get_running_loop()
        number = {"sessionId": event["sessionId"]}
        loop.call_later(_PICTURE_SECONDS, self._send, session, "Page.screencastFrameAck", number)
        seen, data = event["metadata"], base64.b64decode(event["data"])
        if data == self._last:
            return
        self._last = data
        self._screen.drawn.send(ScreenPicture(tab, data, seen["deviceWidth"], seen["deviceHeight"]))
        if self._resting is not None:
            self._resting.cancel()
        self._resting = loop.call_later(_REST_SECONDS, self._rest, session)

    def _rest(self, session: CDPSession) -> None:
        """Have one more picture: what changed while others were on their way may have been left out."""
        # A screencast that begins sends what is there.
        self._send(session, "Page.stopScreencast")
        self._send(session, "Page.startScreencast", _PICTURES)

    def _send(
        self, session: CDPSession, method: str, params: dict[str, Any] | None = None
    ) -> "asyncio.Future[Any]":
        return self._work(session.send(method, params))

    def _work(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Future[Any]":
        """Run something in the background; errors of a closed page are ignored."""
        future = asyncio.ensure_future(work)
        self._working.add(future)
        future.add_done_callback(self._working.discard)
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        return future
