"""Bisect: which steps are tried, and from which a run has succeeded."""

from collections.abc import Iterator

import pytest

from core.debugger.attach.views import AttachRequest
from core.debugger.evaluations.bisection import bisect_plan, bisected, chosen_steps
from core.debugger.evaluations.matrix import matrix_of
from core.debugger.evaluations.records import BisectRequest, EvaluationPlan, Variant
from core.debugger.evaluations.selection import read_steps
from core.schema.errors import UsageError
from core.schema.task import Verdict
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import create_evaluation
from core.trace.records import ATTACHED_NAME, Case, CaseAttempt, StepRow
from core.trace.store import TraceStore
from tests.core.trace.making import start


def steps(count: int) -> tuple[StepRow, ...]:
    return tuple(StepRow(run=1, number=number) for number in range(1, count + 1))


@pytest.fixture
def store(tmp_path) -> Iterator[TraceStore]:
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


def branches(store: TraceStore, run: int, **ends: str) -> EvaluationPlan:
    """Write a bisection; by the step, ``+`` is a success, ``-`` none and ``?`` was not judged."""
    variants = tuple(
        Variant(preset="plain", llm="rules", title=f"from {name}", run=run, step=int(name.strip("s")))
        for name in ends
    )
    plan = EvaluationPlan(kind="bisect", run=run, variants=variants, tasks=("t",), seeds=(0,), times=9)
    number = create_evaluation(store, str(ends), plan.model_dump_json())
    for variant, signs in zip(variants, ends.values(), strict=True):
        for time, sign in enumerate(signs, start=1):
            case = Case(variant=variant.name, task="t", seed=0, time=time)
            made = store.begin_run(start().replace(attempt=CaseAttempt(evaluation=number, case=case)))
            verdict = Verdict(success={"+": True, "-": False, "?": None}[sign])
            store.end_run(made, outcome="done", verdict=verdict, seconds=1, seconds_in_llm=0)
    return plan


def test_steps_are_those_wanted_or_spread_from_the_first_to_the_last() -> None:
    assert chosen_steps(steps(3), ()) == (1, 2, 3)
    assert chosen_steps(steps(30), ()) == (1, 5, 9, 13, 18, 22, 26, 30)
    assert chosen_steps(steps(30), (), every=10) == (1, 11, 21)
    assert chosen_steps(steps(30), (7, 2, 7)) == (2, 7)
    with pytest.raises(UsageError, match="no step 9; its steps are 1 to 3"):
        chosen_steps(steps(3), (9,))
    with pytest.raises(UsageError, match="no steps"):
        chosen_steps((), ())


def test_steps_are_read_as_they_are_written() -> None:
    assert read_steps("1, 3,5-7 6") == (1, 3, 5, 6, 7)
    assert read_steps("") == ()
    for wrong in ("x", "3-", "-2", "5-3", "1-999999999"):
        with pytest.raises(UsageError, match="is not a step"):
            read_steps(wrong)


def test_the_last_bisection_that_found_a_success_says_how_often_each_step_succeeded(store) -> None:
    run, other = store.begin_run(start()), store.begin_run(start())
    assert bisected(store, run) == {}
    branches(store, run, s1="++-", s2="+-?", s5="--")
    branches(store, run, s1="--")
    branches(store, other, s1="+")
    found = bisected(store, run)
    assert {step: (share.successes, share.judged) for step, share in found.items()} == {
        1: (2, 3),
        2: (1, 2),
        5: (0, 2),
    }


def test_the_matrix_of_a_bisection_has_a_row_for_each_step(store) -> None:
    run = store.begin_run(start())
    plan = branches(store, run, s1="+-", s3="+?")
    matrix = matrix_of(plan, evaluated_runs(store, 1))
    assert [(row.task, row.cells[0].successes, row.cells[0].judged) for row in matrix.rows] == [
        ("from s1", 1, 2),
        ("from s3", 1, 1),
    ]
    assert (len(matrix.columns), matrix.rows_are) == (1, "Step")
    assert len(matrix.counted) == 4


def test_a_run_without_steps_cannot_be_bisected(store) -> None:
    with pytest.raises(UsageError, match="no steps to go back to"):
        bisect_plan(BisectRequest(run=store.begin_run(start())), store)


def test_a_program_whose_value_is_not_stored_is_not_bisected_and_another_preset_is(store) -> None:
    asked = AttachRequest(command=("env", "TOKEN=[key]", "sh"))
    run = store.begin_run(start().replace(preset=ATTACHED_NAME, preset_text=asked.model_dump_json()))
    store.begin_step(run, 1, agent=b"{}")
    with pytest.raises(UsageError, match="in place of a value that is not stored"):
        bisect_plan(BisectRequest(run=run), store)
    assert bisect_plan(BisectRequest(run=run, preset="plain"), store).variants[0].preset == "plain"
