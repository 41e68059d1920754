"""What an exemplar is worth: pairs of runs, counted, and tried on real pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debugger.experiments.worth import measure, members_of, sources_of, tasks_of, used_in
from core.debugger.experiments.worth_records import Arm, Pair, Subject, Worth, WorthSummary
from core.debugger.headless import RunReport
from core.memory.memory import Memory
from core.schema.changes import Changes
from core.schema.errors import BrowserError, UsageError
from core.schema.task import Task
from tests.core.debugger.experiments.trying import one_run
from tests.core.memory.making import ALL

SUBJECT = Subject(name="enter/1")
TASKS = tuple(
    Task(id=f"miniwob/{name}", environment="miniwob") for name in ("click-test", "click-link", "enter")
)


def result(success, run=1):
    return Arm(run=run, success=success, outcome="done")


def pair(with_it, without_it, seed=0):
    return Pair(task="t", seed=seed, with_it=result(with_it), without_it=result(without_it))


def worth(**more):
    values = {
        "subject": SUBJECT,
        "tasks": ("a", "b"),
        "seeds": (0, 1),
        "preset": "p",
        "llm": "l",
        "when": 0.0,
    }
    return Worth.model_validate(values | more)


@given(st.lists(st.tuples(*[st.sampled_from((True, False, None))] * 2), max_size=30))
def test_only_judged_pairs_count_and_flips_are_the_difference(outcomes):
    summary = WorthSummary.of(pair(*one) for one in outcomes)
    judged = [one for one in outcomes if None not in one]
    assert (summary.pairs, summary.judged) == (len(outcomes), len(judged))
    assert summary.successes_with - summary.successes_without == summary.to_success - summary.to_failure
    assert summary.successes_with == sum(one for one, _ in judged)
    if judged:
        assert summary.low - 1e-9 <= summary.difference <= summary.high + 1e-9
    else:
        assert summary.difference is None
        assert "there is no result" in summary.sentence


def test_an_interval_that_holds_0_is_said_to_show_nothing():
    few = WorthSummary.of([pair(True, False), pair(True, True)])
    assert "no evidence that it matters" in few.sentence
    many = WorthSummary.of([pair(True, False)] * 20)
    assert "no evidence that it matters" not in many.sentence


def test_pairs_that_repeat_one_another_are_said_to():
    pairs = [pair(True, False, seed) for seed in (0, 1)]
    same = worth(unseeded=("a",), pairs=pairs)
    assert "a is the same at every seed" in same.sentence
    assert "same at every seed" not in worth(unseeded=("a",), seeds=(1,), pairs=pairs).sentence


def test_seeds_that_it_was_recorded_at_are_left_out():
    one = worth(left_out=(("a", 1),), times=2)
    assert ("a", 1, 1) not in one.cases
    assert len(one.cases) == 6
    assert one.cases[0] == ("a", 0, 1)


async def play_all(began, play):
    found = [so_far async for so_far in measure(began, play, lambda run: run % 2 == 0)]
    return found[-1] if found else began


async def test_each_task_is_done_with_and_without_at_the_same_seed_and_neither_always_first():
    asked: list[tuple[str, int, Changes]] = []

    async def play(task, seed, changes):
        asked.append((task, seed, changes))
        return RunReport(run=len(asked), task=task, seed=seed, outcome="done", success=not changes.without)

    ended = await play_all(worth(), play)
    assert len(ended.pairs) == 4
    assert ended.summary.to_success == 4
    for number, one in enumerate(ended.pairs):
        both = asked[2 * number : 2 * number + 2]
        assert {(task, seed) for task, seed, _ in both} == {(one.task, one.seed)}
        assert {changes.without for _, _, changes in both} == {(), ("enter/1",)}
    assert {asked[2 * number][2].without for number in range(4)} == {(), ("enter/1",)}
    assert [one.with_it.used for one in ended.pairs] == [
        (one.with_it.run or 0) % 2 == 0 for one in ended.pairs
    ]


async def test_a_run_that_cannot_be_made_is_reported_in_its_pair_and_counts_neither_way():
    async def play(task, seed, changes):
        if changes.without:
            raise BrowserError("The browser has gone.")
        return RunReport(run=1, task=task, seed=seed, outcome="done", success=True)

    ended = await play_all(worth(seeds=(0,)), play)
    assert ended.pairs[0].without_it.error == "The browser has gone."
    assert ended.summary.judged == 0


async def test_nothing_is_begun_beyond_a_limit_nor_after_an_interruption():
    async def play(task, seed, changes):
        return RunReport(run=1, task=task, seed=seed, outcome="done", success=True, llm_calls=5)

    assert len((await play_all(worth(most_calls=10), play)).pairs) == 1

    async def interrupted(task, seed, changes):
        return RunReport(run=1, task=task, seed=seed, outcome="interrupted")

    assert (await play_all(worth(), interrupted)).pairs == ()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ((), ("miniwob/enter",)),
        (("miniwob/click-*",), ("miniwob/click-test", "miniwob/click-link")),
        (("miniwob/enter", "miniwob/e*"), ("miniwob/enter",)),
    ],
)
def test_tasks_are_named_or_meant_by_patterns_or_those_it_came_from(wanted, found):
    assert tasks_of(wanted, TASKS, [("miniwob/enter", 3)]) == found


@pytest.mark.parametrize("wanted", [("miniwob/other",), ("airline/*",), ()])
def test_a_task_that_is_not_there_is_refused(wanted):
    with pytest.raises(UsageError):
        tasks_of(wanted, TASKS, [("gone/task", 1)])


def test_where_an_exemplar_came_from_is_read_from_its_source():
    some = [
        ALL[0].replace(source=words)
        for words in ("miniwob/click-test seed 3", "run 12, shop/goal-001 seed 0", "by hand", "x seed 1")
    ]
    assert sources_of(some) == (("miniwob/click-test", 3), ("shop/goal-001", 0))


def test_what_is_in_the_archive_or_not_there_cannot_be_tried(tmp_path):
    memory = Memory((tmp_path,), library=tmp_path / "exemplars.db")
    library = memory.library()
    library.save(ALL[0])
    assert members_of(memory, Subject(name=ALL[0].id)) == (ALL[0],)
    assert members_of(memory, Subject(kind="family", name=ALL[0].family)) == (ALL[0],)
    library.archive(ALL[0].id)
    for subject, words in (
        (Subject(name=ALL[0].id), "is archived"),
        (Subject(name="nothing"), "no exemplar nothing"),
        (Subject(kind="family", name="nobody"), "no family nobody"),
    ):
        with pytest.raises(UsageError, match=words):
            members_of(memory, subject)
    memory.close()


def test_a_change_has_two_versions():
    with pytest.raises(ValueError, match="two different versions"):
        Subject(kind="change", name="a", before=1, after=1)


@pytest.mark.browser
def test_a_run_without_an_exemplar_is_not_shown_it_and_says_so(stage):
    memory = stage.services.resources.memory
    nearest = memory.exemplar("miniwob/click-link/0")
    assert nearest is not None
    subject = Subject(name=nearest.id)
    with_it = one_run(stage, subject.with_it)
    without = one_run(stage, subject.without_it)
    store = stage.services.store
    assert used_in(store, with_it.run, subject)
    assert not used_in(store, without.run, subject)
    assert [str(one) for one in store.run(without.run).differences] == [f"exemplars without {nearest.id}"]
    family = Subject(kind="family", name=nearest.family)
    assert used_in(store, without.run, family)
    assert not used_in(store, one_run(stage, family.without_it).run, family)
