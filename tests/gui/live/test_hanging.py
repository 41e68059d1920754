"""tests/core/browser/test_hanging.py in the embedded browser."""

from tests.core.browser.test_hanging import *  # noqa: F403
