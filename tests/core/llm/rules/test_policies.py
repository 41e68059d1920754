"""The built-in LLM at desks and shops: what it fills in, which policy it calls, and how it ends as a called one."""

import re
from typing import Any

import pytest

from core.agent.abstraction import clean_of
from core.agent.general_space import permissible_of
from core.agent.policies.catalogue import Policies
from core.agent.policies.prompt import frame_prompt, permissible_in
from core.agent.policies.stack import CALLED, Refusal, Stack, place_of_page
from core.llm.repair import read_reply
from core.llm.rules import RulesLLM
from core.llm.rules.facts import Facts
from core.schema.action import Named
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.action_text import parse_action
from core.schema.messages import LLMRequest, Message, PromptView, Turn
from tests.core.llm.rules.pages import page_of, request_for

SEARCH = """
navigation "Main"
  link "Find flights" current
  link "Find a booking"
heading "Find flights"
group "Trip"
  radio "Return" checked
  radio "One way"
textbox "From"
textbox "To"
textbox "Departure date"
button "Search flights"
"""
LOOKUP = 'heading "Find a booking"\ntextbox "Booking reference"\nbutton "Search"'
BOOKING = """
heading "Booking K7XW2P"
link "Modify booking"
link "Cancel booking"
paragraph "Confirmed"
"""
PAYMENT = 'radio "K7XW2P" checked\ntextbox "Card number"\ntextbox "Expiry date"\ntextbox "Security code"\nbutton "Pay"'
CANCELLED = 'heading "Booking K7XW2P"\nparagraph "Booking K7XW2P is cancelled."\nlink "Find a booking"'


async def proposed(request: LLMRequest, reply_format: Any = "tools") -> str:
    proposal, _ = read_reply(await RulesLLM().reply(request), request, reply_format)
    assert proposal.problem == ""
    return str(proposal.action)


def as_policy(
    name: str, page: str, *arguments: str, caller: str = "", turns: tuple[Turn, ...] = ()
) -> LLMRequest:
    """Return the request that asks a policy of the installation."""
    policies = Policies()
    observation = page_of(page)
    where = place_of_page(observation)
    environment = name.partition("/")[0]
    policy = policies.get(name)
    if caller:
        waiting = Stack().begin(caller, caller.rpartition("/")[2], ("the whole",), step=1, page=where)
        pushed = waiting.push(policy.id, policy.name, arguments, step=2, page=where)
        assert not isinstance(pushed, Refusal)
        stack = pushed
    else:
        stack = Stack().begin(policy.id, policy.name, arguments, step=1, page=where)
    for turn in turns:
        stack = stack.record(turn)
    callables = policies.callable_from(policy, environment, observation.url)
    permissible = permissible_in(policy, permissible_of(observation), callables)
    frame = frame_prompt(stack, policy, callables, permissible, reply_format="lines")
    view = PromptView(
        objective=frame.objective,
        observation=clean_of(observation),
        history=frame.history,
        policy=frame.policy,
        called=frame.called,
    )
    messages = (Message(role="user", text=frame.objective),)
    return LLMRequest(purpose="decide", messages=messages, permissible=permissible, view=view)


# Facts


def test_a_fact_is_found_by_the_label_of_its_field():
    facts = Facts(
        "Book a flight from Oslo (OSL) to Rome (FCO), out on 4 May 2027 with the 5:20 pm flight and back on the "
        "18th of May 2027, for Ms Ada de la Cruz, female, born on June 3, 1990. Pay with card 9197 3278 4717 "
        "5602, expiry 01/28, CVC 201."
    )
    wanted = {
        "From": "OSL",
        "destination": "FCO",
        "departure_date": "2027-05-04",
        "Return date": "2027-05-18",
        "First name": "Ada",
        "last name": "de la Cruz",
        "Date of birth": "1990-06-03",
        "Card number": "9197 3278 4717 5602",
        "Expiry date": "01/28",
        "security_code": "201",
        "Booking reference": None,
        "Favourite colour": None,
    }
    assert {label: facts.value(label) for label in wanted} == wanted
    assert facts.choice("Title", ["Mr", "Ms"]) == "Ms"
    assert facts.choice("Gender", ["Male", "Female"]) == "Female"
    flights = ["A 1, departs 8:10 am, arrives 5:20 pm", "B 2, departs 5:20 pm, arrives 9:05 pm"]
    assert facts.choice("Outward flights", flights) == flights[1]
    assert facts.choice("Trip", ["Return", "One way"]) == "Return"


@pytest.mark.parametrize(
    "day", ["3 June 1990", "June 3, 1990", "Sunday, 3 June 1990", "the 3rd of June 1990", "06/03/1990"]
)
def test_a_day_is_given_as_year_month_and_day_however_it_is_written(day: str):
    assert Facts(f"For Ms Ada Ek (date of birth: {day}).").value("Date of birth") == "1990-06-03"
    assert Facts(f"For K7XW2P, change the date of birth to {day}.").value("date_of_birth") == "1990-06-03"


def test_where_only_details_change_nothing_else_is_given():
    facts = Facts("In booking K7XW2P, change the last name to Ekberg and the title to Dr for Ms Ada Ekman.")
    assert facts.value("Last name") == "Ekberg"
    assert facts.choice("Title", ["Ms", "Dr"]) == "Dr"
    assert facts.value("First name") is None
    assert facts.value("Booking reference") == "K7XW2P"


@pytest.mark.parametrize(
    "objective",
    [
        'Enter "B4Q2QU" into the field.',
        "Click on the 3rd box.",
        "Find 7 up.",
        "Forward the email from Ann to Bob.",
        "Message from Ann to Bob: find it.",
        "Forward the post from Ann to Bob.",
        "Delete the Email\nfrom Ann to Bob.",
    ],
)
def test_ordinary_objectives_give_no_facts(objective: str):
    assert not Facts(objective).are_given


def test_the_route_is_found_behind_the_writer_of_a_message():
    facts = Facts("Read the messages from Ann to Bob, then book from Oslo to Rome.")
    assert facts.route == ("Oslo", "Rome")
    assert Facts("Find the message from Ann about the trip from Oslo to Rome.").route == ("Oslo", "Rome")


# Forms


@pytest.mark.parametrize(
    ("objective", "page", "action"),
    [
        ("Find one-way flights from Oslo (OSL) to Rome (FCO) on 4 May 2027.", SEARCH, "check [7]"),
        ("Cancel the booking K7XW2P.", SEARCH, "click [3]"),
        ("Cancel the booking K7XW2P.", LOOKUP, "type [2] [K7XW2P]"),
        ("Cancel the booking K7XW2P.", BOOKING, "click [3]"),
        ("Cancel the booking K7XW2P.", CANCELLED, "stop []"),
        ("In booking K7XW2P, change the title to Dr.", BOOKING, "click [2]"),
        ("Select B4Q2QU and click Submit.", 'radio "CX"\nradio "B4Q2QU"\nbutton "Submit"', "check [2]"),
        ("Select A, B4Q2QU and click Submit.", 'checkbox "A"\ncheckbox "B4Q2QU"\nlink "Submit"', "check [1]"),
        ("Choose K7XW2P and cancel it.", 'radio "K7XW2P"\nbutton "Cancel"', "check [1]"),
        ("Choose K7XW2P and cancel it.", 'radio "K7XW2P" checked\nbutton "Cancel"', "click [2]"),
        ("Choose K7XW2P and cancel it.", f'radio "K7XW2P" checked\nbutton "Cancel"\n{CANCELLED}', "stop []"),
        ("Choose K7XW2P.", LOOKUP, "type [2] [K7XW2P]"),
        ("Choose booking B4Q2QU, then submit it.", 'radio "B4Q2QU"\nbutton "Submit"', "check [1]"),
        (
            "Select B4Q2QU.",
            'combobox "Booking" options: *K7XW2P|B4Q2QU\nlink "Select"',
            "select [1] [B4Q2QU]",
        ),
        ("Choose K7XW2P and pay with card 9197 3278 4717 5602.", PAYMENT, "type [2] [9197 3278 4717 5602]"),
        (
            "Choose K7XW2P and change the last name to Ekberg.",
            'checkbox "K7XW2P" checked\ntextbox "Last name"',
            "type [2] [Ekberg]",
        ),
        (
            "Choose K7XW2P and change the title to Dr.",
            'radio "K7XW2P" checked\ncombobox "Title" options: *Ms|Dr',
            "select [2] [Dr]",
        ),
    ],
)
async def test_a_form_gets_what_the_objective_gives_and_other_pages_are_left(objective, page, action):
    assert await proposed(request_for(objective, page)) == action


async def test_a_filled_form_is_sent_once():
    page = 'textbox "Booking reference" value="K7XW2P"\nbutton "Search"\nlink "Help"'
    objective = "Find the booking K7XW2P."
    typed = Turn(number=1, action="type [1] [K7XW2P]", target='textbox "Booking reference"', result="done")
    sent = Turn(number=2, action="click [2]", target='button "Search"', result="done")
    assert await proposed(request_for(objective, page, typed)) == "click [2]"
    assert await proposed(request_for(objective, page, typed, sent)) == "stop []"


async def test_nothing_is_done_that_was_not_asked_for():
    sent = Turn(number=2, action="click [9]", target='button "Search"', result="done")
    typed = Turn(number=1, action="type [8] [K7XW2P]", target='textbox "Booking reference"', result="done")
    assert (await proposed(request_for("Look up booking K7XW2P.", BOOKING, typed, sent))).startswith("stop")


async def test_of_several_people_the_one_that_is_named_is_changed():
    form = '{}  textbox "Last name" value="{}"\n  button "Save"\n'
    page = "".join(
        form.format(f'region "Passenger {name}"\n', name.split()[-1]) for name in ("Ann Berg", "Bo Dahl")
    )
    objective = "The details of Bo Dahl in booking K7XW2P are wrong: change the last name to Dahlia."
    page += 'text "Booking K7XW2P"'
    assert await proposed(request_for(objective, page)) == "type [5] [Dahlia]"


# Actions of a state


def of_state(name: str, *parameters: Parameter, description: str = "Do it.") -> PermissibleAction:
    return PermissibleAction(name=name, description=description, parameters=parameters, origin="state")


async def from_state(
    objective: str, page: str, *actions: PermissibleAction, turns: tuple[Turn, ...] = ()
) -> str:
    stop = PermissibleAction(name="stop", parameters=(Parameter(name="answer", required=False),))
    request = LLMRequest(
        purpose="decide",
        messages=(Message(role="user", text=objective),),
        permissible=Permissible(actions=(*actions, stop)),
        view=PromptView(objective=objective, observation=clean_of(page_of(page)), history=turns),
    )
    return await proposed(request, "lines")


ROUTE = (Parameter(name="origin"), Parameter(name="destination"), Parameter(name="departure_date"))
ONE_WAY = of_state("search_one_way", *ROUTE)
RETURN = of_state("search_return", *ROUTE, Parameter(name="return_date"))
TO_BOOKINGS = of_state("go_to_find_booking")
CANCEL = of_state("cancel_booking")


async def test_the_action_whose_arguments_the_objective_gives_is_taken():
    there = "Find flights from Oslo (OSL) to Rome (FCO) on 4 May 2027"
    assert (
        await from_state(there, SEARCH, ONE_WAY, RETURN, TO_BOOKINGS)
        == "search_one_way [OSL] [FCO] [2027-05-04]"
    )
    back = f"{there} and back on 9 May 2027."
    assert (await from_state(back, SEARCH, ONE_WAY, RETURN)).startswith("search_return")
    assert (
        await from_state("Cancel the booking K7XW2P.", SEARCH, ONE_WAY, RETURN, TO_BOOKINGS)
        == "go_to_find_booking"
    )


async def test_a_state_is_left_as_it_is_once_all_is_done():
    found = Turn(number=1, action="find_booking [K7XW2P]", result="done")
    assert await from_state("Find the booking K7XW2P.", BOOKING, CANCEL, turns=(found,)) == "stop []"
    assert await from_state("Cancel the booking K7XW2P.", BOOKING, CANCEL, turns=(found,)) == "cancel_booking"
    assert await from_state("Cancel the booking K7XW2P.", CANCELLED, TO_BOOKINGS, turns=(found,)) == "stop []"


async def test_a_choice_that_the_objective_leaves_open_stays_as_the_page_has_it():
    page = 'radiogroup "Seats"\n  radio "Window"\n  radio "Aisle" checked\ntext "Booking K7XW2P"'
    choices = (Choice(value="Window"), Choice(value="Aisle"))
    seat = of_state(
        "save_seat", Parameter(name="seats", choices=choices), Parameter(name="title", required=False)
    )
    objective = "In booking K7XW2P, change the title to Dr."
    assert await from_state(objective, page, seat) == "save_seat [Aisle] [Dr]"


# Policies

DESK = "airline/airline_desk"


@pytest.mark.parametrize(
    ("objective", "call"),
    [
        ("Cancel the booking K7XW2P.", "cancel_booking [K7XW2P]"),
        ("Look up the booking with the reference K7XW2P.", "find_booking [K7XW2P]"),
        ("Find one-way flights from Oslo (OSL) to Rome (FCO) on 4 May 2027.", "find_flight"),
        ("Book a one-way flight from Oslo (OSL) to Rome (FCO) on 4 May 2027.", "book_flight"),
    ],
)
async def test_the_policy_whose_name_says_what_is_asked_is_called(objective, call):
    assert (await proposed(as_policy(DESK, SEARCH, objective), "lines")).startswith(call)


async def test_a_policy_is_not_called_again_with_the_same_arguments():
    objective = "Cancel the booking K7XW2P."
    back = Turn(
        number=2,
        action="cancel_booking [K7XW2P]",
        result="could not go on. It lacked: a page that offers it",
    )
    action = await proposed(as_policy(DESK, SEARCH, objective, turns=(back,)), "lines")
    assert not action.startswith("cancel_booking")


async def test_a_caller_stops_when_the_policy_came_back_and_the_page_says_so():
    back = Turn(number=2, action="cancel_booking [K7XW2P]", result="came back with: cancelled")
    request = as_policy(DESK, CANCELLED, "Cancel the booking K7XW2P.", turns=(back,))
    assert (await proposed(request, "lines")).startswith("stop")


async def test_a_called_policy_with_a_bare_argument_does_what_its_name_says():
    request = as_policy("airline/cancel_booking", BOOKING, "K7XW2P", caller=DESK)
    assert request.view is not None
    assert request.view.objective == "K7XW2P"
    assert await proposed(request, "lines") == "click [3]"
    elsewhere = as_policy("airline/cancel_booking", SEARCH, "K7XW2P", caller=DESK)
    assert await proposed(elsewhere, "lines") == "find_booking [K7XW2P]"


async def test_a_called_policy_tells_what_the_page_says_or_what_it_lacked():
    done = as_policy("airline/cancel_booking", CANCELLED, "K7XW2P", caller=DESK)
    assert await proposed(done, "lines") == "stop [Booking K7XW2P is cancelled.]"
    lost = as_policy("airline/find_booking", 'text "Closed for the night"', "K7XW2P", caller=DESK)
    action = parse_action(await proposed(lost, "lines"))
    assert getattr(action, "lacked", None)


GOAL = "I want a red enamel kettle, at most 40.00 dollars"
SHOP = 'searchbox "Keywords"\ntextbox "Maximum price in dollars"\nbutton "Search"'
RESULTS = """
heading "Results"
link "Blue steel kettle"
text "$12.00"
link "Red enamel kettle with lid"
text "$55.00"
link "Enamel kettle in red"
text "$35.00"
"""
ITEM = """
heading "Enamel kettle in red"
group "Size"
  button "small"
  button "large"
group "Color"
  button "blue"
  button "red"
button "Buy now"
"""


@pytest.mark.parametrize(
    ("page", "policy"), [(SHOP, "search_shop"), (RESULTS, "choose_result"), (ITEM, "choose_options")]
)
async def test_each_stage_of_a_purchase_calls_the_policy_for_it(page, policy):
    action = await proposed(as_policy("shop/shop", page, GOAL), "lines")
    assert re.match(rf"{policy} \[red enamel kettle", action)
    assert "at most 40.00 dollars" in action


async def test_a_called_policy_keeps_to_its_stage_of_the_purchase():
    words = "red enamel kettle, at most 40.00 dollars"

    async def does(name: str, page: str, *turns: Turn) -> str:
        return await proposed(
            as_policy(f"shop/{name}", page, words, caller="shop/shop", turns=turns), "lines"
        )

    assert (await does("search_shop", SHOP)).startswith("type [1] [red enamel kettle")
    assert await does("choose_result", RESULTS) == "click [6]", "the other is too dear"
    chosen = Turn(number=3, action="click [3]", target='button "small"', result="done")
    taken = ITEM.replace('"small"', '"small" pressed')
    assert await does("choose_options", taken, chosen) == "click [7]"
    both = taken.replace('"red"\nbutton', '"red" pressed\nbutton')
    assert (await does("choose_options", both, chosen)).startswith("stop"), "buying is for its caller"
    assert await proposed(request_for(GOAL, both)) == "click [8]"


async def test_a_policy_at_work_is_no_reason_to_call_it():
    waiting = Turn(number=2, action="cancel_booking [K7XW2P]", result=CALLED)
    request = as_policy("airline/cancel_booking", BOOKING, "K7XW2P", caller=DESK, turns=(waiting,))
    action = parse_action(await proposed(request, "lines"), ["cancel_booking", "find_booking"])
    assert not (isinstance(action, Named) and action.name == "cancel_booking")
