"""How the page is awaited after an action: by what happens in it, never by a fixed sleep.

Three things are waited for in turn until none is left: a navigation that has
begun, the requests begun since the action, and two painted frames without a
change in the DOM. Each wait is bounded.
"""

import asyncio
from dataclasses import dataclass

from core.browser.page import Page, PageGone
from core.model import Record


class Settled(Record):
    """How a wait ended."""

    reason: str
    """``quiet``, ``navigated``, ``still changing``, ``requests still open`` or ``still loading``."""
    seconds: float


@dataclass(frozen=True)
class Bounds:
    """The most each wait may take, in seconds."""

    load: float = 15.0
    requests: float = 3.0
    quiet: float = 1.0
    whole: float = 20.0
    frames: int = 2
    """Painted frames in a row that must show no change."""


@dataclass(frozen=True)
class Mark:
    """The moment before an action, to tell what the action set off."""

    requests: int
    navigations: int


def mark(page: Page) -> Mark:
    """Note the moment: call it just before acting."""
    return Mark(page.requests.begun, page.navigations)


async def settle(page: Page, since: Mark, bounds: Bounds = Bounds()) -> Settled:
    """Wait until what began after `since` is over; see the module for the order.

    Never raises for a page that does not come to rest: the reason says so.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    seen = since.navigations
    navigated = False
    reason = "quiet"
    while loop.time() - started < bounds.whole:
        if page.crashed:
            reason = "crashed"
            break
        if page.navigations > seen or not page.loaded.is_set():
            seen = page.navigations
            navigated = True
            if not await _loaded(page, bounds.load):
                reason = "still loading"
                break
        try:
            answer = await page.walker("settle", bounds.quiet * 1000, bounds.frames, timeout=bounds.quiet + 4)
        except PageGone:
            await _begun(page, seen)
            continue
        reason = answer["reason"]
        if page.navigations > seen:
            continue
        if page.requests.open_since(since.requests) == 0:
            break
        if not await _answered(page, since, bounds.requests, seen):
            reason = "requests still open"
            break
    if navigated and reason == "quiet":
        reason = "navigated"
    return Settled(reason=reason, seconds=loop.time() - started)


async def _loaded(page: Page, most: float) -> bool:
    try:
        async with asyncio.timeout(most):
            await page.loaded.wait()
    except TimeoutError:
        return False
    return True


async def _begun(page: Page, seen: int) -> None:
    # The document went away: the event that says a new one began is on its way.
    page.navigated.clear()
    if page.navigations > seen:
        return
    try:
        async with asyncio.timeout(1.0):
            await page.navigated.wait()
    except TimeoutError:
        pass


async def _answered(page: Page, since: Mark, most: float, seen: int) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + most
    while page.requests.open_since(since.requests):
        if page.navigations > seen or page.crashed:
            return True
        page.requests.changed.clear()
        try:
            async with asyncio.timeout(max(deadline - loop.time(), 0)):
                await page.requests.changed.wait()
        except TimeoutError:
            return False
    return True
