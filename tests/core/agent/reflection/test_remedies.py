from hypothesis import given
from hypothesis import strategies as st

from core.agent.reflection.remedies import RemedyEntry, RemedyStack, sorted_out
from core.schema.action_text import parse_action


def entry(ref: int, step: int = 1) -> RemedyEntry:
    return RemedyEntry(number=0, step=step, trial=1, action=parse_action(f"click [{ref}]"))


def test_the_first_choice_is_the_last_one_in_and_the_first_one_out():
    stack = RemedyStack().push([entry(2), entry(3), entry(1)])
    refs = []
    while True:
        popped, stack = stack.pop()
        if popped is None:
            break
        refs.append(str(popped.action))
    assert refs == ["click [1]", "click [3]", "click [2]"]
    assert [one.state for one in stack.entries] == ["chosen"] * 3


def test_a_person_can_take_one_from_the_middle():
    stack = RemedyStack().push([entry(1), entry(2), entry(3)])
    taken, stack = stack.take(2)
    assert str(taken.action) == "click [2]"
    assert [one.number for one in stack.waiting] == [1, 3]
    assert stack.take(2) == (None, stack)


def test_a_new_trial_drops_what_waits_and_keeps_it_to_be_seen():
    _, stack = RemedyStack().push([entry(1), entry(2)]).pop()
    cleared = stack.cleared("A new trial began.")
    assert [(one.state, one.why) for one in cleared.entries] == [
        ("dropped", "A new trial began."),
        ("chosen", ""),
    ]
    assert cleared.pop()[0] is None


def test_remedies_that_come_late_go_under_those_of_later_steps_and_none_is_lost():
    stack = RemedyStack().push([entry(1, step=1)]).push([entry(3, step=3)]).moved(1, 1)
    stack = stack.push([entry(2, step=2)])
    assert sorted(one.number for one in stack.entries) == [1, 2, 3]
    assert [
        one.step
        for one in RemedyStack().push([entry(1)]).push([entry(3, step=3)]).push([entry(2, step=2)]).waiting
    ] == [1, 2, 3]


@given(st.lists(st.one_of(st.integers(1, 3), st.just("pop")), max_size=20))
def test_numbers_are_never_used_twice_and_nothing_is_popped_twice(events):
    stack, popped = RemedyStack(), []
    for event in events:
        if event == "pop":
            one, stack = stack.pop()
            if one is not None:
                popped.append(one.number)
        else:
            stack = stack.push([entry(n) for n in range(event)])
    assert [one.number for one in stack.entries] == list(range(1, len(stack.entries) + 1))
    assert len(popped) == len(set(popped))


def test_a_remedy_equal_to_the_chosen_or_a_tried_action_is_dropped_with_the_reason():
    one, two, three = (parse_action(f"click [{n}]") for n in (1, 2, 3))
    kept, dropped = sorted_out([one, two, three, three], chosen=one, tried=[str(two)], words=str)
    assert kept == (three,)
    assert [why for _, why in dropped] == [
        "It is the chosen action itself.",
        "It was already tried on this page.",
        "It was proposed twice.",
    ]


def test_remedies_that_come_late_lie_under_those_of_later_steps():
    stack = RemedyStack().push([entry(1), entry(2)]).push([entry(5, step=4)])
    stack = stack.push([entry(3, step=3), entry(4, step=3)])
    assert [str(one.action) for one in stack.waiting] == [f"click [{ref}]" for ref in (1, 2, 3, 4, 5)]
    assert sorted(one.number for one in stack.entries) == [1, 2, 3, 4, 5]
