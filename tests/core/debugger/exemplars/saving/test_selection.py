"""A stored run as an exemplar: what is in it, what is left out, and what becomes a contrast."""

import pytest

from core.debugger.exemplars.saving.selection import exemplar_of_run
from core.exemplars.checks import check_actions, check_contrasts
from core.schema.action import Named
from core.schema.action_text import parse_action
from core.schema.errors import UsageError
from tests.core.debugger.breakpoints.runs import SCENES
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser


def test_what_was_gone_back_over_and_an_earlier_trial_are_left_out(stored):
    run = stored.run("mended")
    kept = exemplar_of_run(stored.store, run)
    assert [look.actions[0].split(" ")[0] for look in kept.exemplar.steps] == ["click", "stop"]
    assert "Orders" in kept.exemplar.steps[0].observation
    assert {one.why for one in kept.left_out} == {"a later trial started again"}
    assert (kept.successful, kept.provenance.origin) == (False, "agent run")


def test_a_states_actions_are_described_by_what_they_did_in_the_page(stored):
    run = stored.run("shopping")
    kept = exemplar_of_run(stored.store, run, family="buying")
    exemplar = kept.exemplar
    assert (kept.successful, exemplar.family, exemplar.source) == (
        True,
        "buying",
        f"run {run}, shop/goal-000 seed 0",
    )
    assert exemplar.steps[0].actions[0].startswith('type [searchbox "Keywords"]')
    assert list(check_actions(exemplar)) == []


def test_a_part_of_a_run_is_kept_and_none_is_refused(stored):
    run = stored.run("shopping")
    store = stored.store
    part = exemplar_of_run(store, run, first=2, last=3)
    assert (len(part.exemplar.steps), part.provenance.step) == (2, 3)
    with pytest.raises(UsageError, match="has no step to keep"):
        exemplar_of_run(store, run, first=9)


def test_just_the_steps_that_are_chosen_are_kept_also_one_that_would_be_left_out(stored):
    run = stored.run("mended")
    store = stored.store
    suggested = exemplar_of_run(store, run)
    left_out = suggested.left_out[0].step
    kept = exemplar_of_run(store, run, chosen=frozenset({left_out}))
    assert len(kept.exemplar.steps) == 1
    assert left_out not in {one.step for one in kept.left_out}
    assert "it was not chosen" in {one.why for one in kept.left_out}
    with pytest.raises(UsageError, match="has no step 99"):
        exemplar_of_run(store, run, chosen=frozenset({99}))


def test_a_correction_is_a_contrast_and_its_thought_is_not_the_agents(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button>Wrong</button><button>Right</button>")
    llm_server.script(on('button "Wrong"', thought="The first one."), stop())
    run = stage.open(llm_server, url=url)
    stage.until(run, "review")
    state = run.state
    right = next(one.ref for one in state.observation.elements if one.name == "Right")
    wrong = state.pending.action
    state.pending.action, state.pending.proposed = parse_action(f"click [{right}]"), wrong
    state.pending.origin = "person"
    stage.to_the_end(run)
    exemplar = exemplar_of_run(stage.services.store, state.run).exemplar
    (contrast,) = exemplar.contrasts
    assert (contrast.tried, contrast.right) == (str(wrong), f"click [{right}]")
    assert exemplar.family == "web"  # The page is a file, of no site.
    assert exemplar.steps[0].thought == ""
    assert exemplar.steps[0].actions == (f"click [{right}]",)


def test_what_a_later_step_does_anyway_is_not_taught_as_wrong(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button>Wrong</button><button>Right</button>")
    llm_server.script(on('button "Wrong"'), on('button "Wrong"'), stop())
    run = stage.open(llm_server, url=url)
    stage.until(run, "review")
    state = run.state
    right = next(one.ref for one in state.observation.elements if one.name == "Right")
    wrong = state.pending.action
    state.pending.action, state.pending.proposed = parse_action(f"click [{right}]"), wrong
    state.pending.origin = "person"
    stage.to_the_end(run)
    exemplar = exemplar_of_run(stage.services.store, state.run).exemplar
    assert exemplar.contrasts == ()


def test_a_corrected_action_of_a_state_is_a_contrast_by_its_own_name(stage, llm_server, tmp_path):
    scene = SCENES["shopping"](tmp_path)
    llm_server.script(*scene.replies[:4])
    run = stage.open(llm_server, task=scene.task, preset=scene.preset)
    stage.until(run, "review")
    stage.step(run)
    stage.until(run, "review")
    state = run.state
    chosen = state.pending.action
    select = state.permissible.action("select_item")
    other = next(one.value for one in select.parameters[0].choices if one.value not in chosen.arguments)
    state.pending.action, state.pending.proposed = Named(name="select_item", arguments=(other,)), chosen
    state.pending.origin = "person"
    stage.step(run)
    exemplar = exemplar_of_run(stage.services.store, state.run, last=2).exemplar
    (contrast,) = exemplar.contrasts
    assert (contrast.tried, contrast.right) == (str(chosen), f"select_item [{other}]")
    assert contrast.names == ("select_item",)
    assert contrast.observation == exemplar.steps[1].observation
    assert list(check_contrasts(exemplar)) == []
