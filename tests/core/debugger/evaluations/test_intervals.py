import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.debugger.evaluations.intervals import over_groups, paired, wilson

COUNTS = st.integers(0, 200)


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_interval_holds_the_share_and_stays_between_0_and_1(successes, failures):
    count = successes + failures
    low, high = wilson(successes, count)
    assert 0.0 <= low <= high <= 1.0
    if count:
        assert low - 1e-9 <= successes / count <= high + 1e-9


def test_the_interval_is_that_of_the_tables():
    assert wilson(8, 10) == pytest.approx((0.490, 0.943), abs=5e-4)
    assert wilson(0, 0) == (0.0, 1.0)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_interval_of_a_difference_holds_it_and_turns_with_its_sides(both, first, second, neither):
    count = both + first + second + neither
    low, high = paired(both, first, second, neither)
    assert -1.0 <= low <= high <= 1.0
    if count:
        assert low - 1e-9 <= (first - second) / count <= high + 1e-9
    turned = paired(both, second, first, neither)
    assert (-turned[1], -turned[0]) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "interval"),
    [((36, 12, 2, 0), (0.0569, 0.3404)), ((54, 0, 0, 0), (-0.0664, 0.0664))],
)
def test_the_interval_of_a_difference_is_that_of_the_paper(counts, interval):
    assert paired(*counts) == pytest.approx(interval, abs=1e-4)


def test_more_cases_narrow_the_interval():
    few, many = paired(2, 3, 1, 2), paired(20, 30, 10, 20)
    assert many[1] - many[0] < few[1] - few[0]


@settings(max_examples=20)
@given(
    st.lists(
        st.integers(1, 9).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))),
        min_size=2,
        max_size=9,
    )
)
def test_an_interval_over_groups_lies_between_their_shares_and_is_the_same_in_any_order(counts):
    low, high = over_groups(counts)
    shares = [good / of for good, of in counts]
    assert min(shares) <= low <= high <= max(shares)
    assert over_groups(counts[::-1]) == (low, high)


def test_groups_that_are_all_or_nothing_count_once_each_however_many_runs_they_have():
    assert over_groups([(5, 5)] * 4 + [(0, 5)] * 4) == over_groups([(1, 1)] * 4 + [(0, 1)] * 4)
    low, high = over_groups([(20, 20)] * 4 + [(0, 20)] * 4)
    independent = wilson(80, 160)
    assert low < independent[0] < independent[1] < high


def test_one_group_or_groups_without_cases_have_no_interval():
    assert over_groups([]) is over_groups([(3, 5)]) is over_groups([(3, 5), (0, 0)]) is None


def test_an_interval_over_few_groups_is_not_narrower_than_over_their_runs():
    assert over_groups([(1, 1), (1, 1)]) == (1.0, 1.0)
    assert over_groups([(1, 1), (1, 1)], wilson(2, 2)) == wilson(2, 2)
    assert over_groups([(5, 5), (0, 5)], wilson(5, 10)) == (0.0, 1.0)
