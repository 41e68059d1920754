"""Which exemplars to prompt with: the nearest vote for a family, or go in themselves."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol

from core.exemplars.checks import fault, unreadable
from core.exemplars.index import Among, Near
from core.exemplars.library.tables import tokens_of
from core.llm.embedding import Embedding, Vectors
from core.schema.exemplar import Exemplar, Recall, RecallSettings, Retrieved

SHOWN = 5
"""Rejected exemplars that are listed."""
_NEW = "It is new: review it, so that runs recall it."
_TOLD = 3
"""Exemplars that cannot be read and are named."""
_READ = 64
"""Exemplars of a family that are read at first; more are where these do not fill what may be used."""


class Searched(Protocol):
    """What is looked through: an `ExemplarIndex`, or one with a change that is only tried."""

    @property
    def embedding(self) -> Embedding: ...

    def __len__(self) -> int: ...

    async def vector(self, text: str) -> Vectors: ...

    def nearest(self, query: Vectors, count: int, among: Among) -> tuple[Near, ...]: ...


async def recall(query: str, index: Searched, settings: RecallSettings, *, environment: str = "") -> Recall:
    """Look `query` up; the index has to be fresh. Raises LLMError if the embedding's server fails."""
    found: tuple[Near, ...] = ()
    of_family: tuple[Near, ...] = ()
    new: tuple[Near, ...] = ()
    if len(index):
        within = environment if environment and not settings.other_environments else None
        vector = await index.vector(query)
        among = Among(environment=within, status=None if settings.unreviewed else "reviewed")
        found = index.nearest(vector, settings.most + max(SHOWN, settings.votes), among)
        if not settings.unreviewed:
            new = index.nearest(vector, SHOWN, among._replace(status="new"))
        voters = _voters(_readable(found), settings)
        if voters and settings.by == "family":
            family = voted([voter.exemplar.family for voter in voters])
            many = _READ
            while True:
                of_family = index.nearest(vector, many, among._replace(family=family))
                chosen, too_many = _chosen(_readable(of_family), settings)
                if len(of_family) < many or too_many or len(chosen) == settings.most:
                    break
                many *= 4
    return _with_new(decide(query, index.embedding.name, settings, found, of_family), new, settings)


def _with_new(recalled: Recall, new: tuple[Near, ...], settings: RecallSettings) -> Recall:
    """Tell of new exemplars that are nearer than the farthest used one, and so might have been used."""
    limit = math.inf if settings.threshold is None else settings.threshold
    farthest = max((one.distance for one in recalled.retrieved if one.used), default=limit)
    nearer = tuple(one for one in new if one.distance <= farthest)
    if not nearer:
        return recalled
    many = f"At least {SHOWN}" if len(nearer) == SHOWN else str(len(nearer))
    which, whom = ("one is", "it") if len(nearer) == 1 else ("ones are", "them")
    text = f"{many} new {which} near enough, but not used: nobody has reviewed {whom}."
    return recalled.replace(
        retrieved=(
            *recalled.retrieved,
            *_retrieved((), (), nearer, dict.fromkeys((one.exemplar.id for one in nearer), _NEW)),
        ),
        why=text if not recalled.retrieved else f"{recalled.why} {text}",
    )


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
    readable, faults = _readable(found), _faults((*found, *of_family))
    if not readable:
        why = f"None of the nearest can be used. {_left_out(faults)}"
        return Recall(query=query, embedding=name, retrieved=_retrieved((), (), found, faults), why=why)
    voters = _voters(readable, settings)
    votes = Counter(voter.exemplar.family for voter in voters)
    most = max(votes.values())
    family = voted([voter.exemplar.family for voter in voters])
    nearest = readable[0].distance
    if settings.threshold is not None and nearest > settings.threshold:
        why = f"The nearest lies at {nearest:.3f}, beyond the threshold of {settings.threshold:.3f}, so none is used."
        return Recall(
            query=query,
            embedding=name,
            family=family,
            votes=dict(votes),
            retrieved=_retrieved((), voters, found, faults),
            why=why,
        )
    if settings.by == "family":
        chosen, too_many = _chosen(_readable(of_family), settings)
        why = f"{votes[family]} of the {len(voters)} nearest are of the family {family}."
        if len(voters) < min(settings.votes, len(found)):
            alone = (
                "The nearest is" if len(voters) == 1 else f"{votes[family]} of the {len(voters)} nearest are"
            )
            why = f"{alone} of the family {family}; the next ones are too far away to vote."
        if sum(1 for count in votes.values() if count == most) > 1:
            why += " Another family has as many votes; the nearest decides."
    else:
        chosen, too_many = _chosen(voters, settings)
        why = f"The {len(chosen)} nearest are used." if len(chosen) > 1 else "The nearest is used."
        why = why if chosen else "None is used."
    if too_many:
        over = f"With it, the exemplars would have more than {settings.tokens} tokens."
        few = "1 more does" if len(too_many) == 1 else f"{len(too_many)} more do"
        why += f" {few} not fit into {settings.tokens} tokens, and {'is' if len(too_many) == 1 else 'are'} left out."
        faults |= {one.exemplar.id: over for one in too_many}
        shown = {one.exemplar.id for one in found}
        found = (*found, *[one for one in too_many if one.exemplar.id not in shown][:SHOWN])
    why = f"{why} {_left_out(_faults((*found, *of_family)))}".strip()
    return Recall(
        query=query,
        embedding=name,
        family=family,
        votes=dict(votes),
        retrieved=_retrieved(chosen, voters, found, faults),
        used=tuple(one.exemplar for one in reversed(chosen)),
        why=why,
    )


def _faults(near: Iterable[Near]) -> dict[str, str]:
    """Return the fault of each exemplar that prompts are not to show, by its id."""
    return {one.exemplar.id: words for one in near if (words := _fault(one.exemplar))}


@lru_cache(maxsize=512)
def _fault(exemplar: Exemplar) -> str:
    return unreadable(exemplar) if exemplar.review.although else fault(exemplar)


def _readable(near: Iterable[Near]) -> tuple[Near, ...]:
    return tuple(one for one in near if not _fault(one.exemplar))


def _left_out(faults: Mapping[str, str]) -> str:
    """Return which exemplars are left out for their faults."""
    told = [f"{id} is left out, {fault}" for id, fault in list(faults.items())[:_TOLD]]
    more = [f"{len(faults) - _TOLD} more have faults."] if len(faults) > _TOLD else []
    return " ".join((*told, *more))


def _chosen(near: Sequence[Near], settings: RecallSettings) -> tuple[list[Near], list[Near]]:
    """Return the nearest trajectories that fit into the tokens, and those that do not; each trajectory once."""
    chosen: list[Near] = []
    too_many: list[Near] = []
    room = settings.tokens
    for one in _distinct(near):
        if len(chosen) == settings.most:
            break
        size = tokens_of(one.exemplar)
        if size > room:
            too_many.append(one)
        else:
            chosen.append(one)
            room -= size
    return chosen, too_many


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
    chosen: Sequence[Near], voters: Sequence[Near], found: Sequence[Near], faults: Mapping[str, str]
) -> tuple[Retrieved, ...]:
    used = {one.exemplar.id for one in chosen}
    voted = {voter.exemplar.id for voter in voters}
    rejected = [one for one in found if one.exemplar.id not in used]
    count = max(SHOWN, sum(1 for one in rejected if one.exemplar.id in voted))
    # What would be used but for something is told, however far away it is.
    shown = [
        *chosen,
        *(one for place, one in enumerate(rejected) if place < count or one.exemplar.id in faults),
    ]
    return tuple(
        Retrieved(
            id=one.exemplar.id,
            family=one.exemplar.family,
            task=one.exemplar.task,
            distance=one.distance,
            voted=one.exemplar.id in voted,
            used=one.exemplar.id in used,
            problem=faults.get(one.exemplar.id, ""),
        )
        for one in shown
    )
