"""A map of the exemplars: their vectors in the plane.

The two directions are those along which the vectors differ most (principal
components, as `core.exemplars.nearest` finds them), so what lies near in the
plane need not be near: the picture says how much of the difference it shows.
"""

import asyncio
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.exemplars.index import ExemplarIndex, Placed
from core.exemplars.nearest import Reduction
from core.llm.embedding import Vectors

OnProgress = Callable[[int, int], None]
_BLOCK = 1024


class Projection:
    """Where the members of an index lie in the plane; the same members always lie in the same places."""

    def __init__(
        self, placed: Placed, points: NDArray[np.float32], share: float, reduction: Reduction, signs: Vectors
    ) -> None:
        self.placed = placed
        self.points = points
        """A row for each member, across and up."""
        self.share = share
        """How much of the squared distances from the middle the plane shows, from 0 to 1."""
        self._reduction = reduction
        self._signs = signs

    def place(self, vector: Vectors) -> tuple[float, float]:
        """Return where another vector lies in the same plane."""
        across, up = (self._reduction.short(vector[None])[0, :2] * self._signs).tolist()
        return float(across), float(up)


async def project(index: ExemplarIndex, on_progress: OnProgress | None = None) -> Projection | None:
    """Lay the members out in the plane; None if there are none. The index has to be fresh; raises Damaged."""
    placed = index.placed()
    count = len(placed.ids)
    if not count:
        return None
    reduction = await asyncio.to_thread(Reduction.of, lambda places: index.rows(placed.slots[places]), count)
    points = np.zeros((count, 2), np.float32)
    shown = whole = 0.0
    for start in range(0, count, _BLOCK):
        short = reduction.short(index.rows(placed.slots[start : start + _BLOCK]))
        points[start : start + len(short)] = short[:, :2]
        shown += float(np.square(short[:, :2], dtype=np.float64).sum())
        whole += float(np.square(short, dtype=np.float64).sum())
        if on_progress is not None:
            on_progress(min(count, start + _BLOCK), count)
        await asyncio.sleep(0)
    signs = np.ones(2, np.float32)
    for axis in (0, 1):
        # A direction has no sign of its own: the furthest member lies to the right, or above.
        if points[np.argmax(np.abs(points[:, axis])), axis] < 0:
            signs[axis] = -1.0
    return Projection(placed, points * signs, shown / whole if whole > 0 else 1.0, reduction, signs)
