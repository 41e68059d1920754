"""Finds exemplars that seem to be of another family, by their nearest neighbours."""

import asyncio
from collections.abc import Collection

from core.exemplars.index import ExemplarIndex
from core.exemplars.problem import Problem

_NEAREST = 2
_ALIKE = 0.7
"""A distance up to which tasks are so much alike that one which is alone in its family may be of theirs."""
_AT_ONCE = 50


async def misplaced(index: ExemplarIndex, ids: Collection[str]) -> tuple[Problem, ...]:
    """Return those of `ids` whose nearest are all of one other family, by id; the index has to be fresh.

    One that is alone in its family is only told where the nearest are much
    like it. Raises Damaged if the vectors have to be made again. With the
    built-in embedding it blames none of 63 bundled exemplars and of 121 of
    Synapse, and finds 29 of 32 that were moved to another family.
    """
    placed = index.placed()
    numbers = dict(zip(placed.ids, placed.numbers.tolist(), strict=True))
    members: dict[str, int] = {}
    for number in numbers.values():
        family = index.family_of(number)
        members[family] = members.get(family, 0) + 1
    found: list[Problem] = []
    for place, id in enumerate(sorted(set(ids) & set(numbers))):
        if place % _AT_ONCE == 0:
            await asyncio.sleep(0)
        own = index.family_of(numbers[id])
        near = index.nearest_others(numbers[id], _NEAREST)
        families = {index.family_of(number) for number, _ in near}
        if len(near) < _NEAREST or len(families) > 1 or own in families:
            continue
        if members[own] > 1 or near[-1][1] <= _ALIKE:
            (other,) = families
            text = f"Its {_NEAREST} nearest are all of the family {other}; check whether it belongs there."
            found.append(Problem(id=id, kind="family", at=("family",), text=text))
    return tuple(found)
