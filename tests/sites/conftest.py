"""The sites in an installed Chromium, with a clean profile for each site."""

import pytest

from tests.core.browser.browsing import Browsing
from tests.core.browser.conftest import site, started
from tests.sites.checking import Site
from tests.sites.fixtures import addresses, note

_begun: list[Site] = []


@pytest.fixture
def browser(started: Browsing, tried_site: Site) -> Browsing:
    if _begun != [tried_site]:
        started.begin()
        _begun[:] = [tried_site]
    return started


__all__ = ["addresses", "browser", "note", "site", "started"]
