"""What an exemplar is worth: which tasks are done, how pairs are counted, and whether the LLM was shown it."""

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from core.debugger.evaluations.records import EvaluationPlan, Subject, Variant, WorthRequest, WorthResult
from core.debugger.evaluations.selection import read_seeds
from core.debugger.evaluations.worth import (
    WITH,
    WITHOUT,
    keep_worth,
    kept_results,
    members_of,
    read_subject,
    sources_of,
    tasks_of,
    used_in,
    worth_plan,
    worth_result,
)
from core.exemplars.memory import Memory
from core.schema.errors import UsageError
from core.schema.exemplar import ExemplarReview
from core.schema.task import Task, Verdict
from core.trace.evaluations import create_evaluation, evaluation_named
from core.trace.records import Case, CaseAttempt
from core.trace.store import TraceStore
from tests.core.debugger.exemplars.trying.trying import one_run
from tests.core.exemplars.making import ALL, RETIRED
from tests.core.trace.making import start

TASKS = tuple(
    Task(id=f"miniwob/{name}", environment="miniwob") for name in ("click-test", "click-link", "enter")
)
SUBJECT = Subject(name="enter/1")
PLAN = EvaluationPlan(
    kind="worth",
    subject=SUBJECT,
    variants=(
        Variant(preset="synapse", llm="rules", title=WITHOUT, asked=SUBJECT.without_it),
        Variant(preset="synapse", llm="rules", title=WITH, asked=SUBJECT.with_it),
    ),
    tasks=("t",),
    seeds=tuple(range(6)),
)


@pytest.fixture
def store(tmp_path) -> Iterator[TraceStore]:
    with closing(TraceStore.open(tmp_path / "traces.db")) as store:
        yield store


def test_pairs_count_where_both_runs_were_judged_and_the_library_keeps_one_result(store, tmp_path) -> None:
    number = create_evaluation(store, "mine", PLAN.model_dump_json())
    pairs = [(True, False), (True, True), (False, True), (True, False), (True, None), (None, None)]
    for seed, pair in enumerate(pairs):
        for variant, success in zip((WITH, WITHOUT), pair, strict=True):
            case = Case(variant=variant, task="t", seed=seed)
            attempt = CaseAttempt(evaluation=number, case=case)
            run = store.begin_run(start(seed=seed).replace(attempt=attempt))
            verdict = Verdict(success=success)
            store.end_run(run, outcome="done", verdict=verdict, seconds=1, seconds_in_llm=0)
    row = evaluation_named(store, "mine")
    assert row is not None
    result = worth_result(store, row, PLAN)
    assert (result.cases, result.judged, result.to_success, result.to_failure) == (6, 4, 2, 1)
    assert result.first == store.run(1).started
    assert result.difference == pytest.approx(0.25)
    assert result.low <= 0.25 <= result.high
    assert result.sentence == "enter/1 was in the prompts of 0 of 6 runs with it."
    memory = Memory((tmp_path,), library=tmp_path / "exemplars.db")
    keep_worth(memory, result.replace(judged=2))
    keep_worth(memory, result)
    library = memory.library()
    library.proofs.save("worth", "enter/1", 1.0, "{}")  # As another version would write it.
    assert [kept for _, kept in kept_results(library, ["enter/1"])] == [result]
    assert kept_results(library, ["enter/2"]) == ()
    memory.close()


def test_a_worth_keeps_the_version_that_was_measured(tmp_path) -> None:
    memory = Memory((), library=tmp_path / "exemplars.db")
    memory.library().save(ALL[0])
    now = time.time()
    begun = WorthResult(
        subject=Subject(name=ALL[0].id), trace="t", evaluation=1, when=now, preset="p", llm="l"
    )

    def kept() -> list[int | None]:
        return [one.version for _, one in kept_results(memory.library(), [ALL[0].id])]

    unbegun = begun.replace(evaluation=2)
    begun = begun.replace(cases=2, first=now)
    keep_worth(memory, begun)
    keep_worth(memory, unbegun)
    assert kept() == [1, 1]
    memory.library().save(ALL[0].replace(note="changed"))
    keep_worth(memory, begun)
    assert kept() == [1, 1]
    keep_worth(memory, begun.replace(evaluation=3))
    assert kept() == [1, 1, 0]
    keep_worth(memory, begun.replace(cases=5))  # It was gone on with.
    assert kept() == [0, 1, 0]
    for cases in (2, 5):  # Of the first version, none was done.
        keep_worth(memory, unbegun.replace(cases=cases, first=time.time()))
        assert kept() == [0, 2, 0]
    memory.close()


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ((), ("miniwob/enter",)),
        (("miniwob/click-*",), ("miniwob/click-test", "miniwob/click-link")),
        (("miniwob/enter", "miniwob/e*"), ("miniwob/enter",)),
    ],
)
def test_tasks_are_named_or_meant_by_patterns_or_those_it_came_from(wanted, chosen) -> None:
    assert tasks_of(wanted, TASKS, [("miniwob/enter", 3)]) == chosen


@pytest.mark.parametrize("wanted", [("miniwob/other",), ("airline/*",), ()])
def test_a_task_that_is_not_there_is_refused(wanted) -> None:
    with pytest.raises(UsageError, match=r"There is no task|names no task"):
        tasks_of(wanted, TASKS, [("gone/task", 1)])


def test_where_an_exemplar_came_from_is_read_from_its_source() -> None:
    some = [
        ALL[0].replace(source=words)
        for words in ("miniwob/click-test seed 3", "run 12, shop/goal-001 seed 0", "by hand", "x seed 1")
    ]
    assert sources_of(some) == (("miniwob/click-test", 3), ("shop/goal-001", 0))


def test_what_no_run_recalls_cannot_be_tried(tmp_path) -> None:
    memory = Memory((tmp_path,), library=tmp_path / "exemplars.db")
    library = memory.library()
    library.save(ALL[0])
    assert members_of(memory, Subject(name=ALL[0].id)) == (ALL[0],)
    assert members_of(memory, Subject(kind="family", name=ALL[0].family)) == (ALL[0],)
    library.review([ALL[0].id], RETIRED)
    library.save(ALL[3].replace(review=ExemplarReview(status="new")))
    wrong = ALL[5].replace(steps=(ALL[5].steps[0].replace(actions=("type [1] [abc]",)),))
    library.save(wrong)
    library.save(wrong.replace(task="Another."))
    assert len(members_of(memory, Subject(kind="change", name=wrong.id, before=1, after=2))) == 2
    for subject, words in (
        (Subject(name=ALL[0].id), "which is retired; mark it as reviewed first"),
        (Subject(name=ALL[3].id), "which is new; mark it as reviewed first"),
        (Subject(kind="change", name=ALL[3].id, before=1, after=2), "any version of .*, which is new"),
        (Subject(kind="family", name=ALL[3].family), "No run recalls an exemplar of .*, which is new"),
        (Subject(name=wrong.id), "which has a fault .step 1, action 1"),
        (Subject(name="nothing"), "no exemplar nothing"),
        (Subject(kind="family", name="nobody"), "no family nobody"),
    ):
        with pytest.raises(UsageError, match=words):
            members_of(memory, subject)
    memory.close()


def test_a_change_is_named_by_two_different_versions() -> None:
    assert read_subject("a", is_family=False, change="1:3").words == "a, version 3 for 1"
    for wrong in ("1", "1:1", "a:b", "0:1", "²:1", f"1:{2**63}", f"1:{'9' * 5000}"):
        with pytest.raises(UsageError, match="versions"):
            read_subject("a", is_family=False, change=wrong)
    with pytest.raises(ValueError, match="two different versions"):
        Subject(kind="change", name="a", before=1, after=1)


def test_seeds_are_read_as_they_are_written() -> None:
    assert read_seeds("0-3, 7,2") == (0, 1, 2, 3, 7)
    for wrong in ("", "x", "3-", "5-3", "0-99999999", "-1"):
        with pytest.raises(UsageError, match="is not a list of seeds"):
            read_seeds(wrong)


@pytest.mark.browser
def test_a_run_without_an_exemplar_is_not_shown_it_and_says_so(stage) -> None:
    nearest = "miniwob/click-link/0"
    subject = Subject(name=nearest)
    with_it = one_run(stage, subject.with_it)
    without = one_run(stage, subject.without_it)
    store = stage.services.store
    assert used_in(store, with_it.run, subject)
    assert not used_in(store, without.run, subject)
    differences = [str(difference) for difference in store.run(without.run).differences]
    assert differences == [f"exemplars without {nearest}"]
    family = Subject(kind="family", name="click-link")
    assert used_in(store, without.run, family)
    assert not used_in(store, one_run(stage, family.without_it).run, family)


@pytest.mark.browser
def test_the_seeds_that_it_was_recorded_at_are_left_out(stage) -> None:
    services = stage.services
    request = WorthRequest(
        subject=Subject(name="miniwob/click-link/0"), seeds="0-2", times=2, preset="synapse"
    )
    plan = worth_plan(request, services.settings, services.environments.tasks(), services.resources)
    assert plan.tasks == ("miniwob/click-link",)
    cases = [(case.variant, case.seed, case.time) for _, case in plan.cases()]
    assert plan.total == len(cases) == 8
    assert {seed for _, seed, _ in cases} == {1, 2}
    # Neither side is always first.
    assert {cases[at][0] for at in range(0, 8, 2)} == {WITH, WITHOUT}
