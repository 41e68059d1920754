"""What is left of a run when its process is killed."""

import fcntl
import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.schema.errors import UsageError
from core.schema.step import PHASES
from core.trace.calls import stored_prompt
from core.trace.evaluations import leave_evaluation, process_doing, take_evaluation
from core.trace.owners import Owner, lives, lock_path
from core.trace.store import TraceStore
from tests.core.killable import Killable
from tests.core.trace.making import records, start, write_run, write_step
from tests.core.trace.writer import write_until_killed

Writer = Callable[..., Killable]


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    """Starts processes that write into the database, and ends them at the latest with the test."""
    begun: list[Killable] = []

    def begin(*, waits: bool = True) -> Killable:
        begun.append(Killable(functools.partial(write_until_killed, path=path, waits=waits)))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()


def kill_after(process: Killable, last: str) -> None:
    """Kill the process as soon as it has said `last`."""
    while process.said() != last:
        process.go_on()
    process.kill()


@pytest.mark.parametrize("phase", ["begun", *PHASES])
def test_what_was_stored_before_the_kill_is_there_and_the_run_is_interrupted(path, writer, phase):
    kill_after(writer(), f"{phase} 2")
    store = TraceStore.open(path)
    assert store.recover() == (1,)
    row = store.run(1)
    assert (row.outcome, row.steps, row.llm_calls) == ("interrupted", 2, 1 if phase == "begun" else 2)
    assert row.error == "The program ended before the run did."
    assert row.started <= row.ended
    assert row.seconds == pytest.approx(row.ended - row.started)
    first, second = store.step(1, 1), store.step(1, 2)
    assert first.row.sealed
    assert first.records == tuple(records())
    stored = 0 if phase == "begun" else PHASES.index(phase) + 1
    assert second.records == tuple(records())[:stored]
    assert second.row.sealed is (phase == "commit")
    store.check()
    store.close()


@pytest.mark.parametrize("count", [5, 40, 130])
def test_a_kill_in_full_flight_loses_nothing_that_was_reported(path, writer, count):
    process = writer(waits=False)
    said = [process.said().split() for _ in range(count)]
    said += [line.split() for line in process.kill()]
    store = TraceStore.open(path)
    assert store.recover() == (1,)
    store.check()
    steps = {step.number: step for step in store.steps(1)}
    for what, number in said[1:]:
        found = [record.phase for record in store.step(1, int(number)).records]
        assert what == "begun" or what in found
    assert [step.sealed for step in steps.values()][:-1] == [True] * (len(steps) - 1)
    for call in store.calls.of(1):
        assert stored_prompt(store, call).messages[1].text == f"This is step {call.step}."
    store.close()


def test_a_run_of_a_living_process_is_left_alone_until_it_dies(path, writer):
    process = writer()
    assert process.said() == "run 1"
    store = TraceStore.open(path)
    assert store.recover() == ()
    assert store.run(1).outcome == "running"
    process.kill()
    assert store.run(1).outcome == "interrupted"
    assert store.recover() == (1,)
    store.close()


def test_a_process_that_looks_at_the_same_time_does_not_make_the_dead_alive(path, writer, monkeypatch):
    process = writer()
    process.said()
    process.kill()
    (lock,) = path.parent.glob(f"{path.name}.live-*")
    token = lock.name.rpartition("-")[2]
    flock, looks = fcntl.flock, []

    def look_too(descriptor, how):
        flock(descriptor, how)
        monkeypatch.undo()
        looks.append(lives(path, token))

    monkeypatch.setattr(fcntl, "flock", look_too)
    assert lives(path, token) is False
    assert looks == [False]


def test_the_dead_are_told_from_the_living_when_both_write(path, writer):
    dead, living = writer(), writer()
    for process in (dead, living):
        process.said()
    store = TraceStore.open(path)
    own = store.begin_run(start())
    dead.kill()
    (gone,) = store.recover()
    outcomes = {row.run: row.outcome for row in store.runs()}
    assert outcomes.pop(gone) == "interrupted"
    assert set(outcomes.values()) == {"running"}
    assert own in outcomes
    store.close()


def test_an_interrupted_run_reads_as_such_from_a_file_that_is_only_read(path, writer):
    kill_after(writer(), "act 1")
    reader = TraceStore.open(path, read_only=True)
    assert reader.run(1).outcome == "interrupted"
    assert [row.sealed for row in reader.steps(1)] == [False]
    reader.close()


def test_the_error_that_ended_a_run_while_the_file_was_locked_is_stored_by_the_next_thing_written(path):
    store = TraceStore.open(path)
    run, other = store.begin_run(start()), store.begin_run(start())
    store.note_end(run, "It is locked.")
    assert store.run(run).outcome == "running"
    store.begin_step(other, 1)
    assert (store.run(run).outcome, store.run(run).error) == ("error", "It is locked.")
    assert store.run(other).outcome == "running"
    store.close()


def test_or_by_whoever_opens_the_file_next_and_readers_see_it_before(path):
    store = TraceStore.open(path)
    run, other = store.begin_run(start()), store.begin_run(start())
    store.note_end(run, "It is [locked]\nby é.")
    store.close()
    reader = TraceStore.open(path, read_only=True)
    assert (reader.run(run).outcome, reader.run(run).error) == ("error", "It is [locked]\nby é.")
    assert reader.run(other).outcome == "interrupted"
    reader.close()
    store = TraceStore.open(path)
    assert store.recover() == (run, other)
    assert (store.run(run).outcome, store.run(run).error) == ("error", "It is [locked]\nby é.")
    store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_runs_that_were_ended_are_not_touched(store):
    run = write_run(store)
    before = store.run(run)
    assert store.recover() == ()
    assert store.run(run) == before


def test_a_run_left_by_a_closed_store_is_recovered_and_keeps_its_verdictless_end(path):
    store = TraceStore.open(path)
    run = store.begin_run(start())
    write_step(store, run, 1, until="decide")
    store.close()
    store = TraceStore.open(path)
    assert store.recover() == (run,)
    assert store.recover() == ()
    assert store.run(run).verdict.success is None
    store.close()


def test_lock_files_of_the_dead_are_cleared_and_those_of_the_living_stay(path):
    store = TraceStore.open(path)
    store.begin_run(start())
    left = lock_path(path, "0123456789abcdef")
    left.touch()
    store.recover()
    (lock,) = path.parent.glob("traces.db.live-*")
    assert lock != left
    store.close()
    assert not lock.exists()


def test_an_owner_lives_until_it_lets_go(path):
    path.parent.mkdir()
    owner = Owner(path)
    token = owner.token()
    assert owner.token() == token
    assert lives(path, token)
    owner.let_go()
    owner.let_go()
    assert not lives(path, token)


@pytest.mark.parametrize("token", ["", "a/b", "../../0123456789abcdef", "\0" * 16, "0123456789abcdef\n"])
def test_what_names_no_lock_is_no_living_owner(path, token):
    path.parent.mkdir()
    assert not lives(path, token)


def test_an_evaluation_has_one_process_until_it_is_left_or_its_process_is_gone(path):
    first, second = TraceStore.open(path), TraceStore.open(path)
    number = take_evaluation(first, "mine", "{}").number
    for store in (first, second):
        with pytest.raises(UsageError, match=f"running in another process .{os.getpid()}."):
            take_evaluation(store, "mine", "{}")
    assert process_doing(second, number) == os.getpid()
    leave_evaluation(first, number)
    assert process_doing(second, number) is None
    assert take_evaluation(second, "mine", "{}").number == number
    second.close()
    assert process_doing(first, number) is None
    assert take_evaluation(first, "mine", "{}").number == number
    first.close()
