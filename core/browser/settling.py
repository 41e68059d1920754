"""Waits for the page to settle after an action, by events, never with a fixed sleep.

It waits in turn for a navigation that has begun, for the requests since the action, for two painted frames
without a change in the DOM, after which the page has nothing left to do, and for the page that it announces
to open in a few seconds. Each wait is bounded (see
`Limit`). After a timeout (a load that never ends, an address that is polled), it does not wait for the same
thing again.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from core.browser.channel import PageGone
from core.browser.page import Page
from core.browser.page_protocol import FLOOD_SECONDS
from core.schema.events import TabId
from core.schema.record import Record
from core.system.patience import Limit, within

_SILENCE = 3.0
"""Seconds without news of a page that loads, before it is asked whether a script of it loops."""
_REDIRECTS = 3
"""So many announced redirects are followed: pages may show each other in turn."""
_BURST = 20
"""From so many requests on, they are waited for as long as they become fewer by a fifth in `Bounds.requests`."""
_PIECE = 0.25
"""Seconds that the page is asked to watch itself at a time."""


class Settled(Record):
    """How a wait ended."""

    reason: str
    """``quiet``, ``navigated``, ``still changing``, ``requests still pending``, ``still loading``, ``crashed``,
    ``closed`` or ``opened a tab``."""
    seconds: float


@dataclass(frozen=True)
class Bounds:
    """The most each wait may take, in seconds."""

    load: float = 15.0
    """Until a navigation that has begun has brought its document."""
    rest: float = 5.0
    """From then until its load event: pictures and frames."""
    requests: float = 8.0
    """Longer than slow servers take, and shorter than a poll that is answered at last (see `Requests`)."""
    quiet: float = 1.0
    whole: float = 20.0
    frames: int = 2
    """Painted frames in a row that must show no change."""


DEFAULT_BOUNDS = Bounds()


@dataclass(frozen=True)
class SettleMark:
    """The moment before an action, to recognise what the action caused."""

    requests: int
    navigations: int
    windows: int = 0
    tab: TabId = ""


def mark(page: Page) -> SettleMark:
    """Note the moment: call it just before acting."""
    return SettleMark(page.requests.begun, page.loading.navigations, page.windows_opened, page.tab)


async def settle(page: Page, since: SettleMark, bounds: Bounds = DEFAULT_BOUNDS) -> Settled:
    """Wait until what began after `since` is over, or a tab was asked for; see the module for the order.

    Never raises for a page that does not come to rest: the reason says so.
    """
    started = time.monotonic()
    whole = Limit(bounds.whole)
    seen = since.navigations
    navigated = False
    redirects = 0
    reason = "still changing"
    while whole.left() > 0:
        if page.crashed or page.playwright_page.is_closed():
            reason = "crashed" if page.crashed else "closed"
            break
        if page.windows_opened > since.windows:
            reason = "opened a tab"  # It is covered by the new one, and no longer paints.
            break
        if page.loading.requested:
            await _until(page, lambda: not page.loading.requested, 1.0)
            page.loading.requested = False
        if page.loading.navigations > seen or not page.loading.loaded.is_set():
            seen = page.loading.navigations
            navigated = True
            if not await _loaded(page, bounds):
                reason = "still loading"
                break
            continue
        try:
            reason = await _quiet(page, bounds)
        except PageGone:
            # The document went away: the event that says a new one began is on its way.
            await _until(page, partial(_navigated, page, seen), 1.0)
            continue
        if page.loading.navigations > seen or page.loading.requested:
            continue
        if _pending(page, since) == 0:
            if redirects < _REDIRECTS and page.loading.announced:
                redirects += await _redirected(page, seen)
                continue
            break
        if not await _answered(page, since, bounds.requests, seen):
            page.requests.give_up(since.requests)
            page.keeper.connection.filter.give_up_requests()
            reason = "requests still pending"
            break
    if navigated and reason == "quiet":
        reason = "navigated"
    return Settled(reason=reason, seconds=time.monotonic() - started)


async def _quiet(page: Page, bounds: Bounds) -> str:
    """Wait for painted frames without a change; return ``quiet`` or ``still changing``. Raises PageGone."""
    limit = Limit(bounds.quiet)
    most = bounds.quiet
    while True:
        # Asked in pieces: the page does not know how long it was kept from running.
        answer = await page.walker("settle", min(most, _PIECE) * 1000, bounds.frames)
        most = limit.left()
        if answer["reason"] != "still changing" or most <= 0:
            return str(answer["reason"])


def _navigated(page: Page, seen: int) -> bool:
    return page.loading.navigations > seen or page.playwright_page.is_closed()


async def _loaded(page: Page, bounds: Bounds) -> bool:
    loading = page.loading
    if not await _until(page, lambda: loading.interactive.is_set(), bounds.load):
        loading.stop()
        return False
    if not await _until(page, lambda: loading.loaded.is_set(), bounds.rest):
        loading.stop()
        return False
    return True


async def _until(page: Page, holds: Callable[[], bool], most: float) -> bool:
    """Wait for what the page's events tell; a page that says nothing for long is asked whether it lives."""
    limit = Limit(most)
    while not holds() and not page.crashed:
        left = limit.left()
        if left <= 0:
            return False
        page.loading.changed.clear()
        try:
            silence = FLOOD_SECONDS if page.keeper.connection.filter.flooded else _SILENCE
            async with within(min(left, silence)):
                await page.loading.changed.wait()
        except TimeoutError:
            if left > silence:
                await page.stir(1.0)
    return True


async def _redirected(page: Page, seen: int) -> bool:
    """Wait for the page that this one has announced; return whether it has begun."""
    loading = page.loading
    left = max(limit.left() for limit in loading.announced.values())
    if await _until(page, lambda: not loading.announced or _navigated(page, seen), left):
        return True
    loading.announced.clear()
    return False


def _pending(page: Page, since: SettleMark) -> int:
    return page.requests.open_since(since.requests) + page.keeper.connection.filter.open_requests


async def _answered(page: Page, since: SettleMark, most: float, seen: int) -> bool:
    limit, burst = Limit(most), 0
    while pending := _pending(page, since):
        if pending > burst or (pending >= _BURST and pending < burst * 0.8):
            limit, burst = limit if pending > burst else Limit(most), pending
        if page.loading.navigations > seen or page.crashed:
            return True
        page.requests.changed.clear()
        left = limit.left()
        if left <= 0:
            return False
        # Of what was too much to be read, no event tells that it has ended.
        with suppress(TimeoutError):
            async with within(min(left, _PIECE) if page.keeper.connection.filter.open_requests else left):
                await page.requests.changed.wait()
    return True
