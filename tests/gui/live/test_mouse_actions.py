"""tests/core/browser/test_mouse_actions.py in the embedded browser."""

from tests.core.browser.test_mouse_actions import *  # noqa: F403
