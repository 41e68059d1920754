"""The index against comparing all vectors."""

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.exemplars.nearest import Nearest
from core.exemplars.vectors import Damaged, VectorStore
from tests.core.exemplars.clusters import Clusters

FAMILIES = 12


def kept(rows: np.ndarray, folder=None) -> VectorStore:
    vectors = VectorStore("some", folder)
    vectors.add(range(len(rows)), rows)
    return vectors


def made(count: int, dimension: int = 256, seed: int = 0) -> np.ndarray:
    clusters = Clusters(FAMILIES, dimension)
    return np.stack([clusters.vector(n % FAMILIES, seed + n // FAMILIES) for n in range(count)])


def brute_force(vectors: VectorStore, query, count: int, allowed=None):
    rows = vectors.rows(np.arange(len(vectors))).astype(np.float64)
    distances = np.round(np.sqrt(((rows - query.astype(np.float64)) ** 2).sum(1)), 6)
    if allowed is not None:
        distances[~allowed] = np.inf
    count = min(count, int(np.isfinite(distances).sum()))
    last = np.sort(distances)[count - 1]
    order = np.argsort(distances, kind="stable")
    slots = order[distances[order] <= last]
    return slots.tolist(), distances[slots].tolist()


@settings(max_examples=40)
@given(
    count=st.integers(1, 400),
    dimension=st.sampled_from([3, 64, 130, 256]),
    wanted=st.integers(1, 12),
    repeated=st.integers(0, 30),
    small=st.sampled_from([1, 10_000]),
    every=st.sampled_from([1, 2, 7]),
    seed=st.integers(0, 5),
)
def test_what_is_found_is_what_comparing_all_finds_ties_included(
    count, dimension, wanted, repeated, small, every, seed
):
    rows = made(count, dimension, seed)
    rows = np.concatenate([rows, np.repeat(rows[:1], repeated, axis=0)])
    vectors = kept(rows)
    nearest = Nearest(vectors, small=small)
    nearest.prepare()
    assert nearest.way == ("exact" if len(rows) > small else "all")
    allowed = None if every == 1 else np.arange(len(rows)) % every == 0
    for query in (rows[0], made(1, dimension, 77)[0]):
        slots, distances = nearest.search(query, wanted, allowed)
        assert (slots.tolist(), distances.tolist()) == brute_force(vectors, query, wanted, allowed)


@pytest.mark.parametrize("small", [1, 10_000])
def test_vectors_that_are_added_are_found_at_once(tmp_path, small):
    vectors = kept(made(300), tmp_path)
    nearest = Nearest(vectors, small=small)
    for number in range(3):
        nearest.prepare()
        new = made(1, seed=1000 + number)
        vectors.add([1000 + number], new)
        nearest.prepare()
        assert nearest.search(new[0], 1)[0].tolist() == [300 + number]


def test_the_index_is_made_again_when_the_vectors_have_doubled_and_finds_the_same():
    vectors = kept(made(20))
    nearest = Nearest(vectors, small=10)
    for _ in range(4):
        nearest.prepare()
        query = made(1, seed=99)[0]
        slots, distances = nearest.search(query, 5)
        assert (slots.tolist(), distances.tolist()) == brute_force(vectors, query, 5)
        first = len(vectors)
        vectors.add(range(first, first + 15), made(15, seed=first))


def test_more_than_the_first_candidates_are_found_where_so_many_are_as_near():
    rows = made(50)
    vectors = kept(np.concatenate([np.repeat(rows[:1], 900, axis=0), rows]))
    nearest = Nearest(vectors, small=10)
    nearest.prepare()
    assert len(nearest.search(rows[0], 1)[0]) == 901


def test_vectors_that_are_none_are_noticed(tmp_path):
    vectors = kept(made(300), tmp_path)
    path = next(tmp_path.glob("*.vectors"))
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(Damaged):
        Nearest(vectors).prepare()


def test_faiss_searches_from_the_first_vector_on(monkeypatch):
    asked = []
    search = faiss.IndexFlatL2.search

    def counted(index, *given, **more):
        asked.append(index.ntotal)
        return search(index, *given, **more)

    monkeypatch.setattr(faiss.IndexFlatL2, "search", counted)
    nearest = Nearest(kept(made(1)))
    nearest.prepare()
    assert nearest.search(made(1)[0], 3)[0].tolist() == [0]
    assert asked == [1]
