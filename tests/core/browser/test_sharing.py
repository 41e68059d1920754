"""One Chromium for several runs: what one of them suffers is not for the others to bear."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.browser.sharing import SharedChromium
from core.browser.tabs import Tabs
from core.schema.errors import BrowserError
from tests.core.stage import need_chromium

pytestmark = pytest.mark.browser


class Mute:
    """A session that nobody answers, as on a machine where an answer is very late."""

    async def send(self, method: str, params: object = None) -> None:
        await asyncio.Event().wait()


@pytest.fixture
async def shared() -> AsyncIterator[SharedChromium]:
    browser = SharedChromium(need_chromium())
    try:
        yield browser
    finally:
        await browser.close()


@pytest.fixture
async def two(shared: SharedChromium) -> AsyncIterator[tuple[Tabs, Tabs]]:
    both = shared.tabs(), shared.tabs()
    for tabs in both:
        await tabs.browser.start()
        await tabs.open_profile()
    yield both
    for tabs in both:
        await tabs.browser.close()


async def ask_on(tabs: Tabs, enough: asyncio.Event) -> None:
    while not enough.is_set():
        assert await tabs.current.evaluate("1 + 1") == 2
        await asyncio.sleep(0.05)


async def test_a_late_answer_to_one_run_is_no_dead_browser_while_another_run_is_answered(shared, two):
    first, second = two
    shared.connection._sign = Mute()
    enough = asyncio.Event()
    asking = asyncio.ensure_future(ask_on(second, enough))
    assert await first.browser.connection.answers(8)
    enough.set()
    await asking  # To the end: a question left open would be answered later.
    assert not await first.browser.connection.answers(8)


async def test_a_run_that_gets_no_profile_fails_alone_while_another_run_is_answered(shared, two, monkeypatch):
    first, second = two

    async def never(name: str | None) -> str:
        return await asyncio.Event().wait()

    monkeypatch.setattr("core.browser.live_browser.TAB_SECONDS", 1.0)
    monkeypatch.setattr(first.browser.host, "open_profile", never)
    browser = shared.connection.browser
    with pytest.raises(BrowserError, match="The browser could not be started"):
        await first.open_profile()
    assert shared.connection.browser is browser
    assert await second.current.evaluate("1 + 1") == 2
