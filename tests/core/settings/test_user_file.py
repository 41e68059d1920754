from pathlib import Path

import pytest

from core.schema.errors import DataError
from core.schema.record import Record
from core.settings.user_file import UserFile, near, read_model


class Part(Record):
    name: str = ""
    weights: tuple[int, ...] = ()


class Form(Record):
    title: str = ""
    part: tuple[Part, ...] = ()
    chosen: Part | None = None


JSON = """{"title": "a \\"b\\" [c",
 "part": [{"name": "x"}, {
  "name": "y", "weights": [1,
   2]}],
 "chosen": {
  "name": "z"}}"""
TOML = """title = "a"
[[part]]
name = "x"
[[part]]
name = "y"
weights = [1,
  2]
[chosen]
name = "z"
"""


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [("a.json", JSON, (1, 2, 3, 4, 6)), ("a.toml", TOML, (1, 2, 5, 7, 9))],
)
def test_a_value_is_found_by_its_line(name, text, lines):
    file = UserFile(Path(name), text)
    places = (("title",), ("part", 0), ("part", 1, "name"), ("part", 1, "weights", 1), ("chosen", "name"))
    assert tuple(file.line(place) for place in places) == lines


def test_what_is_missing_has_the_line_of_what_is_around_it():
    assert UserFile(Path("a.json"), JSON).line(("part", 1, "weight")) == 2
    assert UserFile(Path("a.json"), JSON).line(("none",)) is None


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.toml", "[chosen]\nnam = 1\n", 'a.toml, line 2: there is no key "nam" in [chosen]; did you mean name?'),
        ("a.json", '{"part": [{},\n {"nam": 1}]}', 'a.json, line 2: there is no key "nam" in part[1]; did you mean'),
        ("a.json", '{"part": [{"weights": [1,\n "x"]}]}', "a.json, line 2: \"weights[1]\" = 'x' in part[0] cannot be"),
        ("a.json", "[]", "a.json: this cannot be used: it must be a table of keys and values."),
        ("a.json", '{"title": 1,}', "a.json, line 1, column 13: this is not JSON ("),
        ("a.txt", "title = 1", "a.txt, line 1, column 1: this is not JSON (Expecting value); correct the line, or end"),
    ],
)  # fmt: skip
def test_the_first_mistake_is_one_sentence(name, text, sentence):
    with pytest.raises(DataError) as caught:
        UserFile(Path(name), text).validated(Form)
    assert str(caught.value).startswith(sentence)


def test_several_problems_are_listed_below_the_path():
    file = UserFile(Path("a.toml"), TOML)
    assert str(file.errors([(("title",), "too short."), (("none",), "missing.")])) == (
        "a.toml has 2 problems:\n  line 1: too short.\n  missing."
    )
    assert str(file.errors([(("title",), "too short.")])) == "a.toml, line 1: too short."


def test_a_byte_order_mark_changes_nothing(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TOML.encode())
    assert read_model(path, Form).title == "a"


def test_the_nearest_name_is_given_or_all_of_them():
    assert near("blu", ("blue", "red")) == "did you mean blue?"
    assert near("qqq", ("blue", "red")) == "there are blue, red."
    assert near("qqq", ("blue",)) == "there is blue."
    assert near("qqq", ()) == "leave it out."
