"""Compares two pictures of a page: whether a person would see a difference, and where.

A pixel differs if one of its colours does by more than 48 of 255. Pixels are counted in squares of 16, each at the
shift of at most 2 pixels at which it fits best, so that what is drawn a little elsewhere, or smoothed otherwise, is no
difference. A square differs if more than 5 of its 256 pixels do.
"""

import io
from collections.abc import Iterable
from functools import reduce

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from core.schema.observation import Box
from core.schema.record import Record

_COLOUR = 48
_SQUARE = 16
_PIXELS = 5
_SHIFT = 2


class PictureDifference(Record):
    """Where two pictures differ."""

    box: Box
    """What holds all of it, in pixels of the page."""
    share: float
    """Of the viewport."""


def picture_difference(
    recorded: bytes, now: bytes, *, later: bytes = b"", without: Iterable[Box] = ()
) -> tuple[PictureDifference | None, float]:
    """Return where two pictures differ, None if nowhere, and in which share they differ where that does not count.

    It does not count where `now` differs from a picture taken `later`, and in the boxes `without`. Raises OSError
    for what is no picture, and ValueError for pictures of different sizes.
    """
    if recorded == now:
        return None, 0.0
    before, after = _opened(recorded), _opened(now)
    if before.size != after.size:
        raise ValueError("pictures of different sizes")
    differing = _differing(before, after)
    left_out = Image.new("L", differing.size)
    if later and later != now:
        # What moves goes a little further by the next picture.
        left_out = _differing(after, _opened(later)).filter(ImageFilter.MaxFilter(3))
    draw = ImageDraw.Draw(left_out)
    for one in without:
        if one.width > 0 and one.height > 0:
            corners = (one.x, one.y, one.x + one.width, one.y + one.height)
            left, top, right, bottom = (int(side // _SQUARE) for side in corners)
            draw.rectangle((left, top, right, bottom), fill=255)
    uncounted = _share(ImageChops.darker(differing, left_out))
    differing = ImageChops.subtract(differing, left_out)
    found = differing.getbbox()
    if found is None:
        return None, uncounted
    left, top, right, bottom = (side * _SQUARE for side in found)
    width, height = min(right, before.width) - left, min(bottom, before.height) - top
    box = Box(x=left, y=top, width=width, height=height)
    return PictureDifference(box=box, share=_share(differing)), uncounted


def _opened(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("RGB")


def _differing(one: Image.Image, other: Image.Image) -> Image.Image:
    """Return a picture with one pixel for each square, white where the two differ."""
    best: Image.Image | None = None
    for x in range(-_SHIFT, _SHIFT + 1):
        for y in range(-_SHIFT, _SHIFT + 1):
            colours = ImageChops.difference(one, ImageChops.offset(other, x, y)).split()
            pixels = reduce(ImageChops.lighter, colours).point([0] * (_COLOUR + 1) + [255] * (255 - _COLOUR))
            squares = pixels.reduce(_SQUARE)
            best = squares if best is None else ImageChops.darker(best, squares)
            if best.getbbox() is None:
                return best
    assert best is not None
    least = _PIXELS * 255 // _SQUARE**2
    return best.point([0] * (least + 1) + [255] * (255 - least))


def _share(mask: Image.Image) -> float:
    return mask.histogram()[255] / (mask.width * mask.height)
