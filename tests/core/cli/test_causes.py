"""The command `causes`."""

import pytest

from core.schema.action_text import parse_action
from core.schema.observation import CleanObservation
from core.schema.step import Abstracted, Acted, Committed, Decided, Observed, Proposal, Reviewed
from core.schema.task import Verdict
from core.trace.records import RunStart
from core.trace.store import TraceStore
from tests.core.observations import element, observation


@pytest.fixture
def trace(inside):
    """A failure and a success."""
    store = TraceStore.open(inside.db)
    for success in (False, True):
        run = store.begin_run(
            RunStart(
                task="miniwob/click-link",
                environment="miniwob",
                seed=0,
                instruction="Press Go.",
                start_url="http://127.0.0.1/",
                preset="plain",
                llm="rules",
                browser="chromium",
            )
        )
        page, action = observation(element(1, "button", "Go")), parse_action("click [1]")
        store.begin_step(run, 1)
        failed = "It is covered." if not success else ""
        for record in (
            Observed(observation=page),
            Abstracted(clean=CleanObservation(url=page.url, text=page.lines())),
            Decided(proposal=Proposal(action=action, thought="Go it is.")),
            Reviewed(origin="agent", action=action),
            Acted(
                effect="page action",
                outcome="failed" if failed else "done",
                message=failed,
                target='button "Go"',
            ),
            Committed(seconds=1.0, seconds_in_llm=0.5),
        ):
            store.save_phase(run, 1, record)
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
    assert "\n## Steps\n\n1. click [1]" in told
    assert "\n## What may have caused it, the likeliest first\n\n- step 1" in told
