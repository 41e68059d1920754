"""Breakpoints and watches that are checked while a run goes on, told to the monitor as the session does."""

from types import SimpleNamespace

import pytest

from core.agent.state import Pending
from core.debugger.breakpoints.kinds.actions import ActionChosen, Loop
from core.debugger.breakpoints.monitor import BreakpointMonitor
from core.schema.action import Click, GoBack, RefTarget
from tests.core.trace.making import records, start, write_step

CLICK = Click(target=RefTarget(ref=1))


@pytest.fixture
def told():
    """The hits that were told, in order."""
    return []


@pytest.fixture
def monitor(trace, told):
    monitor = BreakpointMonitor(told.append)
    monitor.open(trace)
    return monitor


@pytest.fixture
def run(trace):
    """A run before its review, where a click is proposed for the second time."""
    number = trace.begin_run(start())
    write_step(trace, number, 1)
    write_step(trace, number, 2, until="anticipate")
    return live(trace, number, step=2)


def live(trace, number, *, step, begun=None):
    """A run under way as far as the monitor looks at it."""
    state = SimpleNamespace(run=number, number=step, trial=1, recognised=None, pending=Pending(action=CLICK))
    return SimpleNamespace(store=trace, begun=step if begun is None else begun, state=state)


def reviewed():
    return next(record for record in records() if record.phase == "review")


@pytest.mark.parametrize("breakpoint", [ActionChosen(action="click"), Loop()])
def test_an_action_is_not_due_any_more_once_it_was_replaced_or_skipped(monitor, run, breakpoint):
    monitor.breakpoints.add(breakpoint)
    run.state.pending = Pending(action=CLICK, proposed=CLICK, skip=True, origin="person")
    assert monitor.before(run, "review") == ""
    run.state.pending = Pending(action=GoBack(), proposed=CLICK, origin="person")
    assert monitor.before(run, "review") == ""
    run.state.pending = Pending(action=CLICK, proposed=CLICK)
    assert "is about to be" in monitor.before(run, "review")


def test_an_action_that_was_put_in_place_of_another_stops_the_run_once(monitor, run):
    monitor.breakpoints.add(ActionChosen())
    back = GoBack()
    run.state.pending = Pending(action=back, proposed=CLICK, origin="person")
    assert monitor.before(run, "review") == ""
    assert monitor.after(run, reviewed().replace(action=back, proposed=CLICK, edited=True)) == ""
    assert "go_back" in monitor.before(run, "act")
