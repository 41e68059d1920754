"""Which successes a failed run is compared with, and what is said of them."""

from pathlib import Path

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.causes.facts import FailureFacts
from core.debugger.causes.kinds.choice import ChoseOtherwise, SeedsDiffer
from core.debugger.causes.kinds.page import JudgedWrongly
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.changed import changed_runs
from core.debugger.evaluations.failures import deciding_step, own_successes
from core.debugger.evaluations.records import UNCHANGED, EvaluationPlan, Variant
from core.schema.action import Click, RoleTarget
from core.schema.changes import Changes
from core.schema.step import Acted, Aligned
from core.schema.task import Verdict
from core.trace.evaluations import create_evaluation, note_plan
from core.trace.records import Case, CaseAttempt
from core.trace.store import TraceStore
from tests.core.debugger.evaluations.test_report import store
from tests.core.trace.making import start, write_step

__all__ = ["store"]

TASK = "own/a"
PLAIN = Variant(preset="plain", llm="gpt")
FILES = {"prompts/plain/system.j2": "x"}


def run(
    store: TraceStore,
    *clicked: str,
    success: bool = True,
    made: Variant = PLAIN,
    evaluation: int = 0,
    seed: int = 0,
) -> int:
    """Write a run of a variant that clicks buttons of these names, one a step."""
    case = Case(variant=made.name, task=TASK, seed=seed)
    attempt = CaseAttempt(evaluation=evaluation, case=case) if evaluation else None
    given = start(task=TASK, seed=seed).replace(
        preset=made.preset, llm=made.llm, changes=made.changes, attempt=attempt
    )
    number = store.begin_run(given)
    for step, name in enumerate(clicked or ("Save",), start=1):
        write_step(store, number, step, action=Click(target=RoleTarget(role="button", name=name)))
        acted = Acted(effect="page action", outcome="done", target=f'button "{name}"')
        store.save_phase(number, step, acted)
    verdict = Verdict(success=success)
    store.end_run(number, outcome="done", verdict=verdict, seconds=1.0, seconds_in_llm=0.0)
    return number


def evaluation(store: TraceStore, *variants: Variant, name: str = "mine") -> int:
    plan = EvaluationPlan(variants=variants, tasks=(TASK,), seeds=(0,))
    return create_evaluation(store, name, plan.model_dump_json())


def facts(store: TraceStore, failed: int, folder: Path) -> FailureFacts:
    return FailureFacts(store, store.run(failed), agent_resources_of(folder), AgentFiles(folder))


def own(store: TraceStore, failed: int) -> list[int]:
    return [one.run for one in own_successes(store, store.run(failed))]


def test_runs_with_changed_files_are_no_successes_of_the_agent(store):
    change, same = PLAIN.replace(title="change 1", files=FILES), PLAIN.replace(title=UNCHANGED, files=FILES)
    number = evaluation(store, same, change)
    failed = run(store, "Delete", success=False)
    plain, unchanged = run(store), run(store, made=same, evaluation=number)
    changed = run(store, made=change, evaluation=number)
    assert changed_runs(store, [plain, unchanged, changed]) == {changed}
    assert own(store, failed) == [unchanged, plain]
    assert own(store, run(store, success=False, seed=1)) == [unchanged, plain]
    later = evaluation(store, change, name="later")
    again = run(store, made=change, evaluation=later)
    assert changed_runs(store, [again, plain]) == {again}  # What is known of others says nothing of it.
    assert own(store, failed) == [unchanged, plain]


def test_a_run_that_was_asked_to_be_otherwise_is_compared_with_others_of_the_same_first(store):
    without = PLAIN.replace(exemplars="none")
    number = evaluation(store, PLAIN, without)
    failed = run(store, success=False, made=without, evaluation=number)
    other = run(store, made=without, evaluation=number)
    plain = run(store, evaluation=number)
    assert changed_runs(store, [plain, other]) == {other}
    assert own(store, failed) == [other, plain]
    assert own(store, run(store, success=False)) == [plain]
    fewer = PLAIN.replace(asked=Changes(amounts={"history": 2}))
    assert own(store, run(store, success=False, made=fewer)) == [plain]


def test_chance_is_told_of_one_llm_alone(store, tmp_path):
    failed = run(store, "Delete", success=False)
    other = run(store, made=PLAIN.replace(llm="claude"))
    assert list(SeedsDiffer().find(facts(store, failed, tmp_path))) == []
    (otherwise,) = ChoseOtherwise().find(facts(store, failed, tmp_path))
    assert f"run {other}, a success with claude, chose" in otherwise.what
    for seed in range(1, 61):
        run(store, seed=seed)
    same = run(store)
    run(store, seed=61)
    (chance,) = SeedsDiffer().find(facts(store, failed, tmp_path))
    assert f"in run {same}. At this task and seed 1 of 2 runs succeeded." in chance.what
    (otherwise,) = ChoseOtherwise().find(facts(store, failed, tmp_path))
    assert f"run {same}, a success, chose" in otherwise.what


def test_another_judgement_is_told_with_the_llm_of_the_success(store, tmp_path):
    failed, other = run(store, success=False), run(store, made=PLAIN.replace(llm="claude"))
    for number, right in ((failed, False), (other, True)):
        store.save_phase(number, 1, Aligned(aligned=right, judged=True))
    (cause,) = JudgedWrongly().find(facts(store, failed, tmp_path))
    assert cause.what.endswith(
        f"was judged wrong; in run {other}, a success with claude, it was judged right."
    )


def test_runs_with_a_change_are_not_counted_as_chance(store, tmp_path):
    change = PLAIN.replace(title="change 1", files=FILES)
    number = evaluation(store, change)
    failed = run(store, "Delete", success=False)
    run(store)
    for _ in range(60):
        run(store, made=change, evaluation=number)
    (chance,) = SeedsDiffer().find(facts(store, failed, tmp_path))
    assert "1 of 2 runs succeeded" in chance.what


def test_a_run_with_a_change_is_compared_with_the_agent_as_it_is_and_counted_with_it(store, tmp_path):
    change = PLAIN.replace(title="change 1", files=FILES)
    number = evaluation(store, change)
    failed = run(store, "Delete", success=False, made=change, evaluation=number)
    plain = run(store)
    run(store, made=change, evaluation=number)
    assert own(store, failed) == [plain]
    (chance,) = SeedsDiffer().find(facts(store, failed, tmp_path))
    assert "1 of 2 runs succeeded" in chance.what


@pytest.mark.parametrize("in_evaluation", [False, True])
def test_a_run_is_held_against_successes_of_its_own_preset_if_there_are_any(store, tmp_path, in_evaluation):
    laser = Variant(preset="laser", llm="gpt")
    number = evaluation(store, PLAIN, laser) if in_evaluation else 0
    failed = run(store, "Open", "Delete", success=False, evaluation=number)
    run(store, "Find", "Save", made=laser, evaluation=number)
    assert deciding_step(store, store.run(failed)) == 1
    assert facts(store, failed, tmp_path).success is None  # It was not made by the same agent.
    assert facts(store, failed, tmp_path).instead is None
    run(store, "Open", "Save", evaluation=number)
    assert deciding_step(store, store.run(failed)) == 2
    assert facts(store, failed, tmp_path).at == 2


def test_variants_that_an_evaluation_gets_later_are_known_as_well(store):
    first, second = (PLAIN.replace(title=f"texts {at}", files={"a": str(at)}) for at in (1, 2))
    number = evaluation(store, first)
    made = run(store, made=first, evaluation=number)
    assert changed_runs(store, [made]) == {made}
    plan = EvaluationPlan(variants=(first, second), tasks=(TASK,), seeds=(0,))
    note_plan(store, number, plan.model_dump_json())
    later = run(store, made=second, evaluation=number)
    assert changed_runs(store, [made, later]) == {made, later}


def test_a_plan_that_cannot_be_read_leaves_its_runs_unchanged(store):
    number = create_evaluation(store, "damaged", "{")
    made = run(store, evaluation=number)
    assert changed_runs(store, [made]) == set()
