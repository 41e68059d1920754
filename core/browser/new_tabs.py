"""Tabs that pages open. Playwright reports a tab only after its page has answered."""

import asyncio

from playwright.async_api import Error

from core.browser.host import BrowserHost
from core.browser.page import Page
from core.system.patience import Limit

PAGE_SECONDS = 20.0
"""So long a tab that a page opened may take to be announced and attached to: its own script may be at work."""
_WINDOW_SECONDS = 2.0
_LOOK_SECONDS = 0.25


async def new_tab(host: BrowserHost, opener: Page) -> None:
    """Wait until the tab that the page asked for is there; one that was refused or closed never is."""
    limit, whole = Limit(_WINDOW_SECONDS), Limit(PAGE_SECONDS)
    while await host.current_tab() == opener.tab:
        if limit.left() <= 0:
            if whole.left() <= 0 or not await _comes_late(host, opener):
                return
            limit = Limit(_LOOK_SECONDS)
        await asyncio.sleep(0.01)


async def _comes_late(host: BrowserHost, opener: Page) -> bool:
    """Return whether the browser has a tab of the page that has not been told of."""
    known = await host.tabs()
    try:
        targets = (await opener.channel.session.send("Target.getTargets"))["targetInfos"]
    except Error:
        return False  # The page has closed itself.
    return any(target.get("openerId") == opener.tab and target["targetId"] not in known for target in targets)
