"""A page driver in plain Playwright, for tests of environments on real pages."""

from typing import Any

from playwright.async_api import Error, Page

from core.schema.errors import ActionError


class PlaywrightDriver:
    """`PageDriver` without isolated worlds, input or capture."""

    def __init__(self, page: Page) -> None:
        self.playwright_page = page

    async def goto(self, url: str) -> None:
        try:
            await self.playwright_page.goto(url)
        except Error as error:
            raise ActionError(f"{url} could not be opened: {error.message}") from error

    async def url(self) -> str:
        return self.playwright_page.url

    async def evaluate(self, script: str, *, main_world: bool = False) -> Any:
        try:
            return await self.playwright_page.evaluate(script)
        except Error as error:
            raise ActionError(f"A script in the page failed: {error.message}") from error

    async def add_init_script(self, script: str) -> None:
        await self.playwright_page.add_init_script(script)

    async def set_cookies(self, cookies: list[dict[str, Any]]) -> None:
        session = await self.playwright_page.context.new_cdp_session(self.playwright_page)
        for cookie in cookies:
            await session.send("Network.setCookie", cookie)
        await session.detach()

    async def set_local_storage(self, origin: str, items: dict[str, str]) -> None:
        # The storage of an origin can be reached from its own documents only: an empty one is put there.
        place = f"{origin}/empty-for-storage"
        await self.playwright_page.route(
            place, lambda route: route.fulfill(content_type="text/html", body="")
        )
        await self.playwright_page.goto(place)
        await self.playwright_page.evaluate("(items) => Object.assign(localStorage, items)", items)
        await self.playwright_page.unroute(place)

    async def html(self) -> str:
        return await self.playwright_page.content()

    async def settle(self) -> None:
        await self.playwright_page.wait_for_load_state()

    async def open_tab(self, url: str) -> None:
        tab = await self.playwright_page.context.new_page()
        await tab.goto(url)
