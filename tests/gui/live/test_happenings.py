"""tests/core/browser/test_happenings.py in the embedded browser."""

from tests.core.browser.test_happenings import *  # noqa: F403
