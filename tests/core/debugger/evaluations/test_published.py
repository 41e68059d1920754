from statistics import fmean

import pytest

from core.debugger.evaluations.published import papers, published_for
from core.debugger.evaluations.selection import selected
from core.environments.registry import Environments

TASKS = Environments().tasks()
MINIWOB = {paper.agent: paper for paper in papers() if paper.environment == "miniwob"}


@pytest.mark.parametrize(
    ("agent", "suite", "mean"), [("Synapse", "miniwob-synapse", 0.992), ("SteP", "miniwob-step", 0.96)]
)
def test_each_task_of_a_papers_suite_has_its_figure_and_their_mean_is_the_papers(
    agent, suite, mean, tmp_path
):
    tasks = selected((f"suite:{suite}",), TASKS, tmp_path)
    assert {f"miniwob/{name}" for name in MINIWOB[agent].tasks} == set(tasks)
    assert fmean(one.success for one in MINIWOB[agent].tasks.values()) == pytest.approx(mean, abs=0.001)
    whole, *each = [one for one in published_for(tasks) if one.agent == agent]
    assert (whole.task, whole.tasks) == ("", len(tasks))
    assert whole.success == pytest.approx(mean, abs=0.001)
    assert [one.task for one in each] == list(tasks)


def test_the_mean_is_of_those_tasks_alone_that_are_evaluated():
    found = published_for(["miniwob/book-flight", "miniwob/click-link", "miniwob/no-such-task"])
    step = [one for one in found if one.agent == "SteP"]
    assert [(one.task, one.success) for one in step] == [
        ("", pytest.approx(0.95)),
        ("miniwob/book-flight", 0.90),
        ("miniwob/click-link", 1.00),
    ]
    assert step[0].steps == pytest.approx((9.14 + 1.00) / 2)
    assert all(one.llm and one.source for one in found)


def test_a_paper_with_one_figure_for_all_is_told_as_what_it_measured():
    found = {one.agent: one for one in published_for(["webarena/3"])}
    assert (found["SteP"].success, found["SteP"].tasks) == (0.36, 0)
    assert (found["anticipatory reflection"].success, found["anticipatory reflection"].plan_revisions) == (
        0.235,
        0.64,
    )
    (laser,) = published_for(["shop/goal-001"])
    assert (laser.success, laser.reward) == (0.50, 0.756)
    assert "other goods" in laser.note


def test_nothing_is_published_of_tasks_of_ones_own():
    assert published_for(["own/mine"]) == ()
