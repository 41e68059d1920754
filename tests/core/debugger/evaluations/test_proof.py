"""How a change is proved: which runs are made in which order, and what is said of them."""

from collections.abc import Callable
from itertools import product

import pytest

from core.debugger.evaluations import proof as proof_module
from core.debugger.evaluations.proof import cases_of, proof_of, repair_plan
from core.debugger.evaluations.proof_records import Candidate, Proof, Spot
from core.debugger.evaluations.records import EvaluationPlan, RepairRequest
from core.debugger.evaluations.sequential import ALPHA, ENOUGH, can_be_enough, evidence, least_pairs
from core.environments.registry import Environments
from core.schema.errors import UsageError
from core.schema.task import Verdict
from core.trace.evaluations import attempts_of, create_evaluation, evaluation_named
from core.trace.records import AttemptRow, Case, CaseAttempt
from core.trace.store import TraceStore
from tests.core.trace.making import start

TASK = "miniwob/click-test-2"
CHANGE = Candidate(what="a change", files={"prompts/plain/system.j2": "x"})
Plays = Callable[[Case], bool | None]
"""How a case would end."""


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "t.db")
    yield store
    store.close()


def made(
    store: TraceStore, success: bool | None, *, task: str = TASK, seed: int = 0, attempt=None, llm="gpt"
) -> int:
    run = store.begin_run(start("Press ONE.", task=task, seed=seed).replace(llm=llm, attempt=attempt))
    store.end_run(run, outcome="done", verdict=Verdict(success=success), seconds=1.0, seconds_in_llm=0.0)
    return run


def planned(store: TraceStore, candidates=(CHANGE,), *, task: str = TASK, **asked) -> EvaluationPlan:
    run = made(store, False, task=task, llm=asked.pop("llm", "gpt"))
    return repair_plan(RepairRequest(run=run, candidates=candidates, **asked), store, Environments())


def carried_out(
    store: TraceStore, plan: EvaluationPlan, plays: Plays, most: int = 1000
) -> tuple[list[Case], Proof]:
    """Make the runs that are left, one after the other; return all that were made, with what is said in the end."""
    row = evaluation_named(store, "mine")
    number = create_evaluation(store, "mine", plan.model_dump_json()) if row is None else row.number
    done = {one.attempt.case: one for one in attempts_of(store, number)}
    for following in cases_of(plan, done):
        assert following is not None  # Nothing is under way.
        _, case = following
        assert case not in done
        attempt = CaseAttempt(evaluation=number, case=case)
        run = made(store, plays(case), task=case.task, seed=case.seed, attempt=attempt)
        done[case] = AttemptRow(attempt=attempt, run=store.run(run))
        if len(done) == most:
            break
    else:
        assert next(cases_of(plan, done), None) is None  # The same command again makes no run.
    return list(done), proof_of(store, "mine", plan, "A limit was reached." if len(done) == most else "")


def with_it(case: Case) -> bool:
    return case.variant != "unchanged"


def test_a_change_that_mends_every_pair_is_proven_with_the_fewest_runs(store):
    passed = [made(store, True, seed=100 + number) for number in range(20)]
    cases, proof = carried_out(
        store, planned(store, others=12), lambda case: with_it(case) or case.seed >= 100
    )
    (candidate,) = proof.candidates
    assert len(passed) == 20
    assert candidate.outcome == "proven"
    assert candidate.sentence == "unchanged 0 of 5, changed 5 of 5, sealed 4 of 4, 12 of 12 others unharmed"
    assert len(cases) == 2 + 2 * 5 + 12 + 2 * 4
    assert proof.best == candidate


def test_sealed_cases_are_disjoint_from_all_others_and_looked_at_last(store):
    for number in range(20):
        made(store, True, seed=number + 50)
    plan = planned(store)
    assert plan.repair is not None
    sets = [set(plan.repair.choosing), set(plan.repair.sealed), set(plan.repair.others), {plan.repair.own}]
    assert sum(map(len, sets)) == len(set().union(*sets))
    cases, _ = carried_out(store, plan, lambda case: with_it(case) or case.seed >= 50)
    sealed = {(spot.task, spot.seed) for spot in plan.repair.sealed}
    assert {(case.task, case.seed) for case in cases[-2 * len(sealed) :]} == sealed


def test_a_change_that_fails_like_the_run_is_given_up_after_one_pair(store):
    cases, proof = carried_out(store, planned(store), lambda case: False)
    assert len(cases) == 2
    assert proof.candidates[0].outcome == "not mended"


def test_the_cost_of_a_proof_is_that_of_all_tries(store, monkeypatch):
    carried_out(store, planned(store), lambda case: False)
    counted = proof_module.evaluated_runs(store, 1)
    broken_off = counted[-1].replace(outcome="interrupted", run=1000)
    tries = [each.replace(cost=0.5) for each in (*counted, broken_off)]
    monkeypatch.setattr(proof_module, "evaluated_runs", lambda *asked: tries)
    told = proof_of(store, "mine", planned(store))
    assert (len(counted), told.runs, told.cost, told.candidates[0].cost) == (2, 2, 1.5, 1.5)


def test_a_change_that_helps_here_alone_is_not_proven(store):
    plan = planned(store)
    cases, proof = carried_out(store, plan, lambda case: with_it(case) and case.seed == 0)
    assert proof.candidates[0].outcome == "inconclusive"
    assert "It mends the failed run, and no other so far." in proof.candidates[0].why
    assert len(cases) < 2 + 2 * 8  # It stops where the pairs that are left could not be enough.


def test_a_change_that_breaks_what_passed_is_harmful_and_says_so_first(store):
    for number in range(3):
        made(store, True, seed=100 + number)
    broken = lambda case: case.seed < 100 if with_it(case) else case.seed >= 100  # noqa: E731
    plan = planned(store)
    cases, proof = carried_out(store, plan, broken)
    (candidate,) = proof.candidates
    assert candidate.outcome == "harmful"
    assert candidate.sentence.startswith("3 harmed, unchanged 0 of 5")
    assert "0 of 3 others unharmed" in candidate.sentence
    assert len(candidate.harmed) == 3
    assert proof.best is None
    assert not any(case.seed in {spot.seed for spot in plan.repair.sealed} for case in cases)


def test_once_it_is_known_to_harm_no_further_run_is_made(store):
    made(store, True, seed=100)
    plan = planned(store, pairs=30)
    first = plan.repair.choosing[0].seed
    cases, proof = carried_out(store, plan, lambda case: with_it(case) != (case.seed == first))
    (candidate,) = proof.candidates
    assert candidate.outcome == "harmful"
    assert candidate.sentence == "1 harmed, unchanged 1 of 5, changed 4 of 5"
    assert len(cases) == 2 + 2 * 5 + 2 * 2
    assert (cases[-1].seed, candidate.runs) == (first, len(cases))


def test_a_change_that_harms_sealed_cases_leaves_them_to_no_other(store):
    plan = planned(store, (CHANGE, CHANGE.replace(what="another")))
    sealed = {spot.seed for spot in plan.repair.sealed}
    bad = min(sealed)
    cases, proof = carried_out(store, plan, lambda case: with_it(case) != (case.seed == bad))
    assert [each.outcome for each in proof.candidates] == ["harmful", "not tried"]
    assert {case.variant for case in cases if case.seed in sealed} == {"unchanged", "change 1"}


def test_a_proof_that_is_gone_on_with_opens_no_further_sealed_case_once_it_is_known_to_harm(store):
    plan = planned(store)
    bad = plan.repair.sealed[0].seed
    plays = lambda case: with_it(case) != (case.seed == bad)  # noqa: E731
    begun, _ = carried_out(store, plan, plays, most=2 + 2 * 5 + 2)
    assert {case.seed for case in begun[-2:]} == {bad}
    cases, proof = carried_out(store, plan, plays)
    assert {case.seed for case in cases[len(begun) :]} == {bad}
    assert proof.candidates[0].outcome == "harmful"


def test_what_differs_and_was_not_made_again_is_told_and_is_not_unharmed(store):
    """Five cases differ by chance, and four are made again."""
    for number in range(5):
        made(store, True, seed=100 + number)
    once = lambda case: case.seed >= 100 and case.time == 1  # noqa: E731
    plays = lambda case: not with_it(case) if once(case) else with_it(case) or case.seed >= 100  # noqa: E731
    _, proof = carried_out(store, planned(store), plays)
    (candidate,) = proof.candidates
    assert candidate.outcome == "inconclusive"
    assert candidate.sentence.startswith("4 failed by chance, 1 failed and not made again, ")
    assert candidate.sentence.endswith(" 4 of 5 others unharmed")
    assert len(candidate.unclear) == 1


@pytest.mark.parametrize("seed", [1, 9, 100])
def test_what_fails_once_with_the_change_and_not_again_keeps_no_proof_away(store, seed):
    """A case to choose by, a sealed one, and one that passed before."""
    made(store, True, seed=100)
    plan = planned(store, pairs=8 if seed > 1 else 14)
    sets = {1: plan.repair.choosing, 9: plan.repair.sealed, 100: plan.repair.others}
    assert seed in [spot.seed for spot in sets[seed]]

    def plays(case: Case) -> bool:
        by_chance = case.seed == seed and case.time == 1
        return not with_it(case) if by_chance else with_it(case) or case.seed == 100

    cases, proof = carried_out(store, plan, plays)
    (candidate,) = proof.candidates
    assert candidate.outcome == "proven"
    assert candidate.sentence.startswith("1 failed by chance, ")
    assert (candidate.harmed, len(candidate.differs)) == ((), 1)
    assert len([case for case in cases if case.seed == seed]) == 4
    assert len(cases) <= plan.total


def test_harm_that_could_not_be_looked_at_again_is_neither_harm_nor_none(store):
    made(store, True, seed=100)
    plan = planned(store)

    def plays(case: Case) -> bool | None:
        if case.seed == 100:
            return None if case.time > 1 else not with_it(case)
        return with_it(case)

    cases, proof = carried_out(store, plan, plays)
    assert proof.candidates[0].outcome == "inconclusive"
    assert "not all were made again" in proof.candidates[0].why
    assert not any(case.seed in {spot.seed for spot in plan.repair.sealed} for case in cases)


def test_a_second_repair_of_a_run_learns_nothing_from_the_runs_with_the_first_change(store):
    for number in range(3):
        made(store, True, seed=100 + number)
    plan = planned(store)
    run = plan.run
    carried_out(store, plan, lambda case: case.seed < 100 if with_it(case) else case.seed >= 100)
    again = repair_plan(RepairRequest(run=run, candidates=(CHANGE,)), store, Environments())
    assert {spot.seed for spot in again.repair.others} == {100, 101, 102}


def test_sealed_cases_of_a_run_are_not_taken_a_second_time(store):
    plan = planned(store)
    carried_out(store, plan, with_it)
    again = repair_plan(RepairRequest(run=plan.run, candidates=(CHANGE,)), store, Environments())
    spots = {*again.repair.choosing, *again.repair.sealed}
    assert len(spots) == 12
    assert spots.isdisjoint(plan.repair.sealed)


def test_harm_that_could_not_be_looked_at_is_not_called_unharmed(store):
    made(store, True, seed=100)
    _, proof = carried_out(
        store,
        planned(store),
        lambda case: None if case.seed == 100 and not with_it(case) else with_it(case) and case.seed < 100,
    )
    assert (proof.candidates[0].outcome, proof.best) == ("inconclusive", None)


def test_with_too_few_cases_to_choose_by_it_is_mended_at_best(store):
    run = made(store, False, task="airline/book-flight", llm="rules")
    request = RepairRequest(run=run, candidates=(CHANGE,))
    plan = repair_plan(request, store, Environments())
    few = plan.replace(repair=plan.repair.replace(choosing=(), sealed=plan.repair.sealed[:2]))
    _, proof = carried_out(store, few, with_it)
    assert proof.candidates[0].outcome == "mended"
    assert "fewer than 5 other cases" in proof.candidates[0].why


def test_with_too_few_cases_nothing_is_said_of_a_change_without_which_the_run_succeeds_as_well(store):
    run = made(store, False, task="airline/book-flight", llm="rules")
    plan = repair_plan(RepairRequest(run=run, candidates=(CHANGE,)), store, Environments())
    few = plan.replace(repair=plan.repair.replace(choosing=(), sealed=plan.repair.sealed[:2]))
    _, proof = carried_out(store, few, lambda case: True)
    assert (proof.candidates[0].outcome, proof.candidates[0].why) == (
        "inconclusive",
        "The failed run succeeds without it as well.",
    )


def test_what_fails_with_and_without_the_change_is_not_harmed_by_it(store):
    made(store, True, seed=100)
    _, proof = carried_out(store, planned(store), lambda case: with_it(case) and case.seed < 100)
    assert proof.candidates[0].outcome == "proven"
    assert proof.candidates[0].harmed == ()


def test_the_next_candidate_is_tried_where_one_fails_and_none_after_the_first_that_is_chosen(store):
    candidates = tuple(CHANGE.replace(what=f"change {number}") for number in range(1, 4))
    cases, proof = carried_out(store, planned(store, candidates), lambda case: case.variant == "change 2")
    assert [each.outcome for each in proof.candidates] == ["not mended", "proven", "not tried"]
    assert not any(case.variant == "change 3" for case in cases)


def test_a_limit_leaves_it_inconclusive_and_says_why(store):
    _, proof = carried_out(store, planned(store), with_it, most=5)
    assert (proof.candidates[0].outcome, proof.candidates[0].why) == (
        "inconclusive",
        "The evidence is 1.9 to 1 of 20 to 1 that is asked. A limit was reached.",
    )


def test_a_change_that_a_limit_left_no_run_for_is_not_tried(store):
    plan = planned(store, (CHANGE, CHANGE.replace(what="another")))
    _, proof = carried_out(store, plan, lambda case: False, most=2)
    assert [each.outcome for each in proof.candidates] == ["not mended", "not tried"]
    assert proof.candidates[1].why == "A limit was reached."


def test_a_change_that_does_not_hold_on_the_sealed_cases_is_not_proven(store):
    plan = planned(store)
    assert plan.repair is not None
    sealed = {spot.seed for spot in plan.repair.sealed}
    _, proof = carried_out(store, plan, lambda case: with_it(case) and case.seed not in sealed)
    assert proof.candidates[0].outcome == "mended"
    assert "On the sealed cases it mends 0 of 4 failures." in proof.candidates[0].why


def test_a_task_without_seeds_is_proved_by_failures_with_the_same_cause_and_by_tasks_like_it(store):
    alike = made(store, False, task="shop/goal-008")
    plan = planned(store, task="shop/goal-013", alike=(alike,))
    assert plan.repair is not None
    spots = (*plan.repair.choosing, *plan.repair.sealed)
    assert spots[0].task == "shop/goal-008"
    assert all(spot.task.startswith("shop/goal-") and spot.task != "shop/goal-013" for spot in spots)
    assert len(spots) == 12


def test_seeds_at_which_the_task_always_failed_go_before_others(store):
    for seed, success in ((70, False), (80, True), (80, False), (90, False), (60, None)):
        made(store, success, seed=seed)
    made(store, False, task="miniwob/click-test", seed=50)
    plan = planned(store)
    assert plan.repair is not None
    assert {(spot.task, spot.seed) for spot in plan.repair.choosing[:2]} == {(TASK, 70), (TASK, 90)}
    assert [spot.seed for spot in (*plan.repair.choosing[2:], *plan.repair.sealed)] == list(range(1, 11))


def test_a_change_that_breaks_other_seeds_is_not_proven_by_those_that_always_failed(store):
    for seed in range(1, 13):
        made(store, False, seed=seed)
    plan = planned(store)
    assert plan.repair is not None
    assert [spot.seed <= 12 for spot in plan.repair.choosing] == [True] * 4 + [False] * 4
    assert all(spot.seed > 12 for spot in plan.repair.sealed)

    def mends_some_and_breaks_others(case: Case) -> bool:
        return with_it(case) == (case.seed <= 12)

    _, proof = carried_out(store, plan, mends_some_and_breaks_others)
    assert proof.candidates[0].outcome in ("harmful", "inconclusive")


def test_a_task_without_seeds_that_passed_before_is_proved_by_what_passed_before(store):
    earlier = [f"shop/goal-{number:03}" for number in range(13)]
    for task in earlier:
        made(store, True, task=task)
    plan = planned(store, task=earlier[0])
    assert plan.repair is not None
    assert {spot.task for spot in (*plan.repair.choosing, *plan.repair.sealed)} == set(earlier[1:])
    assert plan.repair.others == ()
    _, proof = carried_out(store, plan, with_it)
    assert proof.candidates[0].outcome == "proven"


def test_what_ever_passed_may_prove_a_change_for_a_task_without_seeds(store):
    tasks = [f"shop/goal-{number:03}" for number in range(13)]
    for success in (True, False):  # All of them passed once, and failed since.
        for task in tasks:
            made(store, success, task=task)
    plan = planned(store, task=tasks[0])
    assert plan.repair is not None
    assert {spot.task for spot in (*plan.repair.choosing, *plan.repair.sealed)} == set(tasks[1:])


@pytest.mark.parametrize(("llm", "repeated"), [("gpt", True), ("rules", False)])
def test_a_task_with_nothing_like_it_is_repeated_unless_the_llm_always_answers_alike(store, llm, repeated):
    run = store.begin_run(start("Press ONE.", task="web", seed=0).replace(llm=llm))
    store.end_run(run, outcome="budget", verdict=Verdict(), seconds=1.0, seconds_in_llm=0.0)
    plan = repair_plan(RepairRequest(run=run, candidates=(CHANGE,)), store, Environments())
    assert plan.repair is not None
    assert plan.repair.repeated == repeated
    assert {spot.task for spot in plan.repair.choosing} == ({"web"} if repeated else set())


def test_what_a_candidate_was_made_from_is_in_none_of_the_sets(store):
    for number in range(1, 20):
        made(store, number % 2 == 0, seed=number)
    used = tuple(Spot(task=TASK, seed=seed) for seed in range(20))
    repair = planned(store, used=used).repair
    assert (len(repair.choosing), len(repair.sealed), repair.others, repair.repeated) == (8, 4, (), False)
    assert not {*repair.choosing, *repair.sealed} & set(used)


def test_a_case_that_a_candidate_was_made_from_is_not_repeated(store):
    task = "shop/goal-013"
    own = Spot(task=task, seed=0)
    used = (own, *(Spot(task=each.id, seed=0) for each in Environments().tasks()))
    repair = planned(store, task=task, used=used).repair
    assert (repair.choosing, repair.sealed, repair.repeated) == ((), (), False)


def test_runs_that_are_under_way_are_waited_for(store):
    plan = planned(store)
    order = cases_of(plan, {})
    assert [next(order) is not None for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    ("preset", "outcome", "success", "why"),
    [
        ("attached", "done", False, "is of an attached agent"),
        ("plain", "done", True, "succeeded, so there is nothing to mend"),
        ("plain", "", None, "has not ended yet"),
    ],
)
def test_a_run_that_nothing_can_be_proved_of_is_refused(store, preset, outcome, success, why):
    run = store.begin_run(start("Press ONE.", task=TASK, seed=0).replace(preset=preset, llm="gpt"))
    if outcome:
        store.end_run(run, outcome=outcome, verdict=Verdict(success=success), seconds=1.0, seconds_in_llm=0.0)
    with pytest.raises(UsageError, match=why):
        repair_plan(RepairRequest(run=run, candidates=(CHANGE,)), store, Environments())


@pytest.mark.parametrize("pairs", [5, 8, 12])
def test_a_change_without_effect_is_chosen_no_more_often_than_is_said(pairs):
    """Over all ways in which so many pairs can be won by half, with a look after each."""
    chosen = 0
    for ways in product((True, False), repeat=pairs):
        won = [ways[:count].count(True) for count in range(1, pairs + 1)]
        chosen += any(evidence(wins, count - wins) >= ENOUGH for count, wins in enumerate(won, 1))
    assert 0 < chosen / 2**pairs <= ALPHA


def test_the_fewest_pairs_are_enough_and_one_fewer_is_not():
    assert evidence(least_pairs(), 0) >= ENOUGH > evidence(least_pairs() - 1, 0)
    assert can_be_enough(0, 0, least_pairs())
    assert not can_be_enough(0, 1, least_pairs())
