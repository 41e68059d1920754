"""Breakpoints and watches that are checked while a run goes on, told to the monitor as the session does."""

from types import SimpleNamespace

import pytest

from core.agent.state import Pending
from core.debugger.breakpoints.kinds.actions import ActionChosen, Loop
from core.debugger.breakpoints.kinds.problems import Condition, Failure, LLMCall
from core.debugger.breakpoints.monitor import BreakpointMonitor
from core.schema.action import Click, GoBack, RefTarget
from core.schema.events import BrowserEvent
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


def left(phase, **more):
    """What a phase leaves."""
    return next(record for record in records() if record.phase == phase).replace(**more)


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
    assert monitor.after(run, left("review", action=back, proposed=CLICK, edited=True)) == ""
    assert "go_back" in monitor.before(run, "act")


CRASH = BrowserEvent(kind="crash", text="The page ran out of memory.")


def test_a_crash_hits_once_within_an_action_and_once_outside_of_one(monitor, run, told):
    monitor.breakpoints.add(Failure(of="crash"))
    assert monitor.before(run, "act") == ""
    monitor.happened(run, CRASH)
    assert "ran out of memory" in monitor.after(run, left("act"))
    assert [hit.stopped for hit in told] == [True]
    assert monitor.before(run, "align") == ""
    assert "ran out of memory" in monitor.after(run, left("act", events=(CRASH,)))
    assert len(told) == 2


@pytest.mark.parametrize(
    "breakpoint", [Failure(of="call"), LLMCall(when="after"), Condition(expression="call.error")]
)
def test_a_call_without_a_reply_stops_the_run_at_the_end_of_its_phase(monitor, run, breakpoint, call_record):
    monitor.breakpoints.add(breakpoint)
    assert monitor.before(run, "decide") == ""
    assert monitor.call(run, call_record, over=False) == ""
    monitor.failed(run, call_record.replace(error="out of order"))
    assert monitor.after(run, left("decide")) != ""


def test_what_failed_in_a_phase_that_is_done_again_does_not_stop_it_later(monitor, run, call_record, told):
    monitor.breakpoints.add(Failure(of="call"))
    monitor.before(run, "decide")
    monitor.failed(run, call_record.replace(error="out of order"))
    assert len(told) == 1
    assert monitor.before(run, "decide") == ""
    assert monitor.after(run, left("decide")) == ""
