"""tests/core/browser/test_recovery.py in the embedded browser, and what only Qt would ask a person."""

import pytest
from PySide6.QtWidgets import QApplication, QColorDialog

from gui.live.page_area import PageArea
from tests.core.browser.browsing import Browsing, in_browser
from tests.core.browser.hostile_pages import HOSTILE
from tests.core.browser.site import Site
from tests.core.browser.test_recovery import (
    harmless_page_works,
    test_a_killed_renderer_is_told_and_its_page_loaded_again,
    test_a_page_that_hangs_again_when_it_is_loaded_again_leaves_an_empty_tab,
    test_a_stopped_driver_is_replaced_while_a_page_is_read,
)

__all__ = [
    "test_a_killed_renderer_is_told_and_its_page_loaded_again",
    "test_a_page_that_hangs_again_when_it_is_loaded_again_leaves_an_empty_tab",
    "test_a_stopped_driver_is_replaced_while_a_page_is_read",
]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("impatient")]


@in_browser
async def test_a_page_cannot_start_programs_by_addresses_of_theirs(browser: Browsing, site: Site) -> None:
    await browser.open(HOSTILE["frames of its own protocol"].serve(site, 10))
    await browser.see()
    url = HOSTILE["protocols of its own"].serve(site, 5)
    await browser.open(url)
    assert "hostile" in await browser.words()
    assert browser.tabs.current.playwright_page.url == url
    told = [one.text for one in browser.events() if one.kind == "replaced"]
    assert all(one.endswith("The tab was closed.") for one in told)
    await harmless_page_works(browser, site)


def test_a_colour_picker_is_refused_and_told(browser: Browsing, site: Site, area: PageArea) -> None:
    page = "<input type=color aria-label=colour><button onclick=\"this.textContent = 'done'\">b</button>"
    browser.worker.run(browser.open(site.page(page)))
    browser.worker.run(_click_the_colour(browser))
    browser.worker.run(browser.do('click [button "b"]'))
    browser.worker.run(browser.find("button", "done"))
    assert "asked for a colour; none was chosen" in "".join(one.text for one in browser.events())
    assert not [
        one for one in QApplication.topLevelWidgets() if isinstance(one, QColorDialog) and one.isVisible()
    ]


async def _click_the_colour(browser: Browsing) -> None:
    await browser.tabs.current.playwright_page.mouse.click(20, 20)
