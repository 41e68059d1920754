"""Trying exemplars out at the window: a process of its own tells how far it is, and what it leaves is shown."""

import pytest

from core.debugger.experiments.job import JobProcess
from core.debugger.experiments.service import WorthService
from core.debugger.experiments.worth_records import (
    Arm,
    Pair,
    ReplayReport,
    ReplayResult,
    Subject,
    Worth,
    WorthRequest,
)
from core.debugger.service import table_text
from tests.core.debugger.experiments.fake_subprocess import FAILS, PRINTS, WAITS, FakeSubprocess
from tests.core.stage import need_chromium

pytestmark = pytest.mark.browser

KEPT = Subject(name="miniwob/click-link/0")
PAIR = Pair(
    task="miniwob/click-link",
    seed=4,
    with_it=Arm(run=7, success=True, used=True, steps=1, llm_calls=2),
    without_it=Arm(run=8, success=False, steps=3, llm_calls=6, error='It "stopped".'),
)
WORTH = Worth(
    number=1,
    subject=KEPT,
    tasks=("miniwob/click-link",),
    seeds=(4,),
    preset="synapse",
    llm="test",
    when=0.0,
    pairs=(PAIR,),
    state="done",
)
REPLAYED = ReplayResult(
    id=KEPT.name, task="miniwob/click-link", success=False, problem="It was gone.", when=1.0
)


@pytest.fixture
def opened(stage):
    def opened(script=PRINTS, *lines):
        fake = FakeSubprocess(stage, WorthService, script, *lines)
        fake.service.open(KEPT)
        fake.wait(lambda view: view.ready)
        return fake

    return opened


def test_what_is_known_of_a_subject_is_shown(stage, opened):
    library = stage.services.resources.memory.library()
    library.save_proof("worth", KEPT.name, 1.0, WORTH.model_dump_json())
    library.save_proof("worth", "other", 2.0, WORTH.model_dump_json())
    library.save_proof("replay", KEPT.name, 1.0, REPLAYED.model_dump_json())
    view = opened().views[-1]
    assert view.recorded_at == (("miniwob/click-link", 0),)
    assert [one.pairs for one in view.kept] == [(PAIR,)]
    assert [row.found for row in view.replays] == [REPLAYED]
    assert "miniwob/click-link" in view.tasks
    assert "click-link" in view.families
    assert view.problem == ""


def test_what_the_process_tells_is_shown_as_it_comes_until_it_ends(opened):
    begun = WORTH.replace(pairs=(), state="running")
    fake = opened(PRINTS, begun.model_dump_json(), WORTH.model_dump_json(), "no json")
    request = WorthRequest(subject=KEPT, seeds=(4,))
    fake.service.measure(request)
    view = fake.wait(lambda view: view.notice)
    [arguments] = fake.asked
    assert arguments[:3] == ["exemplars", "worth", "--lines"]
    assert arguments[arguments.index("--seeds") + 1] == "4"
    assert arguments[-2:] == ["--", KEPT.name]
    assert (view.busy, view.problem) == (False, "")
    assert view.notice == WORTH.summary.sentence
    assert [len(one.under_way.pairs) for one in fake.views if one.under_way is not None][:1] == [0]


def test_replaying_tells_how_many_still_succeed(opened):
    report = ReplayReport(wanted=1).with_result(REPLAYED)
    fake = opened(PRINTS, ReplayReport(wanted=1).model_dump_json(), report.model_dump_json())
    fake.service.replay((KEPT.name,))
    assert fake.wait(lambda view: view.notice).notice == report.sentence
    [arguments] = fake.asked
    assert arguments[:3] == ["exemplars", "replay", "--lines"]
    assert arguments[-2:] == ["--", KEPT.name]


def test_the_command_line_of_the_program_does_what_was_asked(stage, opened, monkeypatch):
    chosen = stage.services.settings.replace(browser=need_chromium())
    monkeypatch.setattr(stage.services, "settings", chosen)
    fake = opened()
    fake.service.process.program = JobProcess().program
    fake.service.measure(WorthRequest(subject=KEPT, seeds=(1,), llm="rules", on_gate="allow"))
    view = fake.wait(lambda view: view.notice or view.problem)
    assert view.problem == ""
    made = view.kept[-1]
    assert (made.state, made.done, made.llm, made.on_gate) == ("done", 1, "rules", "allow")


def test_a_process_that_fails_is_reported_with_its_own_words(opened):
    fake = opened(FAILS)
    fake.service.replay(())
    view = fake.wait(lambda view: view.problem and not view.busy)
    assert view.problem == "Replaying failed: The browser has ended."


def test_it_is_cancelled_and_only_one_thing_goes_on_at_a_time(opened):
    fake = opened(WAITS, ReplayReport(wanted=3).model_dump_json())
    fake.service.replay(())
    fake.wait(lambda view: view.replay is not None)
    fake.service.measure(WorthRequest(subject=KEPT))
    assert "already running" in fake.wait(lambda view: view.problem).problem
    fake.service.cancel()
    view = fake.wait(lambda view: not view.busy and view.notice)
    assert "cancelled" in view.notice


def test_what_goes_on_is_ended_where_the_session_is_closed(stage, opened):
    fake = opened(WAITS, ReplayReport(wanted=3).model_dump_json())
    fake.service.replay(())
    fake.wait(lambda view: view.replay is not None)
    [close] = fake.session.closers
    stage.thread.run(close())
    assert fake.service.is_busy is False


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"subject": Subject(name="nothing")}, "no exemplar nothing"),
        ({"tasks": ("miniwob/nothing",)}, "no task miniwob/nothing"),
        ({"preset": "plain"}, "does not use exemplars"),
        ({"llm": "person"}, "cannot answer in the background"),
    ],
)
def test_what_cannot_be_is_reported_and_nothing_is_begun(opened, more, words):
    fake = opened()
    fake.service.measure(WorthRequest.model_validate({"subject": KEPT, **more}))
    assert words in fake.wait(lambda view: view.problem).problem
    assert fake.asked == []


def test_the_pairs_are_written_as_a_table(opened, tmp_path):
    fake = opened()
    fake.service.export(WORTH, str(tmp_path / "worth.csv"))
    assert "worth.csv" in fake.wait(lambda view: view.notice).notice
    assert (tmp_path / "worth.csv").read_bytes().decode() == table_text(WORTH.table())
    heading, row, end = table_text(WORTH.table()).split("\r\n")
    assert heading.startswith("task,seed,time,with,without,flip")
    assert row == 'miniwob/click-link,4,1,success,no success,to success,yes,7,8,1,3,2,6,"It ""stopped""."'
    assert end == ""
    fake.service.export(WORTH, str(tmp_path / "no" / "worth.csv"))
    assert "cannot be written" in fake.wait(lambda view: view.problem).problem
