"""tests/core/browser/test_editors.py in the embedded browser."""

from tests.core.browser.test_editors import *  # noqa: F403
