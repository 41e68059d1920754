"""A browser that does not answer is replaced, the smallest part first, and a harmless page works afterwards.

Asked of an installed Chromium here, and of the embedded browser in tests/gui/live.
"""

import asyncio
import os
import signal
from contextlib import suppress
from typing import Any

import pytest

from core.browser.live_browser import LiveBrowser
from core.browser.recovery import Connection
from core.browser.tabs import Tabs
from core.schema.errors import ActionError, BrowserError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("impatient")]


def driver_of(tabs: Tabs) -> int:
    """Return the process of Playwright's driver."""
    return int(tabs.browser.connection._process.pid)


async def harmless_page_works(browser: Browsing, site: Site) -> None:
    await browser.tabs.open_profile()
    await browser.open(site.page("<button onclick=\"this.textContent = 'done'\">harmless</button>"))
    await browser.do('click [button "harmless"]')
    await browser.find("button", "done")


def told(browser: Browsing) -> str:
    return "\n".join(one.text for one in browser.events() if one.kind in ("hang", "crash", "replaced"))


TRIED = (
    "microtasks without end",
    "console errors without end",
    "exceptions",
    "many levels",
    "one long word",
    "protocols of its own",
    "frames of its own protocol",
    "questions without end",
    "windows",
    "history without end",
    "requests that fail",
    "posts",
    "requests for permission",
    "downloads",
    "frames",
    "a long title",
    "a long address",
    "changes without end",
)
"""The hostile pages of which no other test here is about what they do."""


@in_browser
@pytest.mark.parametrize("name", TRIED)
async def test_a_harmless_page_works_after_a_hostile_one(browser: Browsing, site: Site, name: str) -> None:
    page = HOSTILE[name]
    with suppress(ActionError, BrowserError):
        await browser.open(page.serve(site, page.sample))
        await browser.see()
    await harmless_page_works(browser, site)


@in_browser
async def test_a_killed_renderer_is_told_and_its_page_loaded_again(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button>b</button>"))
    assert browser.tabs.browser.connection.browser is not None
    session = await browser.tabs.browser.connection.browser.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    for renderer in (one["id"] for one in processes if one["type"] == "renderer"):
        os.kill(int(renderer), signal.SIGKILL)
    assert await browser.tabs.current.ended(20)
    await browser.find("button", "b")
    assert "renderer" in told(browser)


@in_browser
async def test_a_killed_driver_is_replaced_and_the_page_is_said_to_be_gone(
    browser: Browsing, site: Site
) -> None:
    url = site.page("<button>b</button>")
    await browser.open(url)
    os.kill(driver_of(browser.tabs), signal.SIGKILL)
    with pytest.raises(BrowserError, match=r"has ended.*connected again.*[Gg]o back to a step"):
        await browser.open(url)
    with pytest.raises(BrowserError, match=r"has ended.*connected again"):
        await browser.see()
    assert "The browser has ended. It was disconnected and connected again" in told(browser)
    await harmless_page_works(browser, site)


@in_browser
async def test_a_killed_driver_is_replaced_while_a_page_loops(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<script>setTimeout(() => { while (true); }, 300)</script><p>loops"))
    os.kill(driver_of(browser.tabs), signal.SIGKILL)
    with pytest.raises(BrowserError, match="has ended"):
        await browser.open(site.page("<p>never"))
    await harmless_page_works(browser, site)


@in_browser
async def test_a_stopped_driver_is_replaced_while_a_page_is_read(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button>b</button>"))
    driver, page = driver_of(browser.tabs), browser.tabs.current
    os.kill(driver, signal.SIGSTOP)
    with pytest.raises(BrowserError, match=r"did not answer.*connected again"):
        await browser.see()
    with pytest.raises(BrowserError, match=r"did not answer.*connected again"):
        await page.evaluate("'whoever asks the page itself is told the same'")
    assert driver_of(browser.tabs) != driver
    assert not alive(driver)
    await harmless_page_works(browser, site)


@in_browser
async def test_a_driver_that_stands_still_for_a_while_is_no_fault_of_the_page(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.browser.recovery.DRIVER_SECONDS", 60.0)
    monkeypatch.setattr("core.browser.recovery.SIGNS", 2)
    asked = Connection._driver_resumes

    async def resumed(self: Connection) -> bool:
        asyncio.get_running_loop().call_later(3, os.kill, driver, signal.SIGCONT)
        return await asked(self)

    monkeypatch.setattr(Connection, "_driver_resumes", resumed)
    await browser.open(site.page("<button onclick=\"this.textContent = 'clicked'\">b</button>"))
    driver = driver_of(browser.tabs)
    os.kill(driver, signal.SIGSTOP)
    try:
        await browser.do('click [button "b"]')
        await browser.find("button", "clicked")
    finally:
        os.kill(driver, signal.SIGCONT)
    assert browser.events() == []
    assert driver_of(browser.tabs) == driver


@in_browser
async def test_a_driver_that_stopped_between_two_tasks_is_replaced(browser: Browsing, site: Site) -> None:
    await browser.open(site.page("<button>b</button>"))
    os.kill(driver_of(browser.tabs), signal.SIGSTOP)
    await harmless_page_works(browser, site)
    assert "It was disconnected and connected again, with an empty tab." in told(browser)


@in_browser
async def test_a_profile_that_does_not_answer_is_replaced(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = browser.host.open_profile
    silent = iter([True, False])

    async def open_profile(name: str | None) -> str:
        tab = await opened(name)
        # It is there, but nothing ever tells of it.
        return "no such target" if next(silent, False) else tab

    monkeypatch.setattr(browser.host, "open_profile", open_profile)
    monkeypatch.setattr("core.browser.live_browser.TAB_SECONDS", 2.0)
    monkeypatch.setattr("core.browser.recovery.TAB_SECONDS", 2.0)
    await harmless_page_works(browser, site)
    assert "not announced. It was replaced by a new profile with an empty tab." in told(browser)


@in_browser
async def test_a_tab_that_never_comes_is_closed_and_its_opener_goes_on(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.open(site.page("<button>b</button>"))
    opener = browser.tabs.current.tab
    find = LiveBrowser.playwright_page

    async def never(self: LiveBrowser, tab: str) -> Any:
        return await find(self, tab) if tab == opener else None

    monkeypatch.setattr(LiveBrowser, "playwright_page", never)
    monkeypatch.setattr("core.browser.live_browser.PAGE_SECONDS", 2.0)
    await browser.tabs.open()
    assert browser.tabs.current.tab == opener
    assert "a tab was opened but not announced. The tab was closed." in told(browser)
    await browser.find("button", "b")


@in_browser
async def test_a_tab_that_is_closed_before_it_is_announced_is_left_for_its_opener(
    browser: Browsing, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await browser.open(site.page("<button>b</button>"))
    opener, find = browser.tabs.current.tab, LiveBrowser.playwright_page

    async def closed_meanwhile(self: LiveBrowser, tab: str) -> Any:
        if tab != opener and tab in await self.host.tabs():
            await self.host.close_tab(tab)
        return await find(self, tab) if tab == opener else None

    monkeypatch.setattr(LiveBrowser, "playwright_page", closed_meanwhile)
    await browser.tabs.open()
    assert browser.tabs.current.tab == opener
    assert told(browser) == ""
    await browser.find("button", "b")


@in_browser
async def test_a_page_that_hangs_again_when_it_is_loaded_again_leaves_an_empty_tab(
    browser: Browsing, site: Site
) -> None:
    url = HOSTILE["timers that spin"].serve(site)
    await browser.open(url)
    with pytest.raises(BrowserError, match=r"crashed its renderer twice; the tab is now empty"):
        await browser.see()
    assert (await browser.see()).url == "about:blank"
    await harmless_page_works(browser, site)


@in_browser
async def test_a_slow_server_is_no_dead_browser(browser: Browsing, site: Site) -> None:
    await browser.open(f"{site.home}/slow?seconds=6")
    assert "came late" in await browser.words()
    assert told(browser) == ""


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
