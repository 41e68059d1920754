"""Some sites of tests/sites in the embedded browser: hidden inputs, an editor, a map, a file by a button."""

from collections.abc import Callable
from pathlib import Path

from tests.core.browser.browsing import Browsing, in_browser
from tests.sites.checking import Check, Site, try_control
from tests.sites.controls import ANT_DESIGN, SHOELACE
from tests.sites.editing import MONACO
from tests.sites.fixtures import addresses, note
from tests.sites.test_sites import tried
from tests.sites.widgets import LEAFLET

__all__ = ["addresses", "note"]


@tried(
    (SHOELACE, "radio button"), (ANT_DESIGN, "upload by a button"), (MONACO, "replaced"), (LEAFLET, "wheel")
)
@in_browser
async def test_a_control_is_read_and_used(
    browser: Browsing, addresses: Callable[[Site], str], note: Path, tried_site: Site, control: Check
) -> None:
    assert await try_control(browser, tried_site, control, addresses(tried_site), note) == ""
