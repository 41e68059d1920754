import pytest

from core.exemplars.library.records import RetrievalRecord
from core.exemplars.library.trace_sync import note_retrievals
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
