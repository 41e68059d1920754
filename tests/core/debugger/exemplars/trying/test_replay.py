"""Exemplars carried out again on the tasks they came from, in real pages."""

import json

import pytest
from werkzeug import Response

from core.debugger.exemplars.saving.selection import exemplar_of_run
from core.debugger.exemplars.trying.replay import replay
from core.debugger.exemplars.trying.views import ReplayResult, replays_in_words
from core.exemplars.library.records import Provenance
from core.exemplars.placeholders import offered
from core.schema.changes import Changes
from core.schema.exemplar import ExemplarStep
from tests.core.browser.site import Site
from tests.core.debugger.exemplars.trying.trying import one_run
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser


@pytest.fixture
def site():
    with Site() as site:
        yield site


@pytest.fixture
def again(stage):
    services = stage.services

    def again(exemplar, provenance=None, **more):
        return stage.thread.run(
            replay(
                exemplar,
                provenance or Provenance(),
                1,
                environments=services.environments,
                world_of=services.world,
                store=services.store,
                **more,
            )
        )

    return again


@pytest.fixture
def kept(stage):
    exemplar = stage.services.resources.memory.exemplar("miniwob/enter-text/0")
    assert exemplar is not None
    return exemplar


def changed(exemplar, *actions, **more):
    first = exemplar.steps[0]
    step = first.replace(actions=actions) if actions else first
    return exemplar.replace(steps=(step, *exemplar.steps[1:]), **more)


def test_one_that_comes_with_the_program_still_succeeds(stage, again):
    found = again(stage.services.resources.memory.exemplar("miniwob/login-user/1"))
    assert (found.success, found.problem, found.guessed) == (True, "", ())
    assert (found.task, found.seed) == ("miniwob/login-user", 1)


def test_placeholders_are_replayed_with_the_values_of_the_task(again, kept):
    ((value, _),) = offered(kept).items()
    texts = kept.model_dump_json(exclude={"id", "source"}).replace(value, "{word}")
    general = type(kept).model_validate({**json.loads(texts), "id": "general", "source": kept.source})
    assert value not in general.steps[0].actions[0]
    assert again(general).success is True


def test_one_whose_actions_were_spoilt_fails_and_says_where(again, kept):
    found = again(changed(kept, "type [2] [Somebody]", *kept.steps[0].actions[1:]))
    assert found.success is False
    assert "not judged a success" in found.problem
    found = again(changed(kept, "click [77]"))
    assert found.success is False
    assert "its step does not show an element [77]" in found.problem
    assert found.looks == 0


def test_elements_are_found_again_by_role_and_name_where_numbers_have_changed(again, kept):
    first = kept.steps[0]
    lines = first.observation.replace("[2] ", "[92] ").replace("[3] ", "[93] ")
    actions = tuple(one.replace("[2]", "[92]").replace("[3]", "[93]") for one in first.actions)
    moved = ExemplarStep(observation=lines, actions=actions)
    # A stop after the page has ended the task is no fault.
    stops = ExemplarStep(observation='[1] text "Done"', actions=("stop []",))
    found = again(kept.replace(steps=(moved, *kept.steps[1:], stops)))
    assert (found.success, found.guessed) == (True, ())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"source": ""}, "names no task"),
        ({"source": "miniwob/no-such-task seed 1"}, "no task"),
        ({"source": "miniwob/enter-text seed 1"}, "asks for something else at this seed"),
    ],
)
def test_one_whose_task_is_not_known_is_not_called_a_failure_without_a_reason(again, kept, more, words):
    found = again(changed(kept, **more))
    assert found.success is not True
    assert words in found.problem
    assert more["source"] or found.outcome == "not tried"


def test_one_that_was_kept_from_a_run_is_replayed_where_the_run_was(stage, again, kept):
    run = one_run(stage, Changes(), "miniwob/enter-text", 0).run
    made = exemplar_of_run(stage.services.store, run)
    bare = made.exemplar.replace(source="")
    found = again(bare, made.provenance)
    assert (found.task, found.seed, found.success) == ("miniwob/enter-text", 0, True)


def test_what_cannot_be_undone_is_not_done_again_unless_it_is_allowed(stage, llm_server, again, tmp_path):
    page = page_file(tmp_path, "<button onclick=\"document.body.innerHTML='<p>Paid.</p>'\">Pay now</button>")
    llm_server.script(on('button "Pay now"'), stop())
    run = stage.open(llm_server, url=page, instruction="Pay.")
    stage.to_the_end(run)
    kept = exemplar_of_run(stage.services.store, run.state.run)
    held = again(kept.exemplar, kept.provenance)
    assert (held.success, held.looks) == (None, 0)
    assert "stopped before click" in held.problem
    assert "it buys or pays" in held.problem
    allowed = again(kept.exemplar, kept.provenance, on_gate="allow")
    assert allowed.looks == len(kept.exemplar.steps)
    assert allowed.success is None  # Nobody judges there.


def test_what_stays_done_is_not_sent_again_unless_it_is_allowed(stage, llm_server, again, site):
    orders = []
    order = site.serve(lambda _: Response(orders.append(1) or "taken"))
    page = site.page(
        f"<button onclick=\"fetch('{order}', {{method: 'POST'}})\">Go</button><a href=#>Look</a>"
    )
    llm_server.script(on('button "Go"'), on('link "Look"'), stop())
    run = stage.open(llm_server, url=page, instruction="Go.")
    stage.to_the_end(run)
    kept = exemplar_of_run(stage.services.store, run.state.run)
    held = again(kept.exemplar, kept.provenance)
    assert (held.success, held.looks, len(orders)) == (None, 1, 1)
    assert held.problem.startswith(f"It was stopped before it sent POST {order}, which cannot be undone.")
    allowed = again(kept.exemplar, kept.provenance, on_gate="allow")
    assert (allowed.looks, len(orders)) == (len(kept.exemplar.steps), 2)


def test_a_report_says_how_many_still_succeed():
    ends = (("t", True), ("t", False), ("t", None), ("", None))
    results = [ReplayResult(id="a", task=task, success=success) for task, success in ends]
    assert replays_in_words(results) == (
        "1 of 4 still succeed, 1 do not, 1 could not be judged, 1 were not tried."
    )
