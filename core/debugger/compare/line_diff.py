"""Compares two texts of any length line by line."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple

_Keys = tuple[str | None, str | None]
_MOST = 250_000
"""The most pairs of lines that are compared directly; beyond this, unique lines are aligned first."""


class LinePair(NamedTuple):
    """Lines that stand side by side; None if only the other side has one."""

    left: str | None
    right: str | None
    same: bool


def line_pairs(
    left: str, right: str, *, key: Callable[[str], str] = lambda text: text
) -> tuple[LinePair, ...]:
    """Return all lines of both texts in order, those with the same `key` side by side.

    What is between them is paired in order. The time it takes grows with the
    texts and not with what differs. `key` leaves the ends of lines as they are.
    """
    olds, news = iter(left.splitlines()), iter(right.splitlines())
    return tuple(
        LinePair(
            next(olds) if one is not None else None, next(news) if other is not None else None, one == other
        )
        for one, other in _pairs(key(left).splitlines(), key(right).splitlines())
    )


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[_Keys]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    ends = len(old) - tail, len(new) - tail
    yield from zip(old[:head], new[:head], strict=True)
    yield from _between(old[head : ends[0]], new[head : ends[1]])
    yield from zip(old[ends[0] :], new[ends[1] :], strict=True)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    most = min(len(old), len(new))
    return next((at for at in range(most) if old[at] != new[at]), most)


def _between(old: Sequence[str], new: Sequence[str]) -> Iterator[_Keys]:
    if len(old) * len(new) <= _MOST:
        yield from _weighed(old, new)
        return
    at = 0, 0
    for place in (*_landmarks(old, new), (len(old), len(new))):
        before, after = old[at[0] : place[0]], new[at[1] : place[1]]
        small = len(before) * len(after) <= _MOST
        yield from _weighed(before, after) if small else _beside(before, after)
        at = place


def _weighed(old: Sequence[str], new: Sequence[str]) -> Iterator[_Keys]:
    if not old or not new or old == new:
        yield from _beside(old, new)
        return
    for _, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes():
        yield from _beside(old[i1:i2], new[j1:j2])


def _beside(old: Sequence[str], new: Sequence[str]) -> Iterator[_Keys]:
    return zip_longest(old, new)


def _landmarks(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of lines that occur once on each side, as many as are in the same order."""
    once = {line for line, times in Counter(old).items() if times == 1}
    places = {line: at for at, line in enumerate(new) if line in once}
    for line, times in Counter(new).items():
        if times > 1:
            places.pop(line, None)
    # The longest rising sequence: for each length, the way that ends earliest.
    ends: list[int] = []
    found: list[tuple[int, int, int]] = []
    last: list[int] = []
    for at, line in enumerate(old):
        place = places.get(line)
        if place is None:
            continue
        length = bisect_left(ends, place)
        found.append((at, place, last[length - 1] if length else -1))
        ends[length : length + 1] = [place]
        last[length : length + 1] = [len(found) - 1]
    way: list[tuple[int, int]] = []
    step = last[-1] if last else -1
    while step >= 0:
        one, other, step = found[step]
        way.append((one, other))
    return way[::-1]
