import pytest

from gui.widgets.ref_links import ref_at


@pytest.mark.parametrize(
    ("line", "words", "ref"),
    [
        ('  [12] button "Buy [3]"', "Buy [3]", 12),
        ("click [12], then [7]", "12", 12),
        ("click [12], then [7]", "7", 7),
        ("click [12], then [7]", "then", None),
        ('{"name": "click", "target": 12}', "12", 12),
        ('{"name": "click", "times": 12}', "12", None),
        ("", "", None),
    ],
)
def test_a_ref_is_found_where_the_pointer_is(line, words, ref):
    assert ref_at(line, line.index(words)) == ref
