"""Lookups that are only tried: with other settings and drafts, and each exemplar without itself."""

import pytest

from core.exemplars.analysis.lookups import each_left_out, summed, try_lookup
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.exemplars.retrieval import recall
from core.schema.exemplar import ExemplarReview, RecallSettings, metadata_of
from tests.core.exemplars.clusters import Clusters, clustered, text_of
from tests.core.exemplars.making import ALL

NEAREST = RecallSettings(by="exemplars", votes=2, most=2)


async def index_of(members):
    from core.llm.embedding import HashedWords

    index = ExemplarIndex(HashedWords())
    await index.refresh(numbered(members))
    return index


async def left_out(index, only=""):
    found = [one async for one in each_left_out(index, index.numbers(), votes=3)]
    return summed(index, [one for one in found if only in one.id], votes=3)


async def test_what_is_tried_is_what_a_run_would_be_shown_with_a_reason_each():
    index = await index_of(ALL)
    query = metadata_of("Click on the Ok button.", "")
    trial = await try_lookup(index, query, RecallSettings())
    assert trial.before == await recall(query, index, RecallSettings())
    assert trial.after is None
    assert [row.now.rank for row in trial.rows] == list(range(1, len(trial.rows) + 1))
    assert {row.family for row in trial.rows if row.now.used} == {"click-button"}
    assert trial.rows[0].now.why == "It votes for click-button, which wins."
    assert all(row.now.why and not row.move for row in trial.rows)


async def test_a_draft_stands_in_place_of_the_stored_one_and_what_moves_is_reported():
    index = await index_of(ALL)
    draft = ALL[0].replace(task="Sort the list of cities by size.")
    query = metadata_of("Sort the list of cities.", ALL[0].steps[0].observation)
    trial = await try_lookup(index, query, NEAREST, draft=draft)
    row = next(row for row in trial.rows if row.draft)
    assert row.now.rank == 1
    assert row.now.used
    assert row.now.distance < row.before.distance
    assert row.move in ("used now", "up")
    kept = await index_of([draft, *ALL[1:]])
    assert trial.after == await recall(query, kept, NEAREST)


@pytest.mark.parametrize("status", ["reviewed", "new", "retired"])
async def test_a_lookup_with_a_draft_is_that_of_a_library_that_has_it(status):
    members = [clustered(family, n) for family in range(3) for n in range(5)]
    index = ExemplarIndex(Clusters(4, 256))
    await index.refresh(numbered(members))
    draft = members[3].replace(
        metadata=text_of(1, 77), family="family-1", review=ExemplarReview(status=status)
    )
    settings = RecallSettings(by="family", votes=5, most=4)
    trial = await try_lookup(index, text_of(1, 2), settings, draft=draft)
    changed = ExemplarIndex(Clusters(4, 256))
    await changed.refresh(
        numbered([one for one in (*members[:3], draft, *members[4:]) if one.review.status != "retired"])
    )
    assert trial.after == await recall(text_of(1, 2), changed, settings)


async def test_other_settings_are_compared_with_those_that_are_meant():
    index = await index_of(ALL)
    query = metadata_of("Click on the Ok button.", "")
    far = NEAREST.replace(threshold=0.0)
    trial = await try_lookup(index, query, NEAREST, other=far)
    assert [row.move for row in trial.rows if row.before and row.before.used] == ["used no more"] * 2
    assert "beyond the threshold" in trial.rows[0].now.why


async def test_a_library_of_none_is_no_error():
    trial = await try_lookup(await index_of([]), "Task: x", NEAREST)
    assert (trial.rows, trial.before.why) == ((), "There are no exemplars to recall.")


async def test_each_member_is_looked_up_without_itself():
    index = ExemplarIndex(Clusters(3, 256))
    one_alone = clustered(2, 0)
    strange = clustered(0, 99).replace(family="family-1")
    await index.refresh(
        numbered([*(clustered(family, n) for family in (0, 1) for n in range(5)), one_alone, strange])
    )
    found = await left_out(index)
    assert (found.members, found.right, found.alone) == (12, 10, 1)
    families = {one.family: one for one in found.families}
    assert families["family-0"].taken_for == {}
    assert families["family-1"].taken_for == {"family-0": 1}
    assert (families["family-2"].members, families["family-2"].right) == (1, 0)


async def test_a_library_of_one_finds_nothing_and_is_no_error():
    index = ExemplarIndex(Clusters(1, 64))
    await index.refresh(numbered([clustered(0, 0)]))
    found = await left_out(index)
    assert (found.share, found.families[0].taken_for) == (0.0, {"": 1})


def texts(found):
    return {one.family: one.taken_for for one in found.families}


async def test_what_a_run_would_not_recall_has_no_vote_for_one_that_is_left_out():
    book, rome, berlin = (f"Book a flight to {city}." for city in ("Oslo", "Rome", "Berlin"))

    def one(id, family, task, **more):
        return ALL[0].replace(id=id, family=family, task=task, metadata=metadata_of(task, ""), **more)

    wrong = (ALL[0].steps[0].replace(actions=("click [999]",)),)
    own = (one("a0", "flights", book), one("a1", "flights", rome))
    strange = (
        one("new", "hotels", book, review=ExemplarReview(status="new")),
        one("faulty", "hotels", book, steps=wrong),
        one("never", "hotels", book, never=(book,)),
        one("light", "hotels", berlin, weight=0.1),
    )
    index = await index_of((*own, *strange))
    found = await left_out(index, only="a0")
    assert (texts(found), found.alone) == ({"flights": {}}, 0)
    run = await recall(metadata_of(book, ""), await index_of((own[1], *strange)), RecallSettings())
    assert run.family == "flights"
