from core.agent.spaces.file import FromPage, OptionGroups, ParameterFile, SpaceAction, SpaceState, read_space
from core.agent.spaces.recognition import (
    missing_for,
    offered_actions,
    option_groups,
    recognise_state,
    values_of,
)
from core.schema.progress import SpaceMemory
from tests.core.agent.spaces.pages import ITEM, RESULTS, SEARCH, SELECT, SHOP, element, page


def test_each_page_is_recognised_with_what_spoke_for_it(space):
    found = [recognise_state(space, one) for one in (SEARCH, RESULTS, ITEM)]
    assert [one.state for one in found] == ["search", "results", "item"]
    assert 'list "Results"' in found[1].why
    assert not any(one.also for one in found)


def test_a_page_that_fits_none_is_reported_with_the_nearest_state_and_what_it_lacks(space):
    found = recognise_state(space, page(element(1, "searchbox", "Find")))
    assert found.state is None
    assert "matches no state of Corner shop" in found.why
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


def actions(space, state, observation, **more):
    return {one.name: one for one in offered_actions(space.state_named(state), observation, **more)}


def test_values_come_from_the_page_and_from_inside_the_right_part_only(space):
    item = actions(space, "results", RESULTS)["open_item"].parameter("item")
    assert [choice.value for choice in item.choices] == ["B1", "B2"]


def test_what_was_looked_at_is_marked_but_stays_on_offer(space):
    memory = SpaceMemory(looked_at=("B2",))
    item = actions(space, "results", RESULTS, memory=memory)["open_item"].parameter("item")
    assert [(choice.value, choice.label) for choice in item.choices] == [
        ("B1", ""),
        ("B2", "(looked at already)"),
    ]


def test_an_action_whose_element_or_values_are_not_there_is_not_offered(space):
    assert "next_page" not in actions(space, "results", RESULTS)
    assert actions(space, "results", page(url="http://corner.test/results")) == {}


def test_the_key_for_which_the_page_has_nothing_is_named():
    action = SpaceAction(
        name="choose",
        description="Choose.",
        does=("press [Enter]",),
        needs=('button "Go"',),
        parameter=(
            ParameterFile(name="words", required=False, from_page=FromPage(element="note")),
            ParameterFile(name="item", from_page=FromPage(element="link", within="list")),
            ParameterFile(name="day", needs=("textbox",)),
            ParameterFile(name="size", from_page=FromPage(css="li", attribute="data-size")),
        ),
    )
    values = ("parameter", 1, "from_page")
    elements, found = [], []
    for new in (
        element(1, "button", "Go"),
        element(2, "list"),
        element(3, "link", "A", parent=2),
        element(4, "textbox"),
    ):
        found.append(missing_for(action, page(*elements)))
        elements.append(new)
    assert found == [("needs",), (*values, "within"), (*values, "element"), ("parameter", 2, "needs")]
    assert missing_for(action, page(*elements)) == ()  # The HTML was not kept.
    assert missing_for(action, page(*elements), "<li>S</li>") == ("parameter", 3, "from_page", "css")
    assert missing_for(action, page(*elements), '<li data-size="S">S</li>') == ()


def test_a_link_to_the_page_one_is_on_is_no_way_on(space):
    results = page(*RESULTS.elements, element(9, "link", "Next", states=("current",)), url=RESULTS.url)
    assert "next_page" not in actions(space, "results", results)
    results = page(*RESULTS.elements, element(9, "link", "Next"), url=RESULTS.url)
    assert "next_page" in actions(space, "results", results)


def test_an_argument_whose_element_is_not_there_is_left_out():
    action = {
        "name": "find",
        "description": "Find.",
        "does": ["press [Enter]"],
        "parameter": [{"name": "back", "required": False, "needs": ['textbox "Return"']}],
    }
    state = SpaceState.model_validate({"name": "form", "url": "/", "action": [action]})
    (without,) = offered_actions(state, page())
    (with_it,) = offered_actions(state, page(element(1, "textbox", "Return")))
    assert [one.name for one in without.parameters] == []
    assert [one.name for one in with_it.parameters] == ["back"]


def test_the_groups_of_choices_on_the_page_become_required_arguments(space):
    buy = actions(space, "item", ITEM)["buy"]
    assert [(one.name, [c.value for c in one.choices], one.required) for one in buy.parameters] == [
        ("shoe_size", ["7", "8"], True),
        ("colour", ['deep "sea" [blue]'], True),
    ]
    assert buy.cannot_be_undone


def test_a_select_is_a_group_by_its_options():
    (group,) = option_groups(OptionGroups(group="combobox"), SELECT)
    assert (group.parameter, [value for value, _ in group.choices]) == ("size", ["S"])


def test_an_argument_without_a_list_takes_any_text(space):
    words, price = actions(space, "search", SEARCH)["look_for"].parameters
    assert (words.choices, words.required) == (None, True)
    assert (price.type, price.required) == ("number", False)


def test_values_can_come_from_an_attribute_of_the_html():
    html = '<p data-id="B7">A lamp</p><p data-id="B7">again</p><p data-id="">no</p>'
    found = values_of(FromPage(css="[data-id]", attribute="data-id"), page(), html)
    assert found == {"B7": "A lamp"}
