"""tests/core/browser/test_frames.py in the embedded browser."""

from tests.core.browser.test_frames import *  # noqa: F403
