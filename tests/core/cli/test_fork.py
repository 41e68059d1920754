"""The fork command: a stored run gone back to without a window, and on from there."""

import pytest
from werkzeug import Response

from core.trace.store import TraceStore
from tests.core.browser.site import Site
from tests.core.stage import need_chromium, on, page_file, stop

pytestmark = pytest.mark.browser


@pytest.fixture
def wrong(inside, llm_server):
    """The number of a run whose only step was the wrong button."""
    llm_server.script(on('button "TWO"'))
    return inside(*inside.run("--task", "miniwob/click-test-2")).json["run"]


def fork(inside, run, *words):
    return inside("fork", run, "--browser", need_chromium(), *words)


def test_a_wrong_step_is_done_otherwise_on_a_branch(inside, llm_server, wrong):
    done = fork(inside, wrong, "--step", 7)
    assert done.code != 0
    assert done.err.strip().endswith(f"Run {wrong} has no step 7; its only step is 1.")
    llm_server.script(on('button "ONE"'))
    done = fork(inside, wrong, "--step", 1, "--json")
    assert done.code == 0, done.err
    assert (done.json["success"], done.json["steps"]) == (True, 1)
    assert "Back at step 1 by comparing only: exact" in done.err
    store = TraceStore.open(inside.db, read_only=True)
    try:
        branch, left = store.run(done.json["run"]), store.run(wrong)
    finally:
        store.close()
    assert (branch.parent_run, branch.parent_step, branch.grade) == (wrong, 1, "exact")
    assert left.verdict.success is False
    listed = inside("runs")
    assert f"{wrong}, step 1" in listed.out


def test_a_page_that_is_not_as_recorded_is_not_gone_on_from(inside, llm_server, tmp_path):
    url = page_file(tmp_path, "<button>Go</button>")
    llm_server.script(on('button "Go"'), stop())
    run = inside(*inside.run("--url", url, "--instruction", "Go.")).json["run"]
    page_file(tmp_path, "<h1>Moved</h1><p>There is another page here now.</p>")
    done = fork(inside, run, "--step", 2, "--json")
    assert (done.code, done.json["outcome"]) == (1, "gate")
    assert "Back at step 2" in done.json["error"]
    assert "lost" in done.json["error"]


def test_the_fork_takes_another_llm_preset_exemplars_and_amounts_and_keeps_them(
    inside, llm_server, wrong, tmp_path
):
    refused = fork(inside, wrong, "--step", 1, "--exemplars", tmp_path / "none", "--llm", "rules")
    assert (refused.code, "contains no exemplars" in refused.err) == (2, True)
    refused = fork(inside, wrong, "--step", 1, "--amount", "memory=many")
    assert (refused.code, "from 1 to 50" in refused.err) == (2, True)
    done = fork(
        inside,
        wrong,
        *("--step", 1, "--llm", "rules", "--preset", "synapse", "--json"),
        *("--exemplars", "none", "--amount", "memory=5"),
    )
    assert done.code == 0, done.err
    store = TraceStore.open(inside.db, read_only=True)
    try:
        branch, kept = store.run(done.json["run"]), store.changes(done.json["run"])
    finally:
        store.close()
    assert (branch.preset, branch.llm) == ("synapse", "rules")
    assert (kept.exemplars, kept.amounts) == ("none", {"memory": 5})
    assert "exemplars none (was built-in and own)" in [str(one) for one in branch.differences]


def test_a_bisection_is_an_evaluation_that_ends_at_its_limit_and_continues_by_its_name(
    inside, llm_server, wrong
):
    assert (
        inside("bisect", wrong, "--at", 5)
        .err.strip()
        .endswith("The run has no step 5; its steps are 1 to 1.")
    )
    llm_server.script(on('button "ONE"'), on('button "TWO"'))
    words = ("--times", 3, "--name", "where", "--browser", need_chromium())
    done = inside("bisect", wrong, *words, "--max-calls", 2, "--json")
    assert done.code == 1, done.err
    assert (done.json["why"], done.json["done"]) == ("The limit of 2 LLM calls was reached.", 2)
    [share] = done.json["variants"]
    assert share["variant"].startswith("from step 1: click [")
    assert (share["successes"], share["judged"]) == (1, 2)
    llm_server.script(on('button "ONE"'))
    printed = inside("bisect", wrong, *words)
    assert printed.code == 0, printed.err
    assert "2 of 3" in printed.out
    assert "0.21 to 0.94" in printed.out
    done = inside("bisect", wrong, *words, "--json")
    assert (done.code, done.json["done"], done.json["variants"][0]["successes"]) == (0, 3, 2)
    store = TraceStore.open(inside.db, read_only=True)
    try:
        assert [store.run(one["run"]).parent_run for one in done.json["runs"]] == [wrong] * 3
    finally:
        store.close()


@pytest.fixture
def ordered(inside, llm_server):
    """A run whose second step has sent an order, and the orders that came in."""
    orders = []
    with Site() as site:
        order = site.serve(lambda _: Response(orders.append(1) or "taken"))
        url = site.page(
            "<button onclick=\"this.textContent = 'Ready'\">Begin</button>"
            f"<button onclick=\"fetch('{order}', {{method: 'POST'}})\">Order</button>"
        )
        llm_server.script(on('button "Begin"'), on('button "Order"'), stop())
        run = inside(*inside.run("--url", url, "--instruction", "Order.")).json["run"]
        assert len(orders) == 1
        yield run, orders


def test_a_fork_does_not_do_again_what_stays_done_unless_it_is_after_it_or_allowed(
    inside, llm_server, ordered
):
    run, orders = ordered
    refused = fork(inside, run, "--step", 2)
    assert refused.code == 2
    assert f"Going back to step 2 of run {run} does not undo POST http://" in refused.err
    assert "--on-gate allow" in refused.err
    llm_server.script(stop())
    after = fork(inside, run, "--step", 3, "--json")
    assert (after.json["outcome"], len(orders)) == ("done", 1)
    llm_server.script(on('button "Order"'), stop())
    allowed = fork(inside, run, "--step", 2, "--on-gate", "allow", "--json")
    assert (allowed.json["outcome"], len(orders)) == ("done", 2)


def test_a_bisection_does_not_send_again_what_the_run_or_one_of_its_branches_has_sent(
    inside, llm_server, tmp_path, ordered
):
    run, orders = ordered
    chromium = need_chromium()
    words = ("--times", 2, "--browser", chromium, "--json")
    llm_server.script(on('button "Order"'), stop())
    done = inside("bisect", run, "--at", 2, "--at", 3, *words).json
    from_2 = [one for one in done["runs"] if one["variant"].startswith("from step 2")]
    from_3 = [one for one in done["runs"] if one["variant"].startswith("from step 3")]
    assert {one["run"] for one in from_2} == {None}
    assert f"Going back to step 2 of run {run} does not undo POST" in from_2[0]["error"]
    # The first branch from step 3 has ordered: the second one would do so again.
    assert [one["run"] is None for one in from_3] == [False, True]
    assert f"Going back to step 3 of run {run} does not undo POST" in from_3[1]["error"]
    assert len(orders) == 2
