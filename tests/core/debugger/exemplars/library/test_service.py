"""The library at the window: lists by pages, one exemplar whole, what is done to them and taken back."""

import json
import threading

import pytest

from core.debugger.exemplars.library.views import PAGE, Chosen, Query
from core.exemplars.exchange.plan import ImportChoices
from core.exemplars.files import ExemplarFiles
from core.exemplars.library.records import Edits, Filter, Retrieval
from core.exemplars.library.store import Library
from core.llm.onnx_embedding import OnnxEmbedding
from core.schema.exemplar import ExemplarReview
from core.settings.saving import save_settings
from core.settings.settings import load_settings
from core.trace.records import RunEnd
from tests.core.exemplars.making import ALL, exemplar
from tests.core.llm.small_encoder import encoder_in

OWN = Query(filter=Filter(origin="by hand"), order="id")
FILES = len(ExemplarFiles().all())


def test_an_empty_library_lists_the_exemplars_that_come_with_the_program(library):
    library.service.list_rows(Query())
    view = library.wait("listed")
    assert view.ready
    assert view.total == view.whole == len(view.rows) > 20
    assert all(row.origin == "bundled" and row.read_only for row in view.rows)
    assert not (library.folder / "exemplars.db").exists()


def test_what_another_program_saves_comes_into_the_list_and_the_place_is_kept(library):
    library.put(ALL[1])
    library.service.list_rows(OWN, (ALL[1].id,))
    assert library.wait("listed").places == {ALL[1].id: 0}
    library.service.set_position((ALL[1].id,), ALL[1].id, 0)
    library.put(ALL[0])
    view = library.wait("listed")
    assert [row.id for row in view.rows] == [ALL[0].id, ALL[1].id]
    assert view.places == {ALL[1].id: 1}


def test_a_long_list_comes_around_the_exemplar_that_is_to_be_in_view_and_then_by_pages(library):
    database = Library.open(library.folder / "exemplars.db")
    base = exemplar("click-button", 0)
    database.save_all((base.replace(id=f"many/{n:04}"), None) for n in range(450))
    database.close()
    library.service.list_rows(OWN, anchor="many/0320")
    view = library.wait("listed")
    assert view.total == 450
    assert len(view.rows) == 2 * PAGE
    assert view.rows[320 - view.first].id == "many/0320"
    library.service.page(OWN, 0)
    assert [row.id for row in library.wait("paged").rows] == [f"many/{n:04}" for n in range(PAGE)]


def test_each_filter_offers_its_values_and_an_empty_list_names_what_to_loosen(library):
    for one in ALL:
        library.put(one)
    library.service.list_rows(OWN.replace(filter=Filter(origin="by hand", family="book-flight")))
    view = library.wait("counted")
    assert view.counts.total == 2
    assert view.counts.families == 1
    assert view.offers["family"] == {"click-button": 3, "book-flight": 2, "enter-text": 2}
    assert view.offers["origin"]["by hand"] == 2
    library.service.list_rows(Query(filter=Filter(words="cheapest", family="enter-text", origin="by hand")))
    counts = library.wait("counted")
    assert dict(counts.without)["the family “enter-text”"] == 1
    assert dict(counts.without)["the words “cheapest”"] == 2


def test_a_list_by_meaning_has_the_nearest_first_with_their_distances(library):
    for one in ALL:
        library.put(one)
    like = Query(filter=Filter(origin="by hand"), like="Book the shortest flight to Paris.")
    library.service.list_rows(like)
    view = library.wait("listed", lambda view: view.ready)
    assert view.rows[0].id == "book-flight-1"
    assert list(view.distances) == sorted(view.distances)
    assert len(view.rows) == len(ALL)


def test_one_exemplar_is_shown_with_versions_retrievals_and_as_in_a_prompt(library):
    library.put(ALL[0])
    library.put(ALL[0].replace(task="Click on Ok."))
    trace = str(library.store.path.absolute())
    database = Library.open(library.folder / "exemplars.db")
    database.log(trace, 1, [Retrieval(id=ALL[0].id, trace=trace, run=3, step=1, used=True)])
    database.settle(trace, [RunEnd(3, "ended", True)])
    database.close()
    library.service.show_exemplar(ALL[0].id)
    view = library.wait("detailed")
    assert [(one.number, one.current) for one in view.versions] == [(1, False), (2, True)]
    assert view.retrievals[0].run == 3
    assert view.trace == trace
    assert view.standing.successes == 1
    assert "Click on Ok." in view.prompt
    library.service.compare(ALL[0].id, 1, 2)
    compared = library.wait("compared")
    assert [one.part for one in compared.differences] == ["task"]
    library.service.make_current(ALL[0].id, 1)
    library.wait("detailed", lambda view: view.entry.version == 1)
    library.changes.exchange(library.wait("made"), back=True)
    library.wait("detailed", lambda view: view.entry.version == 2)


def test_an_exemplar_that_is_not_there_says_which_is_meant(library):
    library.put(ALL[0])
    library.service.show_exemplar("click-buton-0")
    assert "did you mean click-button-0?" in library.wait("detailed").problem


def test_what_is_retired_comes_back_by_undo_and_so_do_those_of_files(library):
    library.put(ALL[0])
    library.service.list_rows(OWN)
    library.wait("listed")
    library.service.review(Chosen(query=Query(order="id"), ranges=((0, 500),)), "retired")
    notice = library.wait("noticed")
    assert notice.text == f"{FILES + 1} exemplars were retired."
    library.wait("listed", lambda view: view.total == 0)
    change = library.wait("made")
    assert (change.words, notice.change) == (f"retire {FILES + 1} exemplars", change.words)
    library.changes.exchange(change, back=True)
    library.wait("listed", lambda view: view.total == 1)
    assert library.wait("noticed").text == f"Undone: retire {FILES + 1} exemplars."
    library.changes.exchange(change, back=False)
    library.wait("listed", lambda view: view.total == 0)
    assert library.wait("answered") == ""


def test_tags_and_a_family_are_given_to_many_as_one_change_and_files_stay_as_they_are(library):
    library.put(ALL[0])
    library.put(ALL[1].replace(tags=("old", "kept")))
    library.service.list_rows(OWN)
    library.service.edit(Chosen(query=OWN, ranges=((0, 2),)), Edits(add=("fine",), remove=("old",)))
    library.wait("listed", lambda view: {row.tags for row in view.rows} == {("fine",), ("kept", "fine")})
    change = library.wait("made")
    assert change.words == "change 2 exemplars"
    library.changes.exchange(change, back=True)
    library.wait("listed", lambda view: {row.tags for row in view.rows} == {(), ("old", "kept")})
    bundled = ExemplarFiles().all()[0].id
    library.service.edit(Chosen(ids=(ALL[0].id, bundled)), Edits(family="press"))
    text = library.wait("noticed", lambda notice: "press" in notice.text).text
    assert text.startswith(f"“{ALL[0].id}” was moved to the family press. “{bundled}” is bundled")
    library.wait("listed", lambda view: {row.family for row in view.rows} == {"press", ALL[1].family})


def test_what_has_a_fault_shows_it_and_is_reviewed_only_where_it_is_to_be_used_although_it_has_one(library):
    wrong = ALL[0].replace(id="wrong", steps=(ALL[0].steps[0].replace(actions=("type [1] [abc]",)),))
    library.put(wrong.replace(review=ExemplarReview(status="new")))
    library.service.show_exemplar("wrong")
    view = library.wait("detailed")
    assert view.fault == "step 1, action 1: type [1] [abc]: a button cannot be typed into."
    library.service.review(Chosen(ids=("wrong",)), "reviewed")
    notice = library.wait("noticed")
    assert notice.bad
    assert notice.text.startswith("“wrong” has a fault: step 1, action 1: type [1] [abc]: a button cannot be")
    assert "Shift+Space" in notice.text
    library.service.review(Chosen(ids=("wrong",)), "reviewed", True)
    review = library.wait("detailed", lambda view: view.entry.exemplar.review.status == "reviewed")
    assert review.entry.exemplar.review.although


def test_a_change_is_not_undone_where_another_program_has_changed_the_exemplar_since(library):
    library.put(ALL[0])
    library.put(ALL[1])
    library.service.list_rows(OWN)
    library.service.review(Chosen(ids=(ALL[0].id, ALL[1].id)), "retired")
    change = library.wait("made")
    assert change.words == "retire 2 exemplars"
    other = Library.open(library.folder / "exemplars.db")
    other.review([ALL[1].id], ExemplarReview())
    library.changes.exchange(change, back=True)
    problem = library.wait("answered")
    assert problem == f"“{ALL[1].id}” was changed meanwhile: it is reviewed, at version 1, now."
    assert [one.review.status for one in other.current([ALL[0].id, ALL[1].id])] == ["retired", "reviewed"]
    other.close()


def test_a_change_is_not_undone_where_the_library_is_gone(library):
    library.put(ALL[0])
    library.service.review(Chosen(ids=(ALL[0].id,)), "retired")
    change = library.wait("made")
    (library.folder / "exemplars.db").rename(library.folder / "away.db")
    library.changes.exchange(change, back=True)
    assert "exemplars.db no longer exists" in library.wait("answered")


def test_a_check_tells_what_is_wrong_with_its_place(library):
    wrong = exemplar(
        "click-button", 1, steps=({"observation": '[1] button "Go"', "actions": ("clack [1]",)},)
    )
    library.put(ALL[0])
    library.put(wrong)
    library.service.check(Chosen(ids=(ALL[0].id, wrong.id)))
    view = library.wait("checked")
    assert (view.checked, [one.id for one in view.problems]) == (2, [wrong.id])
    assert view.problems[0].where == "step 1, action 1"


def test_an_export_writes_what_the_list_has(library):
    for one in ALL:
        library.put(one)
    path = library.folder / "out.jsonl"
    library.service.export(Chosen(query=OWN, ranges=((0, 3),)), "jsonl", str(path))
    notice = library.wait("noticed")
    assert notice.text.startswith("3 exemplars were written to")
    written = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    assert written == sorted(one.id for one in ALL)[:3]
    library.service.export(Chosen(ids=(ALL[0].id,)), "jsonl", "/proc/nowhere/out.jsonl")
    assert library.wait("noticed").bad


def test_the_index_is_made_anew_in_the_background(library):
    library.put(ALL[0])
    library.service.index("built-in", True)
    assert "exemplars are indexed with" in library.wait("noticed").text
    assert library.wait("changed", lambda job: not job.busy)


def test_another_embedding_is_tried_stored_and_used_from_then_on(library, tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    library.put(ALL[0].replace(id="journey", metadata="reserve trip"))
    library.put(ALL[0].replace(id="table", metadata="sort column"))
    name = f"onnx:{encoder_in(tmp_path / 'encoder')}"
    library.service.index(name, False)
    assert "exemplars are indexed with encoder (model.onnx" in library.wait("noticed").text
    assert load_settings().embedding == name
    library.service.list_rows(Query(filter=OWN.filter, like="book flight"))
    listed = library.wait("listed", lambda view: view.ready)
    assert (listed.embedding, listed.rows[0].id) == (name, "journey")
    assert listed.distances == pytest.approx((0, 1.7), abs=0.3)
    library.service.index(f"onnx:{tmp_path / 'nowhere'}", False)
    notice = library.wait("noticed", lambda notice: notice.bad)
    assert "There is no ONNX model at" in notice.text
    assert load_settings().embedding == name
    library.service.index("built-in", False)
    assert "indexed with hashed-words" in library.wait("noticed").text
    assert "embedding" not in (tmp_path / "config" / "settings.toml").read_text()


def test_a_cancelled_index_says_which_embedding_is_set_and_the_list_knows_it(library, tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    for number in range(40):
        library.put(ALL[0].replace(id=f"many/{number}", metadata=f"flight {number}"))
    name = f"onnx:{encoder_in(tmp_path / 'encoder')}"
    reached, gate = threading.Event(), threading.Event()
    embed = OnnxEmbedding._vectors

    def slow(self, texts):
        if "Book a flight." not in texts:
            reached.set()
            gate.wait(30)
        return embed(self, texts)

    monkeypatch.setattr(OnnxEmbedding, "_vectors", slow)
    library.service.list_rows(OWN)
    library.service.index(name, False)
    assert reached.wait(30)
    library.service.cancel()
    gate.set()
    assert library.wait("noticed").text.endswith(
        f"was cancelled. The embedding is {name}; the next lookup continues."
    )
    library.wait("listed", lambda view: view.embedding == name)
    assert load_settings().embedding == name


def test_an_index_that_fails_after_the_embedding_is_set_says_which_one_is(library, tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    library.put(ALL[0].replace(id="journey", metadata="reserve trip"))
    name = f"onnx:{encoder_in(tmp_path / 'encoder')}"
    embed = OnnxEmbedding._vectors

    def fails_later(self, texts):
        if "Book a flight." not in texts:
            raise ValueError("out of memory")
        return embed(self, texts)

    monkeypatch.setattr(OnnxEmbedding, "_vectors", fails_later)
    library.service.index(name, False)
    notice = library.wait("noticed", lambda notice: notice.bad)
    assert "cannot embed: out of memory" in notice.text
    assert notice.text.endswith(f"The embedding is {name}; choose another one (Ctrl+Shift+E).")


def test_a_choice_is_stored_also_where_the_file_was_changed_meanwhile(library, tmp_path, monkeypatch):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    save_settings({"embedding": "openai/text-embedding-3-small"})
    library.service.index("built-in", False)
    assert "indexed with hashed-words" in library.wait("noticed").text
    assert load_settings().embedding == "built-in"


def _file(library, *exemplars, more=""):
    path = library.folder / "brought.jsonl"
    path.write_text("\n".join(one.model_dump_json() for one in exemplars) + "\n" + more)
    return str(path)


def test_an_import_says_first_what_it_would_do_and_is_taken_back(library):
    library.put(ALL[0])
    taken = ALL[0].replace(task="Another task.")
    choices = ImportChoices(paths=(_file(library, ALL[1], taken, more='{"id": "x"}'),))
    imports = library.imports
    imports.read_files(choices)
    plan = library.wait("planned", lambda view: view.plan).plan
    assert plan.counts == {"faulty": 1, "id taken": 1, "new": 1}
    imports.plan(choices.replace(leave_faulty=False))
    assert "line 3" in library.wait("planned").plan.problem
    library.wait("changed", lambda job: not job.busy)
    imports.carry_out(choices)
    assert library.wait("planned", lambda view: view.done)
    change = library.wait("made")
    assert (change.words, [one.id for one in change.after]) == ("import 1 exemplar", [ALL[1].id])
    library.service.list_rows(Query(filter=Filter(origin="import")))
    assert library.wait("listed", lambda view: view.ready).total == 1
    library.changes.exchange(change, back=True)
    library.wait("listed", lambda view: view.total == 0)


def test_a_new_version_that_was_imported_is_taken_back(library):
    library.put(ALL[0])
    choices = ImportChoices(paths=(_file(library, ALL[0].replace(task="Another task.")),))
    library.imports.read_files(choices)
    library.wait("planned", lambda view: view.plan)
    library.wait("changed", lambda job: not job.busy)
    library.imports.carry_out(choices.replace(taken="new version"))
    library.wait("planned", lambda view: view.done)
    change = library.wait("made")
    library.service.show_exemplar(ALL[0].id)
    view = library.wait("detailed")
    assert view.entry.exemplar.task == "Another task."
    assert view.entry.provenance.origin == "by hand"
    library.changes.exchange(change, back=True)
    library.wait("detailed", lambda view: view.entry.exemplar.task == ALL[0].task)


def test_files_that_hold_nothing_say_so_and_nothing_is_made(library):
    library.imports.read_files(ImportChoices(paths=(str(library.folder / "none.jsonl"),)))
    view = library.wait("planned", lambda view: view.problem)
    assert "cannot be read" in view.problem
    assert not (library.folder / "exemplars.db").exists()
