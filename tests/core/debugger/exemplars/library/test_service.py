"""The library at the window: lists by pages, one exemplar whole, what is done to them and taken back."""

import json

import pytest

from core.debugger.exemplars.library.import_views import ImportChoices
from core.debugger.exemplars.library.views import PAGE, Chosen, Query
from core.memory.library.records import Filter, Retrieval
from core.memory.library.store import Library
from tests.core.debugger.shelf import Shelf
from tests.core.memory.making import ALL, exemplar

OWN = Query(filter=Filter(origin="by hand"), order="id")


@pytest.fixture
def shelf(tmp_path):
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()


def test_an_empty_library_lists_the_exemplars_that_come_with_the_program(shelf):
    shelf.desk.list_rows(Query())
    view = shelf.wait("listed")
    assert view.ready
    assert view.total == view.whole == len(view.rows) > 20
    assert all(row.origin == "bundled" and row.read_only for row in view.rows)
    assert not (shelf.folder / "exemplars.db").exists()


def test_what_another_program_saves_comes_into_the_list_and_the_place_is_kept(shelf):
    shelf.put(ALL[1])
    shelf.desk.list_rows(OWN, (ALL[1].id,))
    assert shelf.wait("listed").places == {ALL[1].id: 0}
    shelf.desk.stand((ALL[1].id,), ALL[1].id, 0)
    shelf.put(ALL[0])
    view = shelf.wait("listed")
    assert [row.id for row in view.rows] == [ALL[0].id, ALL[1].id]
    assert view.places == {ALL[1].id: 1}


def test_a_long_list_comes_around_the_exemplar_that_is_to_be_in_view_and_then_by_pages(shelf):
    library = Library.open(shelf.folder / "exemplars.db")
    base = exemplar("click-button", 0)
    library.save_all((base.replace(id=f"many/{n:04}"), None) for n in range(450))
    library.close()
    shelf.desk.list_rows(OWN, anchor="many/0320")
    view = shelf.wait("listed")
    assert view.total == 450
    assert len(view.rows) == 2 * PAGE
    assert view.rows[320 - view.first].id == "many/0320"
    shelf.desk.page(OWN, 0)
    assert [row.id for row in shelf.wait("paged").rows] == [f"many/{n:04}" for n in range(PAGE)]


def test_each_filter_offers_its_values_and_an_empty_list_names_what_to_loosen(shelf):
    for one in ALL:
        shelf.put(one)
    shelf.desk.list_rows(OWN.replace(filter=Filter(origin="by hand", family="book-flight")))
    view = shelf.wait("counted")
    assert view.counts.total == 2
    assert view.counts.families == 1
    assert view.offers["family"] == {"click-button": 3, "book-flight": 2, "enter-text": 2}
    assert view.offers["origin"]["by hand"] == 2
    shelf.desk.list_rows(Query(filter=Filter(words="cheapest", family="enter-text", origin="by hand")))
    counts = shelf.wait("counted")
    assert dict(counts.without)["the family “enter-text”"] == 1
    assert dict(counts.without)["the words “cheapest”"] == 2


def test_a_list_by_meaning_has_the_nearest_first_with_their_distances(shelf):
    for one in ALL:
        shelf.put(one)
    like = Query(filter=Filter(origin="by hand"), like="Book the shortest flight to Paris.")
    shelf.desk.list_rows(like)
    view = shelf.wait("listed", lambda view: view.ready)
    assert view.rows[0].id == "book-flight-1"
    assert list(view.distances) == sorted(view.distances)
    assert len(view.rows) == len(ALL)


def test_one_exemplar_is_told_with_versions_retrievals_and_as_a_prompt_tells_it(shelf):
    shelf.put(ALL[0])
    shelf.put(ALL[0].replace(task="Click on Ok."))
    trace = str(shelf.store.path.absolute())
    library = Library.open(shelf.folder / "exemplars.db")
    library.log(trace, 1, [Retrieval(id=ALL[0].id, trace=trace, run=3, step=1, used=True)])
    library.settle(trace, [(3, "ended", True)])
    library.close()
    shelf.desk.show(ALL[0].id)
    view = shelf.wait("detailed")
    assert [(one.number, one.current) for one in view.versions] == [(1, False), (2, True)]
    assert view.retrievals[0].run == 3
    assert view.trace == trace
    assert view.standing.successes == 1
    assert "Click on Ok." in view.told
    shelf.desk.compare(ALL[0].id, 1, 2)
    compared = shelf.wait("compared")
    assert [one.part for one in compared.differences] == ["task"]
    shelf.desk.make_current(ALL[0].id, 1)
    told = shelf.wait("told")
    shelf.wait("detailed", lambda view: view.entry.version == 1)
    shelf.desk.undo(told.undo)
    shelf.wait("detailed", lambda view: view.entry.version == 2)


def test_an_exemplar_that_is_not_there_says_which_is_meant(shelf):
    shelf.put(ALL[0])
    shelf.desk.show("click-buton-0")
    assert "did you mean click-button-0?" in shelf.wait("detailed").problem


def test_archiving_is_taken_back_and_leaves_those_of_files(shelf):
    shelf.put(ALL[0])
    shelf.desk.list_rows(OWN)
    shelf.wait("listed")
    shelf.desk.archive(Chosen(query=Query(order="id"), ranges=((0, 500),)), True)
    told = shelf.wait("told")
    assert told.text.startswith(f"“{ALL[0].id}” was archived.")
    assert "read only" in told.text
    shelf.wait("listed", lambda view: view.total == 0)
    shelf.desk.undo(told.undo)
    shelf.wait("listed", lambda view: view.total == 1)


def test_a_check_tells_what_is_wrong_with_its_place(shelf):
    wrong = exemplar(
        "click-button", 1, steps=({"observation": '[1] button "Go"', "actions": ("clack [1]",)},)
    )
    shelf.put(ALL[0])
    shelf.put(wrong)
    shelf.desk.check(Chosen(ids=(ALL[0].id, wrong.id)))
    view = shelf.wait("checked")
    assert (view.checked, [one.id for one in view.problems]) == (2, [wrong.id])
    assert view.problems[0].where == "look 1, action 1"
    shelf.desk.show(wrong.id)
    shelf.wait("detailed")
    shelf.desk.check(Chosen(ids=(wrong.id,)))
    assert shelf.wait("detailed").problems == view.problems


def test_an_export_writes_what_the_list_has(shelf):
    for one in ALL:
        shelf.put(one)
    path = shelf.folder / "out.jsonl"
    shelf.desk.export(Chosen(query=OWN, ranges=((0, 3),)), "jsonl", str(path))
    told = shelf.wait("told")
    assert told.text.startswith("3 exemplars were written to")
    written = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    assert written == sorted(one.id for one in ALL)[:3]
    shelf.desk.export(Chosen(ids=(ALL[0].id,)), "jsonl", "/proc/nowhere/out.jsonl")
    assert shelf.wait("told").bad


def test_the_index_is_made_anew_in_the_background(shelf):
    shelf.put(ALL[0])
    shelf.desk.reindex()
    assert "exemplars are indexed by" in shelf.wait("told").text
    assert shelf.wait("working", lambda view: view.kind is None)


def _file(shelf, *exemplars, more=""):
    path = shelf.folder / "brought.jsonl"
    path.write_text("\n".join(one.model_dump_json() for one in exemplars) + "\n" + more)
    return str(path)


def test_an_import_says_first_what_it_would_do_and_is_taken_back(shelf):
    shelf.put(ALL[0])
    taken = ALL[0].replace(task="Another task.")
    choices = ImportChoices(paths=(_file(shelf, ALL[1], taken, more='{"id": "x"}'),))
    desk = shelf.desk.imports
    desk.read(choices)
    view = shelf.wait("planned", lambda view: view.ready)
    assert view.counts == {"faulty": 1, "id taken": 1, "new": 1}
    assert view.coming == 1
    assert view.entries[0].position == "line 3"
    assert "family" in view.entries[0].why
    desk.plan(choices.replace(leave_faulty=False))
    assert "line 3" in shelf.wait("planned").problem
    shelf.wait("working", lambda job: job.kind is None)
    desk.carry_out(choices)
    assert shelf.wait("planned", lambda view: view.done)
    told = shelf.wait("told")
    assert told.undo.archive == (ALL[1].id,)
    shelf.desk.list_rows(Query(filter=Filter(origin="import")))
    assert shelf.wait("listed", lambda view: view.ready).total == 1
    shelf.desk.undo(told.undo)
    shelf.wait("listed", lambda view: view.total == 0)


def test_an_entry_whose_id_is_taken_is_kept_under_another_or_as_a_new_version(shelf):
    shelf.put(ALL[0])
    taken = ALL[0].replace(task="Another task.")
    choices = ImportChoices(paths=(_file(shelf, taken),), taken="new id")
    desk = shelf.desk.imports
    desk.read(choices)
    view = shelf.wait("planned", lambda view: view.ready)
    assert (view.coming, view.entries[0].id) == (1, f"{ALL[0].id}-2")
    shelf.wait("working", lambda job: job.kind is None)
    later = choices.replace(taken="new version")
    desk.carry_out(later)
    shelf.wait("planned", lambda view: view.done)
    told = shelf.wait("told")
    shelf.desk.show(ALL[0].id)
    view = shelf.wait("detailed")
    assert view.entry.exemplar.task == "Another task."
    assert view.entry.provenance.origin == "by hand"
    shelf.desk.undo(told.undo)
    shelf.wait("detailed", lambda view: view.entry.exemplar.task == ALL[0].task)


def test_files_that_hold_nothing_say_so_and_nothing_is_made(shelf):
    shelf.desk.imports.read(ImportChoices(paths=(str(shelf.folder / "none.jsonl"),)))
    view = shelf.wait("planned", lambda view: view.problem)
    assert "cannot be read" in view.problem
    assert not (shelf.folder / "exemplars.db").exists()
