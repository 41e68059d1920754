"""Saving a run at the window: what is chosen of it, how a prompt shows it, and that it is found at once."""

import threading

import pytest

from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.saving.service import SavingService
from core.debugger.exemplars.saving.views import SavingChoice, SavingView
from core.debugger.exemplars.trying.views import ReplayResult
from tests.core.debugger.interventions.test_handover import person_does
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser


class Saving:
    """The service, and the views that it has sent."""

    def __init__(self, live):
        self.live = live
        self.changes = ExemplarChanges(live.session)
        self.made = []
        self.changes.changed.connect(self.made.append)
        self.service = SavingService(live.session, self.changes)
        self.view = SavingView(run=0)
        self.views = []
        self._changed = threading.Condition()
        self.service.changed.connect(self._on_changed)

    def _on_changed(self, view):
        with self._changed:
            self.view = view
            self.views.append(view)
            self._changed.notify_all()

    def wait(self, condition):
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self.view), 30), self.view

    def open(self, run, **more):
        self.view = SavingView(run=0)
        self.service.open(run, **more)
        # What is still told of an earlier saving is of no interest.
        self.wait(lambda view: view.run == run and (view.ready or view.problem) and view.saved is None)
        return self.view

    def choose(self, choice):
        self.service.choose(choice)
        self.live.settle()
        return self.view

    def save(self, choice=None, *, anyway=False):
        self.service.save(choice or SavingChoice(), anyway=anyway)
        self.live.settle()
        self.wait(lambda view: not view.busy)
        return self.view

    def end(self):
        """End the replay, if one goes on or is to begin."""
        self.service.replay(False)
        self.live.settle()


@pytest.fixture
def saving(live, monkeypatch):
    """The service, which replays nothing by itself."""
    monkeypatch.setattr("core.debugger.exemplars.saving.service._REST_SECONDS", 600.0)
    made = Saving(live)
    yield made
    made.end()


@pytest.fixture
def replaying(live):
    made = Saving(live)
    yield made
    made.end()


@pytest.fixture
def done(live, server):
    """A run that was corrected in its first step and was a success."""
    server.script(on('button "TWO"', thought="Two it is."))
    live.open("miniwob/click-test-2")
    live.to_review()
    right = next(one.ref for one in live.step.action.elements if one.name == "ONE")
    live.session.edits.edit_action(f"click [{right}]")
    live.wait(lambda: live.step.action.origin == "person")
    live.session.corrections.accept()
    live.wait_mode("ended")
    return live.view.run


@pytest.fixture
def stopped(live, server, tmp_path):
    """A run of two steps that nobody has judged."""
    server.script(on('button "One"'), stop("done"))
    url = page_file(tmp_path, "<button>One</button>")
    live.open("web/open", url=url, instruction="Press it.")
    live.session.run_commands.run()
    live.wait_mode("ended")
    return live.view.run


def test_a_run_is_shown_as_it_would_be_in_a_prompt_and_found_once_it_is_saved_and_looked_up(
    saving, live, done
):
    view = saving.open(done)
    assert [(one.row.number, one.chosen, one.why) for one in view.steps] == [(1, True, "")]
    assert (view.id, view.version_of, view.problems) == (f"miniwob/click-test-2/run-{done}", "", ())
    assert view.exemplar.steps[0].actions[0] in "".join(one.text for one in view.prompt.messages)
    assert view.prompt.tokens > 0
    (contrast,) = view.contrasts
    assert contrast.chosen
    chosen = saving.choose(SavingChoice(reasons={1: "The task names the other one."}))
    assert chosen.exemplar.contrasts[0].why == "The task names the other one."
    assert saving.choose(SavingChoice(contrasts=frozenset())).exemplar.contrasts == ()
    saved = saving.save(SavingChoice(tags=("mine",), note="By hand.")).saved
    assert (saved.id, saved.version, saved.distance) == (view.id, 1, pytest.approx(0, abs=1e-3))
    assert (saved.preset, saved.recalls, saved.found) == ("plain", False, ())
    assert saved.rank > 0  # What other tests have saved of this task is as near.
    file = live.session.services().config / "presets" / "plain.toml"
    try:
        saving.service.use_memory()
        saving.wait(lambda view: view.saved.recalls)
        assert saving.view.saved.found
        assert file.read_text().endswith("\n[memory]\n")
        assert live.session.services().resources.presets.get("plain").memory is not None
    finally:
        file.unlink()


def test_a_run_is_replayed_from_the_start_by_itself_or_not_and_the_result_is_kept_with_what_is_saved(
    replaying, live, done
):
    replaying.open(done)
    replaying.service.replay(False)
    replaying.wait(lambda view: not view.playing)
    assert replaying.view.played is None
    replaying.service.replay(True)
    replaying.wait(lambda view: view.playing)
    replaying.service.open(done)
    replaying.wait(lambda view: view.ready and view.playing and view.played is None)
    replaying.wait(lambda view: view.played is not None)
    played = replaying.view.played
    assert "step 1 of 1" in [view.playing for view in replaying.views]
    assert (played.success, played.plays) == (True, "Plays: yes, 1 step, success.")
    saved = replaying.save().saved
    ((_, kept),) = live.session.services().resources.memory.library().proofs.of("replay", (saved.id,))
    assert ReplayResult.model_validate_json(kept) == played.replace(id=saved.id, version=saved.version)
    replaying.choose(SavingChoice(note="The same actions."))
    assert replaying.view.played == played


def test_a_typed_password_is_known_to_the_replay_and_written_nowhere(replaying, live, server, tmp_path):
    body = (
        '<input type=password aria-label=Password><button onclick="document.body.textContent ='
        " document.querySelector('input').value === 'hunter2' ? 'Welcome' : 'No'\">Sign in</button>"
    )
    live.open("web/open", url=page_file(tmp_path, body), instruction="Sign in.")
    live.session.live_page.set_handover(True)
    live.wait(lambda: live.view.handed_over)
    person_does(live, 'type [textbox "Password"] [hunter2]', 'click [button "Sign in"]')
    live.wait(lambda: live.view.step == 3)
    live.session.live_page.set_handover(False)
    live.wait(lambda: not live.view.handed_over)
    view = replaying.open(live.view.run)
    assert view.exemplar.steps[0].actions[0].endswith("[<secret:password>]")
    replaying.wait(lambda view: view.played is not None)
    assert replaying.view.played.looks == 2, replaying.view.played
    assert "hunter2" not in replaying.view.model_dump_json()


def test_what_is_typed_and_named_in_the_task_is_saved_as_a_placeholder_if_it_is_chosen(
    saving, live, server, tmp_path
):
    server.script(on('textbox "Name"', "type", text="Ada"), stop("done"))
    url = page_file(tmp_path, '<input aria-label="Name">')
    live.open("web/open", url=url, instruction="Enter Ada.")
    live.session.run_commands.run()
    live.wait_mode("ended")
    view = saving.open(live.view.run)
    assert view.placeholders == {"Ada": "{name}"}
    assert view.exemplar.task == "Enter Ada."
    view = saving.choose(SavingChoice(placeholders=True))
    assert (view.exemplar.task, view.placeholders) == ("Enter {name}.", {"Ada": "{name}"})
    assert view.exemplar.steps[0].actions[0].endswith("[{name}]")
    saved = saving.save(SavingChoice(placeholders=True), anyway=True).saved
    stored = live.session.services().resources.memory.library().find(saved.id)
    assert stored.exemplar.task == "Enter {name}."


def test_what_is_saved_again_is_a_new_version_or_has_an_id_of_its_own_and_can_be_undone(saving, done):
    saving.open(done)
    first = saving.save().saved
    view = saving.open(done)
    assert view.id == f"{first.id}-2"
    assert first.id in view.earlier
    again = saving.save(SavingChoice(id=first.id, note="Once more.")).saved
    assert (again.id, again.version) == (first.id, first.version + 1)
    saving.changes.exchange(saving.made[-1], back=True)
    saving.wait(lambda view: view.saved.undone)
    library = saving.live.session.services().resources.memory.library()
    assert library.get(first.id).exemplar.note == ""
    other = saving.save(SavingChoice(id="an-other"), anyway=True).saved
    saving.changes.exchange(saving.made[-1], back=True)
    saving.wait(lambda view: view.saved.undone)
    assert library.get(other.id).exemplar.review.status == "retired"


def test_what_a_run_did_wrong_is_a_contrast_of_the_branch_that_did_better(saving, live, server):
    server.script(on('button "TWO"'), on('button "ONE"'))
    live.open("miniwob/click-test-2")
    live.session.run_commands.run()
    live.wait_mode("ended")
    failed = live.view.run
    live.session.branches.go_back(failed, 1)
    live.wait(lambda: live.view.run not in (None, failed) and live.view.mode == "waiting")
    live.session.run_commands.run()
    live.wait_mode("ended")
    view = saving.open(live.view.run)
    (contrast,) = view.contrasts
    assert (view.success, contrast.chosen) == (True, True)
    assert 'button "TWO"' in contrast.tried
    assert 'button "ONE"' in contrast.right
    assert view.provenance.origin == "branch"


def test_an_id_that_is_taken_or_is_none_is_reported_and_nothing_is_saved(saving, done, stopped):
    saving.open(done)
    taken = saving.save().saved.id
    saving.open(stopped)
    assert "already exists" in saving.choose(SavingChoice(id=taken)).problem
    assert "is not a valid id" in saving.choose(SavingChoice(id="No Good")).problem
    assert saving.save(SavingChoice(id=taken), anyway=True).saved is None


def test_steps_are_left_out_and_put_back_in_and_what_nobody_judged_is_asked_about_once(saving, stopped):
    view = saving.open(stopped, steps=(1,))
    assert [one.chosen for one in view.steps] == [True, False]
    both = saving.choose(SavingChoice(steps=frozenset({1, 2})))
    assert len(both.exemplar.steps) == 2
    none = saving.choose(SavingChoice(steps=frozenset()))
    assert none.exemplar is None
    assert "no step to keep" in none.problem
    saving.open(stopped)
    view = saving.save()
    assert "was not judged a success" in view.question
    assert view.saved is None
    assert saving.save(anyway=True).saved is not None


def test_a_run_that_is_not_there_is_reported(saving, live):
    saving.service.open(9999)
    saving.wait(lambda view: view.problem)
    assert "9999" in saving.view.problem
