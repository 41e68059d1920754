"""The tests of recorded answers, in the embedded browser."""

from tests.core.browser.test_recorded import *  # noqa: F403
