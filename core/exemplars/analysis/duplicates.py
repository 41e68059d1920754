"""Near duplicates: pairs of exemplars whose vectors are within a given distance.

The result is the same as comparing all pairs. If there are many, it first compares short vectors, whose
distances are lower bounds (`core.exemplars.nearest`), and then the long vectors of the remaining pairs. Rows are
added to a flat FAISS index in groups and compared with all in it, so the work can be cancelled in between and
the results so far are valid.
"""

import asyncio
from bisect import insort
from collections.abc import AsyncIterator, Collection
from itertools import combinations, product

import faiss
import numpy as np

from core.exemplars.analysis.records import NearPair, PairsFound, compared_pair
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.records import NEAR_DUPLICATE
from core.exemplars.nearest import SLACK, distances
from core.exemplars.vectors import Numbers
from core.llm.embedding import Vectors

MOST = 2000
"""Pairs that are kept, the nearest."""
SAME_TEXT = 64
"""Exemplars of one and the same text that are paired with others; the rest are counted."""
_WIDEST = 512
_REFINED = 256
_READ = 100
"""Pairs whose exemplars are read at once."""
_CELLS = 16_000_000
"""Distances that may be held in memory at once."""


async def near_pairs(
    index: ExemplarIndex,
    within: float = NEAR_DUPLICATE,
    *,
    apart: Collection[tuple[str, str]] = (),
) -> AsyncIterator[PairsFound]:
    """Give what has been found after each part of the work; the last is whole, and what was given before holds.

    `apart` are pairs of ids, in order, that do not count. A pair of which one
    has gone meanwhile is left out. The index has to be fresh. Raises Damaged.
    """
    placed = index.placed()
    kept = _Kept(within, frozenset(apart))
    if not placed.ids:
        yield await kept.found(index, 0, 0)
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
    rows = index.bounding_rows(slots)
    compared = faiss.IndexFlatL2(rows.shape[1])
    size = max(16, min(_WIDEST, _CELLS // len(rows)))
    done = 0
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        ones, others = await asyncio.to_thread(_near, compared, block, kept.limit)
        for first in range(0, len(ones), _REFINED):
            chunk = slice(first, first + _REFINED)
            found = distances(index.rows(slots[ones[chunk]]), index.rows(slots[others[chunk]]))
            for one, other, distance in zip(
                ones[chunk].tolist(), others[chunk].tolist(), found.tolist(), strict=True
            ):
                if distance <= kept.limit:
                    for at, to in product(members[one][:SAME_TEXT], members[other][:SAME_TEXT]):
                        kept.add(pair(at, to, distance))
            await asyncio.sleep(0)
        done += sum(len(group) for group in members[start : start + size])
        yield await kept.found(index, done, len(placed.ids))


def _near(compared: faiss.IndexFlatL2, block: Vectors, limit: float) -> tuple[Numbers, Numbers]:
    """Put a block of rows into the index, and return its pairs with those before that may lie within `limit`.

    The pairs are numbered by their places in the index; the nearest bound comes first.
    """
    start = compared.ntotal
    compared.add(block)
    ends, squares, others = compared.range_search(block, limit * limit + SLACK)
    ones = np.repeat(np.arange(start, compared.ntotal), np.diff(ends.astype(np.int64)))
    pairs = np.flatnonzero(others < ones)
    pairs = pairs[np.argsort(squares[pairs], kind="stable")]
    return ones[pairs], others[pairs]


class _Kept:
    """The nearest pairs so far, as many as are wanted."""

    def __init__(self, within: float, apart: frozenset[tuple[str, str]]) -> None:
        self.within = within
        self.limit = within
        """Beyond this none is kept any more."""
        self.more = False
        self._apart = apart
        self._pairs: list[NearPair] = []
        self._read: dict[tuple[str, str], NearPair | None] = {}
        """Pairs with what their exemplars say; None for one of which one has gone."""

    def add(self, pair: NearPair) -> None:
        if pair.ids in self._apart:
            return
        if len(self._pairs) >= MOST:
            if pair.order >= self._pairs[-1].order:
                return
            self._pairs.pop()
        insort(self._pairs, pair, key=lambda one: one.order)
        if len(self._pairs) >= MOST:
            self.more = True
            self.limit = self._pairs[-1].distance

    async def found(self, index: ExemplarIndex, done: int, members: int) -> PairsFound:
        new = [pair for pair in self._pairs if pair.ids not in self._read]
        for start in range(0, len(new), _READ):
            some = new[start : start + _READ]
            exemplars = index.exemplars([number for pair in some for number in (pair.number, pair.other)])
            for pair in some:
                one, other = exemplars.get(pair.number), exemplars.get(pair.other)
                self._read[pair.ids] = compared_pair(pair, one, other) if one and other else None
            await asyncio.sleep(0)
        pairs = tuple(read for pair in self._pairs if (read := self._read[pair.ids]) is not None)
        return PairsFound(within=self.within, pairs=pairs, done=done, members=members, more=self.more)
