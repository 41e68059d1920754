import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.spaces.file import SpaceAction
from core.agent.spaces.macros import fill, macro_steps, memory_after
from core.schema.action import Click, RefTarget, RoleTarget, Type
from core.schema.errors import ActionError
from core.schema.progress import SpaceMemory
from tests.core.agent.spaces.pages import ITEM, RESULTS, SEARCH, page


def filled(action, arguments, observation):
    steps = macro_steps(action, arguments, observation)
    return [fill(step, action, arguments, observation) for step in steps]


def test_a_search_types_and_clicks(space):
    action = space.state_named("search").action_named("look_for")
    assert filled(action, {"words": "desk lamp"}, SEARCH) == [
        Type(target=RoleTarget(role="searchbox", name="Find"), text="desk lamp"),
        Click(target=RoleTarget(role="button", name="Search")),
    ]


def test_each_option_given_is_chosen_unless_it_is_chosen_already(space):
    action = space.state_named("item").action_named("buy")
    arguments = {"shoe_size": "7", "colour": 'deep "sea" [blue]'}
    assert filled(action, arguments, ITEM) == [
        None,
        Click(target=RefTarget(ref=7)),
        Click(target=RoleTarget(role="button", name="Buy")),
    ]


def test_an_option_that_is_gone_is_an_error_and_never_dropped(space):
    action = space.state_named("item").action_named("buy")
    steps = macro_steps(action, {"shoe_size": "8"}, ITEM)
    with pytest.raises(ActionError, match="no longer has choices for shoe_size"):
        fill(steps[0], action, {"shoe_size": "8"}, page())


def test_a_step_of_an_argument_that_was_left_out_is_left_out():
    action = SpaceAction.model_validate(
        {
            "name": "search",
            "description": "Search.",
            "parameter": [{"name": "price", "required": False}],
            "does": ['type [textbox "Price"] [{price}]', 'click [button "Go"]'],
        }
    )
    assert len(filled(action, {}, RESULTS)) == 1
    assert len(filled(action, {"price": "9"}, RESULTS)) == 2


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1)


@given(TEXT)
def test_any_value_arrives_in_the_page_as_it_is(value):
    action = SpaceAction.model_validate(
        {
            "name": "go",
            "description": "Go.",
            "parameter": [{"name": "value"}],
            "does": ['type [textbox "{value}"] [{value}]'],
        }
    )
    (typed,) = filled(action, {"value": value}, page())
    assert (typed.target.name, typed.text) == (value, value)


def after(memory, space, state, action, arguments, **more):
    found = space.state_named(state)
    values = {"step": 1, "thought": "", "url": "http://corner.test/", "title": "", **more}
    return memory_after(memory, found.action_named(action), arguments, found, **values)


def test_what_was_searched_for_is_remembered_until_the_next_search(space):
    memory = after(SpaceMemory(), space, "search", "look_for", {"words": "lamp", "max_price": "20"})
    assert memory.remembered == {"words": "lamp", "max_price": "20"}
    memory = after(memory, space, "search", "look_for", {"words": "desk"})
    assert memory.remembered == {"words": "desk"}


def test_an_item_that_is_left_goes_to_the_buffer_with_the_reason(space):
    memory = after(SpaceMemory(), space, "results", "open_item", {"item": "B1"})
    memory = after(
        memory, space, "item", "back", {}, step=4, thought="Too dear.", url="http://corner.test/item/B1"
    )
    assert [(one.candidate, one.reason, one.url, one.step) for one in memory.buffer] == [
        ("B1", "Too dear.", "http://corner.test/item/B1", 4)
    ]
    assert memory.looked_at == ("B1",)


def test_an_item_left_twice_is_in_the_buffer_once_with_the_later_reason(space):
    memory = SpaceMemory()
    for reason in ("Too dear.", "Still too dear."):
        memory = after(memory, space, "results", "open_item", {"item": "B1"})
        memory = after(memory, space, "item", "back", {}, thought=reason)
    assert [one.reason for one in memory.buffer] == ["Still too dear."]


def test_a_transition_ends_in_the_state_that_is_recognised_next(space):
    memory = after(SpaceMemory(), space, "search", "look_for", {"words": "lamp"}).arrived("results")
    assert [(one.source, one.action, one.target) for one in memory.transitions] == [
        ("search", "look_for", "results")
    ]
    assert memory.arrived("item") == memory
