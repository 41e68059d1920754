"""Files that come from anywhere: too deep, too large, of wrong types and encodings, with ids twice."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.exemplars.exchange import documents
from core.exemplars.exchange.reader import IMPORTS
from core.exemplars.files import line_of
from core.schema.errors import BackstepError, DataError, UsageError
from tests.core.altered import changed, places
from tests.core.exemplars.exchange.files import POLICY, SESSION, demo, gym_step, read, record, saved
from tests.core.exemplars.making import ALL
from tests.core.trace.imports.import_files import item, recording

LINES = [json.loads(line_of(one)) for one in ALL]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 200_000, "nested too deeply"),
        (b"[" + b"9" * 10_000 + b"]", "a number that is too long"),
        (b'{"a": \xff}', r"not UTF-8 text \(byte 6\)"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        (b"\x80\x04\x95rest", "a Python pickle, which is never opened, because"),
        (b"", "line 1, column 1: this is not JSON"),
        (b"{'a': 1}", "line 1, column 2: this is not JSON"),
        (b"{}", "is not of a known kind"),
        (b"null", "is not of a known kind"),
        (b'{"f": ["Task: x"]}', "import the exemplars.json next to them"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported_in_a_sentence(tmp_path, content, said):
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        read(path)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MOST_LINES_BYTES", 10)
    with pytest.raises(DataError, match="split it"):
        read(saved(tmp_path, LINES, "a.jsonl"))


def test_a_missing_file_and_an_unknown_format_are_reported(tmp_path):
    with pytest.raises(DataError, match="check that it exists"):
        read(tmp_path / "no.json")
    with pytest.raises(UsageError, match="did you mean synapse"):
        read(tmp_path, form="synapsis")
    with pytest.raises(DataError, match="is not a memory of Synapse"):
        read(saved(tmp_path, LINES, "a.jsonl"), form="synapse")


def test_each_line_stands_alone(tmp_path):
    lines = [
        LINES[0],
        "{",
        "[" * 100_000,
        "9" * 10_000,
        {**LINES[1], "tsak": "x"},
        {**LINES[1], "format": 9},
        {**LINES[1], "id": "A B"},
        {**LINES[1], "steps": []},
        {**LINES[1], "task": "\ud800"},
        [],
        {**LINES[1], "note": "\ud800"},
        LINES[2],
    ]
    reading = read(saved(tmp_path, lines, "a.jsonl"))
    assert [one.exemplar for one in reading.candidates] == [ALL[0], ALL[2]]
    assert [one.position for one in reading.faulty] == [f"line {number}" for number in range(2, 12)]
    assert reading.faulty[-1].why == "note contains half a character (a surrogate)"
    assert "did you mean task?" in reading.faulty[3].why


def test_one_id_twice_is_a_fault_of_the_second_and_the_same_again_is_left_out(tmp_path):
    lines = [LINES[0], {**LINES[1], "id": LINES[0]["id"]}, LINES[0], {**LINES[0], "id": "other"}]
    reading = read(saved(tmp_path, lines, "a.jsonl"))
    # The same under an id of its own is kept: whether it is wanted is for the store to say.
    assert [one.exemplar.id for one in reading.candidates] == [LINES[0]["id"], "other"]
    assert [(one.position, one.why) for one in reading.faulty] == [
        ("line 2", f"the id {LINES[0]['id']} is also at line 1")
    ]
    assert [(one.position, one.why) for one in reading.left_out] == [("line 3", "it is the same as line 1")]


def test_ids_that_were_made_up_are_made_different(tmp_path):
    path = saved(tmp_path, {"a b": {"demo": [demo()]}, "a-b": {"demo": [demo("Else")]}})
    assert [one.exemplar.id for one in read(path).candidates] == ["synapse/a-b/0", "synapse/a-b/0-2"]


def test_a_folder_is_read_file_by_file_and_a_bad_one_does_not_spoil_it(tmp_path):
    saved(tmp_path, LINES[:1], "a.jsonl")
    saved(tmp_path, {"f": {"demo": [demo()]}}, "exemplars.json")
    saved(tmp_path, {"f": ["Task: x\nState:\n"]}, "specifiers.json")
    saved(tmp_path, {}, "other.json")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "x.pkl").write_bytes(b"\x80")
    got = read(tmp_path)
    assert got.formats == ("jsonl", "synapse")
    assert [one.position for one in got.candidates] == [
        "a.jsonl: line 1",
        "exemplars.json: f.demo[0]",
    ]
    assert [one.position for one in got.faulty] == ["broken.json"]
    assert {one.position for one in got.left_out} == {"other.json", "specifiers.json", "x.pkl"}


def test_a_folder_without_anything_is_reported(tmp_path):
    with pytest.raises(DataError, match="contains no file that is of a known kind"):
        read(tmp_path)


WHOLE = [
    ("a.jsonl", LINES),
    (
        "a.json",
        {"f": {"demo": [demo(obs="x"), {"task": "t", "trajectory": [demo()]}], "filter_prompt": ["", "x"]}},
    ),
    ("a.json", {"p": {**POLICY, "examples": [{"input": "x", "response": "y"}]}}),
    ("a.json", [record()]),
    ("a.jsonl", list(SESSION)),
    ("a.json", recording({"type": "click", "selectors": [["text/x"]]})),
    ("a.json", {"history": [item({"done": {"text": "x"}}, results=[{"is_done": True}])]}),
    ("a.json", [gym_step(0, "click('7')"), gym_step(1, None)]),
]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(["", "\ud800", "\x00", "1e999", "[[[", "agent.type('x')"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["a", "obs", "action"]), st.none(), max_size=2),
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(range(len(WHOLE))), st.data())
def test_a_wrong_value_anywhere_is_reported_or_does_no_harm(tmp_path_factory, which, data):
    name, value = WHOLE[which]
    path = data.draw(st.sampled_from(list(places(value))[1:]))
    altered = changed(value, path, data.draw(ODD))
    file = saved(tmp_path_factory.mktemp("odd"), altered, name)
    for form in ("", IMPORTS[which].name):
        try:
            reading = read(file, form=form)
        except BackstepError:
            continue
        for one in reading.candidates:
            # What is accepted can be written, too.
            line_of(one.exemplar).encode()
        for entry in (*reading.left_out, *reading.faulty):
            f"{entry.position}: {entry.why}".encode()


@pytest.mark.parametrize(
    "page",
    [
        "<!--" * 100_000,
        "<a backend_node_id='1'>x" * 20_000,
        "</p>" * 100_000,
        "<![" * 100_000,
        "&#x" * 100_000,
    ],
)
def test_a_page_that_is_not_closed_is_read_in_one_go(tmp_path, page):
    action = {**record()["actions"][1], "cleaned_html": page}
    (candidate,) = read(saved(tmp_path, [record(actions=[action], action_reprs=[])])).candidates
    assert candidate.exemplar.steps[0].actions == ("click [12]",)


@pytest.mark.parametrize(
    ("value", "position"),
    [
        (
            {"f": {"demo": [{"state": '<div id="query">' * 20_000, "act": "agent.press('enter')"}]}},
            "f.demo[0]",
        ),
        (
            {
                "f": {
                    "demo": [demo()],
                    "code_filter_prompt": "Write code within three backticks '```' to x\nCode:" * 4000,
                }
            },
            "f.demo[0]",
        ),
        ([record(action_reprs=["[a] " + " " * 50_000] * 2)], "[0]"),
    ],
)
def test_texts_made_to_be_searched_for_ever_are_read(tmp_path, value, position):
    assert [one.position for one in read(saved(tmp_path, value)).candidates] == [position]


def repeated(*lines: tuple[int, str]) -> str:
    """Return a module with each line so many times; ``#`` stands for which time it is."""
    return "\n".join(line.replace("#", str(time)) for times, line in lines for time in range(times))


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            [(1, "a = ['x', 'y']"), (32, "a = a + a"), (1, "a = a")],
            "line 35 needs a, and line 17 has too large a list",
        ),
        (
            [(1, "a = ['x']"), (11, "a = [a, a, a, a, a, a, a, a]"), (1, "a = str(a)")],
            "line 14 needs a, and line 7 has too large a list",
        ),
        (
            [(1, "t = 'x'"), (20, "t = t + t"), (3, "a# = t + t[0]"), (1, "a = [t, t]")],
            "line 25 has too large a list",
        ),
        ([(1, "t = 'x'"), (20, "t = t + t"), (1, f"a = f'{'{t}' * 5000}'")], "line 22 has too long a text"),
        (
            [(1, "t = 'x'"), (20, "t = t + t"), (9, "a# = t + 'x'"), (1, "a = t + 'y'")],
            "line 31 is not evaluated: the lines before it already make 10000000 characters",
        ),
        ([(1, "a = ['x']"), (2000, "a = [a]")], "nested too deeply"),
    ],
    ids=["a list", "lists in lists", "texts in a list", "a text", "all together", "depth"],
)
def test_a_module_that_makes_values_without_end_is_told_with_its_line(tmp_path, lines, why):
    path = tmp_path / "policies.py"
    path.write_text(
        f"{repeated(*lines)}\nfind = {{'instruction': a, 'examples': [{{'input': 'x', 'response': 'y'}}]}}\n",
        encoding="utf-8",
    )
    first, *_ = read(path).faulty
    assert first.position == "find.instruction"
    assert re.search(why, first.why)
