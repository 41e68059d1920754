import pytest

from core.schema.element_identity import find_again, find_by_line
from core.schema.observation import Observation
from tests.core.agent.spaces.pages import element, page
from tests.core.llm.rules.pages import page_of


def rows(*names: str, start: int = 10, document: str = "") -> Observation:
    """A list of rows, each with a heading and a button of one name."""
    elements = [element(1, "heading", "Inbox")]
    for number, name in enumerate(names):
        base = start + 10 * number
        elements += [
            element(base, "listitem", name),
            element(base + 1, "text", name, parent=base),
            element(base + 2, "button", "Delete", parent=base),
        ]
    return page(*elements).replace(document=document)


def test_the_same_ref_of_the_same_document_is_the_element():
    then = rows("Ada", "Bob", document="d1")
    found = find_again(then.element(22), then, then)
    assert found.element.ref == 22


def test_after_a_reload_the_only_one_of_its_name_is_found_whatever_its_ref():
    then = page(element(1, "button", "Save"), element(2, "button", "Cancel"))
    now = page(element(7, "button", "Cancel"), element(8, "button", "Save"))
    assert find_again(then.element(1), then, now).element.ref == 8


def test_equal_buttons_are_told_apart_by_the_row_that_holds_them_even_when_the_order_changes():
    then, now = rows("Ada", "Bob"), rows("Bob", "Cid", "Ada", start=100)
    found = find_again(then.element(12), then, now)
    assert found.element.ref == 122
    assert "same part of the page" in found.why


def test_equal_ones_that_nothing_tells_apart_go_by_their_number_only_while_that_is_unchanged():
    def dots(count: int, start: int) -> Observation:
        return page(
            element(1, "heading", "Dots"), *(element(start + n, "button", "Dot") for n in range(count))
        )

    then = dots(3, 10)
    same = find_again(then.element(11), then, dots(3, 20))
    assert same.element.ref == 21
    fewer = find_again(then.element(11), then, dots(4, 20))
    assert fewer.element is None
    assert len(fewer.candidates) == 4


def test_what_is_gone_is_never_guessed_but_the_nearest_are_named():
    then = page(element(1, "button", "Save draft", uses=("click",)))
    now = page(element(2, "button", "Save", uses=("click",)), element(3, "button", "Close", uses=("click",)))
    found = find_again(then.element(1), then, now)
    assert found.element is None
    assert [one.ref for one in found.candidates] == [2]
    assert 'no longer contains button "Save draft"' in found.why


PAGE = page_of('button "Ok"\nbutton\ntextbox "Name" value="Ada"\nlink "Say \'hi\'"\nbutton "Ok"').elements


@pytest.mark.parametrize(
    ("lines", "ref", "found"),
    [
        ('[9] textbox "Name"', 9, 3),
        ('  [9] textbox "Name" value="Bob" focused', 9, 3),
        ("[9] button disabled", 9, 2),
        ('[1] button "Ok"\n[5] button "Ok"', 5, 5),
    ],
)
def test_one_that_is_named_without_doubt_is_certain(lines, ref, found):
    one = find_by_line(lines, ref, PAGE)
    assert (one.element.ref, one.guess) == (found, "")


@pytest.mark.parametrize(
    ("lines", "ref", "found", "words"),
    [
        ('[1] button "Ok"', 1, 1, "the one with its number"),
        ('[7] button "Ok"\n[8] button "Ok"', 8, 5, "number 2 of 2"),
    ],
)
def test_one_of_several_is_a_guess_that_says_by_what(lines, ref, found, words):
    one = find_by_line(lines, ref, PAGE)
    assert one.element.ref == found
    assert words in one.guess


@pytest.mark.parametrize(
    ("lines", "ref", "words"),
    [
        ('[7] button "Ok"', 8, "does not show an element [8]"),
        ('[7] button "Cancel"', 7, 'the page has no button "Cancel"'),
        ('[7] button "Ok"', 7, "nothing distinguishes them"),
    ],
)
def test_one_that_is_not_shown_is_not_taken(lines, ref, words):
    one = find_by_line(lines, ref, PAGE)
    assert one.element is None
    assert words in one.problem
