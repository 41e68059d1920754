"""Near duplicates: pairs of exemplars whose vectors lie no further apart than a distance.

The result is that of comparing all with all. Where there are many, short
vectors are compared first, whose distances are lower bounds
(`core.memory.reduction`), and the long ones of the pairs that these let
through. On two cores that five others kept busy, 100 000 in 400 families took
eight minutes within 0.15: of each, 160 rows at a time, all that come after it
are compared, so the work can be ended in between and what was found holds.
"""

import asyncio
from bisect import insort
from collections.abc import AsyncIterator, Collection
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from core.memory.analysis.bounds import Bounds
from core.memory.analysis.records import NearPair, PairsFound
from core.memory.index import ExemplarIndex

WITHIN = 0.15
"""The distance that is asked for by default.

Measured with the built-in embedding, which takes one number for another: of
the 63 exemplars that come with the program 6 pairs lie at 0 and the next at
0.29; of the 115 texts of 23 families of Synapse's MiniWoB++ tasks 44 lie at
0, 17 up to 0.15, 3 from there to 0.2 and 30 from there to 0.3. What lies
within 0.15 differs in numbers, signs or a short word.
"""
MOST = 2000
"""Pairs that are kept, the nearest."""
SAME_TEXT = 64
"""Exemplars of one and the same text that are paired with others; the rest are counted."""
_WIDEST = 512
_REFINED = 256
_SLACK = 2e-5
"""What 32-bit arithmetic may add to a square."""

Numbers = NDArray[np.int64]


async def near_pairs(
    index: ExemplarIndex,
    within: float = WITHIN,
    *,
    most: int = MOST,
    apart: Collection[tuple[str, str]] = (),
) -> AsyncIterator[PairsFound]:
    """Give what has been found after each part of the work; the last is whole, and what was given before holds.

    `apart` are pairs of ids, in order, that do not count. The index has to be
    fresh. Raises Damaged.
    """
    placed = index.placed()
    kept = _Kept(within, most, frozenset(apart))
    if not placed.ids:
        yield kept.found(0, 0)
        return
    slots, places = np.unique(placed.slots, return_inverse=True)
    members: list[list[int]] = [[] for _ in slots]
    for at, place in enumerate(places.tolist()):
        members[place].append(at)

    def pair(one: int, other: int, distance: float) -> NearPair:
        one, other = min(one, other), max(one, other)  # They stand in the order of their ids.
        return NearPair(
            distance=distance,
            id=placed.ids[one],
            other_id=placed.ids[other],
            number=int(placed.numbers[one]),
            other=int(placed.numbers[other]),
        )

    for group in members:
        kept.more = kept.more or len(group) > SAME_TEXT
        for one, other in combinations(group[:SAME_TEXT], 2):
            kept.add(pair(one, other, 0.0))
    bounds = await asyncio.to_thread(Bounds, index.bounding_rows(slots))
    count, done = len(slots), 0
    start = 0
    while start < count:
        end = min(count, start + bounds.part(_WIDEST))
        ones, others = await asyncio.to_thread(_near, bounds, start, end, kept.limit)
        for first in range(0, len(ones), _REFINED):
            chunk = slice(first, first + _REFINED)
            distances = _distances(index, slots[ones[chunk]], slots[others[chunk]])
            for one, other, distance in zip(
                ones[chunk].tolist(), others[chunk].tolist(), distances.tolist(), strict=True
            ):
                if distance <= kept.limit:
                    for at, to in product(members[one][:SAME_TEXT], members[other][:SAME_TEXT]):
                        kept.add(pair(at, to, distance))
            await asyncio.sleep(0)
        done += sum(len(group) for group in members[start:end])
        start = end
        yield kept.found(done, len(placed.ids))


def _near(bounds: Bounds, start: int, end: int, limit: float) -> tuple[Numbers, Numbers]:
    """Return the pairs of rows from `start` to `end` with later ones that may lie within, the nearest bound first."""
    squares = bounds.squares(start, end, start)
    cells = np.flatnonzero(squares.ravel() <= limit * limit + _SLACK)
    ones, others = np.divmod(cells, squares.shape[1])
    later = others > ones
    ones, others = ones[later], others[later]
    order = np.argsort(squares[ones, others], kind="stable")
    return (ones[order] + start).astype(np.int64), (others[order] + start).astype(np.int64)


def _distances(index: ExemplarIndex, ones: Numbers, others: Numbers) -> NDArray[np.float64]:
    """Return the real distances, as a search would tell them."""
    differences = index.rows(ones).astype(np.float64) - index.rows(others).astype(np.float64)
    distances: NDArray[np.float64] = np.round(np.sqrt((differences * differences).sum(axis=1)), 6)
    return distances


class _Kept:
    """The nearest pairs so far, as many as are wanted."""

    def __init__(self, within: float, most: int, apart: frozenset[tuple[str, str]]) -> None:
        self.within = within
        self.limit = within
        """Beyond this none is kept any more."""
        self.more = False
        self._most = most
        self._apart = apart
        self._pairs: list[NearPair] = []

    def add(self, pair: NearPair) -> None:
        if pair.ids in self._apart:
            return
        if len(self._pairs) >= self._most:
            if pair.order >= self._pairs[-1].order:
                return
            self._pairs.pop()
        insort(self._pairs, pair, key=lambda one: one.order)
        if len(self._pairs) >= self._most:
            self.more = True
            self.limit = self._pairs[-1].distance

    def found(self, done: int, members: int) -> PairsFound:
        return PairsFound(
            within=self.within, pairs=tuple(self._pairs), done=done, members=members, more=self.more
        )
