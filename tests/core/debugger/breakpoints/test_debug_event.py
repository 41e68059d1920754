"""Events of real runs: the same while a run goes on and once it is stored, with the figures of their time."""

import itertools

import pytest

from core.debugger.breakpoints.stored_events import events_of
from core.schema.step import PHASES
from core.trace.store import TraceStore
from tests.core.debugger.breakpoints.runs import follow, mending, site
from tests.core.trace.making import start, write_step

browser = pytest.mark.browser


@browser
def test_a_run_under_way_has_the_moments_that_it_has_once_it_is_stored(stage, llm_server, tmp_path):
    llm_server.script(*mending())
    run = stage.open(llm_server, url=site(tmp_path), instruction="Find the order number.", preset="reflect")
    live = follow(stage, run)
    kept = list(events_of(run.store, run.state.run))
    assert [(one.where, one.phase, one.figures.step) for one in live] == [
        (one.where, one.phase, one.figures.step) for one in kept
    ]
    for seen, stored in zip(live, kept, strict=True):
        assert seen.figures == stored.figures
        assert seen.step.records == stored.step.records, (stored.where, stored.phase, stored.figures.step)
        assert seen.actions_done == stored.actions_done
    assert run.state.totals.prompt_tokens + run.state.totals.completion_tokens == kept[-1].figures.tokens
    assert run.state.totals.llm_calls == kept[-1].figures.llm_calls
    assert run.state.totals.page_actions == kept[-1].figures.page_actions


@browser
@pytest.mark.parametrize("name", ["clumsy", "mended", "policies", "shopping", "trajectories"])
def test_the_figures_of_the_last_moment_are_those_of_the_run(stored, name):
    row, figures = stored.store.run(stored.run(name)), stored.events(name)[-1].figures
    assert (figures.step, figures.llm_calls) == (row.steps, row.llm_calls)
    assert figures.tokens == row.prompt_tokens + row.completion_tokens
    sealed = sum(step.seconds for step in stored.store.steps(row.run))
    assert figures.seconds == pytest.approx(sealed, abs=0.05)


@browser
def test_figures_only_grow_and_each_moment_knows_the_one_before(stored):
    events = stored.events("mended")
    for before, now in itertools.pairwise(events):
        assert now.previous is not None
        assert (now.previous.where, now.previous.phase) == (before.where, before.phase)
        assert now.previous.previous is None
        for figure in ("step", "trial", "tokens", "seconds", "llm_calls", "page_actions"):
            assert getattr(before.figures, figure) <= getattr(now.figures, figure)


@browser
def test_a_moment_in_the_middle_has_the_sums_of_what_was_before_it(stored):
    (third,) = [
        one for one in stored.events("shopping") if one.is_at("before", "observe") and one.figures.step == 3
    ]
    assert (third.figures.llm_calls, third.figures.tokens, third.figures.page_actions) == (4, 440, 2)
    assert third.step.records == ()
    assert [record.phase for record in third.before.records] == list(PHASES)


def test_a_step_that_was_cut_off_ends_before_the_phase_that_was_due(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    run = store.begin_run(start())
    write_step(store, run, 1)
    write_step(store, run, 2, until="anticipate")
    events = list(events_of(store, run))
    assert (events[-1].where, events[-1].phase, events[-1].figures.step) == ("before", "review", 2)
    assert len([one for one in events if one.figures.step == 1]) == 20
    assert list(events_of(store, run, before_step=2)) == events[:20]
    store.close()
