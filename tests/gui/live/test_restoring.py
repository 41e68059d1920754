"""What tests/core/browser/checkpoints/test_restoring.py says of pictures, in the embedded browser."""

from tests.core.browser.checkpoints.test_restoring import (
    test_a_canvas_that_clicks_painted_is_not_back_when_it_is_blank,
    test_of_pictures_what_moves_by_itself_is_left_out_and_told,
    test_what_looks_different_under_the_pointer_is_compared_under_it,
)

__all__ = [
    "test_a_canvas_that_clicks_painted_is_not_back_when_it_is_blank",
    "test_of_pictures_what_moves_by_itself_is_left_out_and_told",
    "test_what_looks_different_under_the_pointer_is_compared_under_it",
]
