"""tests/core/browser/test_changes.py in the embedded browser."""

from tests.core.browser.test_changes import *  # noqa: F403
