import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.spaces.file import Backup, SpaceAction
from core.agent.spaces.macros import (
    CHOOSE,
    candidates_of,
    choice_of,
    fill,
    macro_steps,
    memory_after,
    way_back,
)
from core.schema.action import Click, Goto, RefTarget, RoleTarget, Type, XPathTarget
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.errors import ActionError
from core.schema.progress import SetAside, SpaceMemory, Transition
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
    with pytest.raises(ActionError, match="has no choices for shoe_size any more"):
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


KEPT = SetAside(candidate="B[7]", url="http://corner.test/item/B7?a=[1]", title="A lamp", reason="too dear")
OFFERED = Permissible(actions=(PermissibleAction(name="buy"), PermissibleAction(name="back")))


def after_transitions(transitions, **more):
    moved = tuple(Transition(step=at, source="results", action="next_page") for at in range(transitions))
    return SpaceMemory(transitions=moved, **more)


def chosen(space, memory):
    return choice_of(space, space.state_named("item"), memory, ITEM, OFFERED)


def test_before_the_budget_everything_is_permissible(space):
    assert chosen(space, after_transitions(3, buffer=(KEPT,))) == (OFFERED, "", "")


def test_at_the_budget_only_choosing_is_and_it_tells_what_was_thought_of_each(space):
    permissible, remark, over = chosen(space, after_transitions(4, buffer=(KEPT,), remembered={"item": "B1"}))
    (choose,) = permissible.actions
    assert (choose.name, choose.description, over) == (CHOOSE, "Which one is best?", "")
    assert "4 of 6" in remark
    assert [(one.value, one.label) for one in choose.parameter("candidate").choices] == [
        ("B[7]", "A lamp: too dear"),
        ("B1", "Corner shop: in view now"),
    ]


def test_with_nothing_to_choose_from_the_run_is_over(space):
    permissible, _, over = chosen(space, after_transitions(4))
    assert permissible.actions == ()
    assert "nothing was set aside" in over


def test_after_the_choice_only_the_last_actions_are_left_until_the_transitions_are_used_up(space):
    permissible, remark, _ = chosen(space, after_transitions(5, chosen="B1"))
    assert [one.name for one in permissible.actions] == ["buy"]
    assert "B1 was chosen" in remark
    assert "6 transitions are used up" in chosen(space, after_transitions(6, chosen="B1"))[2]
    results = choice_of(
        space, space.state_named("results"), after_transitions(5, chosen="B1"), ITEM, Permissible()
    )
    assert "offers none of: buy" in results[2]


def test_what_is_in_view_and_was_set_aside_before_is_one_candidate(space):
    memory = SpaceMemory(remembered={"item": "B[7]"}, buffer=(KEPT,))
    assert candidates_of(space.state_named("item"), memory, ITEM) == (KEPT,)


@pytest.mark.parametrize(
    ("returns", "action"),
    [
        ("goto [{url}]", Goto(url=KEPT.url)),
        ('click [xpath=//a[.="{candidate}"]]', Click(target=XPathTarget(xpath='//a[.="B[7]"]'))),
    ],
)
def test_the_way_back_to_a_candidate_is_the_files(returns, action):
    assert way_back(Backup(returns=returns), KEPT) == action


def test_a_way_back_that_is_no_action_is_an_error():
    with pytest.raises(ActionError, match="no way back"):
        way_back(Backup(returns="goto"), KEPT)
