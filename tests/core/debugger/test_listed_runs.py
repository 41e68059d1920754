from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.debugger import listed_runs
from core.debugger.listed_runs import ListedRuns
from core.trace.store import TraceStore
from tests.core.trace.making import start, write_run, write_step

Moves = st.lists(
    st.one_of(
        st.just("more"), st.just("read"), st.integers(1, 6), st.tuples(st.just("delete"), st.floats(0, 0.99))
    ),
    max_size=12,
)


@pytest.fixture
def store(tmp_path):
    with closing(TraceStore.open(tmp_path / "traces.db")) as store:
        yield store


def make_runs(store, count: int) -> None:
    """Write runs of one step, without what the phases leave."""
    for _ in range(count):
        store.begin_step(store.begin_run(start()), 1)


@given(moves=Moves, at_first=st.integers(0, 12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_run_is_left_out_or_listed_twice_while_runs_are_added_and_deleted(
    monkeypatch, store, moves, at_first
):
    monkeypatch.setattr(listed_runs, "PAGE", 3)
    for run in store.find_runs():
        store._database.execute("DELETE FROM runs WHERE run = ?", (run,))
    make_runs(store, at_first)
    listed = ListedRuns()
    listed._most = 3
    view = listed.read(store, None, ())
    for move in moves:
        there = store.find_runs()
        match move:
            case "more":
                listed.list_more(len(view.runs))
            case int(count):
                make_runs(store, count)
            case ("delete", part) if there:
                store._database.execute("DELETE FROM runs WHERE run = ?", (there[int(part * len(there))],))
        view = listed.read(store, None, ())
        numbers = [row.run for row in view.runs]
        there = store.find_runs()
        assert numbers == list(there[: len(numbers)])
        assert view.more == (len(numbers) < len(there))
        assert view.total == len(there)
    while view.more:
        listed.list_more(len(view.runs))
        view = listed.read(store, None, ())
    assert [row.run for row in view.runs] == list(store.find_runs())


def test_the_current_run_is_listed_however_old_it_is(monkeypatch, store):
    monkeypatch.setattr(listed_runs, "PAGE", 2)
    oldest = write_run(store)
    make_runs(store, 5)
    listed = ListedRuns()
    listed._most = 2
    view = listed.read(store, oldest, (oldest,))
    assert [row.run for row in view.runs] == [6, 5, oldest]
    assert len(view.steps[oldest]) == 2
    assert (view.more, view.total) == (True, 6)


def test_a_run_that_was_named_is_read_again(monkeypatch, store):
    monkeypatch.setattr(listed_runs, "PAGE", 1)
    for _ in range(3):
        write_run(store, steps=1)
    listed = ListedRuns()
    listed.list_more(2)
    assert [row.name for row in listed.read(store, None, ()).runs] == ["", "", ""]
    store.name_run(1, "the first")
    listed.forget(1)
    assert [row.name for row in listed.read(store, None, ()).runs] == ["", "", "the first"]


def test_all_that_is_listed_is_read_again_after_a_change_by_another_program(monkeypatch, store):
    monkeypatch.setattr(listed_runs, "PAGE", 1)
    for _ in range(3):
        write_run(store, steps=1)
    listed = ListedRuns()
    listed.list_more(2)
    listed.read(store, None, ())
    with closing(TraceStore.open(store.path)) as elsewhere:
        elsewhere.name_run(1, "the first")
    listed.forget(None)
    assert [row.name for row in listed.read(store, None, ()).runs] == ["", "", "the first"]


def test_a_run_that_the_list_would_have_and_does_not_was_deleted(monkeypatch, store):
    monkeypatch.setattr(listed_runs, "PAGE", 2)
    for _ in range(5):
        write_run(store, steps=1)
    listed = ListedRuns()
    listed._most = 2
    store._database.execute("DELETE FROM runs WHERE run = 4")
    view = listed.read(store, 1, ())
    assert [run for run in range(1, 6) if view.lacks(run)] == [4]
    listed.list_more(2)
    assert [run for run in range(6) if listed.read(store, None, ()).lacks(run)] == [0, 4]
    listed.look_for("something")
    assert not listed.read(store, None, ()).lacks(4)


def test_a_search_lists_what_it_finds_and_how_many_there_are(store):
    letter = write_run(store, instruction="Forward the e-mail")
    write_run(store, instruction="Book a flight")
    listed = ListedRuns()
    listed.look_for("forward")
    view = listed.read(store, None, ())
    assert [row.run for row in view.runs] == [letter]
    assert (view.query, view.total, view.more) == ("forward", 1, False)


def test_a_run_without_steps_is_listed_while_it_goes_on(store):
    write_run(store, steps=0)
    going = store.begin_run(start())
    view = ListedRuns().read(store, None, ())
    assert [row.run for row in view.runs] == [going]
    assert view.total == 1


def test_a_step_of_the_current_run_is_listed_without_the_others_being_read(store, monkeypatch):
    for _ in range(3):
        write_run(store)
    run = store.begin_run(start())
    store.begin_step(run, 1)
    listed = ListedRuns()
    listed.look_for("")
    listed.read(store, run, (run,))
    monkeypatch.setattr(TraceStore, "find_runs", None)
    write_step(store, run, 2)
    view = listed.read_step(store, (run,), store.under_way(run).own_steps)
    assert view.steps[run] == store.own_steps(run)
    assert view.runs == store.runs()


@pytest.mark.parametrize("asked", ["search", "more", "another run", "changed", "opened"])
def test_what_was_asked_for_since_is_listed_with_the_next_step(store, asked):
    older = write_run(store)
    run = store.begin_run(start())
    store.begin_step(run, 1)
    listed = ListedRuns()
    listed.look_for("")
    listed.read(store, run, (run,))
    expanded = (run,)
    match asked:
        case "search":
            listed.look_for("nothing has this word")
        case "more":
            listed.list_more(200)
            listed.look_for("")
        case "another run":
            run = store.begin_run(start())
            store.begin_step(run, 1)
            expanded = (run,)
        case "changed":
            store.name_run(older, "mine")
            listed.forget(older)
            listed.look_for("")
        case "opened":
            listed.look_for("")
            expanded = (run, older)
    view = listed.read_step(store, expanded, store.under_way(run).own_steps)
    assert view == listed.read(store, run, expanded)
