"""What an import would do before it is done, and that it is done whole or not at all."""

import json
from threading import Event

import pytest

from core.exemplars.exchange.importing import FilesRead, keep
from core.exemplars.exchange.plan import ImportChoices
from core.exemplars.files import EXEMPLARS, ExemplarFiles, read_exemplars
from core.exemplars.library.records import ANY, Filter
from core.exemplars.library.store import Library
from core.exemplars.memory import Memory
from core.schema.errors import DataError
from tests.core.exemplars.exchange.files import saved
from tests.core.exemplars.making import ALL, RETIRED


@pytest.fixture
def memory(tmp_path):
    memory = Memory((), library=tmp_path / "mine.db")
    yield memory
    memory.close()


def brought(tmp_path, *exemplars, more=()):
    """Return the choices for a file of these exemplars."""
    lines = [json.loads(one.model_dump_json()) for one in exemplars]
    return ImportChoices(paths=(str(saved(tmp_path, [*lines, *more], "brought.jsonl")),))


def held(tmp_path):
    library = Library.open(tmp_path / "mine.db")
    try:
        return {one.exemplar.id: one.exemplar for one in library.entries(Filter(statuses=ANY))}
    finally:
        library.close()


def fates(plan):
    return [entry.fate for entry in plan.entries]


def test_a_plan_tells_what_is_new_what_is_there_and_whose_id_is_taken(tmp_path, memory):
    choices = brought(tmp_path, *ALL[:2])
    assert not (tmp_path / "mine.db").exists()
    assert keep(FilesRead(choices, memory).plan(choices), memory)
    same, other = ALL[0].replace(id="renamed", note="mine"), ALL[1].replace(task="Something else")
    choices = brought(tmp_path, ALL[0], same, other, ALL[2], more=({"id": "x"},))
    plan = FilesRead(choices, memory).plan(choices)
    assert fates(plan) == ["there already", "there already", "id taken", "new", "faulty"]
    assert plan.counts == {"faulty": 1, "id taken": 1, "new": 1, "there already": 2}
    assert plan.entries[1].why == f"the same content as {ALL[0].id}"
    assert [exemplar for _, exemplar in plan.coming] == [ALL[2]]
    assert plan.problem == ""


def test_what_is_imported_is_new_and_a_fault_is_told_before(tmp_path, memory):
    wrong = ALL[0].replace(steps=(ALL[0].steps[0].replace(actions=("type [1] [abc]",)),))
    choices = brought(tmp_path, wrong, ALL[1])
    plan = FilesRead(choices, memory).plan(choices)
    assert plan.entries[0].remarks[0].startswith("It has a fault: step 1, action 1: type [1] [abc]: a button")
    assert plan.entries[1].remarks == ()
    assert keep(plan, memory)
    assert {one.review.status for one in held(tmp_path).values()} == {"new"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"leave_faulty": False}, "line 2: "),
        ({"taken": "refuse"}, f"line 1: another exemplar has the id {ALL[0].id}"),
    ],
)
def test_what_the_choices_refuse_hinders_the_import(tmp_path, memory, change, problem):
    first = brought(tmp_path, ALL[0])
    keep(FilesRead(first, memory).plan(first), memory)
    choices = brought(tmp_path, ALL[0].replace(task="Else"), more=({"id": "x"},)).replace(**change)
    assert FilesRead(choices, memory).plan(choices).problem.startswith(problem)


def test_an_entry_whose_id_is_taken_comes_under_another_or_as_a_new_version(tmp_path, memory):
    first = brought(tmp_path, ALL[0], ALL[1].replace(id=f"{ALL[0].id}-2"))
    keep(FilesRead(first, memory).plan(first), memory)
    later = ALL[0].replace(task="Else")
    read = FilesRead(brought(tmp_path, later), memory)
    ((entry, exemplar),) = read.plan(read.choices.replace(taken="new id")).coming
    assert (exemplar.id, entry.fate) == (f"{ALL[0].id}-3", "new")
    plan = read.plan(read.choices.replace(taken="new version"))
    assert fates(plan) == ["new version"]
    assert keep(plan, memory)
    assert held(tmp_path)[ALL[0].id].task == "Else"


def test_what_another_person_says_of_the_same_exemplar_is_merged_and_its_review_stays(tmp_path, memory):
    mine = ALL[0].replace(tags=("a",), note="Mine.", review=RETIRED)
    memory.library().save(mine)
    theirs = ALL[0].replace(tags=("b",), note="Theirs.", weight=2, never=("Click no.",))
    choices = brought(tmp_path, theirs)
    plan = FilesRead(choices, memory).plan(choices)
    assert [(entry.fate, entry.why) for entry in plan.entries] == [
        ("merged", "the same content; added: tags, note, weight, never")
    ]
    memory.library().save(mine.replace(note="Typed meanwhile."))
    assert keep(plan, memory)
    assert held(tmp_path)[mine.id] == mine.replace(
        tags=("a", "b"), note="Typed meanwhile.\nTheirs.", weight=2, never=("Click no.",)
    )
    assert fates(FilesRead(choices, memory).plan(choices)) == ["there already"]


def test_a_bundled_one_gets_no_new_version_and_one_of_a_file_is_changed_there(tmp_path):
    (tmp_path / "ours.jsonl").write_text(ALL[0].model_dump_json())
    memory = Memory((tmp_path / "ours.jsonl", EXEMPLARS), library=tmp_path / "mine.db")
    bundled = ExemplarFiles().all()[0]
    choices = brought(tmp_path, ALL[0].replace(task="Else"), bundled.replace(task="Else"))
    plan = FilesRead(choices, memory).plan(choices.replace(taken="new version"))
    assert [(entry.fate, entry.why) for entry in plan.entries] == [
        ("new version", "it takes the place of the one in its file, of which no version is kept"),
        ("id taken", "a bundled exemplar has this id"),
    ]
    assert keep(plan, memory)
    (one,) = read_exemplars(tmp_path / "ours.jsonl")
    assert (one.task, one.review.status) == ("Else", "new")
    memory.close()


def test_an_import_is_kept_whole_or_not_at_all(tmp_path, memory):
    choices = brought(tmp_path, *ALL[:3])
    plan = FilesRead(choices, memory).plan(choices)
    cancelled = Event()
    assert not keep(plan, memory, lambda done, of: cancelled.set(), cancelled)
    assert held(tmp_path) == {}
    assert keep(plan, memory)
    with pytest.raises(DataError, match=r"was taken in the meantime. Read the files again"):
        keep(plan, memory)
    assert set(held(tmp_path)) == {one.id for one in ALL[:3]}
    assert {one.source for one in held(tmp_path).values()} == {one.source or "brought" for one in ALL[:3]}
    assert {row.file for row in memory.library().page(Filter(origin="import")).rows} == set(choices.paths)
