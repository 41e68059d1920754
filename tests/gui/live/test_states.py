"""tests/core/browser/test_states.py in the embedded browser."""

from tests.core.browser.test_states import *  # noqa: F403
