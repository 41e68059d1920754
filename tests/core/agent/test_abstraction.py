from hypothesis import given
from hypothesis import strategies as st

from core.agent.abstraction import clean_of, ranked
from tests.core.agent.spaces.pages import element, page

INBOX = page(
    element(1, "heading", "Mail"),
    *(
        element(10 + n, "link", f"Message of {name}", uses=("click",))
        for n, name in enumerate(["Ada", "Bob", "Cid"])
    ),
    *(element(50 + n, "text", f"line {n} about the weather") for n in range(60)),
    element(200, "dialog", "Reply"),
    element(201, "textbox", "Your words", parent=200, uses=("type",)),
    element(202, "button", "Send", parent=200, uses=("click",)),
)


def refs(task: str, keep: int, *more: str) -> list[int]:
    return [one.ref for one in ranked(INBOX, [task, *more], keep=keep).elements]


def test_what_the_task_names_is_kept_and_stands_in_page_order():
    kept = refs("Reply to the message of Bob", 6)
    assert 11 in kept
    assert kept == sorted(kept)
    assert not any(50 <= ref < 110 for ref in kept)


def test_the_subtask_counts_too():
    assert 202 in refs("Reply to the message of Bob", 2, "Press Send")


def test_a_field_is_found_by_the_text_beside_it():
    form = page(
        *(element(n, "textbox", "", uses=("type",)) for n in range(1, 20)),
        element(30, "text", "Zip code"),
        element(31, "textbox", "", uses=("type",)),
    )
    assert 31 in [one.ref for one in ranked(form, ["Enter 0150 as zip code"], keep=2).elements]


def test_what_holds_a_kept_element_is_kept_with_it():
    assert {200, 202} <= set(refs("Press Send", 1))


def test_what_is_left_out_is_counted_and_said():
    clean = ranked(INBOX, ["Press Send"], keep=3)
    assert clean.left_out == len(INBOX.elements) - len(clean.elements)
    assert clean.text.endswith(
        f"({clean.left_out} elements that seem to have nothing to do with the task are not shown.)"
    )
    whole = ranked(INBOX, ["Press Send"], keep=1000)
    assert (whole.left_out, whole.elements) == (0, INBOX.elements)


@given(st.text(), st.integers(1, 100))
def test_any_task_keeps_at_least_as_many_as_asked_for_and_is_the_same_each_time(task, keep):
    first = ranked(INBOX, [task], keep=keep)
    assert len(first.elements) >= min(keep, len(INBOX.elements))
    assert ranked(INBOX, [task], keep=keep) == first


def text_of(*elements):
    return clean_of(page(*elements)).text.splitlines()


def test_a_box_that_says_nothing_itself_has_no_line_and_holds_none_down():
    lines = text_of(
        element(1, "main"),
        element(2, "list", parent=1),
        element(3, "listitem", "Kitchen", parent=2),
        element(4, "link", "Kitchen", parent=3, uses=("click",)),
        element(5, "navigation", "Pages", parent=1),
        element(6, "link", "Next", parent=5, uses=("click",)),
    )
    assert lines == ['[4] link "Kitchen"', '[5] navigation "Pages"', '  [6] link "Next"']


def test_words_that_the_first_thing_in_a_box_repeats_are_told_once():
    lines = text_of(
        element(1, "listitem", "Steel bottle with a loop Item B1 $12"),
        element(2, "link", "Steel bottle with a loop", parent=1, uses=("click",)),
    )
    assert lines == ['[1] listitem "… Item B1 $12"', '  [2] link "Steel bottle with a loop"']


def test_what_begins_or_ends_a_page_out_of_view_is_marked_once():
    def row(ref, seen):
        return element(ref, "button", f"Row {ref}", uses=("click",)).replace(in_viewport=seen)

    lines = text_of(*(row(ref, ref in (4, 6)) for ref in range(1, 10)))
    assert lines == [
        '[1] button "Row 1"',
        '[2] button "Row 2"',
        '[3] button "Row 3"',
        "(What stands above is out of view.)",
        '[4] button "Row 4"',
        '[5] button "Row 5" (out of view)',
        '[6] button "Row 6"',
        "(What follows is out of view.)",
        '[7] button "Row 7"',
        '[8] button "Row 8"',
        '[9] button "Row 9"',
    ]
    assert text_of(row(1, False), row(2, True)) == ['[1] button "Row 1" (out of view)', '[2] button "Row 2"']
