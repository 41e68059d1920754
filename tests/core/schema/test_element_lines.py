"""Elements that lines tell of, found in a page."""

import pytest

from core.schema.element_lines import find_told
from tests.core.llm.rules.pages import page_of

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
def test_one_that_is_told_without_doubt_is_certain(lines, ref, found):
    one = find_told(lines, ref, PAGE)
    assert (one.element.ref, one.guess) == (found, "")


@pytest.mark.parametrize(
    ("lines", "ref", "found", "words"),
    [
        ('[1] button "Ok"', 1, 1, "the one of its number"),
        ('[7] button "Ok"\n[8] button "Ok"', 8, 5, "number 2 of 2"),
    ],
)
def test_one_of_several_is_a_guess_that_says_by_what(lines, ref, found, words):
    one = find_told(lines, ref, PAGE)
    assert one.element.ref == found
    assert words in one.guess


@pytest.mark.parametrize(
    ("lines", "ref", "words"),
    [
        ('[7] button "Ok"', 8, "shows no element [8]"),
        ('[7] button "Cancel"', 7, 'the page has no button "Cancel"'),
        ('[7] button "Ok"', 7, "nothing tells which"),
    ],
)
def test_one_that_is_not_told_is_not_taken(lines, ref, words):
    one = find_told(lines, ref, PAGE)
    assert one.element is None
    assert words in one.problem
