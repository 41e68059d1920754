"""Each control of the light sites is read and used as a person does, and all of a page is read as Chromium tells it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.browser.browsing import Browsing, in_browser
from tests.sites.checking import Check, Site, try_control
from tests.sites.table import SITES


def tried(*chosen: tuple[Site, str]) -> pytest.MarkDecorator:
    """Parametrise a test with controls by their names; what is known to go wrong has to."""
    cases = [(site, check) for site, name in chosen for check in site.controls if check.control == name]
    return pytest.mark.parametrize(
        ("tried_site", "control"),
        [
            pytest.param(
                site,
                check,
                id=f"{site.name}: {check.control}",
                marks=[pytest.mark.xfail(strict=True, reason=check.fault)] if check.fault else [],
            )
            for site, check in cases
        ],
    )


@tried(*((site, check.control) for site in SITES if not site.heavy for check in site.controls))
@in_browser
async def test_a_control_is_read_and_used(
    browser: Browsing, addresses: Callable[[Site], str], note: Path, tried_site: Site, control: Check
) -> None:
    assert await try_control(browser, tried_site, control, addresses(tried_site), note) == ""
