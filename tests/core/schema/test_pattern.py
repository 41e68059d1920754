import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.schema.pattern import Pattern, parse_pattern
from tests.core.agent.spaces.pages import element


@given(st.text().map(lambda text: " ".join(text.split())))
def test_a_name_survives_printing_and_parsing(name):
    pattern = Pattern(role="button", name=name, how="equal")
    assert parse_pattern(str(pattern)) == pattern


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("button", True),
        ("link", False),
        ("*", True),
        ('button "Buy now"', True),
        ('button "Buy"', False),
        ('button ~"^Buy"', True),
        ('* ~"now$"', True),
    ],
)
def test_a_pattern_fits_by_role_and_name(text, fits):
    assert bool(parse_pattern(text).fits(element(1, "button", "Buy  now"))) is fits


@pytest.mark.parametrize("text", ["", "button Buy", '"Buy"', "BUTTON", 'button ~"("'])
def test_what_is_no_pattern_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"pattern|regular expression"):
        parse_pattern(text)
