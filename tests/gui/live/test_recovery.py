"""tests/core/browser/test_recovery.py in the embedded browser."""

import pytest

from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site
from tests.core.browser.test_recovery import (
    harmless_page_works,
    test_a_driver_that_stopped_between_two_tasks_is_replaced,
    test_a_killed_driver_is_replaced_and_the_page_is_said_to_be_gone,
    test_a_killed_renderer_is_told_and_its_page_loaded_again,
    test_a_page_that_hangs_again_when_it_is_loaded_again_leaves_an_empty_tab,
    test_a_profile_that_does_not_answer_is_replaced,
    test_a_stopped_driver_is_replaced_while_a_page_is_read,
)

__all__ = [
    "test_a_driver_that_stopped_between_two_tasks_is_replaced",
    "test_a_killed_driver_is_replaced_and_the_page_is_said_to_be_gone",
    "test_a_killed_renderer_is_told_and_its_page_loaded_again",
    "test_a_page_that_hangs_again_when_it_is_loaded_again_leaves_an_empty_tab",
    "test_a_profile_that_does_not_answer_is_replaced",
    "test_a_stopped_driver_is_replaced_while_a_page_is_read",
]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("impatient")]


@in_browser
@pytest.mark.parametrize(
    "name",
    ["a loop after load", "console errors", "exceptions", "frames of its own protocol", "windows"],
)
async def test_a_harmless_page_works_after_a_hostile_one(browser: Browsing, site: Site, name: str) -> None:
    await browser.open(HOSTILE[name].serve(site, HOSTILE[name].sample))
    await browser.see()
    await harmless_page_works(browser, site)
