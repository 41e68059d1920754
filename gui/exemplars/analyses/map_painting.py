"""Very many points as a picture: pyqtgraph's own marks are too slow for them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.floating[Any]]
"""A row for each point: x and y on the viewport, in pixels."""


def picture_of(
    places: Places, shapes: NDArray[np.intp], colours: NDArray[np.uint8], size: tuple[int, int], ratio: float
) -> NDArray[np.uint8]:
    """Return the points as an image of four bytes a pixel (RGBA), on a clear ground.

    `shapes` are positions in `SYMBOLS`, `colours` has a row of four bytes for each
    point; `size` is the image's width and height in pixels of the screen, of which
    `ratio` are one pixel of the viewport. All points lie inside of it, later ones
    above earlier ones.
    """
    reach = max(1, round(2 * ratio))
    x, y = np.meshgrid(*[np.linspace(-1, 1, 2 * reach + 1)] * 2)
    circle, diamond = x * x + y * y <= 1.05, abs(x) + abs(y) <= 1.05
    stamps = np.stack([circle, np.maximum(abs(x), abs(y)) <= 0.75, abs(x) <= (y + 1) / 2, diamond])
    width, height = size[0] + 2 * reach, size[1] + 2 * reach
    above = np.zeros(width * height, np.int32)
    """The number of the uppermost point of each pixel, from 1; 0 is the ground."""
    columns, rows = (places * ratio).astype(np.intp).T
    at, numbers = rows * width + columns, np.arange(1, len(places) + 1, dtype=np.int32)
    for down, along in np.ndindex(stamps.shape[1:]):
        covers = stamps[shapes, down, along]
        to = at[covers] + down * width + along
        above[to] = np.maximum(above[to], numbers[covers])
    with_ground = np.vstack([np.zeros((1, 4), np.uint8), colours])
    return with_ground[above.reshape(height, width)[reach:-reach, reach:-reach]]
