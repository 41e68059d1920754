"""The sites in an installed Chromium, with a clean profile for each site."""

import pytest

from tests.core.browser.browsing import Browsing
from tests.core.browser.conftest import site, started
from tests.sites.fixtures import addresses, note


@pytest.fixture
def browser(started: Browsing) -> Browsing:
    started.begin()
    return started


__all__ = ["addresses", "browser", "note", "site", "started"]
