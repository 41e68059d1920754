"""The map and the bench at the window."""

import struct

import pytest

from core.debugger.exemplars.analyses.retrieval import RetrievalService, query_of
from core.debugger.exemplars.analyses.views import BenchQuery
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.library.service import LibraryService
from core.exemplars.library.records import Provenance
from core.schema.errors import NotInTraceError
from core.schema.exemplar import RecallSettings
from core.trace.store import TraceStore
from tests.core.debugger.exemplars.analyses.conftest import Watched
from tests.core.exemplars.clusters import clustered, text_of
from tests.core.exemplars.making import exemplar
from tests.core.trace.making import write_run

MEMBERS = tuple(clustered(family, n) for family in range(3) for n in range(4))


@pytest.fixture
async def full(session):
    session.memory.library().save_all([(one, Provenance()) for one in MEMBERS])
    return session


@pytest.fixture
async def library(session):
    return LibraryService(session, ExemplarChanges(session))


def rests(view):
    return not view.busy


async def test_the_map_has_a_point_for_each_and_the_task_among_them(full, library):
    service = RetrievalService(full, library)
    watched = Watched(service)
    query = BenchQuery(task=text_of(1, 2))
    view = await watched.after(
        lambda: service.look_up(query, with_map=True), lambda view: rests(view) and view.result.map
    )
    drawn = view.result.map
    assert drawn.ids == tuple(sorted(one.id for one in MEMBERS))
    assert len(drawn.points) == len(MEMBERS) * struct.calcsize("<2f")
    assert drawn.tasks[0] == next(one.task for one in MEMBERS if one.id == drawn.ids[0])
    place, distance = drawn.task.near[0]
    assert drawn.ids[place] == view.result.trial.rows[0].id == clustered(1, 2).id
    assert distance < 0.01


async def test_the_map_is_drawn_again_only_when_exemplars_have_changed(full, library):
    service = RetrievalService(full, library)
    watched = Watched(service)
    view = await watched.after(service.draw, lambda view: rests(view) and view.result.map)
    first = view.result.map
    assert (len(first.ids), first.task) == (len(MEMBERS), None)
    look_up = lambda: service.look_up(BenchQuery(task=text_of(3, 1)), with_map=True)  # noqa: E731
    view = await watched.after(look_up, lambda view: rests(view) and view.result.map.task)
    assert view.result.map.points is first.points
    full.memory.library().save(clustered(3, 1))
    view = await watched.after(look_up, lambda view: rests(view) and len(view.result.map.ids) > len(MEMBERS))
    assert view.result.map.ids[view.result.map.task.near[0][0]] == clustered(3, 1).id


async def test_a_map_that_is_asked_for_during_a_lookup_comes_with_it(full, library):
    service = RetrievalService(full, library)
    service.look_up(BenchQuery(task=text_of(1, 2)))
    service.draw()
    view = await Watched(service).until(lambda view: rests(view) and view.result.map)
    assert view.result.trial is not None
    assert view.result.map.task is not None


async def test_an_empty_library_has_an_empty_map(session, library):
    service = RetrievalService(session, library)
    view = await Watched(service).after(service.draw, lambda view: rests(view) and view.result.map)
    assert (view.result.map.ids, view.problem) == ((), "")


async def test_a_lookup_is_tried_with_a_draft_and_without_it(full, library):
    service = RetrievalService(full, library)
    watched = Watched(service)
    view = await watched.after(service.announce, lambda view: view.result.members is not None)
    assert view.result.members == len(MEMBERS)
    assert "synapse" in dict(view.result.presets)
    query = BenchQuery(task=text_of(1, 2), settings=RecallSettings(by="exemplars", votes=1))
    view = await watched.after(lambda: service.look_up(query), lambda view: rests(view) and view.result.trial)
    assert [one.id for one in view.result.trial.now.used] == [clustered(1, 2).id]
    draft = MEMBERS[0].replace(metadata=text_of(1, 2), family="family-0")
    view = await watched.after(
        lambda: service.compare_with(draft), lambda view: rests(view) and view.result.trial.after is not None
    )
    assert (view.result.draft, view.result.trial.rows[0].id) == (draft.id, draft.id)
    view = await watched.after(
        lambda: service.compare_with(None), lambda view: rests(view) and view.result.trial.after is None
    )
    assert view.result.draft == ""


async def test_one_that_is_never_to_be_used_for_such_tasks_is_left_out_of_the_next_lookup(full, library):
    service, notices, made = RetrievalService(full, library), [], []
    library.noticed.connect(notices.append)
    library.changes.changed.connect(made.append)
    watched = Watched(service)
    query = BenchQuery(task=text_of(1, 2), settings=RecallSettings(by="exemplars", votes=1))
    view = await watched.after(lambda: service.look_up(query), lambda view: rests(view) and view.result.trial)
    (used,) = view.result.trial.now.used
    view = await watched.after(
        lambda: service.never(used.id), lambda view: rests(view) and used not in view.result.trial.now.used
    )
    assert f"{used.id} is left out, it is never used for tasks like" in view.result.trial.now.why
    assert notices[-1].change == f"change “{used.id}”"
    # What is undone is looked up again.
    await watched.after(
        lambda: library.changes.exchange(made[-1], back=True),
        lambda view: rests(view) and used in view.result.trial.now.used,
    )


async def test_a_bundled_one_is_not_kept_from_a_task_and_it_says_what_to_do(full, library):
    service = RetrievalService(full, library)
    bundled = exemplar("click-button", 0, id="bundled", metadata=text_of(1, 2))
    full.memory.library().save(bundled, Provenance(origin="bundled"))
    watched = Watched(service)
    query = BenchQuery(task=text_of(1, 2), settings=RecallSettings(by="exemplars", votes=1))
    await watched.after(lambda: service.look_up(query), lambda view: rests(view) and view.result.trial)
    view = await watched.after(lambda: service.never("bundled"), lambda view: view.problem)
    assert view.problem.startswith(
        "“bundled” is bundled and stays as it is. In the library, copy it (Ctrl+D)"
    )


async def test_a_lookup_of_nothing_says_what_to_do(full, library):
    service = RetrievalService(full, library)
    view = await Watched(service).after(lambda: service.look_up(BenchQuery()), lambda view: view.problem)
    assert view.problem == "Type a task, or take one from a run."


def test_a_task_is_taken_from_a_run_with_its_page(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    run = write_run(store)
    step = store.steps(run)[0].number
    query = query_of(store, run, step)
    assert query.task == store.run(run).instruction
    assert query.environment == store.run(run).environment
    assert query.source == f"run {run}, step {step}"
    store.close()


async def test_a_step_that_is_not_there_is_reported_with_those_that_are(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    run = write_run(store)
    with pytest.raises(NotInTraceError, match="its steps are 1 to 2"):
        query_of(store, run, len(store.steps(run)) + 5)
    store.close()
