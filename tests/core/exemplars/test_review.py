"""The status of exemplars: what is new is told and not recalled, what is retired is gone, files have one too."""

import pytest

from core.exemplars.files import write_exemplars
from core.exemplars.library.bulk import review_all
from core.exemplars.library.records import Filter, first_review
from core.exemplars.memory import Memory
from core.schema.exemplar import ExemplarReview, RecallSettings
from tests.core.exemplars.making import ALL, RETIRED

NEW = ExemplarReview(status="new")
FLIGHTS = ALL[5:]


@pytest.fixture
def memory(tmp_path):
    made = Memory((tmp_path / "files",), library=tmp_path / "exemplars.db", index_folder=tmp_path / "index")
    yield made
    made.close()


async def recalled(memory, **settings):
    return await memory.recall(FLIGHTS[0].task, RecallSettings(by="exemplars", **settings))


async def test_a_new_one_is_not_recalled_until_it_is_reviewed_and_it_is_told(memory):
    library = memory.library()
    library.save(FLIGHTS[0].replace(review=NEW))
    library.save(FLIGHTS[1])
    found = await recalled(memory)
    assert [one.id for one in found.used] == [FLIGHTS[1].id]
    assert "1 new one is near enough, but not used" in found.why
    (new,) = [one for one in found.retrieved if one.id == FLIGHTS[0].id]
    assert not new.used
    assert "review it" in new.problem
    review_all(library, [FLIGHTS[0].id], "reviewed")
    assert [one.id for one in (await recalled(memory)).used] == [FLIGHTS[1].id, FLIGHTS[0].id]


async def test_a_preset_may_take_new_ones(memory):
    memory.library().save(FLIGHTS[0].replace(review=NEW))
    found = await recalled(memory)
    assert not found.used
    assert found.why == "1 new one is near enough, but not used: nobody has reviewed it."
    assert [one.id for one in (await recalled(memory, unreviewed=True)).used] == [FLIGHTS[0].id]


async def test_a_new_one_that_is_farther_than_all_that_are_used_is_not_told(memory):
    library = memory.library()
    library.save(FLIGHTS[0])
    library.save(ALL[0].replace(review=NEW))
    assert "new" not in (await recalled(memory)).why


async def test_a_new_one_that_would_not_be_used_once_reviewed_is_not_told(memory):
    library = memory.library()
    for at in range(2):
        steps = (FLIGHTS[0].steps[0].replace(thought=f"Thought {at}."),)
        library.save(FLIGHTS[0].replace(id=f"flight-{at}", steps=steps))
    library.save(FLIGHTS[0].replace(id="outvoted", family="other", review=NEW))
    wrong = FLIGHTS[1].steps[0].replace(actions=("click [999]",))
    library.save(FLIGHTS[0].replace(id="faulty", steps=(wrong,), review=NEW))
    library.save(FLIGHTS[0].replace(id="never", never=(FLIGHTS[0].task,), review=NEW))
    found = await memory.recall(FLIGHTS[0].key, RecallSettings())
    assert {one.id for one in found.used} == {one.id for one in found.retrieved} == {"flight-0", "flight-1"}
    assert "new" not in found.why


async def test_one_of_a_file_is_retired_in_its_file(memory, tmp_path):
    (tmp_path / "files").mkdir()
    file = tmp_path / "files" / "mine.jsonl"
    write_exemplars(file, FLIGHTS)
    before = file.read_text().splitlines()
    assert len((await recalled(memory)).used) == 2
    library = memory.library()
    assert review_all(library, [FLIGHTS[0].id], "retired").ids == (FLIGHTS[0].id,)
    assert [one.id for one in (await recalled(memory)).used] == [FLIGHTS[1].id]
    assert file.read_text().splitlines()[1:] == before[1:]
    assert '"status": "retired"' in file.read_text().splitlines()[0]
    (row,) = library.page(Filter(statuses=("retired",))).rows
    assert row.id == FLIGHTS[0].id
    assert row.review.by
    memory.close()
    assert memory.library().get(FLIGHTS[0].id).exemplar.review == row.review
    review_all(memory.library(), [FLIGHTS[0].id], "reviewed")
    assert len((await recalled(memory)).used) == 2


def test_a_review_is_by_somebody_and_of_a_moment_and_makes_no_version(memory):
    library = memory.library()
    library.save(ALL[0].replace(review=NEW))
    review_all(library, [ALL[0].id], "reviewed")
    entry = library.get(ALL[0].id)
    assert entry.version == 1
    assert entry.exemplar.review.by
    assert entry.exemplar.review.at > 1_700_000_000
    review_all(library, [ALL[0].id], "retired")
    assert library.save(ALL[0].replace(review=entry.exemplar.review)) == 1
    assert library.get(ALL[0].id).exemplar.review.status == "reviewed"


def test_imports_and_demonstrations_are_new_and_what_a_person_chose_is_reviewed():
    origins = ("import", "demonstration", "branch", "agent run", "by hand")
    assert [first_review(origin).status for origin in origins] == ["new", "new", *["reviewed"] * 3]


def test_a_review_goes_into_files_and_comes_back_and_older_files_say_archived(tmp_path):
    file = tmp_path / "a.jsonl"
    write_exemplars(file, [ALL[0].replace(review=RETIRED), ALL[1]])
    old = file.read_text().replace('"review": {"status": "retired"}', '"archived": true')
    assert old != file.read_text()
    file.write_text(old)
    memory = Memory((file,))
    assert [member.exemplar.review for member in memory.files.members()] == [RETIRED, ExemplarReview()]
