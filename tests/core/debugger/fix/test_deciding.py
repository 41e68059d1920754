"""The step that is proposed for a run, by its rows alone."""

import pytest

from core.debugger.experiments.bisect import Bisection, PrefixResult
from core.debugger.experiments.measurement import RunResult
from core.debugger.fix.deciding import _bisected, _failing, _loop, _stopped
from core.debugger.fix.family import Family, FamilyRun, stored_family
from core.schema.changes import Changes, FamilyPlace
from core.schema.task import Verdict
from core.trace.records import RunRow, RunStart, StepRow
from core.trace.store import TraceStore

START = RunStart(
    task="shop/buy",
    environment="shop",
    seed=0,
    instruction="Buy.",
    start_url="",
    preset="plain",
    llm="rules",
    browser="embedded",
)


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
    found = reasons(_loop(steps(*actions)))
    expected = (
        [] if looped is None else [(looped[0], f"The run looped over steps {looped[0]} to {looped[1]}.")]
    )
    assert found == expected


def test_a_bisection_names_the_last_step_from_which_branches_succeeded(tmp_path) -> None:
    results = tuple(
        PrefixResult(step=step, successes=successes, judged=4) for step, successes in ((1, 3), (2, 2), (3, 0))
    )
    bisection = Bisection(run=1, preset="plain", llm="rules", when=0.0, chosen=(1, 2, 3), results=results)
    store = TraceStore.open(tmp_path / "traces.db")
    try:
        run = store.begin_run(START)
        assert reasons(_bisected(store, store.run(run))) == []
        store.save_bisection(run, bisection.replace(run=run).model_dump_json())
        (clue,) = _bisected(store, store.run(run))
    finally:
        store.close()
    assert (clue.step, clue.reason) == (
        2,
        "Bisect: from here 2 of 4 branches still succeeded; from later steps none did.",
    )


def test_the_same_action_on_other_pages_is_no_loop() -> None:
    rows = [one.replace(url=f"http://shop/{one.number}") for one in steps(*["click [1]"] * 5)]
    assert reasons(_loop(rows)) == []


def test_the_first_of_the_failed_steps_at_the_end_is_named() -> None:
    rows = steps("click [1]", "click [2]", "click [3]", "click [4]")
    failing = [rows[0], *(one.replace(outcome="failed", message="It is covered.") for one in rows[1:])]
    assert reasons(_failing(failing)) == [(2, "All steps from step 2 on failed: It is covered.")]
    assert reasons(_failing(rows)) == []


def test_a_stop_that_the_judge_does_not_accept_is_told_with_the_reason() -> None:
    row = RunRow(
        run=1,
        task="shop/buy",
        environment="shop",
        seed=0,
        instruction="Buy.",
        start_url="",
        preset="plain",
        llm="rules",
        browser="embedded",
        started=0.0,
        verdict=Verdict(success=False, reason="the basket is empty"),
    )
    (last,) = steps("stop []", effect="stop")
    (clue,) = _stopped(row, last)
    assert clue.reason == "The agent stopped at step 1 before the task was done: the basket is empty"


def test_a_family_counts_what_was_judged_on_each_side_and_ends_done() -> None:
    family = Family(run=1, task="a/b", preset="plain", llm="rules", when=0.0, seeds=(1, 2))
    sides = (("before", False), ("after", True), ("before", None), ("after", True))
    runs = tuple(
        FamilyRun(seed=1 + at // 2, side=side, result=RunResult(success=success))
        for at, (side, success) in enumerate(sides)
    )
    family = family.replace(runs=runs)
    assert (family.sentence, family.done, family.total) == ("0 of 1 before, 2 of 2 after", 4, 4)
    assert family.ended().state == "done"
    assert family.replace(runs=runs[:2]).ended().state == "cancelled"
    assert [one["side"] for one in family.table()] == ["before", "after", "before", "after"]


def test_the_latest_family_of_a_run_is_read_from_its_runs(tmp_path) -> None:
    store = TraceStore.open(tmp_path / "traces.db")
    failed, fixed = store.begin_run(START), store.begin_run(START)
    started = store.run(failed).started

    def done(seed: int, side: str, success: bool, *, when: float, of: float = started) -> int:
        place = FamilyPlace(of=failed, started=of, fixed=fixed, when=when, seeds=(1, 2), side=side)
        run = store.begin_run(START.replace(seed=seed, changes=Changes(family=place)))
        store.end_run(run, outcome="done", verdict=Verdict(success=success), seconds=1, seconds_in_llm=0)
        return run

    assert stored_family(store, failed) is None
    done(1, "before", True, when=1.0)
    runs = [done(1, "before", False, when=2.0), done(1, "after", True, when=2.0)]
    assert stored_family(store, failed).ended().state == "cancelled"
    runs += [done(2, "before", False, when=2.0), done(2, "after", True, when=2.0)]
    done(2, "after", False, when=3.0, of=started + 1)  # Of another database's run.
    family = stored_family(store, failed)
    assert (family.fixed, family.seeds, family.state) == (fixed, (1, 2), "done")
    assert family.sentence == "0 of 2 before, 2 of 2 after"
    assert [one.result.run for one in family.runs] == runs
    assert store.changes(runs[0]) == Changes()
    store.close()
