"""What tests/core/browser tells of frames and menus in a demonstration, in the embedded browser."""

from tests.core.browser.test_demonstrated_again import (
    test_what_is_done_in_nested_frames_is_found_again_in_the_same_one as test_nested_frames,
)
from tests.core.browser.test_demonstration import test_what_is_done_in_a_frame_is_recorded as test_frames

__all__ = ["test_frames", "test_nested_frames"]
