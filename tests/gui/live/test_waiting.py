"""tests/core/browser/test_waiting.py in the embedded browser."""

from tests.core.browser.test_waiting import *  # noqa: F403
