"""Which exemplars to prompt with: the nearest vote for a family, or go in themselves."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from textwrap import shorten
from typing import Protocol

from core.exemplars.checks import fault, unreadable
from core.exemplars.index import Among, Near
from core.exemplars.library.tables import tokens_of
from core.exemplars.nearest import distances
from core.exemplars.placeholders import filled
from core.llm.embedding import Embedding, Vectors
from core.schema.exemplar import Exemplar, Recall, RecallSettings, Retrieved, metadata_of

SHOWN = 5
"""Rejected exemplars that are listed."""
_NEW = "It is new: review it, so that runs recall it."
_TOLD = 3
"""Exemplars that cannot be read and are named."""
ALIKE = 0.6
"""The distance up to which instructions are like each other.

Measured with the built-in embedding: of the tasks of the exemplars that come
with the program, half of the pairs of one family lie within it, and none of
two families; their nearest lie at 0.66.
"""
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
    if not len(index):
        return decide(query, index.embedding.name, settings, (), (), {})
    within = environment if environment and not settings.other_environments else None
    among = Among(environment=within, status=None if settings.unreviewed else "reviewed")
    vector = await index.vector(query)
    recalled = await _recall(query, vector, index, settings, among)
    if settings.unreviewed or not index.nearest(vector, 1, among._replace(status="new")):
        return recalled
    would = await _recall(query, vector, index, settings, among._replace(status=None))
    return _with_new(recalled, would, settings)


async def _recall(
    query: str, vector: Vectors, index: Searched, settings: RecallSettings, among: Among
) -> Recall:
    of_family: tuple[Near, ...] = ()
    vectors: dict[str, Vectors] = {}
    found, faults, voters = await nearest_voters(query, vector, index, settings, among, vectors)
    if voters:
        # With `by` exemplars, only those that are pinned are of use.
        family = voted([voter.exemplar.family for voter in voters])
        many = _READ if settings.by == "family" else 1
        while True:
            of_family = index.nearest(vector, many, among._replace(family=family))
            faults |= await _faults(index, query, of_family, vectors)
            chosen, too_many = _chosen(_readable(of_family, faults), settings)
            enough = len(of_family) < many or too_many or len(chosen) == settings.most
            if settings.by != "family" or enough:
                break
            many *= 4
    return decide(query, index.embedding.name, settings, found, of_family, faults)


async def nearest_voters(
    query: str,
    vector: Vectors,
    index: Searched,
    settings: RecallSettings,
    among: Among,
    vectors: dict[str, Vectors],
) -> tuple[tuple[Near, ...], dict[str, str], Sequence[Near]]:
    """Return the nearest, which of them are left out and why, and those that vote; `vectors` are as in `_faults`."""
    found = index.nearest(vector, settings.most + max(SHOWN, settings.votes), among)
    faults = await _faults(index, query, found, vectors)
    return found, faults, _voters(_readable(found, faults), settings)


def _with_new(recalled: Recall, would: Recall, settings: RecallSettings) -> Recall:
    """Tell of new exemplars that are nearer than the farthest used one, and that reviews would have used."""
    limit = math.inf if settings.threshold is None else settings.threshold
    used = (one.distance for one in recalled.retrieved if one.used and not one.pinned)
    farthest = max(used, default=limit)
    new = {one.id for one in would.used if one.review.status == "new"}
    nearer = tuple(
        one.replace(used=False, voted=False, problem=_NEW)
        for one in would.retrieved
        if one.id in new and one.distance <= farthest
    )
    if not nearer:
        return recalled
    which, whom = ("one is", "it") if len(nearer) == 1 else ("ones are", "them")
    text = f"{len(nearer)} new {which} near enough, but not used: nobody has reviewed {whom}."
    return recalled.replace(
        retrieved=(*recalled.retrieved, *nearer),
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
    query: str,
    name: str,
    settings: RecallSettings,
    found: tuple[Near, ...],
    of_family: tuple[Near, ...],
    faults: Mapping[str, str],
) -> Recall:
    """Say what is used of the nearest.

    `of_family` are the nearest of the family that is voted for, and `faults`
    say by id what of all these is left out, and why.
    """
    if not found:
        return Recall(query=query, embedding=name, why="There are no exemplars to recall.")
    readable, of_family = _readable(found, faults), _readable(of_family, faults)
    faults = dict(faults)
    left_out = _left_out(faults)
    if not readable:
        why = f"None of the nearest can be used. {left_out}"
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
        pool = of_family
        chosen, too_many = _chosen(pool, settings)
        why = f"{votes[family]} of the {len(voters)} nearest are of the family {family}."
        if len(voters) < min(settings.votes, len(readable)):
            alone = (
                "The nearest is" if len(voters) == 1 else f"{votes[family]} of the {len(voters)} nearest are"
            )
            why = f"{alone} of the family {family}; the next ones are too far away to vote."
        if sum(1 for count in votes.values() if count == most) > 1:
            why += " Another family has as many votes; the nearest decides."
    else:
        pool = readable
        pinned = [one for one in of_family if one.exemplar.pinned]
        chosen, too_many = _chosen((*pinned, *voters), settings, min(settings.votes, settings.most))
        many = "1 exemplar is" if len(chosen) == 1 else f"{len(chosen)} exemplars are"
        if chosen == _distinct(readable)[: len(chosen)]:
            many = "The nearest is" if len(chosen) == 1 else f"The {len(chosen)} nearest are"
        why = f"{many} used." if chosen else "None is used."
    if first := sum(one.exemplar.pinned for one in chosen):
        why += " One of them is pinned." if first == 1 else f" {first} of them are pinned."
    why += _ties(chosen, too_many, pool)
    if too_many:
        over = f"With it, the exemplars would have more than {settings.tokens} tokens."
        few = "1 more does" if len(too_many) == 1 else f"{len(too_many)} more do"
        why += f" {few} not fit into {settings.tokens} tokens, and {'is' if len(too_many) == 1 else 'are'} left out."
        faults |= {one.exemplar.id: over for one in too_many}
        shown = {one.exemplar.id for one in found}
        found = (*found, *[one for one in too_many if one.exemplar.id not in shown][:SHOWN])
    why = f"{why} {left_out}".strip()
    return Recall(
        query=query,
        embedding=name,
        family=family,
        votes=dict(votes),
        retrieved=_retrieved(chosen, voters, found, faults),
        used=tuple(filled(one.exemplar, _task_of(query)) for one in reversed(chosen)),
        why=why,
    )


async def _faults(
    index: Searched, query: str, near: Iterable[Near], vectors: dict[str, Vectors]
) -> dict[str, str]:
    """Return by id why exemplars are not to be shown for a query: a fault, or that it is like a task of `never`.

    `vectors` are those of instructions that were embedded before, to which new ones are added.
    """
    near = tuple(near)
    faults = {one.exemplar.id: words for one in near if (words := _fault(one.exemplar))}
    texts = {text: metadata_of(text, "") for one in near for text in one.exemplar.never}
    if texts:
        task = metadata_of(_task_of(query), "")
        new = [text for text in dict.fromkeys((task, *texts.values())) if text not in vectors]
        vectors |= zip(new, await index.embedding.embed(new) if new else (), strict=True)
        for one in near:
            for text in one.exemplar.never:
                if distances(vectors[task][None], vectors[texts[text]])[0] <= ALIKE:
                    faults.setdefault(
                        one.exemplar.id, f"It is never used for tasks like “{shorten(text, 80)}”."
                    )
    return faults


@lru_cache(maxsize=512)
def _fault(exemplar: Exemplar) -> str:
    return unreadable(exemplar) if exemplar.review.although else fault(exemplar)


def _task_of(query: str) -> str:
    return query.partition("\nState:\n")[0].removeprefix("Task:").strip()


def _readable(near: Iterable[Near], faults: Mapping[str, str]) -> tuple[Near, ...]:
    return tuple(one for one in near if one.exemplar.id not in faults)


def _ties(chosen: Sequence[Near], too_many: Sequence[Near], pool: Iterable[Near]) -> str:
    """Return that others lie as far away as the last one that is used, if any do."""
    if not chosen:
        return ""
    last, known = chosen[-1], {one.exemplar.id for one in (*chosen, *too_many)}
    equal = [
        one.exemplar.id
        for one in _distinct((*chosen, *pool))
        if one.distance == last.distance and one.exemplar.id not in known
    ]
    if not equal:
        return ""
    more = f" and {len(equal) - 1} more lie" if len(equal) > 1 else " lies"
    return f" {equal[0]}{more} as near as {last.exemplar.id}; of equal ones, the first by family and id are used."


def _left_out(faults: Mapping[str, str]) -> str:
    """Return which exemplars are left out for their faults."""
    told = [f"{id} is left out, {fault[:1].lower()}{fault[1:]}" for id, fault in list(faults.items())[:_TOLD]]
    more = [f"{len(faults) - _TOLD} more have faults."] if len(faults) > _TOLD else []
    return " ".join((*told, *more))


def _chosen(
    near: Sequence[Near], settings: RecallSettings, most: int | None = None
) -> tuple[list[Near], list[Near]]:
    """Return the nearest trajectories that fit into the tokens, and those that do not; each trajectory once.

    Pinned ones come first.
    """
    chosen: list[Near] = []
    too_many: list[Near] = []
    room = settings.tokens
    for one in sorted(_distinct(near), key=lambda one: not one.exemplar.pinned):
        if len(chosen) == (settings.most if most is None else most):
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
            weight=one.exemplar.weight,
            pinned=one.exemplar.pinned,
            problem=faults.get(one.exemplar.id, ""),
        )
        for one in shown
    )
