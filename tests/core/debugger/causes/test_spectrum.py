"""The suspiciousness of what runs used."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debugger.causes.spectrum import ochiai, ranked

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


@given(st.dictionaries(st.integers(1, 8), st.tuples(st.lists(ELEMENT, max_size=4), st.booleans())))
def test_scores_are_shares_and_the_order_is_theirs(runs) -> None:
    used, passed = {run: one for run, (one, _) in runs.items()}, {run: ok for run, (_, ok) in runs.items()}
    scores = [one.score for one in ranked(used, passed)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.0000001 for score in scores)


def test_without_failures_nothing_is_suspicious() -> None:
    assert ochiai(0, 3, 0) == 0.0
