import sqlite3
import time

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from core.exemplars.files import line_of
from core.exemplars.library.records import Filter, Provenance, differences
from core.exemplars.library.store import Library
from core.exemplars.library.tables import KIND, insert_words, pack, values_of
from core.schema.errors import LibraryError, NotInLibraryError
from core.schema.exemplar import Contrast, Exemplar, ExemplarReview, ExemplarStep
from core.storage.database import DatabaseFile
from tests.core.exemplars.making import ALL, RETIRED

FROM_A_RUN = Provenance(origin="branch", run=7, step=3, llm="some-model", site="shop.example")
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
WORD = TEXT.filter(bool)
EXEMPLAR = st.builds(
    Exemplar,
    id=st.sampled_from(["a", "a/b", "book-flight/3"]),
    family=WORD,
    task=WORD,
    steps=st.lists(
        st.builds(ExemplarStep, observation=TEXT, actions=st.lists(WORD, min_size=1, max_size=2).map(tuple)),
        min_size=1,
        max_size=2,
    ).map(tuple),
    contrasts=st.lists(st.builds(Contrast, tried=WORD, right=WORD, why=TEXT), max_size=1).map(tuple),
    tags=st.lists(TEXT, max_size=2).map(tuple),
    note=TEXT,
    format=st.just(1),
)


@settings(max_examples=30)
@given(st.lists(EXEMPLAR, min_size=1, max_size=8))
def test_what_is_saved_last_is_what_is_had_and_everything_before_it_is_kept(exemplars):
    library = Library.in_memory()
    saved: dict[str, list[Exemplar]] = {}
    for one in exemplars:
        library.save(one)
        known = saved.setdefault(one.id, [])
        if not known or known[-1] != one:
            known.append(one)
    for id, states in saved.items():
        assert library.get(id).exemplar == states[-1]
        assert [library.at(id, one.number) for one in library.versions(id)] == states
        assert [one.id for one in library.page().rows if one.id == id] == [id]
    assert {one.exemplar.id: one.exemplar for one in library.entries()} == {
        id: had[-1] for id, had in saved.items()
    }
    library.close()


def test_an_exemplar_keeps_where_it_came_from_and_its_size(library, monkeypatch):
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", iter([100.0, 200.0]).__next__)
        library.save(ALL[0], FROM_A_RUN)
        library.save(ALL[0].replace(note="better"))
    entry = library.get(ALL[0].id)
    assert (entry.provenance, entry.version, entry.made, entry.changed) == (FROM_A_RUN, 2, 100.0, 200.0)
    assert 0 < entry.tokens == library.page().rows[0].tokens


def test_an_old_version_can_be_made_current_again_and_the_next_save_is_a_new_one(library):
    for note in ("one", "two"):
        library.save(ALL[0].replace(note=note), why=f"made it {note}")
    library.make_current(ALL[0].id, 1)
    assert library.get(ALL[0].id).exemplar.note == library.page().rows[0].note == "one"
    assert library.save(ALL[0].replace(note="three")) == 3
    assert [(one.number, one.why, one.current) for one in library.versions(ALL[0].id)] == [
        (1, "made it one", False),
        (2, "made it two", False),
        (3, "", True),
    ]


def test_versions_are_compared_part_by_part(library):
    library.save(ALL[0])
    step = ALL[0].steps[0].replace(thought="Ok is meant.")
    library.save(ALL[0].replace(steps=(step, step), tags=("a", "b")))
    found = differences(library.at(ALL[0].id, 1), library.at(ALL[0].id, 2))
    assert {one.part: (one.before, one.after) for one in found} == {
        "step 1, thought": ("", "Ok is meant."),
        "step 2, thought": ("", "Ok is meant."),
        "step 2, observation": ("", step.observation),
        "step 2, actions": ("", "click [1]"),
        "tags": ("", "a, b"),
    }


def test_nothing_is_deleted_what_is_retired_is_hidden_and_comes_back(library):
    library.save(ALL[0])
    library.review([ALL[0].id], RETIRED)
    assert library.page().rows == ()
    assert library.get(ALL[0].id).exemplar.review.status == "retired"
    library.review([ALL[0].id], ExemplarReview())
    assert library.page().rows[0].id == ALL[0].id


def test_somebody_elses_change_is_not_written_over(path, library):
    library.save(ALL[0])
    other = Library.open(path)
    other.save(ALL[0].replace(note="theirs"), expected=1)
    other.close()
    with pytest.raises(LibraryError, match="now at version 2, not at 1"):
        library.save(ALL[0].replace(note="mine"), expected=1)
    assert library.get(ALL[0].id).exemplar.note == "theirs"


def test_many_are_stored_all_or_none(library):
    def some():
        yield ALL[0], Provenance()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.save_all(some())
    assert library.page().total == 0


def test_an_unknown_id_is_reported_with_the_nearest(library):
    library.save(ALL[0])
    with pytest.raises(NotInLibraryError, match="did you mean click-button-0"):
        library.get("click-buton-0")
    with pytest.raises(NotInLibraryError, match="has no version 9"):
        library.at(ALL[0].id, 9)


def test_changes_are_reported_once_in_their_order(library):
    library.save(ALL[0])
    library.save(ALL[1])
    last, found = library.changes(0)
    assert [one.id for one in found] == [ALL[0].id, ALL[1].id]
    assert library.changes(last) == (last, [])
    library.review([ALL[0].id], RETIRED)
    assert [(one.id, one.status) for one in library.changes(last)[1]] == [(ALL[0].id, "retired")]


def test_half_a_character_does_not_stop_an_exemplar_from_being_kept(library):
    library.save(ALL[0].replace(source="half \ud83d of it", note="\x00"))
    assert library.get(ALL[0].id).exemplar.source == "half ? of it"


# Faults


def test_a_full_disk_is_reported_and_loses_nothing(library):
    library.save(ALL[0])
    pages = library._database.rows("PRAGMA page_count")[0]["page_count"]
    library._database.rows(f"PRAGMA max_page_count = {pages}")
    big = ALL[1].replace(note=" ".join(str(n) for n in range(60_000)))
    with pytest.raises(LibraryError, match="no space left for the exemplar library"):
        library.save(big)
    assert [one.id for one in library.page().rows] == [ALL[0].id]
    library._database.rows("PRAGMA max_page_count = 1000000")
    library.save(big)
    assert library.page().total == 2


def test_a_locked_library_is_reported_and_serves_again_after(path, library):
    library.save(ALL[0])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LibraryError, match=r"exemplar library .* is locked by another program"):
        library.save(ALL[1])
    assert library.page().total == 1
    other.execute("ROLLBACK")
    other.close()
    library.save(ALL[1])


def test_a_damaged_exemplar_is_reported_as_a_damaged_library(path, library):
    library.save(ALL[0])
    library._database.execute("UPDATE versions SET content = x'00'")
    with pytest.raises(LibraryError, match="is damaged"):
        library.get(ALL[0].id)


def test_an_exemplar_that_unpacks_to_too_much_is_reported_as_damaged(library):
    library.save(ALL[0])
    line = line_of(ALL[0]).encode()
    padding = 300 << 20
    packed = zstandard.ZstdCompressor().compressobj(size=len(line) + padding)
    data = [packed.compress(line), *(packed.compress(b" " * (1 << 20)) for _ in range(padding >> 20))]
    library._database.execute("UPDATE versions SET content = ?", (b"".join([*data, packed.flush()]),))
    with pytest.raises(LibraryError, match="is damaged"):
        library.get(ALL[0].id)


def test_a_file_that_is_no_library_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "exemplars.db"
    path.write_text("These are notes and not a database at all. " * 100)
    before = path.read_bytes()
    with pytest.raises(LibraryError, match="is not an exemplar library"):
        Library.open(path)
    assert path.read_bytes() == before


def test_a_newer_library_is_refused(path):
    Library.open(path).close()
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version = {KIND.newest + 1}")
    newer.close()
    with pytest.raises(LibraryError, match="written by a newer version of this program"):
        Library.open(path)


def test_two_processes_lists_meet(path, library):
    other = Library.open(path)
    for place, one in enumerate(ALL):
        (library, other)[place % 2].save(one)
    assert library.page().total == other.page().total == len(ALL)
    assert library.changes(0) == other.changes(0)
    other.close()


def test_pairs_that_are_kept_are_remembered_in_either_order_and_forgotten(library):
    library.keep_apart("b", "a")
    library.keep_apart("a", "b")
    library.keep_apart("a", "c")
    assert library.apart() == {("a", "b"), ("a", "c")}
    library.keep_apart("c", "a", apart=False)
    assert library.apart() == {("a", "b")}


def test_a_library_of_the_first_version_is_brought_up_to_date_with_all_it_has(tmp_path):
    path = tmp_path / "exemplars.db"
    old = DatabaseFile.open(path, KIND._replace(migrations=KIND.migrations[:1]))
    for number, archived in ((1, 0), (2, 1)):
        exemplar = ALL[number]
        values = values_of(exemplar, Provenance(), 10) | {"version": 1, "made": 5.0, "changed": 7.0}
        known = {
            name: value
            for name, value in values.items()
            if not name.startswith(("status", "review", "although", "file", "weight", "pinned"))
        }
        with old.write():
            old.insert("exemplars", {**known, "number": number, "archived": archived, "change": number})
            content = {"saved": 5.0, "why": "", "tokens": 10, "content": pack(exemplar)}
            old.insert("versions", {"exemplar": number, "number": 1, **content})
            insert_words(old, number, exemplar)
    old.close()
    library = Library.open(path)
    assert library.get(ALL[1].id).exemplar == ALL[1]
    assert library.get(ALL[2].id).exemplar == ALL[2].replace(review=ExemplarReview(status="retired", at=7.0))
    assert [row.id for row in library.page(Filter(statuses=("retired",)), order="tokens").rows] == [ALL[2].id]
    assert library.apart() == frozenset()
    library.keep_apart("a", "b")
    library.close()
    assert (tmp_path / "exemplars.db.version-1").exists()


def test_an_id_that_is_no_text_is_not_there(library):
    with pytest.raises(NotInLibraryError, match="There is no exemplar"):
        library.get("\udcff")
