"""Some of tests/core/browser/test_hovering.py in the embedded browser: each way in which a control is shown."""

from tests.core.browser.test_hovering import (
    test_a_click_on_what_only_the_pointer_shows_is_recorded_with_the_hover as test_recorded,
)
from tests.core.browser.test_hovering import (
    test_an_entry_of_menus_under_the_mouse_is_recorded_with_each_hover_and_reached_again as test_menus,
)
from tests.core.browser.test_hovering import (
    test_rows_of_a_table_can_be_hovered_and_keep_their_cells as test_table,
)

__all__ = ["test_menus", "test_recorded", "test_table"]
