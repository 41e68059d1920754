"""Exemplars that seem to be of another family: those that were moved are found, and no bundled one is blamed."""

import pytest

from core.exemplars.analysis.families import misplaced
from core.exemplars.files import ExemplarFiles, write_exemplars
from core.exemplars.memory import Memory

BUNDLED = ExemplarFiles().all()


async def blamed(tmp_path, exemplars):
    write_exemplars(tmp_path / "a.jsonl", exemplars)
    memory = Memory((tmp_path,))
    index = await memory.refreshed()
    found = await misplaced(index, [one.id for one in exemplars])
    memory.close()
    return [(one.id, one.at, one.text) for one in found]


async def test_no_bundled_exemplar_is_blamed(tmp_path):
    assert await blamed(tmp_path, BUNDLED) == []


@pytest.mark.parametrize("family", ["terminal", "a-family-of-its-own"])
async def test_one_that_was_moved_to_another_family_is_found_with_the_family_of_its_neighbours(
    tmp_path, family
):
    moved = next(one for one in BUNDLED if one.family == "book-flight")
    others = [one for one in BUNDLED if one.id != moved.id]
    ((id, at, text),) = await blamed(tmp_path, [*others, moved.replace(family=family)])
    assert (id, at) == (moved.id, ("family",))
    assert text == "Its 2 nearest are all of the family book-flight; check whether it belongs there."
