"""Bisecting at the window: a process of its own tells how far it is, can be ended, and leaves its results."""

import json

import pytest

from core.debugger.experiments.bisect import Bisection, BisectRequest, PrefixResult, read_steps
from core.debugger.experiments.measurement import RunResult
from core.debugger.experiments.service import BisectService
from core.debugger.service import table_text
from core.schema.errors import UsageError
from tests.core.debugger.experiments.fake_subprocess import FAILS, PRINTS, WAITS, FakeSubprocess
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
        RunResult(run=8, success=True, llm_calls=3, cost=0.5),
        RunResult(run=9, success=False, llm_calls=4),
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


@pytest.fixture
def opened(stage, run):
    def opened(script=PRINTS, *lines):
        fake = FakeSubprocess(stage, BisectService, script, *lines)
        fake.service.open(run)
        fake.wait(lambda view: view.ready)
        return fake

    return opened


def lines(run, *bisections):
    return [one.replace(run=run).model_dump_json() for one in bisections]


def test_a_run_is_opened_with_its_steps_and_what_was_bisected_before(stage, opened, run):
    stage.services.store.save_bisection(run, BISECTION.replace(run=run).model_dump_json())
    fake = opened()
    view = fake.views[-1]
    assert [number for number, _ in view.steps] == [1, 2]
    assert [one.results for one in view.kept] == [(STEP,)]
    assert (view.preset, view.llm, view.busy) == ("plain", "test", False)


def test_what_the_process_tells_is_shown_as_it_comes_until_it_ends(opened, run):
    begun = BISECTION.replace(results=())
    fake = opened(PRINTS, *lines(run, begun, BISECTION), "no json")
    fake.service.bisect(BisectRequest(run=run, times=2))
    fake.wait(lambda view: view.ready and not view.busy and fake.asked)
    counts = [len(view.under_way.results) for view in fake.views if view.under_way is not None]
    assert 0 in counts
    assert 1 in counts
    [arguments] = fake.asked
    assert arguments[:3] == ["bisect", str(run), "--lines"]
    assert arguments[arguments.index("--times") + 1] == "2"
    assert fake.views[-1].problem == ""


def test_a_process_that_fails_is_reported_with_its_own_words(opened, run):
    fake = opened(FAILS)
    fake.service.bisect(BisectRequest(run=run))
    view = fake.wait(lambda view: view.problem and not view.busy)
    assert view.problem == "The bisection failed: The browser has ended."


def test_it_is_cancelled_and_only_one_goes_on_at_a_time(opened, run):
    fake = opened(WAITS, *lines(run, BISECTION))
    fake.service.bisect(BisectRequest(run=run))
    fake.wait(lambda view: view.under_way is not None)
    fake.service.bisect(BisectRequest(run=run))
    assert "already running" in fake.wait(lambda view: view.problem).problem
    fake.service.cancel()
    view = fake.wait(lambda view: not view.busy)
    assert view.problem == ""


def test_one_that_goes_on_is_ended_where_the_session_is_closed(stage, opened, run):
    fake = opened(WAITS, *lines(run, BISECTION))
    fake.service.bisect(BisectRequest(run=run))
    fake.wait(lambda view: view.under_way is not None)
    [close] = fake.session.closers
    stage.thread.run(close())
    assert fake.service.is_busy is False


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"steps": (7,)}, "no step 7"),
        ({"preset": "nothing"}, 'no preset "nothing"'),
        ({"llm": "person"}, "cannot answer in the background"),
    ],
)
def test_what_cannot_be_is_reported_and_nothing_is_begun(opened, run, more, words):
    fake = opened()
    fake.service.bisect(BisectRequest(run=run, **more))
    assert words in fake.wait(lambda view: view.problem).problem
    assert fake.asked == []


def test_the_table_is_written_with_a_row_for_each_step(opened, tmp_path):
    fake = opened()
    fake.service.export(BISECTION, str(tmp_path / "table.csv"))
    assert "table.csv" in fake.wait(lambda view: view.notice).notice
    assert (tmp_path / "table.csv").read_bytes().decode() == table_text(BISECTION.table())
    heading, row, end = table_text(BISECTION.table()).split("\r\n")
    assert heading.startswith("from_step,the_run_did,successes,judged,share,low,high")
    assert row == '2,"click ""Go"", then on",1,2,0.5000,0.0900,0.9100,7,0.500000,8 9,'
    assert end == ""
    fake.service.export(BISECTION, str(tmp_path / "no" / "table.csv"))
    assert "cannot be written" in fake.wait(lambda view: view.problem).problem


def test_steps_are_read_as_they_are_written():
    assert read_steps("1, 3,5-7 6") == (1, 3, 5, 6, 7)
    assert read_steps("") == ()
    for wrong in ("x", "3-", "-2", "5-3", "1-999999999"):
        with pytest.raises(UsageError):
            read_steps(wrong)


def test_limits_count_what_all_branches_have_used():
    assert BISECTION.replace(most_calls=8).limit_reached() == ""
    assert "7 LLM calls" in BISECTION.replace(most_calls=7).limit_reached()
    assert "$0.5" in BISECTION.replace(most_cost=0.5).limit_reached()
    assert json.loads(BISECTION.model_dump_json())["run"] == 1
