"""The command `causes`."""

import pytest

from core.schema.action_text import parse_action
from core.schema.step import Acted
from core.schema.task import Verdict
from core.trace.store import TraceStore
from tests.core.trace.making import page, start, write_step


@pytest.fixture
def trace(inside):
    """A failure and a success."""
    store = TraceStore.open(inside.db)
    for success in (False, True):
        run = store.begin_run(start("Press Go.", task="miniwob/click-link", seed=0))
        action = parse_action("click [1]")
        write_step(store, run, 1, observation=page("Go"), thought="Go it is.", action=action)
        acted = Acted(effect="page action", outcome="done", target='button "Go"')
        if not success:
            acted = acted.replace(outcome="failed", message="It is covered.")
        store.save_phase(run, 1, acted)
        store.end_run(run, outcome="done", verdict=Verdict(success=success), seconds=1.0, seconds_in_llm=0.5)
    store.close()
    return inside


def test_causes_are_printed_with_evidence_place_and_how_sure_they_are(trace):
    text = trace("causes", 1).out
    assert 'click button "Go" failed: It is covered.' in text
    assert "(likely: Nothing that the run did after it succeeded.)" in text
    assert "at step 1, action" in text


def test_causes_as_json_say_the_same(trace):
    answer = trace("causes", 1, "--json").json
    assert answer["run"] == 1
    first = answer["causes"][0]
    assert (first["kind"], first["step"], first["certainty"]) == ("action-failed", 1, "likely")
    assert first["place"] == "step 1, action"


def test_a_success_has_none_and_a_run_that_is_not_there_is_refused(trace):
    assert "there is no cause to find" in trace("causes", 2).out
    refused = trace("causes", 9)
    assert (refused.code, "There is no run 9" in refused.err) == (2, True)


def test_a_report_is_markdown_with_the_steps_and_what_may_have_caused_the_failure(inside, trace):
    told = inside("causes", 1, "--report").out
    assert told.startswith("# Run 1: miniwob/click-link, seed 0\n")
    assert "The task: Press Go." in told
    assert "\n## Steps\n\n1. form click [1]" in told
    assert "\n## What may have caused it, the likeliest first\n\n- step 1" in told
