"""tests/core/browser/test_doors.py in the embedded browser, with the port of its own debugger."""

from tests.core.browser.browsing import Browsing
from tests.core.browser.site import Site
from tests.core.browser.test_doors import (
    a_page_gets_nothing_of_the_debugger,
    test_a_page_gets_nothing_of_the_addresses_of_an_agent_though_it_knows_them,
    test_a_page_gets_nothing_of_the_sites_of_another_run,
)

__all__ = [
    "test_a_page_gets_nothing_of_the_addresses_of_an_agent_though_it_knows_them",
    "test_a_page_gets_nothing_of_the_sites_of_another_run",
]


def test_a_page_gets_nothing_of_the_engines_debugger(browser: Browsing, site: Site) -> None:
    a_page_gets_nothing_of_the_debugger(browser=browser, site=site)
