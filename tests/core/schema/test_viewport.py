"""The size of the viewport as files and the command line write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from core.schema.viewport import VIEWPORT, Viewport, size_text

SIZE: TypeAdapter[tuple[int, int]] = TypeAdapter(Viewport)
SIDES = st.integers(min_value=100, max_value=8000)


@given(SIDES, SIDES)
def test_every_size_is_read_as_it_is_written(width, height):
    assert SIZE.validate_python(size_text((width, height))) == (width, height)
    assert SIZE.validate_json(SIZE.dump_json((width, height))) == (width, height)


@pytest.mark.parametrize("text", ["1280x720", " 1280 × 720 ", [1280, 720]])
def test_it_may_be_written_with_either_sign_or_as_a_list(text):
    assert SIZE.validate_python(text) == VIEWPORT


@pytest.mark.parametrize(
    "text", ["", "large", "1280", "1280x", "99x720", "1280x8001", "-1x5", [1], [1, 2.5], None, 7]
)
def test_anything_else_is_refused_with_what_to_write(text):
    with pytest.raises(ValidationError, match='such as "1280x720"'):
        SIZE.validate_python(text)
