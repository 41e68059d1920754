"""tests/core/browser/test_names.py in the embedded browser."""

from tests.core.browser.test_names import *  # noqa: F403
