"""tests/core/browser/test_tasks_by_mouse.py in the embedded browser."""

from tests.core.browser.test_tasks_by_mouse import *  # noqa: F403
