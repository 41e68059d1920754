"""Stores the runs of a proof as they would end, so that a test has to make few of them for real."""

from contextlib import closing
from pathlib import Path

from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.proof import cases_of
from core.debugger.evaluations.records import UNCHANGED
from core.trace.evaluations import attempts_of, evaluation_named
from core.trace.records import AttemptRow, CaseAttempt
from core.trace.store import TraceStore
from tests.core.debugger.evaluations.test_proof import made


def carry_out(database: Path, name: str, *, until: int = 1000) -> None:
    """Store what is left of a proof, until it has so many runs: each is a success with the change alone."""
    with closing(TraceStore.open(database)) as store:
        row = evaluation_named(store, name)
        assert row is not None
        done = {one.attempt.case: one for one in attempts_of(store, row.number)}
        for following in cases_of(planned(row), done):
            if len(done) == until:
                break
            assert following is not None  # Nothing is under way.
            _, case = following
            attempt = CaseAttempt(evaluation=row.number, case=case)
            run = made(store, case.variant != UNCHANGED, task=case.task, seed=case.seed, attempt=attempt)
            done[case] = AttemptRow(attempt=attempt, run=store.run(run))
