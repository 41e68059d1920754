from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.exemplars.analysis import duplicates
from core.exemplars.analysis.duplicates import near_pairs
from core.exemplars.analysis.records import NearPair, grouped, sameness
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.schema.exemplar import ExemplarStep
from tests.core.exemplars.clusters import Clusters, clustered
from tests.core.exemplars.making import ALL


async def found_in(index, within, **more):
    return [found async for found in near_pairs(index, within, **more)]


def by_hand(index, within):
    """Compare all with all, as slowly and plainly as can be."""
    vectors = {index.id_of(n): index.vector_of(n).astype(np.float64) for n in index.numbers()}
    pairs = []
    for one, other in combinations(sorted(vectors), 2):
        distance = round(float(np.sqrt(((vectors[one] - vectors[other]) ** 2).sum())), 6)
        if distance <= within:
            pairs.append((distance, one, other))
    return sorted(pairs)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.3, 0.6, 0.9, 2.0]),
    st.sampled_from([4, 4096]),
)
async def test_the_pairs_are_those_that_comparing_all_with_all_finds(drawn, within, small):
    members = [clustered(family, member).replace(id=f"one-{at}") for at, (family, member) in enumerate(drawn)]
    index = ExemplarIndex(Clusters(4, 256), small=small)
    await index.refresh(numbered(members))
    last = (await found_in(index, within))[-1]
    assert [pair.order for pair in last.pairs] == by_hand(index, within)
    assert (last.whole, last.more, last.members) == (True, False, len(members))


@pytest.mark.parametrize("most", [1, 7, 30])
async def test_where_there_are_more_than_are_kept_the_nearest_are_and_it_is_said(most, monkeypatch):
    monkeypatch.setattr(duplicates, "_WIDEST", 16)
    index = ExemplarIndex(Clusters(3, 256), small=16)
    await index.refresh(numbered([clustered(family, n) for family in range(3) for n in range(12)]))
    monkeypatch.setattr(duplicates, "MOST", most)
    parts = await found_in(index, 0.8)
    assert [pair.order for pair in parts[-1].pairs] == by_hand(index, 0.8)[:most]
    assert parts[-1].more
    assert parts[0].done < parts[-1].done
    assert not parts[0].whole


async def test_pairs_that_are_to_be_kept_apart_do_not_count():
    index = ExemplarIndex(Clusters(1, 256))
    await index.refresh(numbered([clustered(0, n) for n in range(4)]))
    first = by_hand(index, 2.0)[0]
    last = (await found_in(index, 2.0, apart=[first[1:]]))[-1]
    assert [pair.order for pair in last.pairs] == by_hand(index, 2.0)[1:]


async def test_a_library_of_none_has_no_pairs_and_is_whole():
    index = ExemplarIndex(Clusters(1, 64))
    await index.refresh(numbered([]))
    assert (await found_in(index, 0.5))[-1].whole


def test_the_same_task_is_told_apart_from_the_same_steps():
    one = ALL[0]
    steps = (ExemplarStep(observation="[2] link 'Other'", actions=("click [2]",)),)
    spaced = one.replace(task=f"  {one.task} ")
    assert sameness(one, spaced) == "task and steps"
    assert sameness(one, one.replace(steps=steps)) == "task"
    assert sameness(one, one.replace(task="Another one.")) == "steps"
    assert sameness(one, ALL[4]) == "neither"


def test_pairs_that_hang_together_are_one_group_and_the_nearest_comes_first():
    def pair(distance, id, other):
        return NearPair(distance=distance, id=id, other_id=other, number=1, other=2)

    a, b, c, d = pair(0.3, "a", "b"), pair(0.1, "x", "y"), pair(0.2, "b", "c"), pair(0.4, "c", "d")
    assert grouped([a, b, c, d]) == ((b,), (c, a, d))
