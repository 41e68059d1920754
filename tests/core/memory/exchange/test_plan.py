"""What an import would do before it is done, and that it is done whole or not at all."""

import pytest

from core.memory.exchange.plan import LibraryStore, plan_of
from core.memory.exchange.records import Candidate, Reading
from core.memory.files import ExemplarFiles, write_exemplars
from core.schema.errors import DataError
from tests.core.memory.making import ALL


def test_a_plan_tells_what_is_new_what_is_there_and_whose_id_is_taken():
    same = ALL[0].replace(id="renamed", note="mine")
    other = ALL[1].replace(task="Something else")
    reading = Reading(
        candidates=tuple(
            Candidate(position=str(n), exemplar=one) for n, one in enumerate([ALL[0], same, other, ALL[2]])
        )
    )
    plan = plan_of(reading, ALL[:2])
    assert [one.fate for one in plan.planned] == ["there already", "there already", "id taken", "new"]
    assert plan.planned[1].why == f"the same content as {ALL[0].id}"
    assert plan.new == (ALL[2],)


def test_the_library_keeps_all_of_an_import_or_nothing_beside_what_files_hold(tmp_path):
    ours = tmp_path / "ours"
    write_exemplars(ours / "a.jsonl", ALL[:1])
    store = LibraryStore(tmp_path / "mine.db", ExemplarFiles((ours,)))
    assert set(store.held()) == set(ALL[:1])
    assert store.add(ALL[1:3], "My file") == str(tmp_path / "mine.db")
    with pytest.raises(DataError, match="was taken in the meantime"):
        store.add(ALL[2:4], "My file")
    assert {one.id for one in store.held()} == {one.id for one in ALL[:3]}
