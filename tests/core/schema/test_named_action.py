"""Actions with names of their own: what a page's state offers, and calls of policies."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.repair import read_reply
from core.llm.replies import as_json, as_lines, as_tool_call
from core.schema.action import ACTION, ACTIONS, Named
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.messages import LLMReply, LLMRequest, ToolCall
from tests.core.schema.test_action import ANY_TEXT

BUY = PermissibleAction(
    name="buy_now",
    origin="state",
    parameters=(
        Parameter(name="size", choices=(Choice(value="7 [wide]"), Choice(value="8"))),
        Parameter(name="count", type="integer", required=False),
        Parameter(name="gift", type="boolean", required=False),
    ),
)
FIND = PermissibleAction(
    name="find_flight2", origin="policy", parameters=(Parameter(name="objective", description="What for."),)
)
CLICK = PermissibleAction(name="click", parameters=(Parameter(name="target", type="integer"),))
HERE = Permissible(actions=(BUY, FIND, CLICK))
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True)


def read(reply: LLMReply, form: str):
    return read_reply(reply, LLMRequest(purpose="decide", messages=(), permissible=HERE), form)


@pytest.mark.parametrize(
    ("written", "meant"), [("yes", "true"), ("1", "true"), ("No", "false"), ("true", "true")]
)
def test_a_yes_or_no_of_an_action_with_a_name_of_its_own_is_typed(written, meant):
    proposal, _ = read(LLMReply(text=f"ACTION: buy_now [8] [2] [{written}]"), "lines")
    assert proposal.action == Named(name="buy_now", arguments=("8", "2", meant))


@given(NAMES.filter(lambda name: name not in ACTIONS), st.lists(ANY_TEXT, max_size=4))
def test_any_text_survives_printing_and_parsing(name, arguments):
    while arguments and not arguments[-1]:
        arguments.pop()
    action = Named(name=name, arguments=tuple(arguments))
    assert parse_action(str(action), [name]) == action
    assert ACTION.validate_json(ACTION.dump_json(action)) == action


def test_a_name_is_known_only_where_it_is_offered():
    with pytest.raises(ActionSyntaxError, match="did you mean find_flight2"):
        parse_action("find_flight [Oslo]", ["find_flight2"])
    with pytest.raises(ActionSyntaxError, match='There is no action "find_flight2"'):
        parse_action("find_flight2 [Oslo]")


def test_an_action_of_every_page_keeps_its_meaning_beside_names_of_ones_own():
    assert parse_action("click [3]", ["Click2"]).kind == "click"
    assert parse_action("BUY_NOW [8]", ["buy_now"]) == Named(name="buy_now", arguments=("8",))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("8",), None),
        (("8", "2", "true"), None),
        (("8", "", "false"), None),
        ((), "buy_now lacks size; give it."),
        (("9",), '"9" is not on offer for size; there are: 7 [wide] | 8.'),
        (("8", "two"), 'buy_now wants a whole number as its count, not "two".'),
        (("8", "2", "maybe"), 'buy_now wants true or false as its gift, not "maybe".'),
        (("8", "2", "true", "x"), "buy_now has too many arguments: it takes size, count, gift."),
    ],
)
def test_what_it_is_given_is_checked_against_what_it_takes(arguments, problem):
    assert HERE.problem(Named(name="buy_now", arguments=arguments)) == problem


def test_a_name_that_is_not_offered_is_not_permissible():
    assert "sell is not permissible here" in HERE.problem(Named(name="sell"))


@pytest.mark.parametrize("form", ["tools", "json", "lines"])
@pytest.mark.parametrize(
    "action",
    [
        Named(name="buy_now", arguments=("7 [wide]",)),
        Named(name="buy_now", arguments=("8", "", "true")),
        Named(name="buy_now", arguments=("8", "3")),
        Named(name="find_flight2", arguments=("from Oslo\nto [Rome]",)),
    ],
)
def test_it_is_written_and_read_in_every_form_of_reply(action, form):
    reply = {
        "tools": LLMReply(text="why", tool_calls=(as_tool_call(action, HERE),)),
        "json": LLMReply(text=as_json("why", (action,), HERE)),
        "lines": LLMReply(text=as_lines("why", (action,))),
    }[form]
    proposal, queue = read(reply, form)
    assert (proposal.action, proposal.thought, proposal.problem, queue) == (action, "why", "", ())


def test_a_reply_with_a_value_that_is_not_on_offer_has_no_action_at_all():
    call = ToolCall(name="buy_now", arguments=json.dumps({"size": "44"}))
    proposal, _ = read(LLMReply(tool_calls=(call,)), "tools")
    assert proposal.action is None
    assert '"44" is not on offer for size' in proposal.problem


def test_a_reply_that_lacks_an_argument_is_refused_with_its_name():
    proposal, _ = read(LLMReply(tool_calls=(ToolCall(name="buy_now"),)), "tools")
    assert proposal.problem == "buy_now lacks size; give it."


def test_the_list_has_a_row_for_each_value_of_the_one_argument_and_else_one_to_fill_in():
    pick = PermissibleAction(
        name="pick",
        origin="state",
        parameters=(
            Parameter(name="item", choices=(Choice(value="B1", label="A lamp"), Choice(value="B[2]"))),
        ),
    )
    rows = Permissible(
        actions=(pick, FIND, PermissibleAction(name="back", origin="state", description="Go."))
    ).rows()
    assert [(row.text, row.label) for row in rows] == [
        ("pick [B1]", "B1 A lamp"),
        (r"pick [B\[2\]]", "B[2]"),
        ("find_flight2 []", ""),
        ("back", "Go."),
    ]


def test_a_whole_number_that_came_as_a_fraction_is_written_as_one():
    price = PermissibleAction(
        name="look", origin="state", parameters=(Parameter(name="price", type="number"),)
    )
    reply = LLMReply(tool_calls=(ToolCall(name="look", arguments='{"price": 55.0}'),))
    request = LLMRequest(purpose="decide", messages=(), permissible=Permissible(actions=(price,)))
    proposal, _ = read_reply(reply, request, "tools")
    assert proposal.action == Named(name="look", arguments=("55",))


FIND_FLIGHT = PermissibleAction(
    name="find_flight",
    parameters=(
        Parameter(name="origin"),
        Parameter(name="destination"),
        Parameter(name="seats", type="integer", required=False),
    ),
    origin="state",
)


def read_of_flights(text):
    request = LLMRequest(purpose="decide", messages=(), permissible=Permissible(actions=(FIND_FLIGHT,)))
    return read_reply(LLMReply(text=text), request, "lines")[0]


@pytest.mark.parametrize(
    "text",
    [
        "find_flight [Oslo] [Bergen] [2]",
        "find_flight [destination=Bergen] [origin=Oslo] [seats=2]",
        "find_flight [Oslo] [seats: 2] [destination: Bergen].",
        "Find_Flight [Oslo] [Bergen] [optional: seats=2]",
        'find_flight "Oslo" "Bergen" 2',
        'find_flight(origin="Oslo", destination="Bergen", seats=2)',
    ],
)
def test_the_arguments_of_a_states_action_may_have_their_names(text):
    proposal = read_of_flights(f"ACTION: {text}")
    assert proposal.action == Named(name="find_flight", arguments=("Oslo", "Bergen", "2")), proposal.problem


def test_words_of_a_sentence_are_no_arguments_of_a_states_action():
    proposal = read_of_flights("ACTION: find_flight from Oslo to Bergen")
    assert proposal.action is None
    assert "outside its brackets" in proposal.problem
    proposal = read_of_flights("Find_flight is next.")
    assert proposal.problem.endswith("end it with one, as in ACTION: find_flight [] [].")
