"""tests/core/browser/test_faces.py in the embedded browser."""

from tests.core.browser.test_faces import *  # noqa: F403
