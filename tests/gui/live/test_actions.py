"""tests/core/browser/test_actions.py in the embedded browser."""

from tests.core.browser.test_actions import *  # noqa: F403
