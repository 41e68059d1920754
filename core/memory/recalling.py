"""Which exemplars to prompt with: the nearest vote for a family, or go in themselves."""

from collections import Counter
from typing import Literal

from pydantic import Field

from core.memory.exemplar import Exemplar
from core.memory.index import ExemplarIndex, Near
from core.model import Record

SHOWN = 5
"""Rejected exemplars that are told of."""


class RecallSettings(Record):
    """How to choose."""

    by: Literal["family", "exemplars"] = "family"
    """Prompt with all of the family that is voted for, or with the nearest exemplars alone."""
    votes: int = Field(default=3, ge=1, le=50)
    """How many of the nearest vote, or go in."""
    most: int = Field(default=8, ge=1, le=50)
    """Exemplars prompted with at the most."""
    threshold: float | None = Field(default=None, ge=0, le=2)
    """A distance of the nearest beyond which memory is not used."""
    other_environments: bool = True
    """Whether exemplars of other environments count."""


class Retrieved(Record):
    """One exemplar that was looked at."""

    id: str
    family: str
    task: str
    distance: float
    voted: bool = False
    used: bool = False


class Recall(Record):
    """What was asked of the memory, and what came of it."""

    query: str = ""
    embedding: str = ""
    family: str = ""
    """The family that was voted for."""
    votes: dict[str, int] = {}
    retrieved: tuple[Retrieved, ...] = ()
    """Used ones first, then the nearest that were not, each the nearest first."""
    used: tuple[Exemplar, ...] = ()
    """In the order they are prompted with: the nearest last, next to the task."""
    why: str = ""
    """Why memory was used as it was, or not."""


async def recall(
    query: str, index: ExemplarIndex, settings: RecallSettings, *, environment: str = ""
) -> Recall:
    """Look `query` up; the index has to be fresh. Raises LLMError where the embedding's server fails."""
    found = await index.search(query, len(index.exemplars))
    if not settings.other_environments and environment:
        found = tuple(one for one in found if one.exemplar.environment in ("", environment))
    name = index.embedding.name
    if not found:
        return Recall(query=query, embedding=name, why="There are no exemplars to recall.")
    voters = found[: settings.votes]
    votes = Counter(one.exemplar.family for one in voters)
    most = max(votes.values())
    # A tie goes to the nearest: the voters stand in the order of their distance.
    family = next(one.exemplar.family for one in voters if votes[one.exemplar.family] == most)
    nearest = found[0].distance
    if settings.threshold is not None and nearest > settings.threshold:
        why = f"The nearest lies at {nearest:.3f}, beyond the threshold of {settings.threshold:.3f}: none is used."
        return Recall(
            query=query,
            embedding=name,
            family=family,
            votes=dict(votes),
            retrieved=_told((), voters, found),
            why=why,
        )
    if settings.by == "family":
        chosen = [one for one in found if one.exemplar.family == family][: settings.most]
        why = f"{votes[family]} of the {len(voters)} nearest are of the family {family}."
        if sum(1 for count in votes.values() if count == most) > 1:
            why += " Others have as many votes; the nearest decides."
    else:
        chosen = list(voters[: settings.most])
        why = f"The {len(chosen)} nearest are used." if len(chosen) > 1 else "The nearest is used."
    return Recall(
        query=query,
        embedding=name,
        family=family,
        votes=dict(votes),
        retrieved=_told(chosen, voters, found),
        used=tuple(one.exemplar for one in reversed(chosen)),
        why=why,
    )


def _told(
    chosen: "list[Near] | tuple[Near, ...]", voters: tuple[Near, ...], found: tuple[Near, ...]
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
