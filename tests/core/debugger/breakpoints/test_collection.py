"""Breakpoints as a database keeps them: asked, counted, stored, and read again."""

import sqlite3

import pytest

from core.debugger.breakpoints.collection import Breakpoints
from core.debugger.breakpoints.debug_event import EventTracker
from core.debugger.breakpoints.kinds.actions import ActionChosen, StateEntered
from core.debugger.breakpoints.kinds.problems import Condition, FigureAbove, LLMCall
from core.debugger.breakpoints.stored_events import events_of
from core.schema.errors import TraceError, UsageError
from core.trace.store import TraceStore
from tests.core.trace.making import start, write_run, write_step

CLICK = ActionChosen(action="click", target="Save")


@pytest.fixture
def run(trace):
    """A stored run of three steps, each of which clicks Save."""
    return write_run(trace, steps=3)


def ask_all(breakpoints, store, run):
    """Return what hits in a run, event by event."""
    return [one for event in events_of(store, run) for one in breakpoints.check(event)]


def test_what_is_added_is_there_again_when_the_database_is_opened_again(trace):
    breakpoints = Breakpoints(trace)
    first = breakpoints.add(CLICK)
    second = breakpoints.add(StateEntered(state="it*m", then="log", ignore=2, condition="step.number > 1"))
    assert (first.number, second.number) == (1, 2)
    trace.close()
    again = TraceStore.open(trace.path)
    assert Breakpoints(again).all == (first, second)
    assert Breakpoints(again).problems == ()
    again.close()


def test_changes_are_stored_at_once(trace):
    breakpoints = Breakpoints(trace)
    click, figure = breakpoints.add(CLICK), breakpoints.add(FigureAbove(figure="cost", above=0.5))
    breakpoints.enable(click.number, False)
    breakpoints.replace(LLMCall(number=figure.number, purpose="judge", when="after"))
    assert Breakpoints(trace).all == breakpoints.all
    assert [one.enabled for one in breakpoints.all] == [False, True]
    assert breakpoints.all[1].kind == "call"
    breakpoints.remove(click.number)
    assert [one.number for one in Breakpoints(trace).all] == [2]


def test_what_is_not_there_is_named_with_what_is(trace):
    breakpoints = Breakpoints(trace)
    with pytest.raises(UsageError, match="no breakpoint 4; there is none"):
        breakpoints.remove(4)
    breakpoints.add(CLICK)
    for ask in (breakpoints.remove, breakpoints.hits_of, lambda number: breakpoints.enable(number, True)):
        with pytest.raises(UsageError, match="no breakpoint 4; there are 1"):
            ask(4)


@pytest.mark.parametrize(
    "wrong",
    [Condition(expression="polcy.name"), ActionChosen(condition="page.__class__"), Condition(expression=" ")],
)
def test_a_breakpoint_with_a_wrong_expression_is_not_taken(trace, wrong):
    breakpoints = Breakpoints(trace)
    with pytest.raises(UsageError):
        breakpoints.add(wrong)
    kept = breakpoints.add(CLICK)
    with pytest.raises(UsageError):
        breakpoints.replace(wrong.replace(number=kept.number))
    assert breakpoints.all == Breakpoints(trace).all == (kept,)


def test_hits_are_counted_and_stored_with_their_place(trace, run):
    breakpoints = Breakpoints(trace)
    click = breakpoints.add(CLICK)
    hits = ask_all(breakpoints, trace, run)
    assert [(one.step, one.phase, one.breakpoint, one.stopped) for one in hits] == [
        (number, "review", click.number, True) for number in (1, 2, 3)
    ]
    assert trace.stops.hits(run) == tuple(hits)
    assert trace.stops.hits(run, 2) == (hits[1],)
    assert breakpoints.hits_of(click.number) == Breakpoints(trace).hits_of(click.number) == 3


def test_one_that_logs_is_reported_and_stops_nothing(trace, run):
    breakpoints = Breakpoints(trace)
    breakpoints.add(CLICK.replace(then="log"))
    assert [one.stopped for one in ask_all(breakpoints, trace, run)] == [False] * 3


def test_the_first_hits_are_let_pass_and_reported_as_such(trace, run):
    breakpoints = Breakpoints(trace)
    breakpoints.add(CLICK.replace(ignore=2))
    hits = ask_all(breakpoints, trace, run)
    assert [one.stopped for one in hits] == [False, False, True]
    assert "Hit 2 of 2 ignored hits." in hits[1].sentence


def test_one_that_is_disabled_is_not_asked(trace, run):
    breakpoints = Breakpoints(trace)
    breakpoints.add(CLICK.replace(enabled=False))
    assert ask_all(breakpoints, trace, run) == []


def test_a_condition_that_fails_stops_the_run_and_says_why(trace, run):
    breakpoints = Breakpoints(trace)
    number = breakpoints.add(CLICK.replace(condition="thought > 3", then="log", ignore=9)).number
    (first, *_) = ask_all(breakpoints, trace, run)
    assert first.stopped
    assert first.sentence.startswith(
        f"Breakpoint {number} (click on a target named “Save”, if thought > 3): "
    )
    assert "text and a number cannot be compared" in first.sentence


def test_a_stored_condition_that_is_no_expression_any_more_stops_the_run(trace, run):
    trace.stops.add("breakpoints", {"kind": "condition", "definition": '{"expression": "pge.url"}'})
    (hit,) = Breakpoints(trace).check(next(events_of(trace, run)))
    assert hit.stopped
    assert "did you mean page?" in hit.sentence


def test_what_is_damaged_is_reported_left_out_and_can_be_removed(trace):
    breakpoints = Breakpoints(trace)
    breakpoints.add(CLICK)
    for definition in ("{", "[1]", "null", '{"above": "much"}', '{"nothing": 1}'):
        trace.stops.add("breakpoints", {"kind": "figure", "definition": definition})
    trace.stops.add("breakpoints", {"kind": "crossing", "definition": "{}"})
    read = Breakpoints(trace)
    assert [one.number for one in read.all] == [1]
    assert len(read.problems) == 6
    assert read.problems[-1].startswith("Breakpoint 7 (crossing) cannot be read from ")
    with pytest.raises(UsageError, match="Breakpoint 3"):
        read.enable(3, False)
    read.remove(3)
    read.replace(LLMCall(number=4))
    assert len(read.problems) == len(Breakpoints(trace).problems) == 4


def test_a_row_that_cannot_be_is_damage_of_the_file(trace):
    trace.stops.add("breakpoints", {"kind": "loop", "definition": "{}"})
    other = sqlite3.connect(trace.path)
    with other:
        other.execute("UPDATE breakpoints SET definition = x'00ff'")
    other.close()
    with pytest.raises(TraceError, match="is damaged"):
        Breakpoints(trace)


def test_the_number_of_a_deleted_breakpoint_is_not_given_again_and_its_hits_stay(trace, run):
    breakpoints = Breakpoints(trace)
    click = breakpoints.add(CLICK)
    hits = ask_all(breakpoints, trace, run)
    breakpoints.remove(click.number)
    assert breakpoints.add(CLICK).number == 2
    assert trace.stops.hits(run) == tuple(hits)


def test_a_deleted_breakpoint_that_is_restored_has_its_number_and_goes_on_counting(trace, run):
    breakpoints = Breakpoints(trace)
    click = breakpoints.add(CLICK)
    hits = ask_all(breakpoints, trace, run)
    breakpoints.remove(click.number)
    breakpoints.exchange(None, click)
    assert breakpoints.hits_of(click.number) == len(hits) > 0
    again = Breakpoints(trace)
    assert again.all == (click,)
    assert again.hits_of(click.number) == len(hits)


def test_hits_of_a_breakpoint_that_another_program_deleted_are_stored_all_the_same(trace, run):
    breakpoints = Breakpoints(trace)
    click = breakpoints.add(CLICK)
    trace.stops.remove("breakpoints", click.number)
    assert len(ask_all(breakpoints, trace, run)) == 3
    assert len(trace.stops.hits(run)) == 3


def test_hits_go_with_their_run(trace, run):
    ask_all_of = Breakpoints(trace)
    ask_all_of.add(CLICK)
    ask_all(ask_all_of, trace, run)
    other = sqlite3.connect(trace.path)
    with other:
        other.execute("PRAGMA foreign_keys = ON")
        other.execute("DELETE FROM runs WHERE run = ?", (run,))
    assert other.execute("SELECT count(*) FROM hits").fetchone() == (0,)
    other.close()


def test_a_moment_of_a_run_that_is_not_stored_cannot_be_counted(trace):
    breakpoints = Breakpoints(trace)
    breakpoints.add(FigureAbove(figure="steps", above=0))
    row = trace.run(trace.begin_run(start())).replace(run=99)
    tracker = EventTracker(row)
    tracker.begin_step(1)
    with pytest.raises(TraceError):
        breakpoints.check(tracker.before("observe"))
    assert breakpoints.hits_of(1) == 0


def test_hits_are_let_pass_anew_in_each_run_and_counted_over_all(trace):
    breakpoints = Breakpoints(trace)
    click = breakpoints.add(CLICK.replace(ignore=2))
    for _ in range(2):
        hits = ask_all(breakpoints, trace, write_run(trace, steps=3))
        assert [hit.stopped for hit in hits] == [False, False, True]
    assert breakpoints.hits_of(click.number) == 6
    assert "1 of 2 ignored" in hits[0].sentence


def test_a_run_that_is_taken_up_again_has_let_pass_what_it_has(trace):
    run = trace.begin_run(start())
    write_step(trace, run, 1)
    Breakpoints(trace).add(CLICK.replace(ignore=1))
    assert [hit.stopped for hit in ask_all(Breakpoints(trace), trace, run)] == [False]
    again = Breakpoints(trace)
    write_step(trace, run, 2)
    events = [event for event in events_of(trace, run) if event.figures.step == 2]
    assert [hit.stopped for event in events for hit in again.check(event)] == [True]
