"""The log of the page in a run: each happening with the step it belongs to."""

import pytest

from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser

PAGE = "<script>console.log('while loading')</script><button onclick=\"console.log('clicked')\">Save</button>"


def lines(parts):
    return [
        (part.moment, entry.text) for part in parts for entry in part.log.entries if entry.kind == "console"
    ]


def test_what_happens_before_the_first_look_and_in_an_action_is_kept_with_its_step(
    stage, llm_server, tmp_path
):
    llm_server.script(on('button "Save"'), on('button "Save"'), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE))
    stage.to_the_end(run)
    store = stage.services.store
    assert lines(store.pages.log(run.state.run, 1)) == [
        ("before the action", "while loading"),
        ("in the action", "clicked"),
    ]
    assert lines(store.pages.log(run.state.run, 2)) == [("in the action", "clicked")]
    assert lines(store.pages.log(run.state.run, 3)) == []


def test_the_log_can_be_read_while_the_step_waits_at_its_review(stage, llm_server, tmp_path):
    llm_server.script(on('button "Save"'))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE))
    stage.until(run, "review")
    assert lines(stage.services.store.pages.log(run.state.run, 1)) == [("before the action", "while loading")]


def test_phases_are_stored_with_their_beginning(stage, llm_server, tmp_path):
    llm_server.script(stop())
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE))
    stage.to_the_end(run)
    (times,) = stage.services.store.times(run.state.run)
    assert all(times.begun <= phase.begun <= phase.saved for phase in times.phases)
