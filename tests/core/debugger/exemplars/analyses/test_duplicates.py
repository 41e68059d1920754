import asyncio

import pytest

from core.debugger.exemplars.analyses.duplicates import DuplicatesService
from core.debugger.exemplars.changes import ExemplarChanges
from core.exemplars.files import read_exemplars, write_exemplars
from core.exemplars.library.records import Provenance
from core.exemplars.library.store import Library
from core.schema.errors import LibraryError
from core.schema.exemplar import Contrast
from tests.core.debugger.exemplars.analyses.conftest import Watched
from tests.core.exemplars.clusters import clustered, text_of
from tests.core.exemplars.making import RETIRED

ONE = clustered(0, 1).replace(tags=("a", "b"), note="Mine.")
TWIN = ONE.replace(id="twin/1", tags=("b", "c"), note="Also.")
OTHERS = tuple(clustered(family, n) for family in (1, 2) for n in range(4))


def whole(view):
    return not view.busy and view.result is not None and view.result.whole


@pytest.fixture
async def changes(session):
    return ExemplarChanges(session)


@pytest.fixture
async def service(session, changes):
    session.memory.library().save_all([(one, Provenance()) for one in (ONE, TWIN, *OTHERS)])
    return DuplicatesService(session, changes)


@pytest.fixture
async def watched(service):
    watched = Watched(service)
    await watched.after(lambda: service.find(0.1), whole)
    return watched


def pairs(view):
    return [pair.ids for pair in view.result.listed]


async def test_a_pair_is_found_with_what_is_the_same_and_written_out(service, watched):
    view = watched.views[-1]
    assert pairs(view) == [(ONE.id, TWIN.id)]
    assert view.result.listed[0].same == "task and steps"
    assert view.result.members == 10
    view = await watched.after(lambda: service.open_pair(ONE.id, TWIN.id), lambda view: view.result.texts)
    assert 'tags = ["a", "b"]' in view.result.texts.left
    assert 'tags = ["b", "c"]' in view.result.texts.right


async def test_both_kept_are_not_listed_again_even_by_another_service_and_that_is_undone(
    session, service, changes, watched
):
    made = []
    changes.changed.connect(made.append)
    view = await watched.after(lambda: service.keep_both(TWIN.id, ONE.id), lambda view: view.notice)
    assert (pairs(view), len(view.result.open)) == ([], 1)
    other = DuplicatesService(session, ExemplarChanges(session))
    later = Watched(other)
    assert pairs(await later.after(lambda: other.find(0.1), whole)) == []
    shown = await later.after(lambda: other.find(0.1, with_kept=True), whole)
    assert {pair.ids for pair in shown.result.listed} == shown.result.kept
    view = await watched.after(lambda: changes.exchange(made[0], back=True), lambda view: view.notice)
    assert pairs(view) == [(ONE.id, TWIN.id)]
    assert session.memory.library().apart() == frozenset()


async def test_merging_retires_one_gives_its_tags_and_note_to_the_other_and_is_undone(
    session, service, changes, watched
):
    made = []
    changes.changed.connect(made.append)
    view = await watched.after(lambda: service.merge(ONE.id, TWIN.id), lambda view: view.notice)
    library = session.memory.library()
    kept = library.get(ONE.id)
    assert (kept.exemplar.tags, kept.exemplar.note) == (("a", "b", "c"), "Mine.\nAlso.")
    assert library.get(TWIN.id).exemplar.review.status == "retired"
    assert pairs(view) == []
    view = await watched.after(lambda: changes.exchange(made[0], back=True), lambda view: view.notice)
    assert library.get(ONE.id).exemplar == ONE
    assert library.get(TWIN.id).exemplar == TWIN
    assert pairs(view) == [(ONE.id, TWIN.id)]
    view = await watched.after(lambda: changes.exchange(made[0], back=False), lambda view: not pairs(view))
    assert library.get(TWIN.id).exemplar.review.status == "retired"
    assert library.get(ONE.id).exemplar == kept.exemplar


async def test_a_merge_names_what_it_adds_and_is_done_whole_or_not_at_all(
    session, service, watched, monkeypatch
):
    library = session.memory.library()
    wrong = Contrast(observation="", tried="click [1]", right="click [2]")
    library.save(TWIN.replace(tags=(), note="", weight=2, pinned=True, contrasts=(wrong,)))

    def fail(*_):
        raise LibraryError("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(Library, "_set_review", fail)
        await watched.after(lambda: service.merge(ONE.id, TWIN.id), lambda view: view.problem)
    assert library.get(ONE.id).exemplar == ONE
    view = await watched.after(lambda: service.merge(ONE.id, TWIN.id), lambda view: view.notice)
    assert view.notice == (
        f"{TWIN.id} was retired. What {ONE.id} got of it: weight, pinned. Its contrasts were not added."
    )


async def test_what_is_retired_elsewhere_is_listed_no_more_and_comes_back_with_it(session, service, watched):
    library = session.memory.library()
    library.review([TWIN.id], RETIRED)
    view = await watched.after(service.follow, lambda view: view.result.retired)
    assert pairs(view) == []
    library.review([TWIN.id], RETIRED.replace(status="reviewed"))
    view = await watched.after(service.follow, lambda view: not view.result.retired)
    assert pairs(view) == [(ONE.id, TWIN.id)]


async def test_one_of_a_file_is_retired_and_takes_tags_in_its_file(session, service, tmp_path):
    of_file = ONE.replace(id="file/1", metadata=text_of(0, 1))
    write_exemplars(tmp_path / "files" / "a.jsonl", [of_file])
    watched = Watched(service)
    view = await watched.after(lambda: service.find(0.1), whole)
    assert len(pairs(view)) == 3
    assert any(pair.number < 0 for pair in view.result.listed)
    view = await watched.after(lambda: service.merge("file/1", TWIN.id), lambda view: view.notice)
    (kept,) = read_exemplars(tmp_path / "files" / "a.jsonl")
    assert kept.tags == ("a", "b", "c")
    view = await watched.after(lambda: service.merge(ONE.id, "file/1"), lambda view: not pairs(view))
    (kept,) = read_exemplars(tmp_path / "files" / "a.jsonl")
    assert kept.review.status == "retired"


async def test_it_is_cancelled_and_what_was_found_is_shown_as_a_part(session, service, monkeypatch):
    from core.exemplars.analysis import duplicates

    monkeypatch.setattr(duplicates, "_WIDEST", 16)
    session.memory.library().save_all([(clustered(3, n), Provenance()) for n in range(100)])
    watched = Watched(service)
    service.changed.connect(lambda view: view.busy and view.result and view.result.done and service.cancel())
    view = await watched.after(
        lambda: service.find(2.0), lambda view: not view.busy and view.result and view.result.done
    )
    assert 0 < view.result.done < view.result.members
    assert not view.result.whole
    assert pairs(view)
    await asyncio.sleep(0)
