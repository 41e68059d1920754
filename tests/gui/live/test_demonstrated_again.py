"""tests/core/browser/test_demonstrated_again.py in the embedded browser."""

from tests.core.browser.test_demonstrated_again import *  # noqa: F403
