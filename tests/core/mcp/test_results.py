"""How results are cut, and read on."""

import json

import pytest

from core.mcp.results import result_of
from core.schema.errors import UsageError

LONG = "".join(f"{number:06}" for number in range(4000))


def read_on(answer, cut):
    """Return all of a part that is cut, read piece by piece."""
    whole, offset = None, 0
    while True:
        content = result_of(answer, cut["where"], offset).structured_content
        whole = content["part"] if whole is None else whole + content["part"]
        if "cut" not in content:
            return whole
        ((offset, of),) = [(part["offset"], part["of"]) for part in content["cut"]]
        assert of == cut["of"]
        assert offset == len(whole)


def test_a_long_text_and_a_long_list_are_cut_and_can_be_read_on():
    answer = {"parts": {"clean page": LONG, "short": "x"}, "rows": [{"n": n} for n in range(130)]}
    content = result_of(answer).structured_content
    assert LONG.startswith(content["parts"]["clean page"])
    assert content["parts"]["short"] == "x"
    first, second = content["cut"]
    assert (first["where"], second["where"]) == ("parts.clean page", "rows")
    assert read_on(answer, first) == LONG
    assert read_on(answer, second) == answer["rows"]


def test_a_result_of_many_middling_texts_is_cut_too():
    answer = {f"text{number}": LONG[:7000] for number in range(40)}
    content = result_of(answer).structured_content
    assert len(json.dumps(content)) < 80_000
    assert read_on(answer, content["cut"][0]) == LONG[:7000]


def test_a_text_that_is_short_is_whole_and_nothing_is_said_to_be_cut():
    assert "cut" not in result_of({"text": LONG[:8000], "rows": list(range(50))}).structured_content


def test_half_of_a_surrogate_pair_can_be_sent():
    result = result_of({"text": "a\ud83d"})
    assert result.structured_content["text"] == r"a\ud83d"
    assert result.model_dump_json()


def test_an_offset_without_a_part_is_refused():
    with pytest.raises(UsageError, match="needs where"):
        result_of({"parts": {"page": LONG}}, "parts", 8000)
