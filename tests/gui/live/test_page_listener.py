"""tests/core/browser/test_page_listener.py in the embedded browser."""

from tests.core.browser.test_page_listener import *  # noqa: F403
