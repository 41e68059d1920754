import numpy as np
import pytest

from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.llm.embedding import HashedWords
from tests.core.exemplars.making import ALL, search


class Counting(HashedWords):
    """The built-in embedding, which counts what it is asked for."""

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []

    async def embed(self, texts, on_progress=None):
        self.asked += texts
        return await super().embed(texts, on_progress)


async def test_only_texts_that_are_new_are_embedded(tmp_path):
    first = Counting()
    assert await ExemplarIndex(first, tmp_path).refresh(numbered(ALL[:4])) == 4
    second = Counting()
    index = ExemplarIndex(second, tmp_path)
    assert await index.refresh(numbered(ALL)) == 3
    assert len(second.asked) == 3
    assert await index.refresh(numbered(ALL)) == 0


async def test_another_embedding_makes_the_index_anew(tmp_path):
    await ExemplarIndex(Counting(64), tmp_path).refresh(numbered(ALL))
    other = Counting(128)
    reports = []
    index = ExemplarIndex(other, tmp_path)
    assert await index.refresh(numbered(ALL), lambda done, of: reports.append((done, of))) == len(ALL)
    assert reports[-1] == (len(ALL), len(ALL))
    assert (await search(index, ALL[2].key, 1))[0].exemplar == ALL[2]


@pytest.mark.parametrize("ending", ["json", "vectors", "texts"])
@pytest.mark.parametrize("damage", [b"nothing of ours", b""])
async def test_a_damaged_or_foreign_file_is_made_anew(tmp_path, ending, damage):
    await ExemplarIndex(Counting(), tmp_path).refresh(numbered(ALL))
    for path in tmp_path.glob(f"*.{ending}"):
        path.write_bytes(damage)
    index = ExemplarIndex(Counting(), tmp_path)
    await index.refresh(numbered(ALL))
    assert (await search(index, ALL[3].key, 1))[0].exemplar == ALL[3]


async def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path):
    (tmp_path / "file").write_text("")
    index = ExemplarIndex(Counting(), tmp_path / "file")
    await index.refresh(numbered(ALL))
    assert len(await search(index, ALL[0].key, 2)) == 2


async def test_distances_are_euclidean_and_exact():
    embedding = HashedWords()
    index = ExemplarIndex(embedding)
    await index.refresh(numbered(ALL))
    query = "Task: Book a button"
    vectors = await embedding.embed([query, *(one.key for one in ALL)])
    expected = sorted(float(np.linalg.norm(vectors[0] - row)) for row in vectors[1:])
    found = [one.distance for one in await search(index, query, len(ALL))]
    # Vectors are kept with 16 bits a number.
    assert np.allclose(found, expected, atol=5e-4)


async def test_vectors_have_unit_length_whatever_the_text():
    vectors = await HashedWords(64).embed(["", "a", "<div id='x'>", "🙂🙂", "x" * 10_000])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
