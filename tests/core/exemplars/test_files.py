import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.exemplars.files import ExemplarFiles, line_of, read_exemplars, write_exemplars
from core.schema.errors import DataError
from core.schema.exemplar import AbstractionPair, Exemplar, ExemplarReview, ExemplarStep
from tests.core.exemplars.making import ALL, RETIRED, exemplar

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
SOME = {"max_size": 2}


@given(
    st.lists(
        st.builds(
            Exemplar,
            id=st.sampled_from(["a", "book-flight/3", "x.y_z".replace("_", "-")]),
            family=TEXT.filter(bool),
            task=TEXT.filter(bool),
            steps=st.lists(
                st.builds(
                    ExemplarStep, observation=TEXT, actions=st.lists(TEXT, min_size=1, **SOME).map(tuple)
                ),
                min_size=1,
                **SOME,
            ).map(tuple),
            abstraction=st.lists(st.builds(AbstractionPair, state=TEXT, observation=TEXT), **SOME).map(tuple),
            parser=TEXT,
            review=st.builds(ExemplarReview, status=st.sampled_from(("new", "reviewed", "retired"))),
            format=st.just(1),
        ),
        **SOME,
    )
)
def test_exemplars_survive_being_written_and_read(tmp_path_factory, exemplars):
    path = tmp_path_factory.mktemp("exemplars") / "e.jsonl"
    write_exemplars(path, exemplars)
    assert read_exemplars(path) == tuple(exemplars)


def test_the_users_folder_wins_and_what_is_retired_is_left_out(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write_exemplars(ours / "a.jsonl", ALL[:3])
    changed = ALL[1].replace(note="mine")
    write_exemplars(theirs / "b.jsonl", [changed, ALL[2].replace(review=RETIRED)])
    files = ExemplarFiles([ours, theirs])
    assert files.all() == (ALL[0], changed)
    write_exemplars(theirs / "b.jsonl", [])
    assert files.all() == ALL[:3]


def test_one_id_twice_in_a_folder_leaves_the_second_out_and_says_so(tmp_path):
    write_exemplars(tmp_path / "a.jsonl", ALL[:1])
    write_exemplars(tmp_path / "b.jsonl", [ALL[0].replace(note="second"), ALL[1]])
    files = ExemplarFiles([tmp_path])
    assert files.all() == ALL[:2]
    (problem,) = files.problems()
    assert "b.jsonl: the exemplar click-button-0 is also in a.jsonl" in problem


def test_a_malformed_line_leaves_the_others_in_place_and_is_told_with_its_line(tmp_path):
    path = tmp_path / "mine.jsonl"
    write_exemplars(path, ALL[:2])
    path.write_text(f"{path.read_text()}{{broken\n")
    (tmp_path / "other.jsonl").write_bytes(b"\xff\xfe")
    files = ExemplarFiles([tmp_path])
    assert files.all() == ALL[:2]
    line, file = files.problems()
    assert line.startswith(f"{path}, line 3: this is not JSON")
    assert "other.jsonl is not UTF-8 text" in file
    write_exemplars(path, ALL[:3])
    (tmp_path / "other.jsonl").unlink()
    assert (files.all(), files.problems()) == (ALL[:3], ())


def test_a_folder_that_cannot_be_read_is_told_and_one_that_is_missing_is_empty(tmp_path):
    write_exemplars(tmp_path / "mine.jsonl", ALL[:1])
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    files = ExemplarFiles([tmp_path / "missing", loop, tmp_path])
    assert files.all() == ALL[:1]
    assert files.problems() == (
        f"{loop} cannot be read (Too many levels of symbolic links); check the folder.",
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("{", "this is not JSON"),
        ({"famly": "x"}, 'there is no key "famly"; did you mean family?'),
        ({"steps": []}, '"steps" cannot be used'),
        ({"id": "Has Blanks"}, "\"id\" = 'Has Blanks' cannot be used"),
        ({"format": 9}, "this program reads the formats 1 to 1"),
    ],
)
def test_a_mistake_is_reported_with_file_and_line(tmp_path, change, expected):
    good = exemplar("click-button", 0).model_dump()
    bad = change if isinstance(change, str) else json.dumps({**good, **change}, default=list)
    path = tmp_path / "e.jsonl"
    path.write_text(f"{json.dumps(good)}\n\n{bad}\n", encoding="utf-8")
    with pytest.raises(DataError) as failed:
        read_exemplars(path)
    assert f"{path}, line 3: " in str(failed.value)
    assert expected in str(failed.value)


@pytest.mark.parametrize("at", ["1764430000000", "Infinity", "NaN", "-5"])
def test_a_review_at_no_date_is_one_at_a_time_that_is_not_known(tmp_path, at):
    line = line_of(ALL[0].replace(review=ExemplarReview(status="retired", at=5.0)))
    (tmp_path / "a.jsonl").write_text(line.replace('"at": 5.0', f'"at": {at}'), encoding="utf-8")
    (read,) = read_exemplars(tmp_path / "a.jsonl")
    assert (read.review.status, read.review.at) == ("retired", 0.0)
