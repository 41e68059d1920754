"""Each kind of breakpoint, asked of real runs: where it hits, where not, and what it says."""

import re

import pytest

from core.debugger.breakpoints.debug_event import EventTracker
from core.debugger.breakpoints.kinds.actions import (
    ActionChosen,
    Loop,
    PermissibleChanged,
    PolicyPopped,
    PolicyPushed,
    RequestBegins,
    StateEntered,
    StateLeft,
)
from core.debugger.breakpoints.kinds.breakpoint import fits
from core.debugger.breakpoints.kinds.problems import (
    Condition,
    Failure,
    FigureAbove,
    LLMCall,
    NotAligned,
    PlanRevised,
    RemedyFired,
    RetrievalFar,
)
from core.schema.errors import UsageError
from core.schema.events import BrowserEvent
from core.schema.restore import Sent
from core.schema.step import PHASES, Decided, Observed, Proposal, Recognised

browser = pytest.mark.browser


@browser
def test_a_state_is_entered_once_and_its_order_ends_the_run(stored):
    hits = stored.hits("shopping", StateEntered(state="item"))
    assert [(one.step, one.where, one.phase) for one in hits] == [(3, "after", "recognise")]
    assert hits[0].sentence == "State item was entered from results."
    assert stored.steps("shopping", StateEntered()) == [1, 2, 3, 4]
    (order,) = stored.hits("shopping", StateEntered(state="order"))
    assert order.sentence == "State order was entered from item, which ends the run."
    assert stored.hits("shopping", StateEntered(state="cart")) == []


@browser
def test_a_state_is_left_where_another_one_is_recognised(stored):
    (left,) = stored.hits("shopping", StateLeft(state="SEARCH"))
    assert (left.step, left.sentence) == (2, "State search was left for results.")
    assert stored.hits("policies", StateLeft()) == []


@browser
def test_a_policy_is_pushed_with_its_argument(stored):
    (pushed,) = stored.hits("policies", PolicyPushed(policy="search_*", argument="bottle"))
    assert (pushed.step, pushed.where, pushed.phase) == (1, "after", "act")
    assert pushed.sentence == "Policy search_shop was pushed with argument “steel bottle”."
    assert stored.hits("policies", PolicyPushed(argument="kettle")) == []
    assert stored.hits("policies", PolicyPushed(policy="shop")) == []
    assert stored.hits("shopping", PolicyPushed()) == []


@browser
def test_a_policy_is_popped_with_what_its_caller_is_told(stored):
    (popped,) = stored.hits("policies", PolicyPopped(policy="search_shop"))
    assert popped.step == 3
    assert "came back with: 205 results" in popped.sentence
    assert stored.hits("policies", PolicyPopped(argument="kettle")) == []


@browser
@pytest.mark.parametrize(
    ("wanted", "steps"),
    [
        (ActionChosen(action="click"), [1, 2]),
        (ActionChosen(target="delete*"), [1, 2]),
        (ActionChosen(target='button "Delete'), [1, 2]),
        (ActionChosen(text="ada"), [4]),
        (ActionChosen(action="type", target="Name", text="Ada*", url="*/clumsy.html"), [4]),
        (ActionChosen(), [1, 2, 4, 5]),
        (ActionChosen(action="click", text="ada"), []),
        (ActionChosen(url="https://"), []),
        (ActionChosen(target="Send"), []),
    ],
)
def test_an_action_hits_before_it_is_reviewed_where_all_that_is_given_fits(stored, wanted, steps):
    hits = stored.hits("clumsy", wanted)
    assert [one.step for one in hits] == steps
    assert {(one.where, one.phase) for one in hits} <= {("before", "review")}


@browser
def test_an_action_of_a_state_and_the_call_of_a_policy_are_named_as_they_are_offered(stored):
    (bought,) = stored.hits("shopping", ActionChosen(action="buy_*"))
    assert bought.sentence.startswith("buy_now [")
    assert stored.steps("policies", ActionChosen(action="search_shop", text="steel")) == [1]


@browser
def test_permissible_actions_hit_where_they_begin_or_cease_to_contain_something(stored):
    assert stored.steps("shopping", PermissibleChanged(action="buy_now")) == [3]
    assert stored.steps("shopping", PermissibleChanged(action="buy_now", contains=False)) == [1]
    assert stored.steps("shopping", PermissibleChanged(action="search", contains=False)) == [2]
    (delete,) = stored.hits("clumsy", PermissibleChanged(action="click", target="Delete*"))
    assert (delete.step, delete.phase) == (1, "recognise")
    assert "Delete all" in delete.sentence
    assert stored.hits("clumsy", PermissibleChanged(action="click", target="Send")) == []


@browser
def test_a_step_that_is_not_aligned_hits_with_what_was_said_of_it(stored):
    hits = stored.hits("mended", NotAligned())
    assert [(one.step, one.phase) for one in hits] == [(1, "align"), (3, "align")]
    assert "which holds no orders" in hits[0].sentence
    assert stored.hits("clumsy", NotAligned()) == []


@browser
def test_a_remedy_is_fired_once_with_going_back_for_it(stored):
    (fired,) = stored.hits("mended", RemedyFired())
    assert (fired.step, fired.where, fired.phase) == (2, "after", "decide")
    assert 'link "Help"' in fired.sentence
    assert stored.hits("shopping", RemedyFired()) == []


@browser
def test_a_plan_hits_where_it_is_revised_and_not_where_it_is_made(stored):
    (revised,) = stored.hits("mended", PlanRevised())
    assert (revised.step, revised.phase) == (5, "decide")
    assert "1. Click the third link" in revised.sentence
    assert stored.hits("clumsy", PlanRevised()) == []


@browser
def test_exemplars_that_are_far_away_hit_where_they_are_recalled(stored):
    (far,) = stored.hits("trajectories", RetrievalFar(above=0.01))
    assert (far.step, far.where, far.phase) == (1, "after", "recall")
    assert re.search(r"is [\d.]+ away, above 0.01", far.sentence)
    assert stored.hits("trajectories", RetrievalFar(above=2)) == []
    assert stored.hits("clumsy", RetrievalFar(above=0)) == []


@browser
def test_the_same_action_on_the_same_page_is_a_loop(stored):
    (again,) = stored.hits("clumsy", Loop())
    assert (again.step, again.where, again.phase) == (2, "before", "review")
    assert 'click [button "Delete all"]' in again.sentence
    assert "it was done at step 1" in again.sentence
    # A second trial begins with nothing done.
    assert stored.hits("mended", Loop()) == []


@browser
@pytest.mark.parametrize(
    ("figure", "above", "step", "place"),
    [
        ("tokens", 250, 3, ("after call", "decide")),
        ("calls", 2, 3, ("before call", "decide")),
        ("steps", 3, 4, ("before", "observe")),
        ("page actions", 2, 4, ("after", "act")),
    ],
)
def test_a_figure_hits_once_where_it_passes_the_value(stored, figure, above, step, place):
    (passed,) = stored.hits("clumsy", FigureAbove(figure=figure, above=above))
    assert (passed.step, (passed.where, passed.phase)) == (step, place)
    assert f"above {above}" in passed.sentence


@browser
def test_a_figure_that_is_never_passed_does_not_hit(stored):
    for figure in ("cost", "tokens", "steps", "seconds", "calls", "page actions"):
        assert stored.hits("clumsy", FigureAbove(figure=figure, above=1e6)) == []
    assert stored.steps("clumsy", FigureAbove(figure="seconds", above=0)) == [1]


@browser
@pytest.mark.parametrize(
    ("of", "steps"), [("any", [1, 2, 3, 4]), ("action", [1, 2]), ("reply", [3]), ("call", [4]), ("crash", [])]
)
def test_failures_hit_by_what_has_failed_and_once_each(stored, of, steps):
    assert stored.steps("clumsy", Failure(of=of)) == steps


@browser
def test_a_failure_says_what_failed(stored):
    action, _, reply, asked = stored.hits("clumsy", Failure())
    assert "in the way" in action.sentence
    assert reply.sentence.startswith("The LLM's reply could not be used: ")
    assert "out of order" in asked.sentence


@browser
def test_an_llm_call_hits_by_its_purpose_before_or_after_it(stored):
    first, second = stored.hits("mended", LLMCall(purpose="remedies"))
    assert (first.step, first.where, first.phase) == (1, "before call", "anticipate")
    assert first.sentence == "LLM call 3 (remedies) is about to be made."
    assert second.step == 5
    (review,) = stored.hits("mended", LLMCall(purpose="review", when="after"))
    assert (review.where, review.phase) == ("after call", "decide")
    assert len(stored.hits("mended", LLMCall())) == 13
    assert stored.hits("mended", LLMCall(purpose="judgement")) == []


@browser
def test_a_condition_hits_where_it_becomes_true_and_not_again_until_it_was_false(stored):
    (third,) = stored.hits("shopping", Condition(expression="step.number == 3"))
    assert (third.where, third.phase) == ("before", "observe")
    assert third.sentence == "step.number == 3 has become true."
    hits = stored.hits(
        "mended", Condition(expression="judgement.aligned is not None and not judgement.aligned")
    )
    assert [one.step for one in hits] == [1, 3]
    buttons = Condition(
        expression='any(e.role == "button" and contains(e.name, "buy") for e in page.elements)'
    )
    assert stored.steps("shopping", buttons) == [3]
    assert stored.hits("shopping", Condition(expression="policy.depth > 0")) == []


@browser
def test_a_further_condition_has_to_be_true_as_well(stored):
    click = ActionChosen(action="click", condition="step.number > 1")
    assert stored.steps("clumsy", click) == [2]
    assert stored.steps("clumsy", ActionChosen(action="click", condition="policy.depth > 1")) == []


@browser
def test_an_expression_that_fails_says_so(stored):
    wrong = ActionChosen(condition="thought > 3")
    with pytest.raises(UsageError, match="text and a number cannot be compared"):
        stored.hits("clumsy", wrong)


def live(run_row):
    tracker = EventTracker(run_row)
    tracker.begin_step(1)
    tracker.before("act")
    return tracker


@pytest.mark.parametrize(
    ("request_", "url", "hits"),
    [
        (Sent(method="POST", url="https://a.example/cart"), "", True),
        (Sent(method="delete", url="https://a.example/cart"), "*/cart", True),
        (Sent(method="GET", url="https://a.example/cart"), "", False),
        (Sent(method="OPTIONS", url="https://a.example/cart"), "", False),
        (Sent(method="POST", url="https://a.example/cart"), "pay", False),
        (Sent(method="GET", url="wss://a.example/feed", socket=True), "feed", True),
    ],
)
def test_a_request_hits_where_it_sends_something(run_row, request_, url, hits):
    sentence = RequestBegins(url=url).reason(live(run_row).request(request_))
    assert (sentence is not None) is hits
    assert sentence is None or request_.url in sentence


def test_a_crash_outside_of_an_action_is_a_failure(run_row):
    tracker = live(run_row)
    crash = tracker.browser_event(BrowserEvent(kind="crash", text="The page ran out of memory."))
    assert "ran out of memory" in Failure(of="crash").reason(crash)
    assert Failure().reason(tracker.browser_event(BrowserEvent(kind="download", text="a.pdf"))) is None


def test_a_call_that_a_person_withdrew_is_no_failure(run_row, call_record):
    tracker = live(run_row)
    withdrawn = call_record.replace(error="cancelled: another LLM was chosen")
    assert Failure().reason(tracker.after_call(withdrawn)) is None


def test_a_cost_hits_once_at_the_call_that_passes_it(run_row, call_record):
    tracker = live(run_row)
    dear = call_record.replace(cost=0.3)
    asked = [tracker.after_call(dear.replace(number=number)) for number in (1, 2, 3)]
    reasons = [FigureAbove(figure="cost", above=0.5).reason(event) for event in asked]
    assert reasons == [None, "The cost of the run reached 0.6, above 0.5.", None]


def test_another_action_that_a_person_put_in_its_stead_hits_before_it_is_carried_out(run_row, a_step):
    (click, back), records = a_step
    tracker = EventTracker(run_row)
    tracker.begin_step(1)
    asked = []
    for record in records:
        asked += [tracker.before(record.phase), tracker.after(record)]
    by_name = {
        name: [event.phase for event in asked if ActionChosen(action=name).reason(event)]
        for name in (click.name, back.name)
    }
    assert by_name == {"click": ["review"], "go_back": ["act"]}


def test_a_phase_done_again_leaves_nothing_of_the_first_time(run_row, a_step):
    _, records = a_step
    tracker = EventTracker(run_row)
    tracker.begin_step(1)
    for record in records:
        tracker.after(record)
    again = tracker.after(Decided(proposal=Proposal(problem="no action")))
    assert [record.phase for record in again.step.records] == list(PHASES[:5])
    assert again.step.get(Observed) is not None
    assert again.step.get(Recognised) is not None
    assert again.step.action is None


@pytest.mark.parametrize(
    ("pattern", "text", "whole", "expected"),
    [
        ("", "anything", True, True),
        ("item", "Item", True, True),
        ("item", "items", True, False),
        ("item*", "items", True, True),
        ("save", "Save the draft", False, True),
        ("save", "Delete", False, False),
        ("[3]*", "[3] items", False, True),
        ("it?m", "ITEM", True, True),
        ("a*" * 30 + "b", "a" * 5000, False, False),
    ],
)
def test_names_are_whole_or_globs_and_other_text_is_looked_for_within(pattern, text, whole, expected):
    assert fits(pattern, text, whole=whole) is expected
