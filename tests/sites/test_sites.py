"""Each control of the light sites is read and used as a person does, and all of a page is read as Chromium tells it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.browser.browsing import Browsing, in_browser
from tests.sites.checking import Check, Site, use_control
from tests.sites.table import SITES

STAYS_CLOSED = ("check ", "type [textbox ", "type [slider ", "click [tab ", "click [radio ", "click [switch ")
"""How actions begin that leave nothing open over the page."""


def leaves_the_page_usable(check: Check) -> bool:
    return all(text.startswith(STAYS_CLOSED) for text in check.do)


@pytest.mark.parametrize("tried", [site for site in SITES if not site.heavy], ids=lambda site: site.name)
@in_browser
async def test_the_controls_of_a_site_are_read_and_used_one_after_another(
    browser: Browsing, addresses: Callable[[Site], str], note: Path, tried: Site
) -> None:
    address = addresses(tried)
    found, is_usable = {}, False
    for check in tried.controls:
        if tried.afresh or not is_usable:
            await browser.open(address)
        if bool(wrong := await use_control(browser, tried, check, note)) != bool(check.fault):
            found[check.control] = wrong or f"it is said that {check.fault}"
        is_usable = leaves_the_page_usable(check)
    assert found == {}
