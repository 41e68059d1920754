"""Correct actions for MiniWoB++ tasks, worked out from what the page shows.

With these the exemplars in resources/exemplars are recorded. They are no
part of the agent, and nothing of it imports them.
"""

from core.debugger.exemplars.scripted import ScriptOf
from tests.core.exemplars.solvers.clicking import (
    choose_list,
    click_button,
    click_checkboxes,
    click_link,
    click_option,
    social_media,
    use_spinner,
)
from tests.core.exemplars.solvers.drawing import (
    bisect_angle,
    circle_center,
    drag_box,
    drag_items,
    drag_shape,
    drag_shapes,
    drag_sort_numbers,
    draw_line,
    find_midpoint,
    highlight_text,
    highlight_text_2,
    hot_cold,
    resize_textarea,
    right_angle,
    text_editor,
    use_slider,
)
from tests.core.exemplars.solvers.filling import (
    enter_date,
    enter_password,
    enter_text,
    find_word,
    login_user,
    use_autocomplete,
)
from tests.core.exemplars.solvers.flights import book_flight
from tests.core.exemplars.solvers.mail import email_inbox
from tests.core.exemplars.solvers.searching import (
    click_collapsible_2,
    click_tab_2,
    navigate_tree,
    search_engine,
    terminal,
)
from tests.core.exemplars.solvers.working_out import (
    ascending_numbers,
    button_delay,
    click_color,
    copy_paste_2,
    count_shape,
    enter_text_2,
    find_greatest,
    form_sequence,
    form_sequence_2,
    generate_number,
    grid_coordinate,
    guess_number,
    multi_layouts,
    odd_or_even,
    phone_book,
    read_table,
    read_table_2,
    scroll_text_2,
    simple_algebra,
    simple_arithmetic,
    social_media_some,
    stock_market,
    text_transform,
)

SOLVERS: dict[str, tuple[ScriptOf, tuple[int, ...]]] = {
    "book-flight": (book_flight, (0, 3, 1)),
    "choose-list": (choose_list, (0, 1, 2)),
    "click-button": (click_button, (0, 1, 3)),
    "click-checkboxes": (click_checkboxes, (1, 2, 3, 4, 6)),
    "click-collapsible-2": (click_collapsible_2, (0, 1, 2)),
    "click-link": (click_link, (0, 1, 2)),
    "click-option": (click_option, (0, 2, 3)),
    "click-tab-2": (click_tab_2, (4, 0, 1)),
    "email-inbox": (email_inbox, (0, 2, 5, 6)),
    "enter-date": (enter_date, (0, 1, 2)),
    "enter-password": (enter_password, (0, 1, 2)),
    "enter-text": (enter_text, (0, 1, 2)),
    "find-word": (find_word, (0, 1, 2)),
    "login-user": (login_user, (0, 1, 2)),
    "navigate-tree": (navigate_tree, (0, 10, 8)),
    "search-engine": (search_engine, (0, 1, 3)),
    "social-media": (social_media, (0, 5, 7)),
    "terminal": (terminal, (0, 1, 2)),
    "use-autocomplete": (use_autocomplete, (0, 2, 3)),
    "use-spinner": (use_spinner, (0, 2, 3)),
}
"""By family, which is the task's name: its script, and the seeds that are recorded."""

BY_MOUSE: dict[str, ScriptOf] = {
    "bisect-angle": bisect_angle,
    "circle-center": circle_center,
    "drag-box": drag_box,
    "drag-circle": drag_shape,
    "drag-items": drag_items,
    "drag-shapes": drag_shapes,
    "drag-shapes-2": drag_shapes,
    "drag-single-shape": drag_shape,
    "drag-sort-numbers": drag_sort_numbers,
    "draw-line": draw_line,
    "find-midpoint": find_midpoint,
    "highlight-text": highlight_text,
    "highlight-text-2": highlight_text_2,
    "hot-cold": hot_cold,
    "resize-textarea": resize_textarea,
    "right-angle": right_angle,
    "text-editor": text_editor,
    "use-slider": use_slider,
    "use-slider-2": use_slider,
}
"""Of tasks that are about places and words: no exemplars are recorded of them."""

WORKED_OUT: dict[str, ScriptOf] = {
    "ascending-numbers": ascending_numbers,
    "button-delay": button_delay,
    "click-color": click_color,
    "copy-paste-2": copy_paste_2,
    "count-shape": count_shape,
    "enter-text-2": enter_text_2,
    "find-greatest": find_greatest,
    "form-sequence": form_sequence,
    "form-sequence-2": form_sequence_2,
    "generate-number": generate_number,
    "grid-coordinate": grid_coordinate,
    "guess-number": guess_number,
    "multi-layouts": multi_layouts,
    "multi-orderings": multi_layouts,
    "odd-or-even": odd_or_even,
    "phone-book": phone_book,
    "read-table": read_table,
    "read-table-2": read_table_2,
    "scroll-text-2": scroll_text_2,
    "simple-algebra": simple_algebra,
    "simple-arithmetic": simple_arithmetic,
    "social-media-all": social_media_some,
    "social-media-some": social_media_some,
    "stock-market": stock_market,
    "text-transform": text_transform,
}
"""Of tasks that the built-in LLM does not understand: what they take of the actions is shown by these."""
