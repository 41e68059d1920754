"""The agent is kept with each step of a long run, and what it carries along is stored once."""

from contextlib import closing

import pytest

from core.agent.run_history import AgentKeeper, RunHistory, saved_of
from core.agent.state import TrailStep
from core.schema.action import Click, RefTarget
from core.schema.messages import Turn
from core.schema.task import Verdict
from core.trace.pruning import PruneRequest
from core.trace.store import TraceStore
from tests.core.agent.test_llm_calls import state_of
from tests.core.trace.making import start

STEPS = 60


@pytest.fixture
def store(tmp_path):
    with closing(TraceStore.open(tmp_path / "traces.db")) as store:
        yield store


def walk(store):
    """Begin steps as a run does, each with one more step behind it; return the run and the agent of each step."""
    state = state_of(store)
    keeper, agents = AgentKeeper(store), {}
    for number in range(1, STEPS + 1):
        state.number = number
        store.begin_step(state.run, number, agent=keeper.json_of(state))
        agents[number] = saved_of(state)
        state.history.append(Turn(number=number, action=f"click [{number}]", result="done"))
        look = f"Page {number}. " * 200
        state.trail.append(TrailStep(0, look, "Go on.", [Click(target=RefTarget(ref=number))], []))
        if number % 5 == 0:  # Another action of the same reply, which failed.
            state.trail[-1].actions.append(Click(target=RefTarget(ref=1)))
            state.trail[-1].results.append("It is gone.")
    return state.run, agents


def test_the_agent_of_every_step_is_read_back_whole(store):
    run, agents = walk(store)
    for number, agent in agents.items():
        assert RunHistory(store, run).agent(number) == agent


def test_a_late_step_stores_about_as_much_as_an_early_one(store):
    run, _ = walk(store)
    assert len(store.agent(run, STEPS)) < 2 * len(store.agent(run, 20))


def test_an_agent_that_goes_on_from_an_earlier_step_keeps_what_it_is_then(store):
    state = state_of(store)
    keeper = AgentKeeper(store)
    state.history = [Turn(number=number) for number in range(1, 40)]
    keeper.json_of(state)
    state.history = [*state.history[:12], *(Turn(number=number, thought="else") for number in range(13, 30))]
    store.begin_step(state.run, 1, agent=keeper.json_of(state))
    assert RunHistory(store, state.run).agent(1) == saved_of(state)


def test_what_later_steps_share_outlives_other_runs_and_is_copied_with_the_run(store, tmp_path):
    run, agents = walk(store)
    store.end_run(run, outcome="done", verdict=Verdict(), seconds=1, seconds_in_llm=0)
    other = store.begin_run(start())
    store.end_run(other, outcome="error", verdict=Verdict(), seconds=1, seconds_in_llm=0)
    last = store.begin_run(start())
    store.end_run(last, outcome="done", verdict=Verdict(), seconds=1, seconds_in_llm=0)
    store.prune(store.plan_prune(PruneRequest(outcome="error")))
    assert other not in store.find_runs()
    assert RunHistory(store, run).agent(STEPS) == agents[STEPS]
    with closing(TraceStore.open(tmp_path / "copy.db")) as copy:
        copied = store.copy_to(copy, run)
        assert RunHistory(copy, copied).agent(STEPS) == agents[STEPS]
