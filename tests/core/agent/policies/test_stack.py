import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.policies.stack import Refusal, SeenPage, Stack, StackLimits, place_of_page
from core.schema.messages import Turn
from tests.core.agent.policies.making import ELSEWHERE, HERE, THERE, begun, pushed
from tests.core.observations import element, observation, options

PLACES = (HERE, THERE, ELSEWHERE)


def turn(number, action="click [1]"):
    return Turn(number=number, action=action, result="done")


def test_a_called_policy_begins_with_an_empty_history_and_its_argument():
    stack = pushed(begun().record(turn(1)), step=2)
    top = stack.top
    assert (top.policy, top.arguments, top.history, top.notes) == ("desk/find_order", ("Ada",), (), ())
    assert (top.number, top.caller, top.call, top.step, top.began_on) == (2, 1, 1, 2, HERE)


def test_what_a_policy_returns_enters_the_history_of_its_caller():
    stack = pushed(begun(), step=2).record(turn(3)).stop(step=4, page=THERE, answer="order 7")
    assert [(one.number, one.action, one.result) for one in stack.top.history] == [
        (2, "find_order [Ada]", "came back with: order 7")
    ]
    ended = stack.finished[0]
    assert (ended.state, ended.answer, ended.ended_at) == ("returned", "order 7", 4)
    assert [one.action for one in ended.history] == ["click [1]", "stop [order 7]"]


def test_a_policy_that_cannot_go_on_tells_its_caller_what_it_lacked():
    stack = pushed(begun()).stop(step=3, page=HERE, answer="two Adas", lacked="her last name")
    assert stack.top.history[-1].result == (
        "could not go on. It lacked: her last name Until then it had found: two Adas"
    )
    assert stack.finished[0].state == "lacked"


def test_the_end_of_the_first_policy_is_the_end_of_the_stack():
    stack = begun().stop(step=2, page=HERE, answer="42")
    assert stack.frames == ()
    assert (stack.result.answer, stack.result.state) == ("42", "returned")
    with pytest.raises(ValueError, match="No policy"):
        stack.stop(step=3, page=HERE)


def test_notes_stay_in_the_frame_that_took_them():
    stack = pushed(begun().note("mine")).note("its own")
    assert stack.top.notes == ("its own",)
    assert stack.stop(step=3, page=HERE).top.notes == ("mine",)


def test_calls_beyond_the_depth_or_the_number_are_refused_as_such():
    deep = pushed(begun(StackLimits(depth=2)))
    refused = deep.push("desk/x", "x", ["y"], step=3, page=HERE)
    assert isinstance(refused, Refusal)
    assert (refused.kind, "nested 2 deep" in refused.sentence) == ("limit", True)
    often = pushed(begun(StackLimits(calls=1))).stop(step=3, page=THERE)
    refused = often.push("desk/x", "x", ["y"], step=4, page=THERE)
    assert isinstance(refused, Refusal)
    assert (refused.kind, "made 1 call," in refused.sentence) == ("limit", True)


# Loops


def refused(stack, argument="Ada", page=HERE, name="find_order"):
    return stack.refusal(f"desk/{name}", name, [argument], page)


def test_a_policy_that_calls_itself_with_the_same_argument_on_the_same_page_is_a_loop():
    refusal = refused(pushed(begun()), "  ADA ")
    assert (refusal.kind, refusal.frame) == ("loop", 2)
    for part in ("find_order [  ADA ] is a loop", "frame 2, find_order [Ada], is still at work", HERE.url):
        assert part in refusal.sentence


def test_a_loop_over_several_policies_is_found():
    stack = pushed(pushed(begun()), "find_customer", "Ada")
    assert refused(stack).frame == 2


def test_calling_oneself_on_another_page_or_for_another_thing_is_no_loop():
    stack = pushed(begun())
    assert refused(stack, page=THERE) is None
    assert refused(stack, "Bo") is None
    assert refused(stack, page=SeenPage(url=HERE.url, fingerprint="changed")) is None


def test_calling_again_what_came_back_with_nothing_changed_is_a_loop():
    stack = pushed(begun()).stop(step=3, page=HERE, answer="order 7")
    assert refused(stack).frame == 2


def test_calling_again_what_lacked_something_is_a_loop_that_names_it():
    stack = pushed(begun()).record(turn(3), THERE).stop(step=4, page=THERE, lacked="her last name")
    stack = stack.record(turn(5, "go_back"), HERE)
    refusal = refused(stack)
    assert refusal.kind == "loop"
    assert "came back for lack of: her last name" in refusal.sentence


def test_calling_again_with_what_was_lacking_passes():
    stack = pushed(begun()).stop(step=3, page=HERE, lacked="her last name")
    assert refused(stack, "Ada Byrne") is None


def test_calling_again_after_the_caller_came_to_a_new_page_passes():
    stack = pushed(begun()).stop(step=3, page=HERE, answer="order 7")
    stack = stack.record(turn(4), THERE).record(turn(5, "go_back"), HERE)
    assert refused(stack) is None


def test_calling_again_what_led_to_a_new_page_passes_until_it_leads_to_none():
    stack = pushed(begun()).stop(step=3, page=THERE, answer="order 7 is cancelled")
    stack = stack.record(turn(4, "go_back"), HERE)
    assert refused(stack) is None
    stack = pushed(stack, step=5).stop(step=6, page=THERE).record(turn(7, "go_back"), HERE)
    assert refused(stack).kind == "loop"


def test_going_to_and_fro_between_known_pages_is_no_progress():
    stack = pushed(begun().record(turn(1), THERE).record(turn(2), HERE), step=3).stop(step=4, page=HERE)
    stack = stack.record(turn(5), THERE).record(turn(6), HERE)
    assert refused(stack).kind == "loop"


def test_another_caller_may_make_the_same_call():
    stack = pushed(begun()).stop(step=3, page=HERE)
    stack = pushed(stack, "find_customer", "Bo", step=4)
    assert refused(stack) is None


def test_a_person_may_let_a_loop_pass_but_no_limit():
    stack = pushed(begun()).stop(step=3, page=HERE)
    again = stack.push("desk/find_order", "find_order", ["Ada"], step=4, page=HERE)
    assert isinstance(again, Stack)
    full = Stack(limits=StackLimits(calls=1), frames=stack.frames, finished=stack.finished)
    again = full.push("desk/find_order", "find_order", ["Ada"], step=4, page=HERE)
    assert isinstance(again, Refusal)


# Going back


def test_going_back_keeps_what_was_learnt_and_the_chain_of_then():
    then = pushed(begun(), step=2).record(turn(3))
    now = then.note("seen").stop(step=4, page=THERE, answer="wrong").record(turn(5), ELSEWHERE)
    now = pushed(now, "find_customer", "Bo", step=6, page=ELSEWHERE)
    back = now.back_to(then, step=7)
    assert [one.number for one in back.frames] == [1, 2]
    assert back.top.state == "active"
    assert back.top.notes == ("seen",)
    assert [one.action for one in back.top.history] == ["click [1]", "stop [wrong]"]
    assert [(one.number, one.state) for one in back.finished] == [(3, "left")]
    results = {one.action: one.result for one in back.frames[0].history}
    assert results["find_order [Ada]"].startswith("called")
    assert results["find_customer [Bo]"].startswith("left before its end")
    assert back.calls == 2


def test_a_new_trial_begins_with_a_new_first_frame_and_keeps_the_old_ones():
    stack = pushed(begun()).begin("desk/top", "top", ["Do it."], step=9, page=HERE)
    assert [one.number for one in stack.frames] == [3]
    assert [(one.number, one.state) for one in stack.finished] == [(2, "left"), (1, "left")]
    assert stack.top.history == ()


# The page


def page(*elements, **more):
    return place_of_page(observation(*elements, **more))


def test_the_same_page_read_again_is_the_same_place_whatever_its_numbers_focus_and_scrolling():
    first = page(element(1, "button", "Go"), element(2, "textbox", "Name", value="Ada"))
    again = page(
        element(7, "button", "Go", states=("focused",), in_viewport=False),
        element(8, "textbox", "Name", value="Ada"),
        scroll=(0, 300),
        document="2",
    )
    assert first == again


@pytest.mark.parametrize(
    "changed",
    [
        element(1, "checkbox", "Go", states=("checked",)),
        element(1, "checkbox", "Gone"),
        element(1, "checkbox", "Go", value="x"),
        element(1, "combobox", "Go", options=options("a", "b")),
    ],
)
def test_what_is_written_checked_or_chosen_makes_another_place(changed):
    assert page(element(1, "checkbox", "Go")) != page(changed)
    assert page(element(1)) != page(element(1), url="http://127.0.0.1/other")


# Properties

MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("call"), st.sampled_from("abc"), st.text(max_size=12), st.sampled_from(PLACES)),
        st.tuples(st.just("stop"), st.text(max_size=12), st.text(max_size=12), st.sampled_from(PLACES)),
        st.tuples(st.just("act"), st.just("click [1]"), st.just(""), st.sampled_from(PLACES)),
    ),
    max_size=40,
)


def called(stack, name, argument, step, page):
    """Return the stack with a call on top, or why it is refused."""
    found = stack.refusal(f"desk/{name}", name, [argument], page)
    return found or stack.push(f"desk/{name}", name, [argument], step=step, page=page)


def played(moves, limits):
    stack = begun(limits)
    yield stack
    for step, (move, one, two, place) in enumerate(moves, start=2):
        if not stack.frames:
            return
        if move == "act":
            stack = stack.record(turn(step, one), place)
        elif move == "stop":
            stack = stack.stop(step=step, page=place, answer=one, lacked=two)
        else:
            found = called(stack, one, two, step, place)
            if isinstance(found, Refusal):
                continue
            stack = found
        yield stack


@given(MOVES, st.integers(1, 5), st.integers(0, 8))
def test_the_stack_holds_together_whatever_is_called_and_stopped(moves, depth, calls):
    limits = StackLimits(depth=depth, calls=calls)
    for stack in played(moves, limits):
        everyone = (*stack.frames, *stack.finished)
        assert sorted(one.number for one in everyone) == list(range(1, len(everyone) + 1))
        assert len(stack.frames) <= depth
        assert stack.calls == len(everyone) - 1 <= calls
        assert all(one.state == "active" for one in stack.frames)
        assert all(one.state in ("returned", "lacked") for one in stack.finished)
        for below, above in zip(stack.frames, stack.frames[1:], strict=False):
            assert above.caller == below.number
        for child in everyone:
            if child.caller is None:
                continue
            turns = [one for one in stack.frame(child.caller).history if one.number == child.step]
            assert [(one.action, one.result) for one in turns] == [(child.written, child.outcome)]
        assert Stack.model_validate_json(stack.model_dump_json()) == stack


@given(MOVES, st.text(max_size=20), st.text(max_size=20), st.sampled_from(PLACES))
def test_a_call_and_its_return_leave_the_chain_below_as_it_was(moves, argument, answer, place):
    for stack in played(moves, StackLimits(depth=6, calls=100)):
        if not stack.frames:
            continue
        above = called(stack, "new", argument, 99, place)
        if isinstance(above, Refusal):
            continue
        assert above.frames[:-2] == stack.frames[:-1]
        assert above.top.history == ()
        back = above.stop(step=100, page=place, answer=answer)
        assert back.frames[:-1] == stack.frames[:-1]
        assert back.top.history[:-1] == stack.top.history
        assert back.top.notes == stack.top.notes
        assert len(back.finished) == len(stack.finished) + 1


@given(MOVES, st.text(max_size=12))
def test_the_same_call_twice_on_an_unchanged_page_never_passes(moves, argument):
    for stack in played(moves, StackLimits(depth=50, calls=100)):
        if not stack.frames:
            continue
        page = stack.top.seen[0]
        once = called(stack, "new", argument, 99, page)
        if isinstance(once, Stack):
            again = called(once.stop(step=100, page=page), "new", f" {argument.upper()} ", 101, page)
            if argument.casefold() == argument.upper().casefold():
                assert isinstance(again, Refusal)
                assert again.kind == "loop"
