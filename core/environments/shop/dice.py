"""Choices from a seed that come out the same on every machine and every Python."""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """A stream of choices that depends on the words it is seeded with and on nothing else.

    Only `Random.random` is promised to stay as it is from one Python to the
    next, so every choice is made from that.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big"))

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to `limit` - 1."""
        return int(self._random.random() * limit)

    def chance(self, share: float) -> bool:
        """Return true in `share` of all cases, from 0 to 1."""
        return self._random.random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return `count` of the items, in the order they have in `items`."""
        chosen = sorted(self.shuffled(range(len(items)))[:count])
        return [items[index] for index in chosen]

    def run(self, items: Sequence[Item], count: int) -> list[Item]:
        """Return `count` neighbours from `items`."""
        start = self.below(len(items) - count + 1)
        return list(items[start : start + count])
