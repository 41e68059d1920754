"""Keeping a run at the window: what is chosen of it, what it would be told as, and that it is found at once."""

import threading

import pytest

from core.debugger.exemplars.saving.service import KeepDesk
from core.debugger.exemplars.saving.views import Choice, KeepView
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser


class Keeping:
    """A desk, and the views that it has sent."""

    def __init__(self, live):
        self.live = live
        self.desk = KeepDesk(live.session)
        self.view = KeepView(run=0)
        self._changed = threading.Condition()
        self.desk.changed.connect(self._on_changed)

    def _on_changed(self, view):
        with self._changed:
            self.view = view
            self._changed.notify_all()

    def wait(self, condition):
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self.view), 30), self.view

    def open(self, run, **more):
        self.view = KeepView(run=0)
        self.desk.open(run, **more)
        self.wait(lambda view: view.run == run and (view.ready or view.problem))
        return self.view

    def choose(self, choice):
        self.desk.choose(choice)
        self.live.settle()
        return self.view

    def save(self, choice=None, *, anyway=False):
        self.desk.save(choice or Choice(), anyway=anyway)
        self.live.settle()
        self.wait(lambda view: not view.busy)
        return self.view


@pytest.fixture
def keeping(live):
    return Keeping(live)


@pytest.fixture
def done(live, server):
    """A run that was corrected in its first step and was a success."""
    server.script(on('button "TWO"', thought="Two it is."))
    live.open("miniwob/click-test-2")
    live.to_review()
    right = next(one.ref for one in live.step.action.elements if one.name == "ONE")
    live.session.corrections.edit_action(f"click [{right}]")
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


def test_a_run_is_shown_as_it_would_be_told_and_found_once_it_is_saved(keeping, done):
    view = keeping.open(done)
    assert [(one.row.number, one.chosen, one.why) for one in view.steps] == [(1, True, "")]
    assert (view.id, view.version_of, view.problems) == (f"miniwob/click-test-2/run-{done}", "", ())
    assert view.exemplar.steps[0].actions[0] in "".join(one.text for one in view.messages)
    assert view.tokens > 0
    saved = keeping.save(Choice(tags=("mine",), note="By hand.")).saved
    assert (saved.id, saved.version, saved.distance) == (view.id, 1, pytest.approx(0, abs=1e-3))
    assert saved.found[0].id == saved.id
    assert saved.rank == 1


def test_a_correction_goes_in_with_a_reason_or_stays_out(keeping, done):
    (contrast,) = keeping.open(done).contrasts
    assert contrast.chosen
    view = keeping.choose(Choice(reasons={1: "The task names the other one."}))
    assert view.exemplar.contrasts[0].why == "The task names the other one."
    assert keeping.choose(Choice(contrasts=frozenset())).exemplar.contrasts == ()


def test_what_is_saved_again_is_a_new_version_or_has_an_id_of_its_own_and_can_be_undone(keeping, done):
    keeping.open(done)
    first = keeping.save().saved
    view = keeping.open(done)
    assert view.id == f"{first.id}-2"
    assert first.id in view.earlier
    again = keeping.save(Choice(id=first.id, note="Once more.")).saved
    assert (again.id, again.version) == (first.id, first.version + 1)
    keeping.desk.undo()
    keeping.live.settle()
    assert keeping.view.saved.undone
    library = keeping.live.session.workshop().knowledge.memory.library()
    assert library.get(first.id).exemplar.note == ""
    other = keeping.save(Choice(id="an-other"), anyway=True).saved
    keeping.desk.undo()
    keeping.live.settle()
    assert library.get(other.id).exemplar.archived


def test_what_a_run_did_wrong_is_a_contrast_of_the_branch_that_did_better(keeping, live, server):
    server.script(on('button "TWO"'), on('button "ONE"'))
    live.open("miniwob/click-test-2")
    live.session.run_commands.run()
    live.wait_mode("ended")
    failed = live.view.run
    live.session.branches.go_back(failed, 1)
    live.wait(lambda: live.view.run not in (None, failed) and live.view.mode == "waiting")
    live.session.run_commands.run()
    live.wait_mode("ended")
    view = keeping.open(live.view.run)
    (contrast,) = view.contrasts
    assert (view.success, contrast.chosen) == (True, True)
    assert 'button "TWO"' in contrast.tried
    assert 'button "ONE"' in contrast.right
    assert view.provenance.origin == "branch"


def test_an_id_that_is_taken_or_is_none_is_told_and_nothing_is_saved(keeping, done, stopped):
    keeping.open(done)
    taken = keeping.save().saved.id
    keeping.open(stopped)
    assert "There is an exemplar" in keeping.choose(Choice(id=taken)).problem
    assert "cannot be an id" in keeping.choose(Choice(id="No Good")).problem
    assert keeping.save(Choice(id=taken), anyway=True).saved is None


def test_what_nobody_judged_is_asked_about_once(keeping, stopped):
    keeping.open(stopped)
    view = keeping.save()
    assert "Nobody has judged" in view.question
    assert view.saved is None
    assert keeping.save(anyway=True).saved is not None


def test_steps_are_left_out_and_put_back_in(keeping, stopped):
    view = keeping.open(stopped, steps=(1,))
    assert [one.chosen for one in view.steps] == [True, False]
    both = keeping.choose(Choice(steps=frozenset({1, 2})))
    assert len(both.exemplar.steps) == 2
    none = keeping.choose(Choice(steps=frozenset()))
    assert none.exemplar is None
    assert "no step to keep" in none.problem


def test_a_run_that_is_not_there_is_told(keeping, live):
    keeping.desk.open(9999)
    keeping.wait(lambda view: view.problem)
    assert "9999" in keeping.view.problem
