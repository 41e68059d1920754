"""Faults of the published stack-of-policies agent, as far as they lie here: none may come back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.agent.policies.call import Call, read_call, what_it_does
from core.agent.policies.catalogue import Policies
from core.agent.policies.stack import Refusal, StackLimits
from core.llm.replies import read_lines
from core.schema.action import Stop, Type
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, UsageError
from core.schema.messages import LLMReply, Turn
from tests.core.agent.policies.making import HERE, THERE, begun, pushed, write


def test_an_unknown_policy_name_is_reported_and_changes_nothing(tmp_path):
    for id in ("desk/top", "desk/find_order"):
        write(tmp_path, id)
    policies = Policies((tmp_path,))
    top = policies.get("desk/top")
    for _ in range(3):
        with pytest.raises(UsageError, match='no policy "find_oder" to call here; did you mean find_order'):
            policies.called(top, "find_oder", "desk", HERE.url)


@pytest.mark.parametrize(
    "text", ["type [3] [bus stop]", "type [3] [stop]", "note [stop here]", 'click [button "stop"]', "go_back"]
)
def test_the_word_stop_in_an_argument_ends_nothing(text):
    assert read_call(text).does in ("act", "note")
    assert not isinstance(parse_action(text), Stop)


@pytest.mark.parametrize("name", ["bus_stop", "stopped", "find_stop", "non_stop"])
def test_a_policy_whose_name_holds_stop_is_a_call(name):
    assert what_it_does(name) == "call"
    assert read_call(f"{name} [stop]").does == "call"


def test_only_stop_itself_stops():
    assert read_call("stop [the bus stop]") == Call(name="stop", arguments=("the bus stop",))
    assert read_call("stop [the bus stop]").does == "stop"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("find_order [items[0] of [Ada]]", ("items[0] of [Ada]",)),
        ("stop [[1], [2]]", ("[1], [2]",)),
        (r"find_order [a \] b]", ("a ] b",)),
        ("find_order [one] [two\nthree]", ("one", "two\nthree")),
    ],
)
def test_brackets_inside_brackets_are_kept(text, arguments):
    assert read_call(text).arguments == arguments


@given(st.lists(st.text(), max_size=3))
@example(["]", "[", "\\"])
def test_any_argument_survives_being_written_and_read(arguments):
    call = Call(name="find_order", arguments=tuple(arguments))
    assert read_call(str(call)) == call


def test_typed_text_with_brackets_is_whole():
    action = parse_action("type [3] [list[0]]")
    assert isinstance(action, Type)
    assert action.text == "list[0]"


def test_an_unknown_or_failed_action_loses_no_later_return_value():
    stack = pushed(begun(), step=2).stop(step=3, page=HERE, answer="first")
    stack = stack.record(Turn(number=4, action="", result="failed: there is no action clikc."))
    stack = pushed(stack, "find_customer", "Bo", step=5).stop(step=6, page=THERE, answer="second")
    stack = stack.record(Turn(number=7, action="", result="failed: there is no policy find_oder."))
    stack = pushed(stack, "find_item", "Cy", step=8, page=THERE).stop(step=9, page=THERE, answer="third")
    results = [one.result for one in stack.top.history if one.action]
    assert results == [f"came back with: {one}" for one in ("first", "second", "third")]


def test_a_reason_is_not_cut_at_a_line_that_begins_with_a_capital():
    reason = "Ada has two orders.\nThe second is pending.\nIt is the one to open."
    read = read_lines(LLMReply(text=f"REASON: {reason}\nACTION: find_order [the pending one\nof Ada]"))
    assert read.thought == reason
    assert read.actions == ("find_order [the pending one\nof Ada]",)


@given(st.lists(st.from_regex(r"[A-Z][a-z ,.]{0,30}", fullmatch=True).map(str.strip), min_size=1, max_size=6))
def test_a_reason_of_any_lines_that_begin_with_capitals_is_whole(lines):
    reason = "\n".join(lines)
    read = read_lines(LLMReply(text=f"REASON:\n{reason}\nACTION:\nclick [7]"))
    assert (read.thought, read.actions) == (reason, ("click [7]",))


def test_a_parent_is_told_what_its_child_lacked_and_cannot_ask_the_same_for_ever():
    stack = begun(StackLimits(calls=40))
    asked = 0
    for step in range(2, 60, 2):
        call = ("desk/find_order", "find_order", ["the order"])
        found = stack.refusal(*call, HERE) or stack.push(*call, step=step, page=HERE)
        if isinstance(found, Refusal):
            assert found.kind == "loop"
            assert "whose order it is" in found.sentence
            break
        asked += 1
        stack = found.stop(step=step + 1, page=HERE, lacked="whose order it is")
        assert "It lacked: whose order it is" in stack.top.history[-1].result
    assert asked == 1


@pytest.mark.parametrize("text", ["", "[3]", "find_order [a] b", "find_order [a", "click [3"])
def test_what_is_no_action_is_reported(text):
    with pytest.raises(ActionSyntaxError):
        read_call(text)
