"""Bisecting at the window: a process of its own tells how far it is, can be ended, and leaves its results."""

import json

import pytest

from core.debugger.experiments.bisect_records import Bisection, BranchResult, PrefixResult, Wanted, read_steps
from core.debugger.experiments.bisect_service import BisectDesk
from core.debugger.experiments.bisect_views import as_csv
from core.schema.errors import UsageError
from tests.core.debugger.experiments.fake_subprocess import TELLS, WAITS, DeskApart
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser

STEP = PrefixResult(
    step=2,
    action='click "Go", then on',
    runs=(8, 9),
    successes=1,
    judged=2,
    low=0.09,
    high=0.91,
    branches=(
        BranchResult(run=8, success=True, llm_calls=3, cost=0.5),
        BranchResult(run=9, success=False, llm_calls=4),
    ),
)
BISECTION = Bisection(
    number=1, run=1, preset="plain", llm="test", times=2, chosen=(1, 2), when=0.0, results=(STEP,)
)


@pytest.fixture
def run(stage, llm_server, tmp_path):
    llm_server.script(on('button "Go"'), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, "<button>Go</button>"), instruction="Go.")
    stage.to_the_end(run)
    return run.state.run


class Desk(DeskApart):
    def __init__(self, stage, script: str, *lines: str) -> None:
        super().__init__(
            stage,
            lambda session, command: BisectDesk(session, command, "A browser of its own."),
            script,
            *lines,
        )


def lines(run, *bisections):
    return [one.replace(run=run).model_dump_json() for one in bisections]


def test_a_run_is_opened_with_its_steps_and_what_was_bisected_before(stage, run):
    stage.workshop.store.save_bisection(run, BISECTION.replace(run=run).model_dump_json())
    desk = Desk(stage, TELLS)
    desk.desk.open(run)
    view = desk.wait(lambda view: view.ready)
    assert [number for number, _ in view.steps] == [1, 2]
    assert [one.results for one in view.bisections] == [(STEP,)]
    assert (view.preset, view.llm, view.busy) == ("plain", "test", False)


def test_what_the_process_tells_is_shown_as_it_comes_until_it_ends(stage, run):
    begun = BISECTION.replace(results=())
    desk = Desk(stage, TELLS, *lines(run, begun, BISECTION), "no json")
    desk.desk.open(run)
    desk.wait(lambda view: view.ready)
    desk.desk.start(Wanted(run=run, times=2))
    desk.wait(lambda view: view.ready and not view.busy and desk.asked)
    told = [len(view.under_way.results) for view in desk.views if view.under_way is not None]
    assert 0 in told
    assert 1 in told
    assert (desk.asked, desk.views[-1].problem) == ([Wanted(run=run, times=2)], "")


def test_a_process_that_fails_is_told_with_its_own_words(stage, run):
    desk = Desk(stage, "import sys; print('The browser has ended.', file=sys.stderr); sys.exit(3)")
    desk.desk.open(run)
    desk.wait(lambda view: view.ready)
    desk.desk.start(Wanted(run=run))
    view = desk.wait(lambda view: view.problem and not view.busy)
    assert view.problem == "The bisection failed: The browser has ended."


def test_it_is_cancelled_and_only_one_goes_on_at_a_time(stage, run):
    desk = Desk(stage, WAITS, *lines(run, BISECTION))
    desk.desk.open(run)
    desk.wait(lambda view: view.ready)
    desk.desk.start(Wanted(run=run))
    desk.wait(lambda view: view.under_way is not None)
    desk.desk.start(Wanted(run=run))
    assert "goes on already" in desk.wait(lambda view: view.problem).problem
    desk.desk.cancel()
    view = desk.wait(lambda view: not view.busy)
    assert view.problem == ""


def test_one_that_goes_on_is_ended_where_the_session_is_closed(stage, run):
    desk = Desk(stage, WAITS, *lines(run, BISECTION))
    desk.desk.open(run)
    desk.wait(lambda view: view.ready)
    desk.desk.start(Wanted(run=run))
    desk.wait(lambda view: view.under_way is not None)
    [close] = desk.session.closers
    stage.thread.run(close())
    assert desk.desk._going.done()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"steps": (7,)}, "no step 7"),
        ({"preset": "nothing"}, 'no preset "nothing"'),
        ({"llm": "person"}, "cannot answer in the background"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_begun(stage, run, more, words):
    desk = Desk(stage, TELLS)
    desk.desk.open(run)
    desk.wait(lambda view: view.ready)
    desk.desk.start(Wanted(run=run, **more))
    assert words in desk.wait(lambda view: view.problem).problem
    assert desk.asked == []


def test_the_table_is_written_with_a_row_for_each_step(stage, run, tmp_path):
    desk = Desk(stage, TELLS)
    desk.desk.export(BISECTION, str(tmp_path / "table.csv"))
    assert "table.csv" in desk.wait(lambda view: view.notice).notice
    assert (tmp_path / "table.csv").read_bytes().decode() == as_csv(BISECTION)
    heading, row, end = as_csv(BISECTION).split("\r\n")
    assert heading.startswith("from_step,the_run_did,successes,judged,share,low,high")
    assert row == '2,"click ""Go"", then on",1,2,0.5000,0.0900,0.9100,7,0.500000,8 9,'
    assert end == ""
    desk.desk.export(BISECTION, str(tmp_path / "no" / "table.csv"))
    assert "cannot be written" in desk.wait(lambda view: view.problem).problem


def test_steps_are_read_as_they_are_written():
    assert read_steps("1, 3,5-7 6") == (1, 3, 5, 6, 7)
    assert read_steps("") == ()
    for wrong in ("x", "3-", "-2", "5-3", "1-999999999"):
        with pytest.raises(UsageError):
            read_steps(wrong)


def test_limits_count_what_all_branches_have_used():
    assert BISECTION.replace(most_calls=8).enough() == ""
    assert "7 LLM calls" in BISECTION.replace(most_calls=7).enough()
    assert "$0.5" in BISECTION.replace(most_cost=0.5).enough()
    assert json.loads(BISECTION.model_dump_json())["run"] == 1
