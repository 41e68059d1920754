"""Trying exemplars out at the window: a process of its own tells how far it is, and what it leaves is shown."""

import pytest

from core.debugger.experiments.evaluation_service import ProvingDesk
from core.debugger.experiments.evaluation_views import as_csv
from core.debugger.experiments.records import (
    Experiment,
    Pair,
    Replayed,
    ReplayTally,
    RunResult,
    Subject,
    WorthWanted,
)
from tests.core.debugger.experiments.fake_subprocess import TELLS, WAITS, DeskApart

pytestmark = pytest.mark.browser

KEPT = Subject(name="miniwob/click-link/0")
PAIR = Pair(
    task="miniwob/click-link",
    seed=4,
    with_it=RunResult(run=7, success=True, used=True, steps=1, llm_calls=2),
    without_it=RunResult(run=8, success=False, steps=3, llm_calls=6, error='It "stopped".'),
)
EXPERIMENT = Experiment(
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
REPLAYED = Replayed(id=KEPT.name, task="miniwob/click-link", success=False, problem="It was gone.", when=1.0)
FAILS = "import sys; print('The browser has ended.', file=sys.stderr); sys.exit(3)"


class Desk(DeskApart):
    def __init__(self, stage, script: str, *lines: str) -> None:
        def make(session, command):
            return ProvingDesk(session, command, command, "A browser of its own.")

        super().__init__(stage, make, script, *lines)

    def opened(self, subject=KEPT):
        self.desk.open(subject)
        return self.wait(lambda view: view.ready)


def test_what_is_known_of_a_subject_is_shown(stage):
    library = stage.workshop.knowledge.memory.library()
    library.save_proof("worth", KEPT.name, 1.0, EXPERIMENT.model_dump_json())
    library.save_proof("worth", "other", 2.0, EXPERIMENT.model_dump_json())
    library.save_proof("replay", KEPT.name, 1.0, REPLAYED.model_dump_json())
    view = Desk(stage, TELLS).opened()
    assert view.recorded_at == (("miniwob/click-link", 0),)
    assert [one.pairs for one in view.experiments] == [(PAIR,)]
    assert [row.found for row in view.replays] == [REPLAYED]
    assert "miniwob/click-link" in view.tasks
    assert "click-link" in view.families
    assert view.problem == ""


def test_what_the_process_tells_is_shown_as_it_comes_until_it_ends(stage):
    begun = EXPERIMENT.replace(pairs=(), state="running")
    desk = Desk(stage, TELLS, begun.model_dump_json(), EXPERIMENT.model_dump_json(), "no json")
    desk.opened()
    wanted = WorthWanted(subject=KEPT, seeds=(4,))
    desk.desk.start(wanted)
    view = desk.wait(lambda view: view.notice)
    assert desk.asked == [wanted]
    assert (view.busy, view.problem) == (False, "")
    assert view.notice == EXPERIMENT.worth.sentence
    assert [len(one.experiment.pairs) for one in desk.views if one.experiment is not None][:1] == [0]


def test_replaying_tells_how_many_still_succeed(stage):
    tally = ReplayTally(wanted=1).with_result(REPLAYED)
    desk = Desk(stage, TELLS, ReplayTally(wanted=1).model_dump_json(), tally.model_dump_json())
    desk.opened()
    desk.desk.replay((KEPT.name,))
    assert desk.wait(lambda view: view.notice).notice == tally.sentence
    assert desk.asked == [(KEPT.name,)]


def test_a_process_that_fails_is_told_with_its_own_words(stage):
    desk = Desk(stage, FAILS)
    desk.opened()
    desk.desk.replay(())
    view = desk.wait(lambda view: view.problem and not view.busy)
    assert view.problem == "Replaying failed: The browser has ended."


def test_it_is_cancelled_and_only_one_thing_goes_on_at_a_time(stage):
    desk = Desk(stage, WAITS, ReplayTally(wanted=3).model_dump_json())
    desk.opened()
    desk.desk.replay(())
    desk.wait(lambda view: view.tally is not None)
    desk.desk.start(WorthWanted(subject=KEPT))
    assert "being tried out already" in desk.wait(lambda view: view.problem).problem
    desk.desk.cancel()
    view = desk.wait(lambda view: not view.busy and view.notice)
    assert "cancelled" in view.notice


def test_what_goes_on_is_ended_where_the_session_is_closed(stage):
    desk = Desk(stage, WAITS, ReplayTally(wanted=3).model_dump_json())
    desk.opened()
    desk.desk.replay(())
    desk.wait(lambda view: view.tally is not None)
    [close] = desk.session.closers
    stage.thread.run(close())
    assert desk.desk._going.done()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"subject": Subject(name="nothing")}, "no exemplar nothing"),
        ({"tasks": ("miniwob/nothing",)}, "no task miniwob/nothing"),
        ({"preset": "plain"}, "recalls no exemplars"),
        ({"llm": "person"}, "cannot answer in the background"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_begun(stage, more, words):
    desk = Desk(stage, TELLS)
    desk.opened()
    desk.desk.start(WorthWanted.model_validate({"subject": KEPT, **more}))
    assert words in desk.wait(lambda view: view.problem).problem
    assert desk.asked == []


def test_the_pairs_are_written_as_a_table(stage, tmp_path):
    desk = Desk(stage, TELLS)
    desk.desk.export(EXPERIMENT, str(tmp_path / "worth.csv"))
    assert "worth.csv" in desk.wait(lambda view: view.notice).notice
    assert (tmp_path / "worth.csv").read_bytes().decode() == as_csv(EXPERIMENT)
    heading, row, end = as_csv(EXPERIMENT).split("\r\n")
    assert heading.startswith("task,seed,time,with,without,flip")
    assert row == 'miniwob/click-link,4,1,success,no success,to success,yes,7,8,1,3,2,6,"It ""stopped""."'
    assert end == ""
    desk.desk.export(EXPERIMENT, str(tmp_path / "no" / "worth.csv"))
    assert "cannot be written" in desk.wait(lambda view: view.problem).problem
