import numpy as np
import pytest

from core.exemplars.vectors import VectorStore


def rows(count: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_adding_leaves_what_is_there_as_it_is(tmp_path):
    vectors = VectorStore("e", tmp_path)
    vectors.add([1, 2], rows(2))
    before = next(tmp_path.glob("*.vectors")).read_bytes()
    vectors.add([3], rows(1, 1))
    after = next(tmp_path.glob("*.vectors")).read_bytes()
    assert (after[: len(before)], len(after)) == (before, len(before) * 3 // 2)


def test_vectors_are_read_back_nearly_as_they_were(tmp_path):
    VectorStore("e", tmp_path).add([7, 8], rows(2))
    again = VectorStore("e", tmp_path)
    assert again.slots([8, 9, 7]).tolist() == [1, -1, 0]
    assert np.allclose(again.rows(np.array([1, 0])), rows(2)[::-1], atol=2e-5)


@pytest.mark.parametrize("cut", [1, 7, 31])
@pytest.mark.parametrize("ending", ["vectors", "texts"])
def test_what_was_cut_off_is_written_over(tmp_path, ending, cut):
    VectorStore("e", tmp_path).add([1, 2], rows(2))
    path = next(tmp_path.glob(f"*.{ending}"))
    path.write_bytes(path.read_bytes() + b"x" * cut if ending == "vectors" else path.read_bytes()[:-7])
    vectors = VectorStore("e", tmp_path)
    count = len(vectors)
    vectors.add([3], rows(1, 5))
    again = VectorStore("e", tmp_path)
    assert len(again) == count + 1
    assert np.allclose(again.rows(again.slots([3])), rows(1, 5), atol=2e-5)


def test_another_process_sees_what_was_added_and_what_was_thrown_away(tmp_path):
    one, other = VectorStore("e", tmp_path), VectorStore("e", tmp_path)
    one.add([1], rows(1))
    other.refresh()
    assert len(other) == 1
    one.discard()
    one.add([5], rows(1, 3))
    other.refresh()
    assert other.slots([1, 5]).tolist() == [-1, 0]


def test_each_embedding_has_vectors_of_its_own_until_they_are_thrown_away(tmp_path):
    one = VectorStore("one", tmp_path)
    one.add([1], rows(1))
    two = VectorStore("two", tmp_path)
    assert len(two) == 0
    two.discard_others()
    assert len(VectorStore("one", tmp_path)) == 0
