"""What a person would see as a difference of two pictures, and what not."""

import io

import pytest
from PIL import Image, ImageDraw

from core.browser.checkpoints.pictures import picture_difference
from core.schema.observation import Box

_SIZE = (640, 400)


def picture(*shapes: tuple[int, int, int, int], text: str = "", at: tuple[int, int] = (20, 20)) -> bytes:
    image = Image.new("RGB", _SIZE, "white")
    draw = ImageDraw.Draw(image)
    draw.text(at, text, fill="black")
    for shape in shapes:
        draw.rectangle(shape, fill="navy")
    data = io.BytesIO()
    image.save(data, "jpeg", quality=60)
    return data.getvalue()


PLAIN = picture(text="The quick brown fox")


def test_equal_pictures_do_not_differ() -> None:
    assert picture_difference(PLAIN, picture(text="The quick brown fox")) == (None, 0.0)


@pytest.mark.parametrize("at", [(21, 20), (18, 22), (20, 21)])
def test_a_shift_by_two_pixels_is_no_difference(at: tuple[int, int]) -> None:
    assert picture_difference(PLAIN, picture(text="The quick brown fox", at=at))[0] is None


@pytest.mark.parametrize(
    "now",
    [
        picture(),
        picture(text="The quick brown cat"),
        picture((300, 200, 306, 206), text="The quick brown fox"),
    ],
    ids=["no text", "another word", "a dot"],
)
def test_what_is_drawn_or_missing_is_a_difference(now: bytes) -> None:
    found, uncounted = picture_difference(PLAIN, now)
    assert found is not None
    assert 0 < found.share < 0.05
    assert uncounted == 0


def test_a_difference_is_told_with_its_place() -> None:
    found, _ = picture_difference(picture(), picture((320, 160, 367, 191)))
    assert found is not None
    assert found.box == Box(x=320, y=160, width=48, height=32)


def test_what_changes_between_two_present_pictures_is_left_out_and_told() -> None:
    now, later = picture((320, 160, 367, 191)), picture((322, 170, 372, 200))
    found, uncounted = picture_difference(picture(), now, later=later)
    assert found is None
    assert uncounted > 0


def test_boxes_that_are_left_out_do_not_count_and_are_told_only_where_they_differ() -> None:
    box = Box(x=320, y=160, width=48, height=32)
    found, uncounted = picture_difference(picture(), picture((320, 160, 367, 191)), without=[box])
    assert found is None
    assert uncounted > 0
    found, uncounted = picture_difference(picture(), picture((20, 300, 67, 331)), without=[box])
    assert found is not None
    assert uncounted == 0
    assert picture_difference(picture(), picture((320, 160, 367, 251)), without=[box])[0] is not None


def test_pictures_of_different_sizes_are_refused() -> None:
    data = io.BytesIO()
    Image.new("RGB", (10, 10)).save(data, "png")
    with pytest.raises(ValueError, match="different sizes"):
        picture_difference(PLAIN, data.getvalue())
