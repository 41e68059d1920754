"""Two runs beside each other: aligned by page and action, parted where they part."""

import pytest

from core.agent.branching import RunSetup, open_branch
from core.debugger.compare.alignment import compare_runs, compare_steps
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser


@pytest.fixture
def page(tmp_path):
    page_file(tmp_path, "<h1>Orders</h1>", "orders.html")
    page_file(tmp_path, "<h1>Archive</h1><a href='start.html'>Start</a>", "archive.html")
    links = "<h1>Start</h1><a href='archive.html'>Archive</a> <a href='orders.html'>Orders</a>"
    return page_file(tmp_path, links, "start.html")


def run_of(stage, server, page, *replies):
    server.script(*replies)
    run = stage.open(server, url=page, instruction="Find the orders.")
    stage.to_the_end(run)
    return run


ARCHIVE, ORDERS, START = (on(f'link "{name}"', thought=name) for name in ("Archive", "Orders", "Start"))


def told(compared):
    return [
        (pair.left and pair.left.number, pair.right and pair.right.number, pair.differs)
        for pair in compared.pairs
    ]


def test_a_detour_of_one_stands_alone_and_what_follows_is_together_again(stage, llm_server, page):
    long = run_of(stage, llm_server, page, ARCHIVE, START, ORDERS, stop("there"))
    short = run_of(stage, llm_server, page, ORDERS, stop("there"))
    compared = compare_runs(stage.services.store, long.state.run, short.state.run)
    assert told(compared) == [(1, None, ()), (2, None, ()), (3, 1, ()), (4, 2, ())]
    assert compared.first_difference == 0


def test_a_step_done_otherwise_stands_beside_what_was_done_in_its_place(stage, llm_server, page):
    one = run_of(stage, llm_server, page, ARCHIVE, stop("nothing"))
    other = run_of(stage, llm_server, page, ORDERS, stop("found"))
    compared = compare_runs(stage.services.store, one.state.run, other.state.run)
    assert told(compared) == [(1, 1, ("action",)), (2, 2, ("page", "action"))]
    parts = {
        part.name: part
        for part in compare_steps(stage.services.store, (one.state.run, 1), (other.state.run, 1))
    }
    assert (parts["thought"].left, parts["thought"].right) == ("Archive", "Orders")
    assert parts["page"].same
    assert parts["prompt"].same
    assert not parts["reply"].same


def test_two_equal_runs_do_not_part(stage, llm_server, page):
    one = run_of(stage, llm_server, page, ORDERS, stop("found"))
    other = run_of(stage, llm_server, page, ORDERS, stop("found"))
    assert compare_runs(stage.services.store, one.state.run, other.state.run).first_difference is None


def test_branches_share_the_steps_before_they_part(stage, llm_server, page):
    run = run_of(stage, llm_server, page, ARCHIVE, START, stop("nothing"))
    llm_server.script(ORDERS, stop("found"))
    conduct = RunSetup(
        preset=run.state.preset, llm=run._asker.llm, knowledge=stage.services.knowledge, browser="chromium"
    )
    branch, restored = stage.thread.run(
        open_branch(
            stage.services.store, run.world, run.state.episode, run=run.state.run, step=3, conduct=conduct
        )
    )
    assert restored.verified
    stage.to_the_end(branch)
    compared = compare_runs(stage.services.store, run.state.run, branch.state.run)
    assert [pair.shared for pair in compared.pairs] == [True, True, False, False]
    assert compared.first_difference == 2


def test_a_step_without_counterpart_is_shown_alone(stage, llm_server, page):
    run = run_of(stage, llm_server, page, ORDERS, stop("found"))
    parts = compare_steps(stage.services.store, (run.state.run, 1), None)
    assert {part.right for part in parts} == {""}
    assert any(part.left.startswith("click") for part in parts if part.name == "action")


def test_any_two_steps_show_page_clean_observation_and_prompt(stage, llm_server, page):
    run = run_of(stage, llm_server, page, ARCHIVE, START, ORDERS, stop("found"))
    number = run.state.run
    for left, right in ((1, 2), (4, 1), (2, 2)):
        parts = {
            part.name: part for part in compare_steps(stage.services.store, (number, left), (number, right))
        }
        for name in ("page", "clean observation", "prompt"):
            assert parts[name].left
            assert parts[name].right
            assert parts[name].same is (left == right)
