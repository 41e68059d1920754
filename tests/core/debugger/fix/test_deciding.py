"""The step that is proposed for a run, by its rows alone."""

import pytest

from core.debugger.causes.kinds.limits import loop_of
from core.debugger.evaluations.records import EvaluationPlan, Variant
from core.debugger.fix.deciding import _bisected
from core.debugger.fix.service import measured_family
from core.schema.task import Verdict
from core.trace.evaluations import create_evaluation
from core.trace.records import Case, CaseAttempt, StepRow
from tests.core.debugger.evaluations.test_bisection import branches, store
from tests.core.trace.making import start

__all__ = ["store"]


def steps(*actions: str, url: str = "http://shop/", **more) -> list[StepRow]:
    return [
        StepRow(run=1, number=number, action=action, url=url, phase="commit", outcome="done", **more)
        for number, action in enumerate(actions, start=1)
    ]


def reasons(clues) -> list[tuple[int, str]]:
    return [(one.step, one.reason) for one in clues]


@pytest.mark.parametrize(
    ("actions", "looped"),
    [
        (("goto [a]", "click [1]", "click [1]", "click [1]"), (2, 4)),
        (("click [9]", "click [1]", "click [2]", "click [1]", "click [2]", "click [1]", "click [2]"), (2, 7)),
        (("click [1]", "click [1]", "click [2]"), None),
        (("click [1]", "click [2]", "click [3]"), None),
        (("scroll [down]",) * 4, None),
        (("scroll [down]",) * 7, (1, 7)),
        ((), None),
    ],
)
def test_a_loop_is_what_is_done_three_times_on_the_same_page(actions, looped) -> None:
    assert loop_of(steps(*actions)) == looped


def test_a_bisection_names_the_last_step_from_which_branches_succeeded(store) -> None:
    run = store.begin_run(start())
    assert reasons(_bisected(store, store.run(run))) == []
    branches(store, run, s1="+++-", s2="++--", s3="----")
    (clue,) = _bisected(store, store.run(run))
    said = "Bisect: from here 2 of 4 branches still succeeded; from later steps none did."
    assert (clue.step, clue.reason) == (2, said)


def test_the_same_action_on_other_pages_is_no_loop() -> None:
    rows = [row.replace(url=f"http://shop/{row.number}") for row in steps(*["click [1]"] * 5)]
    assert loop_of(rows) is None


def test_the_latest_family_of_a_run_is_counted_on_each_side(store) -> None:
    failed = store.begin_run(start())
    assert measured_family(store, failed) is None
    for name, sides in (("first", {"before": "+", "after": "+"}), ("last", {"before": "-?", "after": "++"})):
        variants = tuple(Variant(preset="plain", llm="rules", title=side, run=failed) for side in sides)
        plan = EvaluationPlan(
            kind="family", run=failed, fixed=7, variants=variants, tasks=("t",), seeds=(1, 2)
        )
        number = create_evaluation(store, name, plan.model_dump_json())
        for side, signs in sides.items():
            for seed, sign in enumerate(signs, start=1):
                case = Case(variant=side, task="t", seed=seed)
                attempt = CaseAttempt(evaluation=number, case=case)
                run = store.begin_run(start(seed=seed).replace(attempt=attempt))
                verdict = Verdict(success={"+": True, "-": False, "?": None}[sign])
                store.end_run(run, outcome="done", verdict=verdict, seconds=1, seconds_in_llm=0)
    family = measured_family(store, failed)
    assert family is not None
    assert (family.name, family.fixed, family.seeds, family.done, family.total) == ("last", 7, 2, 4, 4)
    assert family.sentence == "0 of 1 before, 2 of 2 after"
