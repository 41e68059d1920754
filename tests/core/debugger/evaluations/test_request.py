"""What an evaluation is asked: as a command line, and the failures of another one."""

import pytest
import typer
from typer.testing import CliRunner

import core.cli.evaluation
from core.cli.evaluations import add_evaluation_commands
from core.debugger.evaluations.records import (
    BisectRequest,
    EvalRequest,
    EvaluationPlan,
    Subject,
    Variant,
    checked,
    names_of,
)
from core.debugger.evaluations.request import plan_of_failures
from core.schema.errors import UsageError
from core.schema.task import Verdict
from core.trace.evaluations import take_evaluation
from core.trace.records import Case, CaseAttempt
from core.trace.store import TraceStore
from tests.core.trace.making import start

PLAIN, LASER = Variant(preset="plain", llm="rules"), Variant(preset="laser", llm="rules")
PLAN = EvaluationPlan(variants=(PLAIN, LASER), tasks=("a", "b", "c"), seeds=(0, 1, 2))


@pytest.mark.parametrize(
    "request_",
    [
        EvalRequest(tasks=("miniwob/click-*", "tag:email"), name="all of it"),
        EvalRequest(
            tasks=("suite:shop",),
            seeds="0-3,9",
            preset=("plain", "laser"),
            llm=("rules",),
            exemplars=("own", "none"),
            times=3,
            concurrency=4,
            max_cost=1.5,
            max_minutes=20.0,
        ),
        EvalRequest(failures_of="all of it", name="again"),
        BisectRequest(run=3, steps=(2, 5), times=5, preset="laser", max_calls=9, name="where"),
        BisectRequest(run=3, every=2, llm="rules", concurrency=2),
    ],
)
def test_the_command_line_of_a_request_asks_for_the_same(request_, monkeypatch):
    asked = []

    def remember(request, *_, **__):
        asked.append(request)
        raise typer.Exit

    monkeypatch.setattr(core.cli.evaluation, "evaluate", remember)
    app = typer.Typer()
    app.command("other")(lambda: None)
    add_evaluation_commands(app, None)
    done = CliRunner().invoke(app, list(request_.arguments()))
    assert done.exit_code == 0, done.output
    assert asked == [request_]


def test_failures_are_done_again_case_by_case():
    failed = [
        Case(variant=PLAIN.name, task="b", seed=2),
        Case(variant=PLAIN.name, task="c", seed=0),
    ]
    again = PLAN.again("first", failed)
    assert (again.variants, again.tasks, again.seeds) == ((PLAIN,), ("b", "c"), (0, 2))
    assert {case for _, case in again.cases()} == set(failed)
    assert again.total == 2
    assert again.failures_of == "first"


def test_other_variants_each_do_what_one_has_failed_at():
    other = (Variant(preset="step", llm="rules"), Variant(preset="plain", llm="gpt-4o"))
    failed = [Case(variant=one.name, task="b", seed=2) for one in (PLAIN, LASER)]
    again = PLAN.again("first", failed, other)
    assert again.variants == other
    assert [(variant, case.task, case.seed) for variant, case in again.cases()] == [
        (one, "b", 2) for one in other
    ]


def test_which_variant_is_first_alternates_from_case_to_case():
    first = [variant.name for variant, _ in PLAN.cases()][::2]
    assert first[:4] == [PLAIN.name, LASER.name, PLAIN.name, LASER.name]
    assert len({case for _, case in PLAN.cases()}) == PLAN.total == 18


@pytest.fixture
def stored(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


def failures_of(store, plan, **more):
    row = take_evaluation(store, "first", plan.model_dump_json())
    attempt = CaseAttempt(evaluation=row.number, case=Case(variant=plan.variants[0].name, task="a", seed=0))
    run = store.begin_run(start(task="a").replace(attempt=attempt))
    store.end_run(
        run, outcome="done", verdict=Verdict(success=False, judge="page"), seconds=1.0, seconds_in_llm=0.0
    )
    return plan_of_failures(EvalRequest(failures_of="first", **more), store)


@pytest.mark.parametrize("kind", ["bisect", "worth"])
def test_failures_of_what_compares_runs_with_each_other_are_not_done_again_alone(stored, kind):
    subject = Subject(kind="exemplar", name="one") if kind == "worth" else None
    with pytest.raises(UsageError, match="its failures alone say nothing"):
        failures_of(stored, PLAN.replace(kind=kind, subject=subject))


@pytest.mark.parametrize(
    ("more", "flags"),
    [
        ({"seeds": "5", "times": 4}, "--seeds, --times"),
        ({"exemplars": ("none",)}, "--exemplars"),
        ({"llm": ("gpt",), "times": 4}, "--times"),
    ],
)
def test_what_would_change_nothing_of_the_failures_is_refused(stored, more, flags):
    with pytest.raises(UsageError, match=f"Leave out {flags} with --failures-of"):
        failures_of(stored, PLAN, **more)


def test_another_llm_does_failures_without_exemplars_where_they_were_done_so(stored):
    bare = PLAN.replace(variants=(PLAIN.replace(exemplars="none"),))
    again = failures_of(stored, bare, llm=("gpt",))
    assert [(one.llm, one.exemplars) for one in again.variants] == [("gpt", "none")]


def test_more_runs_than_anyone_makes_are_refused_before_any_is_listed():
    with pytest.raises(UsageError, match="These are 900000000 runs"):
        checked(PLAN.replace(tasks=("a",) * 45, seeds=tuple(range(10_000)), times=1000))


def test_a_local_llm_may_have_a_space_in_its_path():
    assert names_of("gguf:/my models/a.gguf, rules,") == ("gguf:/my models/a.gguf", "rules")
