"""Some sites of tests/sites in the embedded browser: hidden inputs, drawn lists, an editor, a map, drags, a file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.browser.browsing import Browsing, in_browser
from tests.sites.checking import Site, try_control
from tests.sites.controls import ANT_DESIGN, SHOELACE
from tests.sites.editing import MONACO
from tests.sites.fixtures import addresses, note
from tests.sites.frameworks import VUETIFY
from tests.sites.widgets import LEAFLET, SORTABLE

__all__ = ["addresses", "note"]


TRIED = (
    (SHOELACE, "radio button"),
    (ANT_DESIGN, "upload by a button"),
    (MONACO, "replaced"),
    (LEAFLET, "wheel"),
    (VUETIFY, "select"),
    (SORTABLE, "to the top"),
)


@pytest.mark.parametrize(("tried", "name"), TRIED, ids=[f"{site.name}, {name}" for site, name in TRIED])
@in_browser
async def test_a_control_is_read_and_used(
    browser: Browsing, addresses: Callable[[Site], str], note: Path, tried: Site, name: str
) -> None:
    (control,) = [one for one in tried.controls if one.control == name]
    assert await try_control(browser, tried, control, addresses(tried), note) == ""
