"""Fix: a failed run is put right at the proposed step and file, run again from there, and kept or put back."""

import threading
from contextlib import closing

import pytest

import core.debugger.job_process
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.records import EvaluationPlan
from core.debugger.features import Features
from core.debugger.fix.views import FixView
from core.schema.task import Verdict
from core.storage.resources import RESOURCES
from core.trace.evaluations import all_evaluations
from tests.core.debugger.live import Live
from tests.core.stage import on, page_file, ref_in
from tests.core.trace.making import start, write_step
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

POLICY = """+++
top = true
description = "Keeps the draft."
[applies]
environments = ["web"]
+++
# Instruction

{words}
"""
NAME = "policies/web/draft.md"


def obeys(request) -> Reply:
    """Do what the policy says."""
    words = 'button "Save"' if "Press Save" in request.texts[0] else 'button "Delete"'
    return Reply(text=f"REASON: So.\nACTION: click [{ref_in(request, words)}]")


class Fix:
    """The service of a live session, with its last view."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.service = Features(live.session)["fix"]
        self.view = self.service.view
        self.service.changed.connect(self._keep)

    def _keep(self, view) -> None:
        with self.live._changed:
            self.view = view
            self.live._changed.notify_all()

    def open(self, run: int, step: int = 0):
        self.service.open(run, step)
        self.live.wait(lambda: self.view.run == run and self.view.ready and not self.view.busy, "a proposal")
        return self.view

    def rerun(self, text: str, *, name: str = "", confirmed: bool = False):
        before = self.view.rerun
        self.service.rerun(name or self.view.place.name, text, confirmed=confirmed)
        self.live.wait(
            lambda: (
                (
                    self.view.rerun not in (None, before)
                    and self.view.rerun.state in ("ended", "waiting", "lost")
                )
                or self.view.problem
                or self.view.text.problem
            ),
            "the end of the new run",
        )
        return self.view


@pytest.fixture
def fix(live):
    before = {path for path in live.config.rglob("*") if path.is_file()}
    made = Fix(live)
    yield made
    for path in {path for path in live.config.rglob("*") if path.is_file()} - before:
        path.unlink()
    made.live.session.run_commands.stop()
    made.live.settle()
    made.service.session.closers.remove(made.service.close)
    made.live.session.session_changed.disconnect(made.service._on_session)


@pytest.fixture(scope="module")
def failed_once(started_live, started_server, tmp_path_factory):
    """A run by a policy that says to press the wrong button, for tests that prove nothing for it."""
    run = run_once(started_live, started_server, tmp_path_factory.mktemp("page"))
    (started_live.config / NAME).unlink()
    return run


@pytest.fixture
def failed(live, server, failed_once):
    use_policy(live, server)
    return failed_once


@pytest.fixture
def failed_anew(live, server, tmp_path):
    """Such a run of the test's own."""
    return run_once(live, server, tmp_path)


def use_policy(live, server) -> None:
    path = live.config / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(POLICY.format(words="Press Delete."))
    server.otherwise = obeys
    live.session.agent.set_preset("step")
    live.session.run_commands.set_max_steps(2)


def run_once(live, server, tmp_path) -> int:
    use_policy(live, server)
    page = page_file(tmp_path, "<button>Save</button><button>Delete</button>")
    live.open("web/open", url=page, instruction="Keep the draft.")
    live.session.run_commands.run()
    live.wait_mode("ended")
    live.session.run_commands.end(False)
    live.wait(lambda: live.view.success is False)
    return live.view.run


def looked_at(fix, run: int):
    got = []
    fix.service.looked.connect(got.append)
    fix.service.look(run)
    fix.live.wait(lambda: got, "what is known of a run")
    return got[0]


def test_what_made_a_run_fail_is_sent_and_the_policy_at_work_opened_with_the_prompt_that_was_sent(
    fix, failed_anew, server
):
    looked = looked_at(fix, failed_anew)
    assert (looked.run, looked.clues[0].step, looked.words) == (failed_anew, 2, "")
    assert fix.view.run == 0
    view = fix.open(failed_anew)
    assert (view.place.kind, view.place.name) == ("policy", NAME)
    assert view.text.text.splitlines()[view.place.line - 1] == "Press Delete."
    assert "does not change the prompt" in view.text.preview
    for text in server.requests[view.step - 1].texts:
        assert text in view.text.preview
    assert view.before.startswith("no success")
    assert [one.kind for one in view.places][-1] == "action"


def test_a_changed_policy_is_saved_and_the_run_goes_on_from_the_step_with_it(fix, failed, live):
    assert fix.rerun(fix.open(failed, 1).text.text).rerun.unchanged
    view = fix.open(failed, 1)
    fixed = view.text.text.replace("Delete", "Save")
    fix.service.check(NAME, fixed)
    live.wait(lambda: "Press Save." in fix.view.text.preview)
    view = fix.rerun(fixed)
    assert (live.config / NAME).read_text() == fixed
    assert (view.rerun.state, view.rerun.step, view.saved) == ("ended", 1, (NAME,))
    assert not view.rerun.unchanged
    row = live.row(view.rerun.run)
    assert (row.parent_run, row.parent_step) == (failed, 1)
    assert [one.target for one in live.steps(view.rerun.run)] == ['button "Save"', 'button "Save"']
    # What was saved for one run is not kept for another, nor put back where it was changed elsewhere since.
    assert view.unkept == (NAME,)
    other = fix.open(live.view.run)
    assert (other.saved, other.unkept) == ((NAME,), ())
    fix.service.keep()
    live.wait(lambda: "Nothing to keep" in fix.view.problem)
    (live.config / NAME).write_text("mine")
    fix.service.revert()
    live.wait(lambda: "Not restored, because changed elsewhere since" in fix.view.notice)
    assert (live.config / NAME).read_text() == "mine"
    assert fix.view.saved == ()


def test_a_run_that_was_out_of_its_budget_is_said_to_be_so_and_goes_on_with_more(fix, live, server, tmp_path):
    live.session.run_commands.set_max_steps(2)
    server.otherwise = on('button "More"')
    live.open("web/open", url=page_file(tmp_path, "<button>More</button>"), instruction="Press it often.")
    live.session.run_commands.run()
    live.wait_mode("ended")
    live.session.run_commands.end(False)
    live.wait(lambda: live.view.success is False)
    assert live.row(live.view.run).outcome == "budget"
    view = fix.open(live.view.run)
    assert "at most 2 page actions" in view.clue.what
    assert "running again from here has a budget of its own" in view.clue.what
    view = fix.rerun(view.text.text)
    assert view.notice.startswith(f"The step limit is {1 + 2} now")
    assert live.view.max_steps == 3
    assert live.row(view.rerun.run).parent_step == 2


def test_putting_back_gives_the_file_its_first_text_also_after_two_changes_were_kept(fix, failed, live):
    before = (live.config / NAME).read_text()
    first = fix.open(failed, 1).text.text.replace("Delete", "Save")
    fix.rerun(first)
    fix.service.revert()
    live.wait(lambda: fix.view.saved == ())
    live.wait(lambda: fix.view.text.text == before)
    assert (live.config / NAME).read_text() == before
    for text in (first, first.replace("Press", "Push")):
        fix.open(failed, 1)
        fix.rerun(text)
        fix.service.keep()
        live.wait(lambda: fix.view.unkept == () and "Kept" in fix.view.notice)
        assert (live.config / NAME).read_text() == text
    fix.service.keep()
    live.wait(lambda: "Nothing to keep" in fix.view.problem)
    fix.service.revert()
    live.wait(lambda: fix.view.saved == ())
    assert (live.config / NAME).read_text() == before
    fix.service.revert()
    live.wait(lambda: "Nothing to revert" in fix.view.problem)


def test_a_bundled_file_is_put_back_by_taking_the_own_copy_away(fix, failed, live):
    view = fix.open(failed, 1)
    prompt = next(one for one in view.places if one.kind == "prompt")
    fix.service.choose_place(prompt.name)
    live.wait(lambda: fix.view.place == prompt)
    bundled = (RESOURCES / prompt.name).read_text()
    fix.rerun(f"Be quick.\n{fix.view.text.text}")
    assert (live.config / prompt.name).exists()
    fix.service.revert()
    live.wait(lambda: fix.view.saved == ())
    assert not (live.config / prompt.name).exists()
    assert (RESOURCES / prompt.name).read_text() == bundled


def test_what_cannot_be_or_has_to_be_known_first_is_told_and_nothing_is_saved_or_run(
    fix, failed, live, monkeypatch
):
    text, before = fix.open(failed, 1).text.text, (live.config / NAME).read_text()
    fix.service.choose_step(9)
    live.wait(lambda: "no step 9" in fix.view.problem)
    assert fix.view.step == 1
    fix.service.rerun(NAME, text.replace("description", "descripton"), confirmed=False)
    live.wait(lambda: "draft.md, line 3" in fix.view.text.problem)
    assert "description" in fix.view.text.problem.partition("did you mean")[2]
    fix.service.rerun("action", "clik [1]", confirmed=False)
    live.wait(lambda: "clik" in fix.view.text.problem)
    stays = "Going back to step 1 does not undo POST http://shop/order (step 1)"
    monkeypatch.setattr(live.session.branches, "not_taken_back", lambda run, step, late=True: stays)
    fix.service.open(failed, 1)
    live.wait(lambda: fix.view.irreversible == stays)
    fix.service.rerun(NAME, text, confirmed=False)
    live.wait(lambda: "Tick the box to accept this" in fix.view.problem)
    more = f"{stays}, POST http://shop/pay (step 2)"
    monkeypatch.setattr(live.session.branches, "not_taken_back", lambda run, step, late=True: more)
    fix.service.rerun(NAME, text, confirmed=True)  # What was accepted is less.
    live.wait(lambda: fix.view.irreversible == more and f"{more}. Tick the box" in fix.view.problem)
    assert fix.view.rerun is None
    assert (live.config / NAME).read_text() == before


def test_what_a_page_sends_by_itself_in_the_meantime_does_not_ask_again(fix, failed, live, monkeypatch):
    sent = []

    def beat(run, step, late=True):  # One more each time that it is asked for.
        sent.append("POST http://shop/beat (step 1)")
        return f"Going back to step 1 does not undo {', '.join(sent)}" if late else ""

    monkeypatch.setattr(live.session.branches, "not_taken_back", beat)
    text = fix.open(failed, 1).text.text
    live.wait(lambda: fix.view.irreversible)
    fix.service.rerun(NAME, text, confirmed=False)
    live.wait(lambda: "Tick the box to accept this" in fix.view.problem)
    fix.service.rerun(NAME, text, confirmed=True)
    live.wait(lambda: fix.view.rerun is not None)


def test_a_run_that_was_made_shows_only_where_its_own_is_in_view(fix, failed, live, monkeypatch):
    text, went_on = fix.open(failed, 1).text.text, []

    async def fork(run, step, changes) -> int:
        fix.service.view = FixView(run=4711)  # Another one was opened meanwhile.
        return run

    monkeypatch.setattr(live.session.branches, "fork", fork)
    monkeypatch.setattr(fix.service._reruns, "go_on", went_on.append)
    fix.service.rerun(NAME, text, confirmed=False)
    live.wait(lambda: went_on)
    assert fix.service.view == FixView(run=4711)


def test_another_action_is_taken_at_the_step_in_place_of_the_agent_s(fix, failed, live):
    fix.open(failed, 1)
    fix.service.choose_place("action")
    live.wait(lambda: fix.view.place.kind == "action")
    ref = int(fix.view.text.text.partition("[")[2].partition("]")[0])
    view = fix.rerun(f"click [{ref - 1}]", name="action")
    steps = live.steps(view.rerun.run)
    assert (steps[0].target, steps[0].origin) == ('button "Save"', "person")
    assert view.saved == ()


def test_the_task_is_done_afresh_with_the_files_as_they_are(fix, failed, live):
    fixed = fix.open(failed, 1).text.text.replace("Delete", "Save")
    made = fix.rerun(fixed).rerun.run
    fix.service.rerun_fresh()
    live.wait(lambda: fix.view.rerun is not None and fix.view.rerun.fresh and fix.view.rerun.state == "ended")
    row = live.row(fix.view.rerun.run)
    assert row.run not in (failed, made)
    assert row.parent_run is None
    assert live.steps(row.run)[0].target == 'button "Save"'


def test_a_run_without_causes_says_why_and_a_success_lets_a_step_be_chosen(fix, live, server):
    server.otherwise = on('button "ONE"')
    live.open()
    assert "has not ended" in looked_at(fix, live.view.run).words
    view = fix.open(live.view.run)
    assert "has not decided on an action yet" in view.clue.what
    assert (view.going_on, view.steps) == (True, ((1, "no action"),))
    live.session.run_commands.run()
    live.wait_mode("ended")
    looked = looked_at(fix, live.view.run)
    assert "succeeded" in looked.words
    assert looked.clues == ()
    assert "4711" in looked_at(fix, 4711).words
    fix.service.open(live.view.run, 0)
    live.wait(lambda: fix.view.clue is not None and "succeeded" in fix.view.clue.what)
    assert "succeeded, so there is nothing to fix" in fix.view.clue.what
    assert fix.view.place is not None
    assert fix.view.steps == ((1, fix.view.steps[0][1]),)


def test_a_run_that_a_wrong_file_ended_before_an_action_shows_its_cause(fix, live):
    name, runs = "state_spaces/mine.toml", []
    (live.config / name).parent.mkdir(parents=True, exist_ok=True)
    (live.config / name).write_text("x")

    async def write() -> None:
        store = live.session.services().store
        runs.append(store.begin_run(start(task="miniwob/click-test-2")))
        write_step(store, runs[0], 1, until="observe")
        error = f"{live.config / name}, line 1: It is wrong."
        store.end_run(
            runs[0], outcome="error", verdict=Verdict(), error=error, seconds=1.0, seconds_in_llm=0.0
        )

    live.session.queue(write())
    live.settle()
    assert looked_at(fix, runs[0]).clues[0].file == name
    fix.service.open(runs[0])
    live.wait(lambda: fix.view.run == runs[0] and fix.view.place is not None, "the cause")
    assert (fix.view.clue.file, fix.view.place.name, fix.view.steps) == (name, name, ())
    assert fix.view.why_not


def test_the_step_at_which_a_success_on_the_same_task_and_seed_went_another_way_is_proposed(
    fix, live, server
):
    server.otherwise = on('button "ONE"')
    live.open()
    live.session.run_commands.run()
    live.wait_mode("ended")
    success = live.view.run
    server.otherwise = on('button "TWO"')
    live.open()
    live.session.run_commands.run()
    live.wait_mode("ended")
    view = fix.open(live.view.run)
    assert view.step == 1
    assert f'chose click button "TWO"; run {success}, a success, chose click button "ONE"' in view.clue.what
    assert (view.place.kind, view.place.name) == ("prompt", "prompts/plain/system.j2")


def process(monkeypatch, tmp_path, rest: str) -> None:
    """Let the runs of a proof be made by a program of the test."""
    main = tmp_path / "main.py"
    main.write_text(f"import sys\n{rest}\n")
    monkeypatch.setattr(core.debugger.job_process, "_MAIN", main)


def plans(live) -> list[EvaluationPlan]:
    with closing(live.store()) as store:
        return [planned(row) for row in store.ask(all_evaluations)]


def test_what_was_saved_is_proved_against_what_there_was_before_and_a_proof_is_ended(
    fix, failed_anew, live, monkeypatch, tmp_path
):
    fix.rerun(fix.open(failed_anew, 1).text.text.replace("Delete", "Save"))
    process(monkeypatch, tmp_path, "import time; time.sleep(600)")
    earlier = len(plans(live))
    fix.service.prove(NAME, fix.view.text.text, 6)
    live.wait(lambda: fix.view.of > 0)
    assert (fix.view.proving, fix.view.done, fix.view.clue.proving) == (failed_anew, 0, True)
    assert len(plans(live)) == earlier + 1
    plan = next(one for one in plans(live) if one.run == failed_anew)
    unchanged, changed = plan.variants
    assert "Press Delete." in unchanged.files[NAME]
    assert "Press Save." in changed.files[NAME]
    assert len(plan.repair.choosing) == 6
    fix.service.prove(NAME, fix.view.text.text, 6)
    live.wait(lambda: "already being proved" in fix.view.problem)
    # It is told, and can be ended, where another run is in view.
    other = fix.open(fix.view.rerun.run)
    assert (other.proving, other.run != failed_anew) == (failed_anew, True)
    assert [(job.title, job.run) for job in fix.service.jobs] == [
        (f"Proof for run {failed_anew}", failed_anew)
    ]
    assert fix.open(failed_anew, 1).clue.proving
    assert fix.view.clue.proof is None
    fix.service.cancel_proof()
    live.wait(lambda: not fix.view.proving)
    assert "cancelled before its first run" in fix.view.problem
    assert fix.view.clue.proof is None
    assert not fix.view.clue.can_be_kept


def test_the_change_of_a_cause_is_proved_as_it_is_and_refused_once_its_file_is_another_one(
    fix, live, server, monkeypatch, tmp_path
):
    name = "prompts/step/user.j2"
    path, bundled = live.config / name, (RESOURCES / name).read_text("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"Be quick.\n{bundled}")
    run = run_once(live, server, tmp_path)
    at = next(at for at, one in enumerate(fix.open(run).clues) if one.place == f"{name}:1")
    fix.service.choose_clue(at)
    live.wait(lambda: fix.view.chosen == at)
    clue = fix.view.clue
    assert clue.candidate.files == {name: bundled}
    process(monkeypatch, tmp_path, "sys.exit(0)")
    fix.service.prove("", "", 5)
    live.wait(lambda: any(one.run == run for one in plans(live)) and not fix.view.proving)
    (candidate,) = next(one for one in plans(live) if one.run == run).repair.candidates
    assert (candidate.files, candidate.origin) == (clue.candidate.files, "cause")
    assert candidate.rest
    path.write_text(f"Take your time.\n{bundled}")
    fix.service.prove("", "", 5)
    live.wait(lambda: "was changed since this change was made" in fix.view.problem)


def test_what_cannot_be_proved_says_why(fix, failed_anew, live, monkeypatch, tmp_path):
    text = fix.open(failed_anew, 1).text.text
    fix.service.prove(NAME, text, 5)
    live.wait(lambda: "Nothing is changed yet" in fix.view.problem)
    fix.service.prove("action", "click [1]", 5)
    live.wait(lambda: "changes no file" in fix.view.problem)
    fix.service.prove(NAME, text.replace("description", "descripton"), 5)
    live.wait(lambda: "draft.md, line 3" in fix.view.text.problem)
    process(monkeypatch, tmp_path, "print('The browser has ended.', file=sys.stderr); sys.exit(3)")
    fix.service.prove(NAME, text.replace("Delete", "Save"), 5)
    live.wait(lambda: "failed: The browser has ended." in fix.view.problem)
    assert not fix.view.proving
    assert (live.config / NAME).read_text() == text


def test_a_proof_that_is_cancelled_before_its_first_run_makes_none(fix, failed, live, monkeypatch):
    text = fix.open(failed, 1).text.text.replace("Delete", "Save")
    looking, go_on = threading.Event(), threading.Event()

    def alike(*_given):
        looking.set()
        assert go_on.wait(60)
        return ()

    monkeypatch.setattr("core.debugger.fix.proofs.alike_runs", alike)
    earlier = len(plans(live))
    fix.service.prove(NAME, text, 5)
    live.wait(looking.is_set)
    fix.service.cancel_proof()
    live.wait(lambda: fix.service._proofs.running.is_cancelled)
    go_on.set()
    live.wait(lambda: not fix.view.proving)
    assert "cancelled before its first run" in fix.view.problem
    assert len(plans(live)) == earlier


def test_a_file_that_is_as_it_was_is_no_part_of_what_is_proved(fix, failed_anew, live, monkeypatch, tmp_path):
    fix.rerun(fix.open(failed_anew, 1).text.text.replace("Delete", "Save"))
    prompt = next(one for one in fix.view.places if one.kind == "prompt")
    fix.service.choose_place(prompt.name)
    live.wait(lambda: fix.view.place == prompt)
    process(monkeypatch, tmp_path, "sys.exit(0)")
    fix.service.prove(prompt.name, fix.view.text.text, 5)
    live.wait(lambda: any(one.run == failed_anew for one in plans(live)) and not fix.view.proving)
    (candidate,) = next(one for one in plans(live) if one.run == failed_anew).repair.candidates
    assert list(candidate.files) == [NAME]


def test_an_llm_proposes_a_change_and_what_cannot_be_applied_is_told(fix, failed_anew, live, server):
    view = fix.open(failed_anew, 1)
    assert view.proposer == "test"
    block = f"{NAME}\n<<<<<<< SEARCH\nPress Delete.\n=======\nPress Save.\n>>>>>>> REPLACE\n"
    server.otherwise = lambda request: Reply(text=f"The draft is to be kept.\n\n{block}")
    fix.service.propose()
    live.wait(lambda: "proposed a change in 1 call" in fix.view.notice)
    clue = fix.view.clue
    assert (clue.what, fix.view.chosen, clue.file) == ("The draft is to be kept.", 0, NAME)
    assert "Press Save." in fix.view.patched
    assert "Press Delete." in fix.view.text.text
    # It is there when Fix is opened again.
    assert fix.open(failed_anew).clue.what == clue.what
    server.otherwise = lambda request: Reply(text="I do not know.")
    fix.service.propose()
    live.wait(lambda: "proposed no change that can be applied, in 2 calls" in fix.view.problem)
    assert not fix.view.proposing


def test_an_attached_agent_s_run_has_no_files_to_change(fix, live, monkeypatch, failed):
    store = live.session.services().store
    row = store.run(failed).replace(preset="attached")
    monkeypatch.setattr(fix.service, "read", lambda question: _answered((row, (), store.steps(failed))))
    view = fix.open(failed, 1)
    assert view.attached
    assert view.places == ()
    assert "Backstep does not have its files" in view.why_not


async def _answered(value):
    return value
