from core.agent.spaces.file import read_space
from core.agent.spaces.recognition import recognise_state
from tests.core.agent.spaces.pages import ITEM, RESULTS, SEARCH, SHOP, element, page


def test_each_page_is_recognised_with_what_spoke_for_it(space):
    found = [recognise_state(space, one) for one in (SEARCH, RESULTS, ITEM)]
    assert [one.state for one in found] == ["search", "results", "item"]
    assert 'list "Results"' in found[1].why
    assert not any(one.also for one in found)


def test_a_page_that_fits_none_is_told_with_the_nearest_state_and_what_it_lacks(space):
    found = recognise_state(space, page(element(1, "searchbox", "Find")))
    assert found.state is None
    assert "fits no state of Corner shop" in found.why
    assert 'The nearest is search: it has searchbox, but there is no button "Search"' in found.why


def test_a_page_that_fits_several_takes_the_first_and_tells_the_others(space):
    both = page(*SEARCH.elements, element(9, "heading", "Thank you"))
    found = recognise_state(space, both)
    assert (found.state, found.also) == ("search", ("bought",))
    assert 'bought by heading "Thank you"' in found.why


def test_what_must_not_be_there_rules_a_state_out(space):
    found = recognise_state(space, page(*SEARCH.elements, element(9, "list", "Results")))
    assert found.state is None


def test_in_order_asks_for_the_order_of_the_document(space_path):
    text = SHOP.replace("must_not = ['list \"Results\"']", "in_order = true", 1)
    space_path.write_text(text, encoding="utf-8")
    space = read_space(space_path)
    assert recognise_state(space, SEARCH).state == "search"
    turned = page(element(2, "button", "Search"), element(1, "searchbox", "Find"))
    assert recognise_state(space, turned).state is None
