"""tests/gui/live/test_attach.py in an installed Chromium, and what is another in it."""

from collections.abc import Iterator

import pytest

from core.browser.chromium import ChromiumHost
from core.browser.screen import Screen
from tests.core.browser.browsing import Browsing, Worker, in_browser
from tests.core.browser.site import Site
from tests.core.stage import need_chromium
from tests.gui.live.test_attach import (
    BUTTON,
    Agent,
    agent,
    driver,
    page_of,
    test_a_dialog_that_no_agent_answers_is_answered_by_the_rule,
    test_dialogs_are_answered_by_the_agent,
    test_it_acts_in_the_page_that_is_shown_and_has_its_cookies,
    test_it_opens_and_closes_tabs_of_the_window_and_makes_one_context_that_is_the_clean_profile,
    test_what_it_does_is_held_until_it_may_be_done_and_nothing_overtakes_it,
)
from tests.gui.live.test_escapes import (
    test_a_script_that_passes_brings_what_it_read,
    test_what_a_script_does_is_held_before_it_has_any_effect,
    test_what_only_reads_is_not_held,
)

__all__ = [
    "agent",
    "driver",
    "test_a_dialog_that_no_agent_answers_is_answered_by_the_rule",
    "test_a_script_that_passes_brings_what_it_read",
    "test_dialogs_are_answered_by_the_agent",
    "test_it_acts_in_the_page_that_is_shown_and_has_its_cookies",
    "test_it_opens_and_closes_tabs_of_the_window_and_makes_one_context_that_is_the_clean_profile",
    "test_what_a_script_does_is_held_before_it_has_any_effect",
    "test_what_it_does_is_held_until_it_may_be_done_and_nothing_overtakes_it",
    "test_what_only_reads_is_not_held",
]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def started() -> Iterator[Browsing]:
    worker = Worker()
    browsing = Browsing(ChromiumHost(need_chromium(), screen=Screen(), shared=True), worker)
    yield browsing
    browsing.close()
    worker.close()


@in_browser
async def test_gestures_and_sizes_are_the_browsers_own(browser: Browsing, agent: Agent, site: Site) -> None:
    async with agent() as connected:
        page = page_of(connected)
        await page.set_viewport_size({"width": 500, "height": 400})
        await page.goto(site.page("<body style='height: 5000px'>"))
        assert await page.evaluate("[innerWidth, innerHeight]") == [500, 400]
        session = await page.context.new_cdp_session(page)
        await session.send(
            "Input.synthesizeScrollGesture", {"x": 50, "y": 50, "yDistance": -200, "speed": 5000}
        )
        assert await page.evaluate("scrollY") == 200


@in_browser
async def test_it_is_connected_to_the_browser_that_was_begun_in_place_of_one_that_ended(
    browser: Browsing, agent: Agent, site: Site
) -> None:
    before = await browser.host.protocol_address()
    await browser.host.kill()
    await browser.tabs.open_profile()
    assert await browser.host.protocol_address() != before
    async with agent() as connected:
        page = page_of(connected)
        await page.goto(site.page(BUTTON))
        await page.get_by_role("button").click()
        assert await page.get_by_role("button").inner_text() == "done"
