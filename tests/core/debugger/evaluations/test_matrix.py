"""Results arranged as a matrix, and the step that decided how a run ended."""

import pytest

from core.debugger.evaluations.comparison import NOT_COMPARED
from core.debugger.evaluations.matrix import matrix_of
from core.debugger.evaluations.records import EvaluationPlan, Variant
from core.trace.records import EvaluatedRun

A, B = Variant(preset="plain", llm="rules"), Variant(preset="laser", llm="rules")
PLAN = EvaluationPlan(variants=(A, B), tasks=("x/tab-1", "x/tab-2", "x/mail"), seeds=(0, 1))


def tried(run: int, variant: Variant, task: str, seed: int, success: bool | None, **more) -> EvaluatedRun:
    values = {"attempt": 1, "time": 1, "outcome": "done", **more}
    return EvaluatedRun(variant=variant.name, task=task, seed=seed, run=run, success=success, **values)


TRIES = (
    tried(1, A, "x/tab-1", 0, True),
    tried(2, B, "x/tab-1", 0, False),
    tried(3, A, "x/tab-1", 1, False),
    tried(4, B, "x/tab-1", 1, True),
    tried(5, A, "x/tab-2", 0, False),
    tried(6, B, "x/tab-2", 0, None, outcome="error"),
    tried(7, B, "x/tab-2", 0, True, attempt=2),
    tried(8, A, "x/mail", 0, None, outcome="running"),
)


def test_a_row_has_the_successes_of_each_variant_and_what_flipped_between_two():
    matrix = matrix_of(PLAN, TRIES)
    tab, other, mail = matrix.rows
    assert [(one.successes, one.judged) for one in tab.cells] == [(1, 2), (1, 2)]
    assert (tab.change.to_success, tab.change.to_failure, tab.change.difference) == (1, 1, 0.0)
    assert (other.change.to_success, other.change.difference) == (1, 1.0)
    assert [one.cases for one in mail.cells] == [0, 0]
    assert mail.change.difference is None
    assert [(one.successes, one.judged) for one in matrix.totals.cells] == [(1, 3), (2, 3)]
    assert "3 flipped" in matrix.sentences[0]


def test_families_sum_their_tasks():
    matrix = matrix_of(PLAN, TRIES)
    assert [row.family for row in matrix.families] == ["tab", "mail"]
    assert [(one.successes, one.judged) for one in matrix.families[0].cells] == [(1, 3), (2, 3)]


def test_a_cell_has_the_tries_that_do_not_count_too():
    matrix = matrix_of(PLAN, TRIES)
    assert [one.run for one in matrix.tries["x/tab-2", 1]] == [6, 7]
    assert matrix.counted == {1, 2, 3, 4, 5, 7}


def test_of_one_variant_nothing_is_compared():
    matrix = matrix_of(PLAN.replace(variants=(A,)), TRIES)
    assert matrix.totals.change is None
    assert matrix.sentences == ()


def test_failures_done_again_stand_beside_what_they_were_with_what_flipped():
    failed = [case for variant, case in PLAN.cases() if (variant, case.task, case.seed) == (A, "x/tab-1", 1)]
    again = PLAN.again("first", failed)
    matrix = matrix_of(again, (tried(9, A, "x/tab-1", 1, True),), TRIES)
    assert [column.title for column in matrix.columns] == ["plain, rules, before", "plain, rules"]
    (row,) = matrix.rows
    assert [(one.successes, one.judged) for one in row.cells] == [(0, 1), (1, 1)]
    assert (row.change.to_success, row.change.to_failure) == (1, 0)
    assert row.change.difference is None  # The cases were chosen by their failure.
    assert matrix.sentences == (
        "plain, rules: 1 of 1 failure now succeed. Some would without any change: to compare, run all cases.",
    )
    assert row.failures == 0
    assert [one.run for one in matrix.tries["x/tab-1", 0]] == [3]


def test_only_earlier_failures_of_a_variant_are_told_to_succeed_now():
    """Other variants do the failures of all: what the earlier evaluation has not is beside nothing."""
    failed = [case for _, case in PLAN.cases() if case.task == "x/tab-1"]
    new = Variant(preset="step", llm="rules")
    now = (
        tried(9, A, "x/tab-1", 0, False),
        tried(10, A, "x/tab-1", 1, True),
        tried(11, new, "x/tab-1", 0, True),
    )
    matrix = matrix_of(PLAN.again("first", failed, (A, new)), now, TRIES)
    assert [column.title for column in matrix.columns] == [
        "plain, rules, before",
        "plain, rules",
        "step, rules",
    ]
    told, note = matrix.sentences
    assert told.startswith("plain, rules: 1 of 1 failure now succeed; of 1 earlier success, 1 failed.")
    assert note == NOT_COMPARED
    assert (matrix.totals.change.to_success, matrix.totals.change.to_failure) == (1, 1)


@pytest.mark.parametrize(
    "plan", [PLAN.again("deleted", [case for _, case in PLAN.cases()]), PLAN.replace(kind="repair")]
)
def test_variants_are_not_compared_on_cases_that_were_chosen_by_what_runs_came_to(plan):
    matrix = matrix_of(plan, TRIES)
    assert matrix.sentences == (NOT_COMPARED,)
    assert matrix.totals.change is None


def test_the_cost_of_a_cell_is_that_of_all_its_tries():
    tries = (
        tried(1, A, "x/mail", 0, None, outcome="error", cost=0.5),
        tried(2, A, "x/mail", 0, True, attempt=2, cost=0.25),
        tried(3, A, "x/mail", 1, None, outcome="interrupted", cost=1.0),
        tried(4, A, "x/mail", 1, True, touched=True, cost=2.0),
    )
    (cell, _) = matrix_of(PLAN, tries).totals.cells
    assert (cell.cost, cell.cases, cell.touched) == (3.75, 2, 1)
