"""Reading what the browser keeps for a page, and putting it back."""

import asyncio
from typing import Any

from playwright.async_api import Error, Route

from core.browser.checkpoints.kept import PageState, origin_of
from core.browser.page import Page, PageGone
from core.browser.scripts import script
from core.browser.tabs import Tabs
from core.errors import ActionError, BrowserError

EMPTY_PAGE = "/__backstep_empty_page__"
"""The path at a page's origin where storage is put back: answered here, the server is never asked for it."""

_COOKIE_FIELDS = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "expires")


async def read_page_state(page: Page, *, touched: str, server: str) -> PageState:
    """Return what is kept for the current page; what cannot be read is told in `unread`. Raises nothing."""
    url = page.playwright_page.url
    stored, entry, cookies = await asyncio.gather(
        _stored(page, url), _entry(page), _cookies(page, url), return_exceptions=True
    )
    failures = (PageGone, BrowserError, ActionError)
    unread: list[str] = []
    for one in (stored, entry, cookies):
        if isinstance(one, BaseException):
            if not isinstance(one, failures):
                raise one
            unread.append(str(one) or "The page went away.")
    return PageState(
        touched=touched,
        tab=page.tab,
        entry=None if isinstance(entry, BaseException) else entry,
        cookies=() if isinstance(cookies, BaseException) else cookies,
        server=server,
        **(
            {"unread": tuple(unread)}
            if isinstance(stored, BaseException)
            else {**stored, "unread": (*unread, *stored.get("unread", ()))}
        ),
    )


async def _stored(page: Page, url: str) -> dict[str, Any]:
    if not origin_of(url):
        return {}
    return dict(await _call(page, "read()"))


async def _call(page: Page, call: str) -> Any:
    return await page.evaluate(f"{script('page_state')}\n__backstepState.{call}")


async def _entry(page: Page) -> int | None:
    history = await page.send("Page.getNavigationHistory", {})
    entries, here = history["entries"], int(history["currentIndex"])
    return int(entries[here]["id"]) if 0 <= here < len(entries) else None


async def _cookies(page: Page, url: str) -> tuple[dict[str, Any], ...]:
    if not origin_of(url):
        return ()
    answer = await page.send("Network.getCookies", {"urls": [url]})
    return tuple(
        {
            name: one[name]
            for name in _COOKIE_FIELDS
            if name in one and not (name == "expires" and one[name] < 0)
        }
        for one in answer["cookies"]
    )


async def put_cookies_back(page: Page, url: str, kept: PageState, *, but: tuple[str, ...] = ()) -> None:
    """Make the cookies sent to `url` those that were kept, apart from those named in `but`."""
    if not kept.whole:
        return
    wanted = {_key(one): one for one in kept.cookies}
    for one in await _cookies(page, url):
        if _key(one) not in wanted and one["name"] not in but:
            where = {"name": one["name"], "domain": one["domain"], "path": one["path"]}
            await page.send("Network.deleteCookies", where)
    for one in wanted.values():
        if one["name"] not in but:
            await page.send("Network.setCookie", one)


def _key(cookie: dict[str, Any]) -> tuple[str, str, str]:
    return cookie["name"], cookie["domain"], cookie["path"]


async def put_storage_back(tabs: Tabs, url: str, kept: PageState) -> tuple[str, ...]:
    """Make the storage of `url`'s origin what was kept, from an empty page there; return what could not be.

    Raises ActionError or BrowserError where the empty page does not come up.
    """
    origin = origin_of(url)
    if not origin:
        return ()
    page = tabs.current.playwright_page

    async def answer(route: Route) -> None:
        await route.fulfill(status=200, content_type="text/html", body="<!doctype html><title></title>")

    empty = origin + EMPTY_PAGE
    await page.route(empty, answer)
    try:
        await tabs.goto(empty)
        if not kept.whole:
            return ()
        given = kept.model_dump_json(include={"local", "session", "databases"})
        return tuple(str(one) for one in await _call(tabs.current, f"put({given})"))
    finally:
        try:
            await page.unroute(empty, answer)
        except Error:
            pass  # The tab is gone, and the route with it.
