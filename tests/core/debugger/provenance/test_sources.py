"""Where the words of a step come from, read from stored runs."""

import pytest

from core.debugger.provenance.service import offers, why
from core.debugger.provenance.views import WhyQuestion
from core.schema.action import Click, RefTarget, Type
from core.schema.exemplar import Exemplar, ExemplarStep, Recall
from core.schema.messages import Image, LLMReply, LLMRequest, Message, Tool
from core.schema.observation import CleanObservation
from core.schema.progress import Plan
from core.schema.step import (
    Abstracted,
    CallRecord,
    Decided,
    Observed,
    Proposal,
    Recalled,
    ReflectionRecord,
    RemedyRecord,
    Reviewed,
    Scheduled,
)
from core.trace.blobs import hash_of
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.store import TraceStore
from tests.core.trace.making import page, start


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


@pytest.fixture
def run(store):
    return store.begin_run(start("Buy a green lamp"))


def save_call(store, run, step, number, purpose, text, reply="", images=(), **more):
    message = Message(role="user", text=text, images=images)
    prompt = encode_prompt(LLMRequest(purpose=purpose, messages=(message,), **more))
    kept, blob = encode_reply(LLMReply(text=reply))
    call = CallRecord(
        number=number, step=step, purpose=purpose, llm="test", messages=prompt.hash, reply=kept, started=1.0
    )
    store.calls.save(run, call, blobs=(*prompt.blobs, blob))


def save_step(store, run, number, action, thought="", *, origin="agent", **decided):
    seen = page("Save", "Minton lamp, green")
    store.begin_step(run, number)
    store.save_phase(run, number, Observed(observation=seen))
    clean = CleanObservation(url=seen.url, elements=seen.elements, text=seen.lines())
    store.save_phase(run, number, Abstracted(clean=clean))
    proposal = Proposal(action=action, thought=thought)
    store.save_phase(run, number, Decided(proposal=proposal, **decided))
    store.save_phase(run, number, Reviewed(origin=origin, action=action, thought=thought))


def ask(store, run, text="", ref=None, step=1):
    return why(store, WhyQuestion(run=run, step=step, text=text, ref=ref))


def kinds(view):
    return [place.kind for place in view.places]


TYPE = Type(target=RefTarget(ref=2), text="green table lamp")


def test_arguments_target_and_thought_can_be_looked_for(store, run):
    save_step(store, run, 1, TYPE, "The lamp has to be green.")
    offered = [(one.text, one.ref) for one in offers(store.step(run, 1))]
    assert offered == [
        ("Minton lamp, green", 2),
        ("green table lamp", None),
        ("The lamp has to be green.", None),
    ]


def test_a_step_without_an_action_offers_nothing(store, run):
    save_step(store, run, 1, None)
    assert offers(store.step(run, 1)) == ()
    assert ask(store, run).places == ()


def test_what_stands_in_prompt_page_and_task_is_listed_with_its_place(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 3, "decide", 'Task: Buy a green lamp\n[2] button "Minton lamp, green"')
    view = ask(store, run, "Minton lamp")
    assert kinds(view) == ["prompt", "page", "clean observation"]
    prompt, seen, _ = view.places
    assert (prompt.lead.call, prompt.lead.part, prompt.how) == (3, "3.0", "exact")
    assert (seen.title, seen.lead.ref) == ("[2] button, name", 2)
    assert "The LLM was shown it" in view.verdict


def test_what_stands_nowhere_is_the_llms_own(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "decide", "Some prompt")
    view = ask(store, run, "zebra crossing")
    assert view.places == ()
    assert view.verdict.endswith("it is the LLM's own.")
    assert view.missing == ("zebra", "crossing")


def test_what_the_page_has_and_the_prompt_has_not_is_said(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "decide", "Some prompt")
    view = ask(store, run, "Minton lamp, green")
    assert view.verdict.startswith("The LLM was not shown it; it is in the page")


def test_the_element_that_is_meant_is_named_by_its_number(store, run):
    save_step(store, run, 1, Click(target=RefTarget(ref=2)))
    (place,) = ask(store, run, ref=2).places
    assert (place.how, place.lead.ref) == ("element", 2)
    assert "Minton lamp" in place.excerpt


def test_prompts_that_came_after_the_action_do_not_explain_it(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "decide", "Some prompt")
    save_call(store, run, 1, 2, "remedies", "The chosen action is type green table lamp")
    assert "prompt" not in kinds(ask(store, run, "green table lamp"))


def test_a_thought_repeated_in_the_next_call_is_the_llms_own(store, run):
    said = "It must be a zebra lamp."
    save_step(store, run, 1, TYPE, said)
    save_call(store, run, 1, 1, "rationale", "Think first.", reply=said)
    save_call(store, run, 1, 2, "function", f"Think first.\n{said}\nNow act.")
    view = ask(store, run, "zebra lamp")
    (place,) = view.places
    assert place.own
    assert "except in its own earlier reply" in view.verdict


def test_tools_are_a_part_of_what_was_shown(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "decide", "Hm", tools=(Tool(name="click", description="Press the zebra"),))
    (place,) = ask(store, run, "the zebra").places
    assert place.lead.part == "1.tools"


def test_the_schema_of_the_reply_is_a_part_of_what_was_shown(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "decide", "Hm", reply_schema={"description": "Press the zebra"})
    view = ask(store, run, "the zebra")
    (place,) = view.places
    assert (place.lead.part, place.title) == ("1.tools", "Call 1 (decide), JSON schema of the reply")
    assert view.verdict == "The LLM was shown it, exactly."


def test_what_may_be_in_a_picture_is_not_said_to_be_the_llms_own(store, run):
    save_step(store, run, 1, TYPE)
    pictures = (Image(data=b"one"), Image(data=b"other"))
    save_call(store, run, 1, 1, "rationale", "Some prompt", images=pictures)
    save_call(store, run, 1, 2, "function", "Some prompt", images=pictures)
    assert ask(store, run, "zebra crossing").verdict == (
        "It is in no text that the LLM was shown, and nothing else in the step contains it."
        " The LLM was also shown 2 pictures."
    )
    assert ask(store, run, "Minton lamp, green").verdict.startswith(
        "It is in no text that the LLM was shown; it is in the page"
    )


def test_what_may_be_in_a_call_that_cannot_be_read_is_not_said_to_be_the_llms_own(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "decide", "Some prompt")
    broken = b"{"
    call = CallRecord(number=2, step=1, purpose="decide", llm="test", messages=hash_of(broken), started=1.0)
    store.calls.save(run, call, blobs=[(broken, "application/json")])
    assert ask(store, run, "zebra crossing").verdict == (
        "It is in no readable text that the LLM was shown, and nothing else in the step contains it."
        " 1 LLM call cannot be read."
    )


def test_an_action_of_the_queue_is_looked_for_where_it_was_given(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "decide", "A zebra is wanted")
    save_step(store, run, 2, TYPE, from_queue=True)
    place = ask(store, run, "a ZEBRA", step=2).places[0]
    assert (place.lead.step, place.title, place.how) == (1, "Step 1, call 1 (decide), user message", "loose")


def test_a_remedy_is_looked_for_in_the_step_it_was_prepared_in(store, run):
    save_step(store, run, 1, TYPE)
    save_call(store, run, 1, 1, "remedies", "Other ways to the zebra?")
    reflection = ReflectionRecord(
        remedies=(RemedyRecord(number=4, step=1, action="click [1]", reason="zebra first"),)
    )
    scheduled = Scheduled(kind="remedy", entry=4)
    save_step(store, run, 2, TYPE, origin="remedy", scheduled=scheduled, reflection=reflection)
    assert kinds(ask(store, run, "zebra", step=2)) == ["prompt", "remedy"]


def test_plan_exemplars_and_earlier_steps_are_looked_in(store, run):
    exemplar = Exemplar(
        id="shop-1",
        family="shop",
        task="buy",
        steps=(ExemplarStep(observation="a zebra", actions=("stop",)),),
    )
    save_step(store, run, 1, TYPE, "a zebra, perhaps")
    plan = Plan.model_validate({"subtasks": [{"text": "Find a zebra"}]})
    save_step(store, run, 2, TYPE, reflection=ReflectionRecord(plan=plan))
    store.save_phase(run, 2, Recalled(recalled_at=2, recall=Recall(used=(exemplar,))))
    view = ask(store, run, "a zebra", step=2)
    assert kinds(view) == ["exemplar", "plan", "earlier step"]
    assert view.places[0].lead.exemplar == "shop-1"
    assert view.places[0].title == "shop-1, step 1, observation"
    assert view.places[2].lead.step == 1
    assert view.verdict.startswith("No LLM was asked for this action.")


def test_a_persons_action_is_said_to_be_theirs(store, run):
    save_step(store, run, 1, TYPE, origin="person")
    assert "it is their own" in ask(store, run, "zebra crossing").verdict
