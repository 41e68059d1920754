"""Breakpoints and watches that are checked while a run goes on, told to the monitor as the session does."""

import itertools
from contextlib import closing
from types import SimpleNamespace

import pytest

from core.agent.state import Pending
from core.debugger.breakpoints.kinds.actions import ActionChosen, Loop, StateEntered
from core.debugger.breakpoints.kinds.problems import Condition, Failure, LLMCall
from core.debugger.breakpoints.monitor import BreakpointMonitor
from core.debugger.breakpoints.views import Watch
from core.schema.action import Click, GoBack, RefTarget
from core.schema.events import BrowserEvent
from core.schema.messages import Usage
from core.schema.restore import Sent
from core.schema.step import CallRecord
from core.trace.encoding import encode_prompt
from core.trace.store import TraceStore
from tests.core.trace.making import BLOBS, a_request, records, start, write_step

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


def test_a_call_that_was_withdrawn_stops_nothing(monitor, run, call_record, told):
    for breakpoint in (Failure(), LLMCall(when="after")):
        monitor.breakpoints.add(breakpoint)
    monitor.before(run, "decide")
    monitor.failed(run, call_record.replace(error="cancelled: it was asked ahead, and is not needed"))
    assert (monitor.after(run, left("decide")), told) == ("", [])


def test_what_failed_in_a_phase_that_is_done_again_does_not_stop_it_later(monitor, run, call_record, told):
    monitor.breakpoints.add(Failure(of="call"))
    monitor.before(run, "decide")
    monitor.failed(run, call_record.replace(error="out of order"))
    assert len(told) == 1
    assert monitor.before(run, "decide") == ""
    assert monitor.after(run, left("decide")) == ""


FIGURES = ("run.llm_calls", "run.tokens", "run.cost", "run.seconds", "run.page_actions", "step.number")


def figures_of(trace, *, watched_from):
    """Do two steps that are watched from one of their moments on, and return the figures at each later one."""
    monitor = BreakpointMonitor(lambda hit: None)
    monitor.open(trace)
    number = trace.begin_run(start())
    figures, moment, numbers = [], itertools.count(), itertools.count(1)

    def tell(of, *given, **more):
        if next(moment) == watched_from:
            for text in FIGURES:
                monitor.watches.add(Watch(text=text))
        of(run, *given, **more)
        figures.append(tuple(value.text for value in monitor.values))

    def begin_call(step):
        call = CallRecord(
            number=next(numbers), step=step, purpose="decide", llm="t", messages="", started=1.0
        )
        tell(monitor.call, store_call(trace, number, call), over=False)
        return call

    def end_call(call, error=""):
        done = call.replace(cost=0.25, seconds=3.0, usage=Usage(prompt_tokens=10), error=error)
        store_call(trace, number, done)
        tell(
            *((monitor.failed, done) if error else (monitor.call, done)), **({} if error else {"over": True})
        )

    early = None
    for step in (1, 2):
        run = live(trace, number, step=step, begun=step - 1)
        for record in records():
            tell(monitor.before, record.phase)
            if record.phase == "observe":
                trace.begin_step(number, step)
                run.begun = step
            elif record.phase == "decide":
                if early is not None:
                    end_call(early)
                end_call(begin_call(step), "out of order")
                end_call(begin_call(step))
            elif record.phase == "act":
                tell(monitor.request, Sent(method="POST", url="http://127.0.0.1:1/save"))
            elif record.phase == "align":
                early = begin_call(step + 1)
            trace.save_phase(number, step, record, blobs=BLOBS if record.phase == "observe" else ())
            run.state.number += record.phase == "commit"
            tell(monitor.after, record)
    return figures[watched_from:]


def store_call(trace, run, call):
    prompt = encode_prompt(a_request("What now?"), trace.secrets.data)
    trace.calls.save(run, call.replace(messages=prompt.hash), blobs=prompt.blobs)
    return call


def test_wherever_in_a_run_the_first_watch_is_added_the_figures_are_those_of_one_that_was_there(tmp_path):
    def figures(watched_from):
        with closing(TraceStore.open(tmp_path / f"{watched_from}.db")) as trace:
            return figures_of(trace, watched_from=watched_from)

    whole = figures(0)
    assert whole[-1] == ("6", "50", "1.25", "15", "2", "2")
    for moment in range(1, len(whole)):
        assert figures(moment) == whole[moment:], f"moment {moment}"


def test_a_state_that_was_entered_before_a_breakpoint_was_added_is_not_entered_again(monitor, trace):
    number = trace.begin_run(start())
    write_step(trace, number, 1)
    monitor.breakpoints.add(StateEntered(state="form"))
    run = live(trace, number, step=2, begun=1)
    monitor.before(run, "observe")
    write_step(trace, number, 2, until="recognise")
    run.begun = 2
    assert monitor.after(run, left("observe")) == ""
    assert monitor.after(run, left("recognise")) == ""


def test_a_breakpoint_hits_once_where_the_run_rests_before_a_phase_and_goes_on(monitor, run, told):
    log = monitor.breakpoints.add(ActionChosen(action="click", then="log"))
    assert monitor.before(run, "review") == ""
    assert monitor.before(run, "review") == ""  # A gate has held the run.
    assert [hit.breakpoint for hit in told] == [log.number]
    added = monitor.breakpoints.add(ActionChosen())
    assert "click [1]" in monitor.before(run, "review")
    assert [hit.breakpoint for hit in told] == [log.number, added.number]
    monitor.after(run, left("decide"))
    monitor.before(run, "review")
    assert len(told) == 4
