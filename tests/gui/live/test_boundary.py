"""tests/core/browser/test_boundary.py in the embedded browser."""

from tests.core.browser.test_boundary import *  # noqa: F403
