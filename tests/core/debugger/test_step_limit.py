"""The limit of page actions, set while a run goes on."""

from contextlib import suppress
from types import SimpleNamespace

import pytest

from core.agent.state import Budget
from core.debugger.commands import SessionParts
from core.debugger.run_commands import RunCommands


@pytest.mark.parametrize(("has_preset", "limit"), [(True, 5), (False, 1000)])
def test_a_step_limit_ends_a_run_of_a_built_in_agent_and_none_of_an_attached_one(has_preset, limit):
    def at_once(work):
        with suppress(StopIteration):
            work.send(None)

    run = SimpleNamespace(has_preset=has_preset, state=SimpleNamespace(budget=Budget(page_actions=1000)))
    session: dict = {}
    publisher, commands = SimpleNamespace(change=session.update, figures=dict), SimpleNamespace(post=at_once)
    parts = SessionParts(SimpleNamespace(run=run), publisher, None, None, commands)
    RunCommands(parts).set_max_steps(5)
    assert session == {"max_steps": 5}
    assert run.state.budget.page_actions == limit
