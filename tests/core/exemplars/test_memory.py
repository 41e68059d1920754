import asyncio

import numpy as np
import pytest

from core.exemplars.files import write_exemplars
from core.exemplars.library.records import LIBRARY_NAME, Filter
from core.exemplars.memory import Memory
from core.llm.embedding import HashedWords
from core.schema.errors import DataError
from core.schema.exemplar import ExemplarReview, RecallSettings
from tests.core.exemplars.clusters import Clusters, clustered, text_of
from tests.core.exemplars.making import ALL, RETIRED, search

NEAREST = RecallSettings(by="exemplars", votes=1)


@pytest.fixture
def memory(tmp_path):
    memory = Memory((tmp_path / "files",), index_folder=tmp_path / "index", library=tmp_path / LIBRARY_NAME)
    yield memory
    memory.close()


async def used(memory, task, **more):
    return [one.id for one in (await memory.recall(task, NEAREST, **more)).used]


async def test_without_a_library_files_are_recalled_and_none_is_made(memory, tmp_path):
    write_exemplars(tmp_path / "files" / "a.jsonl", ALL)
    assert await used(memory, ALL[3].key) == [ALL[3].id]
    assert [row.origin for row in memory.library().page().rows] == ["file"] * len(ALL)
    assert not (tmp_path / LIBRARY_NAME).exists()


async def test_a_library_that_another_program_makes_is_seen(memory, tmp_path):
    assert memory.library().find(ALL[0].id) is None
    other = Memory((), library=tmp_path / LIBRARY_NAME)
    other.library().save(ALL[0])
    other.close()
    assert memory.library().get(ALL[0].id).exemplar == ALL[0]
    assert await used(memory, ALL[0].key) == [ALL[0].id]


async def test_what_is_saved_is_recalled_at_once_and_what_is_retired_no_more(memory):
    library = memory.library()
    library.save(ALL[0])
    assert await used(memory, ALL[5].key) == [ALL[0].id]
    library.save(ALL[5])
    assert await used(memory, ALL[5].key) == [ALL[5].id]
    library.review([ALL[5].id], RETIRED)
    assert await used(memory, ALL[5].key) == [ALL[0].id]
    library.review([ALL[5].id], ExemplarReview())
    assert await used(memory, ALL[5].key) == [ALL[5].id]


async def test_the_library_wins_where_an_id_is_in_both_and_hides_what_it_has_retired(memory, tmp_path):
    write_exemplars(tmp_path / "files" / "a.jsonl", ALL)
    memory.library().save(ALL[3].replace(note="mine"))
    found = await memory.recall(ALL[3].key, NEAREST)
    assert [(one.id, one.note) for one in found.used] == [(ALL[3].id, "mine")]
    memory.library().review([ALL[3].id], RETIRED)
    assert await used(memory, ALL[3].key) != [ALL[3].id]
    assert len(await memory.refreshed()) == len(ALL) - 1


async def test_a_changed_text_is_found_by_its_new_text_alone(memory):
    memory.library().save(ALL[0])
    memory.library().save(ALL[3])
    memory.library().save(ALL[0].replace(metadata="Task: zebra crossing"))
    assert await used(memory, "Task: zebra crossing") == [ALL[0].id]
    assert await used(memory, ALL[0].key) == [ALL[3].id]


async def test_exemplars_of_equal_texts_are_all_found_by_family_and_id(memory):
    for family in ("b", "a"):
        for number in (2, 1):
            memory.library().save(ALL[0].replace(id=f"{family}{number}", family=family, metadata="same"))
    index = await memory.refreshed()
    assert [one.exemplar.id for one in await search(index, "same", 9)] == ["a1", "a2", "b1", "b2"]
    assert [one.exemplar.id for one in await search(index, "same", 9, family="b")] == ["b1", "b2"]


async def test_by_meaning_the_nearest_that_the_filter_lets_through_are_listed(memory, tmp_path):
    write_exemplars(tmp_path / "files" / "a.jsonl", ALL[3:])
    for one in ALL[:3]:
        memory.library().save(one)
    found = await memory.like(ALL[6].key, 2, Filter(family="click-button"))
    assert [row.family for row, _ in found] == ["click-button"] * 2
    assert [row.id for row, _ in await memory.like(ALL[6].key, 1)] == [ALL[6].id]
    assert found[0][1] <= found[1][1]


async def test_another_embedding_makes_the_index_anew_and_a_cancelled_one_goes_on_from_there(tmp_path):
    first = Memory((), library=tmp_path / LIBRARY_NAME)
    first.library().save_all((clustered(n % 3, n), first_of(n)) for n in range(600))
    first.close()

    class Slow(Clusters):
        async def embed(self, texts, on_progress=None):
            if self.asked >= 256 and len(texts) > 1:
                reached.set()
                await gate.wait()
            return await super().embed(texts, on_progress)

    reached, gate = asyncio.Event(), asyncio.Event()
    slow = Slow(3, 64)
    memory = Memory(
        (), index_folder=tmp_path / "index", embedding=lambda: slow, library=tmp_path / LIBRARY_NAME
    )
    reports = []
    memory.on_progress = lambda done, of: reports.append((done, of))
    task = asyncio.create_task(memory.indexed(again=True))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reports[-1] == (256, 600)
    gate.set()
    assert len(await memory.refreshed()) == 600
    assert slow.asked == 600
    found = await memory.recall(text_of(1, 10**6), RecallSettings())
    assert found.family == "family-1"
    memory.close()


def first_of(number: int):
    from core.exemplars.library.records import Provenance

    return Provenance(origin="import" if number % 2 else "demonstration")


async def test_an_index_that_is_damaged_while_it_is_used_is_made_again(memory, tmp_path):
    for one in ALL:
        memory.library().save(one)
    await memory.refreshed()
    for path in (tmp_path / "index").glob("*.vectors"):
        path.write_bytes(bytes(path.stat().st_size))
    assert await used(memory, ALL[3].key) == [ALL[3].id]
    memory.close()
    assert await used(memory, ALL[4].key) == [ALL[4].id]


async def test_another_process_that_makes_the_index_anew_is_noticed(memory, tmp_path):
    for one in ALL:
        memory.library().save(one)
    await memory.refreshed()
    other = Memory((tmp_path / "files",), index_folder=tmp_path / "index", library=tmp_path / LIBRARY_NAME)
    await other.indexed(again=True)
    other.library().save(ALL[0].replace(id="new", metadata="Task: zebra"))
    assert await used(other, "Task: zebra") == ["new"]
    other.close()
    assert await used(memory, "Task: zebra") == ["new"]
    assert await used(memory, ALL[4].key) == [ALL[4].id]


class Growing(Clusters):
    """An embedding that gives longer vectors from one day on, under the same name."""

    longer = 0

    async def embed(self, texts, on_progress=None):
        rows = await super().embed(texts, on_progress)
        return np.pad(rows, ((0, 0), (0, self.longer)))


async def test_vectors_of_another_length_have_the_index_made_anew_and_stop_no_run(tmp_path):
    growing = Growing(3, 64)
    memory = Memory(
        (), index_folder=tmp_path / "index", embedding=lambda: growing, library=tmp_path / LIBRARY_NAME
    )
    memory.library().save_all((clustered(n % 3, n), first_of(n)) for n in range(30))
    assert (await memory.recall(text_of(1, 10**6), RecallSettings())).family == "family-1"
    growing.longer = 32
    assert (await memory.recall(text_of(2, 10**6), RecallSettings())).family == "family-2"
    assert (await memory.refreshed()).rows(np.array([0])).shape == (1, 96)
    memory.close()


async def test_an_embedding_whose_vectors_change_their_length_all_the_time_is_told(tmp_path):
    class Moody(Growing):
        async def embed(self, texts, on_progress=None):
            self.longer += 1
            return await super().embed(texts, on_progress)

    memory = Memory((), embedding=lambda: Moody(3, 64), library=tmp_path / LIBRARY_NAME)
    memory.library().save(clustered(1, 1), first_of(1))
    with pytest.raises(DataError, match="whether the embedding returns"):
        await memory.recall(text_of(1, 10**6), RecallSettings())
    memory.close()


async def test_a_malformed_line_stops_no_recall_and_no_list_and_is_told(memory, tmp_path):
    path = tmp_path / "files" / "a.jsonl"
    write_exemplars(path, ALL)
    path.write_text("nonsense\n" + path.read_text())
    found = await memory.recall(ALL[3].key, NEAREST)
    assert [one.id for one in found.used] == [ALL[3].id]
    (problem,) = found.problems
    assert problem.startswith(f"{path}, line 1: ")
    assert memory.library().page().total == len(ALL)


async def test_memories_that_were_made_of_one_follow_its_embedding(tmp_path):
    embeddings = [HashedWords(64), HashedWords(32)]
    memory = Memory((), embedding=lambda: embeddings[0], library=tmp_path / LIBRARY_NAME)
    memory.library().save(ALL[0])
    altered = memory.altered(without=("x",))
    for one in (memory, altered):
        assert (await one.refreshed()).embedding is embeddings[0]
    before = embeddings.pop(0)
    assert (await memory.refreshed()).embedding is before
    memory.renew()
    for one in (memory, altered):
        assert (await one.refreshed()).embedding is embeddings[0]
    memory.close()


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
async def test_what_is_saved_after_the_file_of_the_library_was_changed_is_in_the_file_of_its_name(
    tmp_path, how
):
    path, backup = tmp_path / LIBRARY_NAME, tmp_path / "backup.db"
    older = Memory((), library=backup)
    older.library().save(ALL[4])
    older.close()
    memory = Memory((), library=path)
    memory.library().save(ALL[0])
    assert await used(memory, ALL[0].key) == [ALL[0].id]
    if how == "moved":
        path.rename(tmp_path / "elsewhere.db")
    for file in tmp_path.glob(f"{LIBRARY_NAME}*"):
        file.unlink()
    if how == "replaced":
        backup.rename(path)
    memory.library().save(ALL[5])
    kept = sorted([ALL[4].id, ALL[5].id]) if how == "replaced" else [ALL[5].id]
    assert sorted(row.id for row in memory.library().rows()) == kept
    assert await used(memory, ALL[0].key) != [ALL[0].id]
    memory.close()
    other = Memory((), library=path)
    assert sorted(row.id for row in other.library().rows()) == kept
    other.close()
