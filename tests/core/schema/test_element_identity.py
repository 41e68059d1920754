from core.schema.element_identity import find_again
from core.schema.observation import Observation
from tests.core.agent.spaces.pages import element, page


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
    assert 'no button "Save draft" any more' in found.why
