"""The page before and after a step, and what is said where one of them is missing."""

import pytest

from core.debugger.timeline.pictures import restored_pictures, step_pictures
from core.debugger.timeline.service import time_view
from core.schema.errors import TraceError
from core.schema.step import Aligned
from core.trace.blobs import hash_of
from core.trace.store import TraceStore
from tests.core.trace.making import PICTURE, records, start, write_run, write_step


@pytest.fixture
def store(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


def test_before_is_what_the_step_observed_and_after_what_the_next_one_did(store):
    run = write_run(store)
    view = step_pictures(store, run, 1)
    assert (view.before.data, view.after.data) == (PICTURE, PICTURE)
    assert view.before.box is not None
    assert view.after.box is None
    assert (view.before.missing, view.after.missing) == ("", "")


def test_after_the_last_step_the_page_was_not_observed(store):
    run = write_run(store)
    assert "last step of its run" in step_pictures(store, run, 2).after.missing


def test_a_branch_shows_the_step_it_left_as_recorded_and_as_restored(store):
    run = write_run(store)
    branch = store.begin_run(start().replace(parent_run=run, parent_step=2))
    with pytest.raises(TraceError):
        restored_pictures(store, branch)  # Its page has not been read yet.
    write_step(store, branch, 2)
    view = restored_pictures(store, branch)
    assert view.restored
    assert (view.run, view.number) == (branch, 2)
    assert (view.before.data, view.after.data) == (PICTURE, PICTURE)


def test_a_run_that_goes_on_has_not_observed_the_page_since(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    assert step_pictures(store, run, 1).after.missing == "The page has not been observed since this step."


def test_a_picture_that_was_not_kept_is_told_from_a_page_that_was_not_read(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    store.begin_step(run, 2)
    assert "Step 2 was started, but its page was not read" in step_pictures(store, run, 1).after.missing
    observed = next(records()).replace(screenshot="")
    store.save_phase(run, 2, observed, blobs=((b"<html></html>" * 9, "text/html"), *_html()))
    view = step_pictures(store, run, 2)
    assert "was not taken or not kept" in view.before.missing
    assert "was not taken or not kept" in step_pictures(store, run, 1).after.missing


def _html():
    from tests.core.trace.making import HTML

    return ((HTML, "text/html"),)


def test_a_new_trial_begins_on_a_fresh_page(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    store.begin_step(run, 2, 2)
    assert "begins trial 2 on a new page" in step_pictures(store, run, 1).after.missing


def test_a_step_before_a_branch_has_the_page_after_it_from_the_run_that_it_is_of(store):
    run = write_run(store, steps=3)
    branch = store.begin_run(start().replace(parent_run=run, parent_step=3))
    write_step(store, branch, 3)
    view = step_pictures(store, branch, 2)
    assert view.row.run == run
    assert view.after.data == PICTURE


def test_the_line_of_time_names_the_pictures_and_marks_judgements_and_branches(store):
    run = write_run(store, steps=3)
    store.save_phase(run, 2, Aligned(judged=True, aligned=False, sentence="It went nowhere."))
    branch = store.begin_run(start().replace(parent_run=run, parent_step=3))
    write_step(store, branch, 3)
    view = time_view(store, run)
    assert {step.picture for step in view.steps} == {hash_of(PICTURE)}
    marks = {mark.kind: mark for mark in view.marks}
    assert (marks["wrong"].step, marks["branch"].step) == (2, 3)
    assert "It went nowhere." in marks["wrong"].text
    assert f"Run {branch} branches off run {run} before step 3" in marks["branch"].text
    own = [mark for mark in time_view(store, branch).marks if mark.kind == "branch"]
    assert [mark.text for mark in own] == [f"Run {branch} branches off run {run} before step 3"]
