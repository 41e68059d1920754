"""The current tab as environments see it: a `PageDriver` over whatever tab is current."""

import json
from dataclasses import replace
from typing import Any

from playwright.async_api import Page as PlaywrightPage

from core.browser.channel import PageGone
from core.browser.settling import SettleMark
from core.browser.tabs import Tabs
from core.schema.errors import ActionError, BrowserError


class TabDriver:
    """Gives an environment what it needs to open and judge a task."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._opened: SettleMark | None = None

    @property
    def playwright_page(self) -> PlaywrightPage:
        return self._tabs.current.playwright_page

    async def goto(self, url: str) -> None:
        """Open `url` and wait until it has settled; raises ActionError."""
        self._opened = self._tabs.mark()
        await self._tabs.goto(url)

    async def url(self) -> str:
        return self.playwright_page.url

    async def evaluate(self, script: str, *, main_world: bool = False) -> Any:
        """Return the JSON value of an expression; asked again where the page navigates meanwhile."""
        for _ in range(3):
            try:
                return await self._tabs.current.evaluate(script, main_world=main_world)
            except PageGone:
                await self.settle()
        return await self._tabs.current.evaluate(script, main_world=main_world)

    async def add_init_script(self, script: str) -> None:
        """Run `script` in the page's own world before its scripts, in every document from now on."""
        await self._tabs.current.send("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    async def set_cookies(self, cookies: list[dict[str, Any]]) -> None:
        """Set cookies; each is a mapping with the fields of the protocol's Network.setCookie."""
        for cookie in cookies:
            await self._tabs.current.send("Network.setCookie", cookie)

    async def set_local_storage(self, origin: str, items: dict[str, str]) -> None:
        """Put items into the local storage of an origin; its server is not asked.

        The browser gives the storage only to a document of the origin, so an
        empty one is served in its place; raises BrowserError.
        """
        page = self.playwright_page
        address = f"{origin.rstrip('/')}/backstep-empty"
        await page.route(address, lambda route: route.fulfill(body="", content_type="text/html"))
        try:
            await self.goto(address)
            put = "([key, value]) => localStorage.setItem(key, value)"
            await self._tabs.current.evaluate(f"Object.entries({json.dumps(items)}).forEach({put})")
            await self._tabs.goto("about:blank")
        except ActionError as error:
            raise BrowserError(f"The local storage of {origin} could not be set: {error}") from error
        finally:
            await page.unroute(address)

    async def html(self) -> str:
        return await self._tabs.current.html()

    async def settle(self) -> None:
        """Wait for all that the page has begun since it was opened, such as pictures of what a script has added."""
        now = self._tabs.mark()
        await self._tabs.settle(replace(self._opened, windows=now.windows) if self._opened else now)

    async def open_tab(self, url: str) -> None:
        """Open `url` in a further tab; the tab that was current stays so."""
        first = self._tabs.current.tab
        await self._tabs.open()
        try:
            await self._tabs.goto(url)
        finally:
            await self._tabs.browser.make_current(first)
