"""tests/core/browser/test_read_ahead.py in the embedded browser."""

from tests.core.browser.test_read_ahead import *  # noqa: F403
