"""Every way of searching against comparing all vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.memory.nearest import Damaged, Nearest
from core.memory.vectors import KeptVectors
from tests.core.memory.clusters import Clusters

FAMILIES = 12


def kept(rows: np.ndarray, folder=None) -> KeptVectors:
    vectors = KeptVectors("some", folder)
    vectors.add(range(len(rows)), rows)
    return vectors


def made(count: int, dimension: int = 256, seed: int = 0) -> np.ndarray:
    clusters = Clusters(FAMILIES, dimension)
    return np.stack([clusters.vector(n % FAMILIES, seed + n // FAMILIES) for n in range(count)])


def brute_force(vectors: KeptVectors, query, count: int, allowed=None):
    rows = vectors.rows(np.arange(len(vectors))).astype(np.float64)
    distances = np.round(np.sqrt(((rows - query.astype(np.float64)) ** 2).sum(1)), 6)
    if allowed is not None:
        distances[~allowed] = np.inf
    count = min(count, int(np.isfinite(distances).sum()))
    last = np.sort(distances)[count - 1]
    order = np.argsort(distances, kind="stable")
    slots = order[distances[order] <= last]
    return slots.tolist(), distances[slots].tolist()


@settings(max_examples=40, deadline=None)
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


def test_lists_find_nearly_all_that_comparing_all_finds(tmp_path):
    vectors = kept(made(3000), tmp_path)
    nearest = Nearest(vectors, small=10, exact=2000)
    nearest.prepare()
    assert nearest.way == "lists"
    vectors.add([5000], made(1, seed=5000))
    nearest.prepare()
    found = wanted = 0
    for number in range(50):
        query = made(FAMILIES, seed=7000 + number)[number % FAMILIES]
        got = nearest.search(query, 3)[0].tolist()
        true = brute_force(vectors, query, 3)[0]
        found += len(set(got) & set(true))
        wanted += len(true)
    assert found / wanted >= 0.99
    assert nearest.search(made(1, seed=5000)[0], 1)[0].tolist() == [3000]
    allowed = np.arange(len(vectors)) % 3 == 0
    assert (nearest.search(made(1)[0], 5, allowed)[0] % 3 == 0).all()


@pytest.mark.parametrize("exact", [2000, 10_000])
def test_what_was_made_is_read_the_next_time(tmp_path, exact):
    first = Nearest(kept(made(3000), tmp_path), small=10, exact=exact)
    first.prepare()
    files = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    again = Nearest(KeptVectors("some", tmp_path), small=10, exact=exact)
    again.prepare()
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == files
    query = made(1, seed=99)[0]
    assert again.search(query, 5)[0].tolist() == first.search(query, 5)[0].tolist()


@pytest.mark.parametrize("ending", ["short", "lists"])
@pytest.mark.parametrize("content", [b"", b"no such thing" * 9])
def test_a_damaged_helper_file_is_made_anew(tmp_path, ending, content):
    vectors = kept(made(3000), tmp_path)
    before = Nearest(vectors, small=10, exact=2000)
    before.prepare()
    for path in tmp_path.glob(f"*.{ending}"):
        path.unlink()
        path.write_bytes(content)
    nearest = Nearest(KeptVectors("some", tmp_path), small=10, exact=2000)
    nearest.prepare()
    query = made(1, seed=99)[0]
    assert nearest.search(query, 5)[0].tolist() == before.search(query, 5)[0].tolist()


def test_vectors_that_are_none_are_noticed(tmp_path):
    vectors = kept(made(300), tmp_path)
    path = next(tmp_path.glob("*.vectors"))
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(Damaged):
        Nearest(vectors).prepare()
