from tests.core.browser.conftest import browser, impatient, site, started

__all__ = ["browser", "impatient", "site", "started"]
