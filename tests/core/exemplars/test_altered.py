"""A memory as it would be without some exemplars, or with some as they were."""

import pytest

from core.exemplars.files import write_exemplars
from core.exemplars.library.records import LIBRARY_NAME, Provenance
from core.exemplars.memory import Memory
from core.schema.changes import Changes, memory_in_words
from core.schema.exemplar import RecallSettings
from tests.core.exemplars.making import ALL

FIRST, SECOND, OTHER = ALL[0], ALL[1], ALL[3]
NEAREST = RecallSettings(by="exemplars", votes=1)


@pytest.fixture
def memory(tmp_path):
    memory = Memory((tmp_path / "files",), index_folder=tmp_path / "index", library=tmp_path / LIBRARY_NAME)
    yield memory
    memory.close()


@pytest.fixture
def mixed(memory, tmp_path):
    write_exemplars(tmp_path / "files" / "a.jsonl", [OTHER])
    memory.library().save_all((one, Provenance()) for one in (FIRST, SECOND))
    return memory


async def used(memory, key):
    return [one.id for one in (await memory.recall(key, NEAREST)).used]


@pytest.mark.parametrize("one", [FIRST, OTHER], ids=["of the library", "of a file"])
async def test_one_that_is_left_out_is_not_recalled_and_the_whole_memory_stays(mixed, one):
    without = mixed.altered(without=[one.id])
    assert one.id not in await used(without, one.key)
    assert await used(mixed, one.key) == [one.id]


async def test_a_family_is_left_out_with_all_its_exemplars_those_saved_later_too(mixed):
    without = mixed.altered(families=[FIRST.family])
    assert await used(without, FIRST.key) == [OTHER.id]
    mixed.library().save(ALL[2])
    assert await used(without, ALL[2].key) == [OTHER.id]
    assert await used(mixed, ALL[2].key) == [ALL[2].id]


async def test_an_earlier_version_is_recalled_by_its_own_text(mixed):
    changed = FIRST.replace(metadata="Task: zebra crossing", note="changed")
    mixed.library().save(changed)
    before = mixed.altered(versions={FIRST.id: 1})
    found = await before.recall(FIRST.key, NEAREST)
    assert [(one.id, one.note) for one in found.used] == [(FIRST.id, "")]
    assert (await mixed.recall("Task: zebra crossing", NEAREST)).used[0].note == "changed"
    assert len(await before.refreshed()) == len(await mixed.refreshed())


async def test_a_memory_altered_twice_goes_by_both(mixed):
    twice = mixed.altered(without=[FIRST.id]).altered(without=[SECOND.id])
    assert await used(twice, FIRST.key) == [OTHER.id]


def test_a_branch_goes_on_without_what_its_run_was_without():
    earlier = Changes(without=("a",), versions={"b": 1})
    whole = Changes(without=("c",)).over(earlier)
    assert whole.without == ("a", "c")
    assert memory_in_words(whole) == ("without a", "without c", "b at version 1")
    assert not memory_in_words(Changes(exemplars="own").over(earlier))
