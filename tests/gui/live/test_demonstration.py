"""What tests/core/browser tells of frames in a demonstration, in the embedded browser."""

from tests.core.browser.test_demonstration import test_what_is_done_in_a_frame_is_recorded as test_frames

__all__ = ["test_frames"]
