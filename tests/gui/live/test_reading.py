"""tests/core/browser/test_reading.py in the embedded browser."""

from tests.core.browser.test_reading import *  # noqa: F403
