"""The page before a recorded step and the page after it: what the panels show of each, and why there is none."""

import pytest

from core.debugger.steps.view import recorded_step
from core.trace.store import TraceStore
from tests.core.stage import on, page_file
from tests.core.trace.making import start, write_run, write_step

PAGE = "<button onclick=\"document.body.innerHTML = '<a href=#>Next</a>'\">Go</button>"


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


def test_after_a_step_is_what_the_next_one_observed_and_the_rest_stays_the_steps_own(store):
    run = write_run(store)
    before, after, following = (
        recorded_step(store, run, 1),
        recorded_step(store, run, 1, "after"),
        recorded_step(store, run, 2),
    )
    assert (before.side, after.side) == ("before", "after")
    assert after.observation == following.observation
    assert after.state == following.state
    assert after.permissible.rows == following.permissible.rows
    assert after.permissible.chosen == ""  # The action of step 1 was chosen from other ones.
    assert after.screenshot.data == following.screenshot.data
    assert after.screenshot.box is None
    own = {"number", "row", "action", "stack", "plan", "exemplars", "calls", "interventions", "events"}
    assert all(getattr(after, part) == getattr(before, part) for part in own)


def test_after_the_last_step_every_part_of_the_page_says_that_it_was_not_observed(store):
    run = write_run(store)
    view = recorded_step(store, run, 2, "after")
    said = (view.state, view.permissible, view.observation)
    assert {part.message for part in said} == {
        "This is the last step of its run: the page was not observed after it."
    }
    assert view.screenshot.missing == view.state.message
    assert (view.permissible.rows, view.observation.raw, view.screenshot.data) == ((), "", b"")


def test_a_step_whose_page_was_not_read_says_so_on_both_sides_of_it(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    store.begin_step(run, 2)
    unread = "Step 2 was started, but its page was not read."
    assert recorded_step(store, run, 1, "after").observation.message == unread
    assert recorded_step(store, run, 2).observation.message == unread
    assert recorded_step(store, run, 2).screenshot.missing == unread


def test_after_a_step_of_another_trial_there_is_no_page(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    store.begin_step(run, 2, trial=2)
    assert "begins trial 2 on a new page" in recorded_step(store, run, 1, "after").state.message


def test_a_step_that_was_not_carried_out_has_only_the_page_before_it(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    write_step(store, run, 2, until="review")
    view = recorded_step(store, run, 2, "after")
    assert view.side == "before"
    assert view == recorded_step(store, run, 2)


@pytest.mark.browser
def test_the_side_stays_from_step_to_step_until_the_live_page_is_shown(live, server, tmp_path):
    server.script(on('button "Go"'), on('link "Next"'))
    live.open("web/open", url=page_file(tmp_path, PAGE), instruction="Go.")
    run = live.view.run
    live.to_review()
    live.session.corrections.accept()
    live.wait_phase("observe")
    live.to_review()
    show = live.session.trace.show_step
    show(run, 1)
    live.wait(lambda: not live.step.live)
    assert 'button "Go"' in live.step.observation.raw
    show(run, 1, "after")
    live.wait(lambda: live.step.side == "after")
    assert 'link "Next"' in live.step.observation.raw
    assert [element.name for element in live.step.observation.elements] == ["Next"]
    assert "click [1]" in live.step.action.action
    show(run, 1)
    live.wait(lambda: 'link "Next"' in live.step.observation.raw)
    live.session.trace.show_now()
    live.wait(lambda: live.step.live)
    show(run, 1)
    live.wait(lambda: not live.step.live)
    assert live.step.side == "before"
