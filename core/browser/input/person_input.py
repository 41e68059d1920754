"""Sends a person's input on a screen to the page over the protocol, in order."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from playwright.async_api import Error, Page

from core.browser.screen import Browse, ChooseTab, Copy, DropTab, GoTo, Key, PersonInput, Pointer, Typed
from core.schema.events import TabId

log = logging.getLogger(__name__)

_MOST = 500
"""Inputs that wait for a page that does not take them; the others are lost."""


class InputQueue:
    """Takes inputs from the screen. Outdated mouse moves are left out."""

    def __init__(
        self,
        page: Callable[[], Page | None],
        activate: Callable[[TabId], Awaitable[None]],
        on_copied: Callable[[str], None],
    ) -> None:
        self._page = page
        self._activate = activate
        self._on_copied = on_copied
        self._waiting: deque[PersonInput] = deque(maxlen=_MOST)
        self._came = asyncio.Event()
        self._working = asyncio.ensure_future(self._work())

    def put(self, one: PersonInput) -> None:
        """Queue an input."""
        last = self._waiting[-1] if self._waiting else None
        if isinstance(one, Pointer) and isinstance(last, Pointer) and one.kind == last.kind == "move":
            self._waiting.pop()
        self._waiting.append(one)
        self._came.set()

    async def close(self) -> None:
        """Do nothing more."""
        self._working.cancel()
        await asyncio.wait([self._working])

    async def _work(self) -> None:
        while True:
            await self._came.wait()
            self._came.clear()
            while self._waiting:
                one = self._waiting.popleft()
                page = self._page()
                if page is None:
                    continue
                try:
                    await self._do(one, page)
                except Error as error:
                    log.info("A person's input was not taken: %s", error)

    async def _do(self, one: PersonInput, page: Page) -> None:
        match one:
            case Pointer(kind="wheel"):
                await page.mouse.move(one.x, one.y)
                await page.mouse.wheel(one.right, one.down)
            case Pointer():
                await page.mouse.move(one.x, one.y)
                if one.kind == "down":
                    await page.mouse.down(button=one.button, click_count=one.clicks)
                elif one.kind == "up":
                    await page.mouse.up(button=one.button, click_count=one.clicks)
            case Key(kind="down"):
                await page.keyboard.down(one.name)
            case Key():
                await page.keyboard.up(one.name)
            case Typed():
                await page.keyboard.insert_text(one.text)
            case Copy():
                self._on_copied(str(await page.evaluate("String(getSelection())")))
            case GoTo():
                await page.goto(one.url, wait_until="commit")
            case Browse():
                await _browse(one, page)
            case DropTab():
                await self._activate(one.tab)
                if (closing := self._page()) is not None:
                    await closing.close(run_before_unload=True)
            case ChooseTab():
                await self._activate(one.tab)


async def _browse(one: Browse, page: Page) -> None:
    session = await page.context.new_cdp_session(page)
    try:
        if one.what == "stop":
            await session.send("Page.stopLoading")
        elif one.what == "reload":
            await session.send("Page.reload")
        else:
            # Playwright would wait for the page, and nothing else could be put in meanwhile.
            history = await session.send("Page.getNavigationHistory")
            at = history["currentIndex"] + (1 if one.what == "forward" else -1)
            if 0 <= at < len(history["entries"]):
                await session.send("Page.navigateToHistoryEntry", {"entryId": history["entries"][at]["id"]})
    finally:
        await session.detach()
