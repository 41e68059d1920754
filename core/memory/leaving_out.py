"""Leave-one-out: would each exemplar's family be found, were it not there itself?"""

import asyncio
from collections import Counter
from collections.abc import Sequence

from core.memory.embedding import OnProgress
from core.memory.index import ExemplarIndex
from core.memory.recalling import in_reach, voted
from core.memory.records import REACH
from core.model import Record


class FamilyFound(Record):
    """How one family fared."""

    family: str
    members: int
    right: int
    distance: float
    """From its members to the nearest other exemplar, on average."""
    taken_for: dict[str, int] = {}
    """The families that were found in place of it, the most frequent first."""


class LeftOut(Record):
    """What came of leaving each one out once."""

    members: int
    right: int
    alone: int = 0
    """Members that are the only ones of their family, which cannot be found: they count as wrong."""
    votes: int = 3
    embedding: str = ""
    families: tuple[FamilyFound, ...] = ()

    @property
    def share(self) -> float:
        """What part was right, from 0 to 1; 0 where there is nothing."""
        return self.right / self.members if self.members else 0.0


async def leave_one_out(
    index: ExemplarIndex,
    numbers: Sequence[int],
    *,
    votes: int = 3,
    reach: float = REACH,
    on_progress: OnProgress | None = None,
) -> LeftOut:
    """Look each of these members up without itself; the index has to be fresh. Raises Damaged."""
    found: dict[str, list[tuple[str, float]]] = {}
    for done, number in enumerate(numbers, start=1):
        near = index.families_near(number, votes)
        voters = near[: in_reach([far for _, far in near], reach)]
        result = (voted([family for family, _ in voters]), near[0][1]) if near else ("", 2.0)
        found.setdefault(index.family_of(number), []).append(result)
        if on_progress is not None:
            on_progress(done, len(numbers))
        await asyncio.sleep(0)
    families: list[FamilyFound] = []
    for family, results in sorted(found.items()):
        wrong = Counter(name for name, _ in results if name != family)
        families.append(
            FamilyFound(
                family=family,
                members=len(results),
                right=len(results) - wrong.total(),
                distance=round(sum(far for _, far in results) / len(results), 4),
                taken_for=dict(wrong.most_common()),
            )
        )
    return LeftOut(
        members=sum(one.members for one in families),
        right=sum(one.right for one in families),
        alone=sum(1 for one in families if one.members == 1),
        votes=votes,
        embedding=index.embedding.name,
        families=tuple(families),
    )
