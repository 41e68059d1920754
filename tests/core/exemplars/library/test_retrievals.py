import pytest

from core.exemplars.library.records import RetrievalRecord
from core.exemplars.library.trace_sync import note_retrievals
from core.exemplars.memory import Memory
from core.schema.exemplar import Recall, Retrieved
from core.schema.step import Recalled
from core.schema.task import Verdict
from core.trace.evaluations import create_evaluation, delete_evaluation
from core.trace.records import Case, CaseAttempt
from core.trace.store import TraceStore
from tests.core.exemplars.making import ALL
from tests.core.trace.making import start


@pytest.fixture
def traces(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    yield store
    store.close()


def recalled(*used: str, rejected: str = "") -> Recalled:
    retrieved = [Retrieved(id=id, family="f", task="t", distance=0.3, voted=True, used=True) for id in used]
    if rejected:
        retrieved.append(Retrieved(id=rejected, family="g", task="t", distance=0.9))
    return Recalled(exemplars=used, recalled_at=1, recall=Recall(query="q", retrieved=tuple(retrieved)))


def run_with(traces, *used: str, rejected: str = "", success: bool | None = True) -> int:
    run = traces.begin_run(start())
    traces.begin_step(run, 1)
    traces.save_phase(run, 1, recalled(*used, rejected=rejected))
    if success is not None:
        end(traces, run, success)
    return run


def end(traces, run: int, success: bool) -> None:
    traces.end_run(run, outcome="done", verdict=Verdict(success=success), seconds=1.0, seconds_in_llm=0.0)


def test_where_an_exemplar_was_retrieved_is_listed_with_how_the_run_ended(library, traces):
    library.save(ALL[0])
    id = ALL[0].id
    good = run_with(traces, id)
    bad = run_with(traces, id, "another", success=False)
    beside = run_with(traces, "another", rejected=id)
    assert note_retrievals(library, traces) == 5
    found = {(one.run, one.step): (one.used, one.outcome, one.success) for one in library.retrievals(id)}
    assert found == {
        (good, 1): (True, "done", True),
        (bad, 1): (True, "done", False),
        (beside, 1): (False, "done", True),
    }
    standing = library.standing(id)
    assert (standing.retrieved, standing.used, standing.successes, standing.failures) == (3, 2, 1, 1)
    assert library.page().rows[0].standing == standing


def test_runs_of_evaluations_are_counted_apart_also_once_the_evaluation_is_forgotten(library, traces):
    library.save(ALL[0])
    number = create_evaluation(traces, "e", "{}")
    attempt = CaseAttempt(evaluation=number, case=Case(variant="with", task="t", seed=1))
    for of in (None, attempt):
        run = traces.begin_run(start().replace(attempt=of))
        for step in (1, 2):
            traces.begin_step(run, step)
            traces.save_phase(run, step, recalled(ALL[0].id))
        end(traces, run, True)
    note_retrievals(library, traces)
    counted = RetrievalRecord(retrieved=1, used=1, successes=1, measured=1)
    assert library.standing(ALL[0].id) == counted
    delete_evaluation(traces, number)
    note_retrievals(library, traces)
    assert library.standing(ALL[0].id) == counted


def test_what_is_known_is_not_read_again_and_what_was_under_way_is_reported_once_it_has_ended(
    library, traces
):
    run = run_with(traces, "a", success=None)
    note_retrievals(library, traces)
    assert [(one.run, one.outcome) for one in library.retrievals("a")] == [(run, "running")]
    end(traces, run, False)
    note_retrievals(library, traces)
    assert note_retrievals(library, traces) == 0
    assert [(one.outcome, one.success) for one in library.retrievals("a")] == [("done", False)]


def test_a_step_under_way_does_not_hide_what_comes_after_it(library, traces):
    open_run = traces.begin_run(start())
    traces.begin_step(open_run, 1)
    run_with(traces, "b")
    note_retrievals(library, traces)
    traces.save_phase(open_run, 1, recalled("a"))
    note_retrievals(library, traces)
    assert len(library.retrievals("a")) == len(library.retrievals("b")) == 1


def test_a_person_who_judges_anew_changes_the_outcome(library, traces):
    run = run_with(traces, "a", success=False)
    note_retrievals(library, traces)
    traces.set_verdict(run, Verdict(success=True, judge="person"))
    note_retrievals(library, traces)
    assert library.standing("a").successes == 1


def test_what_a_person_left_out_was_not_used_and_what_one_added_was(library, traces):
    run = run_with(traces, "near", rejected="far", success=None)
    edited = recalled("near", rejected="far")
    used = (ALL[0], ALL[1].replace(id="far"))
    recall = edited.recall.replace(used=used)
    traces.save_phase(run, 1, edited.replace(exemplars=("far", ALL[0].id), recall=recall))
    end(traces, run, True)
    note_retrievals(library, traces)
    assert [library.standing(id).used for id in ("near", "far", ALL[0].id)] == [0, 1, 1]


def test_a_branch_has_used_what_was_recalled_before_it(library, traces):
    run = run_with(traces, "a", success=False)
    traces.begin_step(run, 2)
    branch = traces.begin_run(start().replace(parent_run=run, parent_step=2))
    for number in (2, 3):
        traces.begin_step(branch, number)
        traces.save_phase(branch, number, Recalled(exemplars=("a",), recalled_at=1))
    end(traces, branch, True)
    assert note_retrievals(library, traces) == 2
    assert {(one.run, one.step, one.success) for one in library.retrievals("a")} == {
        (run, 1, False),
        (branch, 1, True),
    }
    assert note_retrievals(library, traces) == 0


def test_a_library_is_made_to_count_what_runs_used_of_files(tmp_path, traces):
    memory = Memory((), library=tmp_path / "exemplars.db")
    assert (note_retrievals(memory.library(), traces), memory.library().is_made) == (0, False)
    run_with(traces, "a")
    assert note_retrievals(memory.library(), traces) == 1
    assert memory.library().standing("a").used == 1
    memory.close()


def test_without_a_library_steps_that_recalled_nothing_are_not_read(tmp_path, traces, monkeypatch):
    monkeypatch.setattr(TraceStore, "recalls", None)
    memory = Memory((), library=tmp_path / "exemplars.db")
    run = traces.begin_run(start())
    for number, record in enumerate((Recalled(), recalled(), Recalled(recalled_at=2)), start=1):
        traces.begin_step(run, number)
        traces.save_phase(run, number, record)
    assert note_retrievals(memory.library(), traces) == 0
    memory.close()


def test_runs_of_another_trace_at_the_same_path_are_not_taken_for_the_old_ones(library, tmp_path):
    old = TraceStore.open(tmp_path / "traces.db")
    for _ in range(3):
        run_with(old, "a", success=False)
    note_retrievals(library, old)
    old.close()
    for file in tmp_path.glob("traces.db*"):
        file.unlink()
    new = TraceStore.open(tmp_path / "traces.db")
    for _ in range(2):
        run_with(new, "b", success=True)
    run_with(new, "a", success=True)
    note_retrievals(library, new)
    new.close()
    assert [(one.run, one.success) for one in library.retrievals("a")] == [(3, True)]
    assert library.standing("b").successes == 2
