"""Which exemplars a step's prompt had, as its calls tell it."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.debugger.causes.facts import RunFacts
from core.debugger.causes.kinds.replies import ExemplarOfAnother
from core.debugger.causes.spectrum import suspicions_of
from core.debugger.evaluations.records import Subject
from core.debugger.evaluations.worth import used_in
from core.debugger.steps.view import recorded_step
from core.schema.action import Click, RefTarget
from core.schema.exemplar import Exemplar, Recall, Retrieved
from core.schema.messages import PromptPart, PromptView
from core.schema.observation import CleanObservation
from core.schema.step import CallRecord, Decided, Proposal, Recalled
from core.schema.task import Verdict
from core.trace.encoding import encode_prompt
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import create_evaluation
from core.trace.records import Case, CaseAttempt
from core.trace.store import TraceStore
from tests.core.trace.making import a_request, start

USED = tuple(
    Exemplar(
        id=id, family=f"family-{id}", task="Save it.", steps=({"observation": "", "actions": ["click [1]"]},)
    )
    for id in ("left-out", "shown")
)
NEAR = tuple(Retrieved(id=one.id, family=one.family, task=one.task, distance=0.1, used=True) for one in USED)
RECALLED = Recalled(
    exemplars=("left-out", "shown"), recalled_at=1, recall=Recall(query="q", retrieved=NEAR, used=USED)
)


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


def a_run(
    store, *parts: PromptPart, attempt=None, decided: bool = True, said: bool = True, recalled=RECALLED
) -> int:
    """Store a run of one step, whose prompt had these parts."""
    run = store.begin_run(start().replace(attempt=attempt))
    store.begin_step(run, 1)
    store.save_phase(run, 1, recalled)
    view = PromptView(objective="Save it.", observation=CleanObservation(url="")) if said else None
    prompt = encode_prompt(a_request("Act.").replace(tools=(), view=view, parts=parts))
    call = CallRecord(number=1, step=1, purpose="decide", llm="rules", messages=prompt.hash, started=1.0)
    store.calls.save(run, call, blobs=prompt.blobs)
    if decided:
        store.save_phase(run, 1, Decided(proposal=Proposal(thought="So be it.")))
    store.end_run(run, outcome="done", verdict=Verdict(success=False), seconds=1.0, seconds_in_llm=0.0)
    return run


SHOWN = PromptPart(kind="exemplar", id="shown", family="family-shown", message=1, messages=2)


def problems(store, run: int) -> dict[str, str]:
    return {row.id: row.problem for row in recorded_step(store, run, 1).exemplars.rows if row.used}


def test_an_exemplar_that_the_prompt_does_not_have_is_marked_as_left_out(store):
    found = problems(store, a_run(store, SHOWN))
    assert found["shown"] == ""
    assert found["left-out"].startswith("Left out of this step's prompt")


def test_one_that_a_person_added_although_it_was_left_out_of_the_lookup_is_in_the_prompt(store):
    near = (NEAR[0].replace(used=False, problem="It is new."), NEAR[1])
    recall = RECALLED.recall.replace(retrieved=near)
    parts = tuple(SHOWN.replace(id=one.id) for one in USED)
    found = problems(store, a_run(store, *parts, recalled=RECALLED.replace(recall=recall)))
    assert found == {"left-out": "", "shown": ""}


def test_where_it_is_not_known_what_the_prompt_had_none_is_marked(store):
    assert set(problems(store, a_run(store, said=False)).values()) == {""}
    assert set(problems(store, a_run(store, decided=False)).values()) == {""}


def test_a_run_has_used_only_what_its_prompts_had(store):
    run = a_run(store, SHOWN)
    names = ("shown", "left-out")
    assert [used_in(store, run, Subject(name=name)) for name in names] == [True, False]
    families = [Subject(kind="family", name=f"family-{name}") for name in names]
    assert [used_in(store, run, family) for family in families] == [True, False]
    assert used_in(store, a_run(store, said=False), Subject(name="left-out"))


def test_only_what_prompts_had_is_suspicious(store):
    evaluation = create_evaluation(store, "e", "{}")
    attempt = CaseAttempt(evaluation=evaluation, case=Case(variant="a", task="miniwob/save", seed=3))
    a_run(store, SHOWN, attempt=attempt)
    found = suspicions_of(store, evaluated_runs(store, evaluation))
    assert [one.name for one in found if one.kind == "exemplar"] == ["shown"]


def test_what_an_earlier_step_recalled_can_be_the_cause_of_a_later_mistake(store):
    run = a_run(store, SHOWN)
    store.begin_step(run, 2)
    store.save_phase(run, 2, Recalled(exemplars=RECALLED.exemplars, recalled_at=1))
    facts = RunFacts(store, store.run(run))
    assert [[one.id for one in facts.exemplars(step)] for step in (1, 2)] == [
        ["shown"],
        ["left-out", "shown"],
    ]
    failed: Any = SimpleNamespace(
        at=2, row=facts.row, action=lambda _step: Click(target=RefTarget(ref=1)), exemplars=facts.exemplars
    )
    (cause,) = ExemplarOfAnother().find(failed)
    assert (cause.step, cause.field, cause.why) == (2, "exemplar left-out", "Its steps have the very action.")
