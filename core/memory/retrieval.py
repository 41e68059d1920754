"""Which exemplars to prompt with: the nearest vote for a family, or go in themselves."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from core.llm.embedding import Embedding, Vectors
from core.memory.index import Near
from core.schema.exemplar import Recall, RecallSettings, Retrieved

SHOWN = 5
"""Rejected exemplars that are listed."""
_SHARED = 8
"""How many exemplars at the most are taken to tell the same trajectory, each by a text of its own."""


class Searched(Protocol):
    """What is looked through: an `ExemplarIndex`, or one with a change that is only tried."""

    @property
    def embedding(self) -> Embedding: ...

    def __len__(self) -> int: ...

    async def vector(self, text: str) -> Vectors: ...

    def nearest(
        self, query: Vectors, count: int, *, family: str = "", environment: str | None = None
    ) -> tuple[Near, ...]: ...


async def recall(query: str, index: Searched, settings: RecallSettings, *, environment: str = "") -> Recall:
    """Look `query` up; the index has to be fresh. Raises LLMError where the embedding's server fails."""
    found: tuple[Near, ...] = ()
    of_family: tuple[Near, ...] = ()
    if len(index):
        within = environment if environment and not settings.other_environments else None
        vector = await index.vector(query)
        found = index.nearest(vector, settings.most + max(SHOWN, settings.votes), environment=within)
        if found and settings.by == "family":
            family = voted([one.exemplar.family for one in _voters(found, settings)])
            many = settings.most * _SHARED
            of_family = index.nearest(vector, many, family=family, environment=within)
    return decide(query, index.embedding.name, settings, found, of_family)


def in_reach(distances: Sequence[float], reach: float) -> int:
    """Return how many of the nearest, whose distances these are, have a vote: the nearest and those not far from it."""
    return sum(1 for far in distances if far <= distances[0] + reach)


def voted(families: Sequence[str]) -> str:
    """Return the family that most of the voters are of; a tie goes to the nearest, as they stand in that order."""
    votes = Counter(families)
    most = max(votes.values())
    return next(family for family in families if votes[family] == most)


def decide(
    query: str, name: str, settings: RecallSettings, found: tuple[Near, ...], of_family: tuple[Near, ...]
) -> Recall:
    """Say what is used of the nearest; `of_family` are the nearest of the family that is voted for."""
    if not found:
        return Recall(query=query, embedding=name, why="There are no exemplars to recall.")
    voters = _voters(found, settings)
    votes = Counter(one.exemplar.family for one in voters)
    most = max(votes.values())
    family = voted([one.exemplar.family for one in voters])
    nearest = found[0].distance
    if settings.threshold is not None and nearest > settings.threshold:
        why = f"The nearest lies at {nearest:.3f}, beyond the threshold of {settings.threshold:.3f}: none is used."
        return Recall(
            query=query,
            embedding=name,
            family=family,
            votes=dict(votes),
            retrieved=_retrieved((), voters, found),
            why=why,
        )
    if settings.by == "family":
        chosen = _distinct(of_family)[: settings.most]
        why = f"{votes[family]} of the {len(voters)} nearest are of the family {family}."
        if len(voters) < min(settings.votes, len(found)):
            alone = (
                "The nearest is" if len(voters) == 1 else f"{votes[family]} of the {len(voters)} nearest are"
            )
            why = f"{alone} of the family {family}; the next lie too far behind to have a vote."
        if sum(1 for count in votes.values() if count == most) > 1:
            why += " Others have as many votes; the nearest decides."
    else:
        chosen = _distinct(voters)[: settings.most]
        why = f"The {len(chosen)} nearest are used." if len(chosen) > 1 else "The nearest is used."
    return Recall(
        query=query,
        embedding=name,
        family=family,
        votes=dict(votes),
        retrieved=_retrieved(chosen, voters, found),
        used=tuple(one.exemplar for one in reversed(chosen)),
        why=why,
    )


def _voters(found: Sequence[Near], settings: RecallSettings) -> Sequence[Near]:
    nearest = found[: settings.votes]
    if settings.by != "family":
        return nearest
    return nearest[: in_reach([one.distance for one in nearest], settings.reach)]


def _distinct(found: Iterable[Near]) -> list[Near]:
    """Return the nearest of each trajectory: several exemplars may be looked up by other texts and tell the same."""
    seen: dict[tuple[object, ...], Near] = {}
    for one in found:
        seen.setdefault((one.exemplar.task, one.exemplar.steps), one)
    return list(seen.values())


def _retrieved(
    chosen: "list[Near] | tuple[Near, ...]", voters: Sequence[Near], found: tuple[Near, ...]
) -> tuple[Retrieved, ...]:
    used = {one.exemplar.id for one in chosen}
    voted = {one.exemplar.id for one in voters}
    rejected = [one for one in found if one.exemplar.id not in used]
    shown = [*chosen, *rejected[: max(SHOWN, sum(1 for one in rejected if one.exemplar.id in voted))]]
    return tuple(
        Retrieved(
            id=one.exemplar.id,
            family=one.exemplar.family,
            task=one.exemplar.task,
            distance=one.distance,
            voted=one.exemplar.id in voted,
            used=one.exemplar.id in used,
        )
        for one in shown
    )
