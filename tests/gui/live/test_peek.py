"""tests/core/browser/test_peek.py in the embedded browser."""

from tests.core.browser.test_peek import *  # noqa: F403
