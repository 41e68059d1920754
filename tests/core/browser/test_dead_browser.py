"""A browser that dies while it is used, and one that cannot be started."""

import os
import signal

import pytest

from core.browser.chromium import ChromiumHost
from core.browser.tabs import Tabs
from core.schema.errors import BrowserError
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.site import Site


async def _process_of(browser: Browsing) -> int:
    context = browser.tabs.current.playwright_page.context
    assert context.browser is not None
    session = await context.browser.new_browser_cdp_session()
    processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    return int(next(one["id"] for one in processes if one["type"] == "browser"))


@in_browser
async def test_a_dead_browser_is_said_to_be_dead_and_started_again(browser: Browsing, site: Site) -> None:
    url = site.page("<button>b</button>")
    await browser.open(url)
    os.kill(await _process_of(browser), signal.SIGKILL)
    with pytest.raises(BrowserError, match="has ended"):
        await browser.do('click [button "b"]')
    with pytest.raises(BrowserError, match="has ended"):
        await browser.see()
    with pytest.raises(BrowserError, match="has ended"):
        await browser.open(url)
    await browser.tabs.open_profile()
    await browser.open(url)
    await browser.find("button", "b")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/nowhere/chromium", "There is no browser at /nowhere"),
        ("/bin/true", "could not be started as a browser"),
    ],
)
async def test_a_browser_that_cannot_be_started_is_named(path: str, sentence: str) -> None:
    tabs = Tabs(ChromiumHost(path))
    with pytest.raises(BrowserError, match=sentence):
        await tabs.browser.start()
    await tabs.browser.close()
