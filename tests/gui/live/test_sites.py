"""Some sites of tests/sites in the embedded browser: hidden inputs, drawn lists, an editor, a map, drags, a file."""

from collections.abc import Callable
from pathlib import Path

from tests.core.browser.browsing import Browsing, in_browser
from tests.sites.checking import Check, Site, try_control
from tests.sites.choosers import TOM_SELECT
from tests.sites.controls import ANT_DESIGN, SHOELACE
from tests.sites.editing import MONACO
from tests.sites.fixtures import addresses, note
from tests.sites.frameworks import VUETIFY
from tests.sites.test_sites import tried
from tests.sites.widgets import LEAFLET, SORTABLE

__all__ = ["addresses", "note"]


@tried(
    (SHOELACE, "radio button"),
    (ANT_DESIGN, "upload by a button"),
    (MONACO, "replaced"),
    (LEAFLET, "wheel"),
    (VUETIFY, "select"),
    (TOM_SELECT, "one by its first letters"),
    (SORTABLE, "to the top"),
)
@in_browser
async def test_a_control_is_read_and_used(
    browser: Browsing, addresses: Callable[[Site], str], note: Path, tried_site: Site, control: Check
) -> None:
    assert await try_control(browser, tried_site, control, addresses(tried_site), note) == ""
