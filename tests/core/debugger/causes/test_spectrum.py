"""The suspiciousness of what runs used."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debugger.causes.spectrum import ochiai, ranked, suspicion_by_step
from tests.core.debugger.evaluations.test_report import Written, store
from tests.core.trace.making import start

__all__ = ["store"]

ELEMENT = st.sampled_from(
    [("state", "results"), ("action", "results.buy"), ("policy", "shop"), ("exemplar", "a")]
)


def test_what_only_failed_runs_used_is_most_suspicious() -> None:
    used = {
        1: [("state", "results"), ("action", "results.buy")],
        2: [("state", "results"), ("action", "results.buy")],
        3: [("state", "results")],
        4: [("state", "results"), ("exemplar", "a")],
    }
    first, second, *others = ranked(used, {1: False, 2: False, 3: True, 4: True})
    assert (first.name, first.failed, first.passed, first.score) == ("results.buy", 2, 0, 1.0)
    assert (second.name, second.failed, second.passed) == ("results", 2, 2)
    assert second.score == pytest.approx(2 / sqrt(2 * 4))
    assert [(one.name, one.score) for one in others] == [("a", 0.0)]
    assert (first.run, second.run, others[0].run) == (1, 1, None)


@given(st.dictionaries(st.integers(1, 8), st.tuples(st.lists(ELEMENT, max_size=4), st.booleans())))
def test_scores_are_shares_and_the_order_is_theirs(runs) -> None:
    used, passed = {run: one for run, (one, _) in runs.items()}, {run: ok for run, (_, ok) in runs.items()}
    scores = [one.score for one in ranked(used, passed)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.0000001 for score in scores)


def test_without_failures_nothing_is_suspicious() -> None:
    assert ochiai(0, 3, 0) == 0.0


def test_a_step_is_as_suspicious_as_what_it_used_in_the_evaluation_of_its_run(store) -> None:
    written = Written(store, "a")
    failed = written.run("a", 0, "Buy", "Send", success=False)
    written.run("a", 1, "Buy", success=True)
    scores = suspicion_by_step(store, failed)
    assert set(scores) == {1, 2}
    assert 0 < scores[1] <= scores[2] <= 1
    written.run("a", 2, "Buy", success=True)
    assert suspicion_by_step(store, failed)[1] < scores[1]  # It is read again.


def test_a_run_of_no_evaluation_has_no_suspicious_steps(store) -> None:
    assert suspicion_by_step(store, store.begin_run(start())) == {}
