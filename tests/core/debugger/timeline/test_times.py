"""Where the time of a run went, read from what is stored of it."""

import time

import pytest

from core.debugger.timeline.service import time_view
from core.schema.messages import LLMRequest, Message, Usage
from core.schema.restore import Comparison, Restored
from core.schema.step import Acted, CallRecord, Committed, Observed, Reviewed
from core.trace.encoding import encode_prompt
from core.trace.imports.records import ImportedRun, ImportedStep
from core.trace.records import Hit, Intervention
from core.trace.store import TraceStore
from tests.core.trace.making import BLOBS, page, records, start, write_run, write_step


@pytest.fixture
def clock(monkeypatch):
    """Time that goes on only when it is told to."""

    class Clock:
        now = 1000.0

        def __call__(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    return clock


@pytest.fixture
def store(tmp_path, clock):
    store = TraceStore.open(tmp_path / "traces.db", busy_seconds=0)
    yield store
    store.close()


def step_at(store, clock, run, number, *, waits=(), seconds=1.0, only=None, begun=True, acted=None):
    """Write a step whose phases take `seconds` each, with `waits` before some of them."""
    store.begin_step(run, number)
    for record in records():
        if only is not None and record.phase not in only:
            continue
        clock.now += dict(waits).get(record.phase, 0.0)
        since = clock.now
        clock.now += seconds
        if acted is not None and record.phase == "act":
            record = acted
        if isinstance(record, Observed):
            record = Observed(observation=page("Save"))
        store.save_phase(run, number, record, begun=since if begun else None)


def call_at(store, run, step, number, started, seconds, cost=None, error=""):
    prompt = encode_prompt(LLMRequest(purpose="decide", messages=(Message(role="user", text="x"),)))
    call = CallRecord(
        number=number,
        step=step,
        purpose="decide",
        llm="test",
        messages=prompt.hash,
        usage=Usage(prompt_tokens=10, completion_tokens=2),
        cost=cost,
        started=started,
        seconds=seconds,
        error=error,
    )
    store.calls.save(run, call, blobs=prompt.blobs)


@pytest.fixture
def run(store):
    return store.begin_run(start())


def test_a_run_without_steps_has_no_time(store, run):
    view = time_view(store, run)
    assert view.steps == ()
    assert view.problem == ""


def test_phases_have_their_times_and_what_lies_between_is_held(store, run, clock):
    step_at(store, clock, run, 1, waits=(("act", 30.0),))
    clock.now += 5
    step_at(store, clock, run, 2)
    view = time_view(store, run)
    assert [phase.ended - phase.begun for phase in view.steps[0].phases] == [1.0] * 10
    assert view.phases_known
    review, between = view.held
    assert (review.seconds, review.step) == (30.0, 1)
    assert "for the person" in review.why
    assert between.seconds == 5.0
    assert "between step 1 and step 2" in between.why
    assert view.seconds == 55.0


def test_time_in_which_a_phase_was_held_is_told_apart_from_its_work(store, run, clock):
    store.begin_step(run, 1)
    held = []
    for record in records():
        since = clock.now
        if record.phase == "decide":
            held = [(since + 1, since + 601), (since + 300, since + 602)]  # Two calls were held at once.
            clock.now += 602
        clock.now += 1
        if record.phase == "commit":
            record = record.replace(held=tuple(held))
        store.save_phase(run, 1, record, blobs=BLOBS, begun=since)
    view = time_view(store, run)
    (span,) = view.held
    assert (span.begun - view.begun, span.seconds, span.why) == (5.0, 601.0, "Step 1 was held in decide")
    assert view.seconds - view.seconds_held == 11.0


def test_an_older_run_says_that_its_phases_may_hold_waits(store, run, clock):
    step_at(store, clock, run, 1, waits=(("act", 30.0),), begun=False)
    view = time_view(store, run)
    assert not view.phases_known
    assert view.held == ()
    assert not any(phase.begun_known for phase in view.steps[0].phases)


def test_calls_have_their_time_and_cost_adds_up(store, run, clock):
    step_at(store, clock, run, 1)
    step_at(store, clock, run, 2)
    call_at(store, run, 1, 1, 1004.0, 0.5, cost=0.01)
    call_at(store, run, 2, 2, 1014.0, 0.5, cost=0.02)
    call_at(store, run, 2, 3, 1015.0, 0.5)
    view = time_view(store, run)
    assert [call.number for call in view.steps[1].calls] == [2, 3]
    assert [cost for _, cost in view.costs] == [0.01, 0.03]
    assert view.seconds_in_llm == 1.5


def test_calls_that_overlapped_count_once(store, run, clock):
    step_at(store, clock, run, 1)
    call_at(store, run, 1, 1, 1004.0, 2.0)
    call_at(store, run, 1, 2, 1005.0, 2.0)
    call_at(store, run, 1, 3, 1005.5, 0.5)
    assert time_view(store, run).seconds_in_llm == 3.0


def test_what_happened_on_the_way_is_marked(store, run, clock):
    step_at(store, clock, run, 1)
    step_at(store, clock, run, 2, acted=Acted(effect="page action", outcome="failed", message="Covered."))
    restored = Restored(
        step=1, grade="equivalent", strategy="replay", comparison=Comparison(grade="equivalent")
    )
    step_at(store, clock, run, 3, acted=Acted(effect="go back", outcome="done", restored=restored))
    store.stops.save_hits(
        [Hit(run=run, step=1, phase="act", breakpoint=1, sentence="Here", stopped=True, time=1003.0)]
    )
    store.save_intervention(
        Intervention(run=run, step=1, kind="edit", who="Ada", when=1005.0, after="click [2]")
    )
    call_at(store, run, 2, 1, 1012.0, 1.0, error="429")
    marks = [(mark.kind, mark.step) for mark in time_view(store, run).marks]
    assert marks == [("breakpoint", 1), ("person", 1), ("error", 2), ("error", 2), ("went back", 3)]
    texts = [mark.text for mark in time_view(store, run).marks]
    assert texts[1] == "Ada: edit nothing → click [2]"
    assert texts[3].endswith("Covered.")
    assert texts[4] == "Went back to step 1, the page equivalent, by replay"


def test_a_persons_step_and_a_remedy_are_marked_by_their_origin(store, run, clock):
    for number, origin in ((1, "person"), (2, "remedy")):
        store.begin_step(run, number)
        for record in (Reviewed(origin=origin), Acted(effect="page action", outcome="done")):
            store.save_phase(run, number, record, begun=clock.now)
        store.save_phase(run, number, Committed(seconds=1, seconds_in_llm=0), begun=clock.now)
    assert [mark.kind for mark in time_view(store, run).marks] == ["person", "remedy"]


def test_a_branch_has_the_steps_before_it_and_says_where_it_left(store, run, clock):
    step_at(store, clock, run, 1)
    step_at(store, clock, run, 2)
    clock.now += 100
    branch = store.begin_run(start().replace(parent_run=run, parent_step=2))
    step_at(store, clock, branch, 2)
    view = time_view(store, branch)
    assert [(step.run, step.number) for step in view.steps] == [(run, 1), (branch, 2)]
    (mark,) = view.marks
    assert (mark.kind, mark.step) == ("branch", 2)
    assert view.held[0].seconds == 110.0


def test_a_step_that_was_cut_off_ends_with_what_was_stored_last(store, run, clock):
    step_at(store, clock, run, 1, only=("observe", "recognise"))
    (step,) = time_view(store, run).steps
    assert (step.ended - step.begun, step.sealed) == (2.0, False)


def test_an_imported_run_says_that_it_has_no_times(store):
    run = store.import_run(
        ImportedRun(
            instruction="x",
            start_url="http://x/",
            made_with="y",
            origin="agent",
            steps=tuple(ImportedStep(position=str(at), url="http://x/") for at in range(3)),
        ),
        "one",
    )
    view = time_view(store, run)
    assert view.untimed
    assert [(step.begun - view.begun, step.ended - view.begun) for step in view.steps] == [
        (0, 1),
        (1, 2),
        (2, 3),
    ]
    assert view.held == ()


def test_steps_of_the_whole_trace_are_read_in_order(store, clock):
    run = write_run(store, steps=3)
    write_step(store, run, 4)
    assert [step.number for step in time_view(store, run).steps] == [1, 2, 3, 4]


def test_a_phase_that_was_put_right_later_has_ended_when_it_ended(store, run, clock):
    step_at(store, clock, run, 1)
    recognised = next(one for one in store.step(run, 1).records if one.phase == "recognise")
    before = store.times(run)
    clock.now += 60.0
    store.save_phase(run, 1, recognised.replace(why="It was said later."))
    assert store.times(run) == before
