"""A map of the exemplars: their vectors in the plane, and outliers.

The two directions are those along which the vectors differ most (principal
components, as `core.exemplars.nearest` finds them), so what lies near in the
plane need not be near: the picture says how much of the difference it shows.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from heapq import heappush, heapreplace

import faiss
import numpy as np
from numpy.typing import NDArray

from core.exemplars.analysis.records import Lonely
from core.exemplars.index import ExemplarIndex, Placed
from core.exemplars.nearest import Reduction, distances
from core.llm.embedding import Vectors

OnProgress = Callable[[int, int], None]
_BLOCK = 1024
_SLACK = 1e-4


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


def alone(placed: Placed) -> tuple[tuple[str, str], ...]:
    """Return each family that has one member, with the id of that one, by name."""
    counts = Counter(placed.families.tolist())
    found = [
        (placed.names[family], id)
        for family, id in zip(placed.families.tolist(), placed.ids, strict=True)
        if counts[family] == 1
    ]
    return tuple(sorted(found))


async def loneliest(
    index: ExemplarIndex, count: int = 10, on_progress: OnProgress | None = None
) -> tuple[Lonely, ...]:
    """Return the exemplars whose nearest other one is furthest away, the furthest first.

    Exactly these: if there are many, a bound says of most of them that they
    have a nearer neighbour. The index has to be fresh; raises Damaged.
    """
    placed = index.placed()
    if len(placed.ids) < 2 or count < 1:
        return ()
    slots, first, uses = np.unique(placed.slots, return_index=True, return_counts=True)
    rows = index.bounding_rows(slots)
    flat = faiss.IndexFlatL2(rows.shape[1])
    flat.add(rows)
    upper = np.zeros(len(slots))
    for start in range(0, len(slots), _BLOCK):
        block = slice(start, start + _BLOCK)
        _, near = await asyncio.to_thread(flat.search, rows[block], 2)
        others = np.where(near[:, 0] == np.arange(start, start + len(near)), near[:, 1], near[:, 0])
        upper[block] = distances(index.rows(slots[block]), index.rows(slots[others]))
        if on_progress is not None:
            on_progress(start + len(near), len(slots))
    upper[uses > 1] = 0.0
    best: list[tuple[float, str, str, str]] = []
    for place in np.argsort(-upper, kind="stable").tolist():
        if uses[place] > 1 or (len(best) >= count and upper[place] + _SLACK < best[0][0]):
            break
        number = int(placed.numbers[first[place]])
        near = index.nearest_others(number, 1) if number in index else ()
        if near:
            found = (near[0][1], index.id_of(number), index.family_of(number), index.id_of(near[0][0]))
            if len(best) < count:
                heappush(best, found)
            elif found > best[0]:
                heapreplace(best, found)
        await asyncio.sleep(0)
    best.sort(key=lambda one: (-one[0], one[1]))
    return tuple(Lonely(id=id, family=family, distance=far, nearest=near) for far, id, family, near in best)
