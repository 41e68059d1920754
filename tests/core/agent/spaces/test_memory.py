from core.agent.spaces.memory import memory_after
from core.schema.progress import SpaceMemory


def after(memory, space, state, action, arguments, **more):
    found = space.state_named(state)
    told = {"step": 1, "thought": "", "url": "http://corner.test/", "title": "", **more}
    return memory_after(memory, found.action_named(action), arguments, found, **told)


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
