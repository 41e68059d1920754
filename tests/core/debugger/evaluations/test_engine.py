"""The work of an evaluation, with lanes that make no run for real."""

import asyncio
from contextlib import suppress

import pytest

from core.debugger.evaluations.engine import Evaluator, opened
from core.debugger.evaluations.records import EvaluationPlan, RunLimits, Variant
from core.debugger.evaluations.report import report_of
from core.debugger.headless import report
from core.schema.errors import BrowserError, WorldError
from core.schema.task import Verdict
from core.trace.evaluated import evaluated_runs
from core.trace.store import TraceStore
from tests.core.trace.making import start

PLAN = EvaluationPlan(
    variants=(Variant(preset="plain", llm="gpt"),),
    tasks=tuple(f"own/{number}" for number in range(20)),
    seeds=(0,),
)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("begins", [True, False])
async def test_an_outage_counts_as_no_try_of_the_cases_that_it_ended(tmp_path, lanes, begins):
    store, is_out = TraceStore.open(tmp_path / "t.db"), False

    async def lane(variant, attempt):
        await asyncio.sleep(0)
        if is_out and not begins:
            raise BrowserError("It cannot be started.")
        begun = start("Look.", task=attempt.case.task).replace(attempt=attempt)
        run = store.begin_run(begun)
        store.end_run(
            run,
            outcome="error" if is_out else "done",
            verdict=Verdict() if is_out else Verdict(success=True),
            error="It has died." if is_out else "",
            seconds=1.0,
            seconds_in_llm=0.0,
        )
        return report(store.run(run))

    async def work():
        with opened(store, "mine", PLAN) as row:
            evaluation = Evaluator(store, row, RunLimits(), lambda: None)
            try:
                await evaluation.work([lane] * lanes)
            finally:
                assert len(evaluation.done) == report_of(store, row).done
        return row

    is_out = True
    with pytest.raises(WorldError, match="runs all failed"):
        await work()
    is_out = False
    told = report_of(store, await work())
    (variant,) = told.variants
    assert (told.done, variant.successes, variant.failed, variant.tried_again) == (20, 20, 0, 0)
    tries = evaluated_runs(store, told.evaluation)
    assert len(tries) >= 25  # What failed is kept.
    store.close()


@pytest.mark.parametrize("lanes", [1, 3])
async def test_cases_that_fail_at_each_start_count_as_failed_and_the_others_are_come_to(tmp_path, lanes):
    store = TraceStore.open(tmp_path / "t.db")

    async def lane(variant, attempt):
        await asyncio.sleep(0)
        if attempt.case.task in PLAN.tasks[:4]:
            raise BrowserError("The site is gone.")
        run = store.begin_run(start("Look.", task=attempt.case.task).replace(attempt=attempt))
        good = Verdict(success=True)
        store.end_run(run, outcome="done", verdict=good, seconds=1.0, seconds_in_llm=0.0)
        return report(store.run(run))

    with opened(store, "mine", PLAN) as row:
        for _ in range(5):
            with suppress(WorldError):
                await Evaluator(store, row, RunLimits(), lambda: None).work([lane] * lanes)
        (told,) = report_of(store, row).variants
    assert (told.successes, told.failed) == (16, 4)
    store.close()
