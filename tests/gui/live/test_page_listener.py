"""tests/core/browser/log/test_listener.py in the embedded browser."""

from tests.core.browser.log.test_listener import *  # noqa: F403
