"""Reads and restores what the browser stores for a page: cookies, storage, its place in the history."""

import asyncio
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Error, Route

from core.browser.channel import FrameLink, PageGone, script
from core.browser.page import Page
from core.browser.tabs import Tabs
from core.schema.errors import ActionError, BrowserError
from core.schema.record import Record


class PageState(Record):
    """What the browser stored at a step."""

    touched: str = ""
    """Which touch of the browser was the last one then; the same now means that nobody touched it since."""
    tab: str = ""
    entry: int | None = None
    """The number that the browser gave to the page in its tab's history."""
    content: str = ""
    """A short number of the whole document with what its fields hold, seen and unseen; empty if not read."""
    behind: tuple[str, ...] | None = None
    """The URLs of the pages behind it in that history; None if they were not recorded."""
    cookies: tuple[dict[str, Any], ...] = ()
    """Those sent to the page, each with the fields of the protocol's Network.setCookie."""
    local: dict[str, str] | None = {}
    """None if it could not be read, as with the next two: it is not put back then, nor wiped."""
    session: dict[str, str] | None = {}
    databases: str | None = "[]"
    """IndexedDB as JSON, where it holds nothing else than JSON can."""
    whole: bool = True
    """False if cookies and storage were left out: they are not put back then."""
    unread: tuple[str, ...] = ()
    """What could not be read, and why."""
    server: str = ""
    """The environment's snapshot of its server; empty if it keeps none."""

    def without_logins(self) -> "PageState":
        """Return it as it is stored for a named profile, whose logins stay in the profile alone."""
        return self.replace(cookies=(), local={}, session={}, databases="[]", whole=False)


def origin_of(url: str) -> str:
    """Return ``scheme://host`` of a page that can keep storage, or nothing."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else ""


BLANK = "about:blank"


@dataclass(frozen=True)
class TabHistory:
    """The pages of a tab as the browser numbers them; empty tabs at its beginning are not pages."""

    entries: tuple[tuple[int, str], ...]
    """Number and URL of each."""
    here: int
    """The place of the one that is shown."""

    @classmethod
    async def read(cls, page: Page) -> "TabHistory":
        """Return the history of a tab; raises PageGone or BrowserError."""
        history = await page.send("Page.getNavigationHistory", {})
        return cls(
            entries=tuple((int(one["id"]), str(one["url"])) for one in history["entries"]),
            here=int(history["currentIndex"]),
        )

    @property
    def entry(self) -> int | None:
        """The number of the page that is shown."""
        return self.entries[self.here][0] if 0 <= self.here < len(self.entries) else None

    def behind(self, place: int | None = None) -> tuple[str, ...]:
        """Return the URLs of the pages behind a place, or behind the page that is shown."""
        until = self.here if place is None else place
        return tuple(url for _, url in self.entries[:until] if url != BLANK)

    def entry_after(self, behind: tuple[str, ...], url: str) -> int | None:
        """Return the number of the page at `url` that has these behind it."""
        for place, (number, there) in enumerate(self.entries):
            if there == url and self.behind(place) == behind:
                return number
        return None

    async def go_to_first(self, tabs: Tabs) -> None:
        """Go to the tab's first page, so that opening its URL again leaves nothing behind it."""
        first = next((number for number, url in self.entries if url != BLANK), None)
        if first is not None and self.behind():
            await self.go(tabs, first)

    async def go(self, tabs: Tabs, entry: int) -> None:
        """Go to a page of the history and wait; raises PageGone or BrowserError."""
        before = tabs.mark()
        await tabs.current.send("Page.navigateToHistoryEntry", {"entryId": entry})
        await tabs.settle(before)


EMPTY_PAGE = "/__backstep_empty_page__"
"""The path at a page's origin where storage is restored: answered here, the server is never asked for it."""

_COOKIE_FIELDS = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "expires")


async def read_page_state(page: Page, *, touched: str, server: str) -> PageState:
    """Return what is kept for the current page; what cannot be read is listed in `unread`. Raises nothing."""
    url = page.playwright_page.url
    stored, history, cookies = await asyncio.gather(
        _stored(page), TabHistory.read(page), _cookies(page, url), return_exceptions=True
    )
    failures = (PageGone, BrowserError, ActionError)
    unread: list[str] = []
    for one in (stored, history, cookies):
        if isinstance(one, BaseException):
            if not isinstance(one, failures):
                raise one
            unread.append(str(one) or "The page went away.")
    return PageState(
        touched=touched,
        tab=page.tab,
        entry=None if isinstance(history, BaseException) else history.entry,
        behind=None if isinstance(history, BaseException) else history.behind(),
        cookies=() if isinstance(cookies, BaseException) else cookies,
        server=server,
        whole=not isinstance(cookies, BaseException),
        **(
            {"local": None, "session": None, "databases": None, "unread": tuple(unread)}
            if isinstance(stored, BaseException)
            else {**stored, "unread": (*unread, *stored.get("unread", ()))}
        ),
    )


async def _stored(page: Page) -> dict[str, Any]:
    main, *inner = await page.frames.find()
    stored, *contents = await asyncio.gather(
        _call(page, "read()", main), *(_call(page, "content()", frame) for frame in inner)
    )
    if contents:
        whole = "\n".join((stored["content"], *contents))
        stored["content"] = hashlib.blake2s(whole.encode(), digest_size=8).hexdigest()
    return dict(stored)


async def _call(page: Page, call: str, frame: FrameLink | None = None) -> Any:
    return await page.evaluate(f"{script('page_state')}\n__backstepState.{call}", frame=frame)


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
    """Restore the cookies for `url`, except those named in `but`."""
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
    """Restore the storage of `url`'s origin; return what could not be restored.

    If it has changed, this is done in an empty page at the origin, which replaces the current one, whose
    scripts could write to it meanwhile. Raises ActionError or BrowserError if the empty page does not load.
    """
    origin = origin_of(url)
    storage = _storage_of(kept)
    unknown = not kept.whole or all(value is None for value in storage.values())
    if not origin or unknown or await _is_kept(tabs.current, origin, kept):
        return ()
    page = tabs.current.playwright_page
    headers = {"Referrer-Policy": "no-referrer"}

    async def answer(route: Route) -> None:
        with suppress(Error):  # The tab is gone, and nobody asks any more.
            await route.fulfill(
                status=200, headers=headers, content_type="text/html", body="<!doctype html><title></title>"
            )

    empty = origin + EMPTY_PAGE
    try:
        await page.route(empty, answer)
        await replace_page(tabs, empty)
        return tuple(str(one) for one in await _call(tabs.current, f"put({json.dumps(storage)})"))
    except Error as error:
        raise ActionError(f"The tab could not open {origin}: it was closed.") from error
    finally:
        with suppress(Error):
            await page.unroute(empty, answer)


async def _is_kept(page: Page, origin: str, kept: PageState) -> bool:
    """Return whether the storage of `origin` is as it was kept, as far as the current page can tell."""
    if origin_of(page.playwright_page.url) != origin:
        return False
    now = await _stored(page)
    return all(now.get(part) == value for part, value in _storage_of(kept).items() if value is not None)


def _storage_of(kept: PageState) -> dict[str, Any]:
    return kept.model_dump(include={"local", "session", "databases"})


async def open_again(tabs: Tabs, url: str, behind: tuple[str, ...] | None) -> None:
    """Load `url` in the current tab, whatever it shows, with these pages behind it where the tab has them.

    Raises ActionError with the browser's reason if it does not come up.
    """
    address, fragment, _ = url.partition("#")
    history = await TabHistory.read(tabs.current)
    comes_after = behind is not None and history.behind() != behind
    if comes_after and behind and (last := history.entry_after(behind[:-1], behind[-1])) is not None:
        await history.go(tabs, last)
    # Another fragment of the address that is shown, or the same one again, would not load the page.
    same = bool(fragment) and tabs.current.playwright_page.url.partition("#")[0] == address
    if comes_after or not origin_of(url):
        if not (same and tabs.current.playwright_page.url == url):
            await tabs.goto(url)
        if same:
            await _reload(tabs)
        return
    if same:
        await replace_page(tabs, BLANK)
    await replace_page(tabs, url)


async def _reload(tabs: Tabs) -> None:
    before = tabs.mark()
    await tabs.current.send("Page.reload", {})
    await tabs.settle(before)


async def replace_page(tabs: Tabs, url: str) -> None:
    """Open `url` in place of the current page; the rest of the history stays.

    Raises ActionError if it does not load.
    """
    before = tabs.mark()
    try:
        await tabs.current.evaluate(f"location.replace({json.dumps(url)})")
    except PageGone:
        pass  # It went at once.
    await tabs.settle(before)
    now = tabs.current.playwright_page.url
    if now == BLANK != url or now.startswith("chrome-error:"):
        await tabs.goto(url)
