"""The results of the analyses, separate from the analyses because those take long to load."""

from collections.abc import Iterable
from typing import Literal

from core.schema.exemplar import Exemplar, Recall
from core.schema.record import Record

Sameness = Literal["task and steps", "task", "steps", "neither"]


class NearPair(Record):
    """Two similar exemplars; the ids are in order. What they say is filled in by `compared_pair`."""

    distance: float
    id: str
    other_id: str
    number: int
    """Its number in the index; below 0 for one of a file."""
    other: int
    same: Sameness = "neither"
    families: tuple[str, str] = ("", "")
    tasks: tuple[str, str] = ("", "")

    @property
    def order(self) -> tuple[float, str, str]:
        return self.distance, self.id, self.other_id

    @property
    def ids(self) -> tuple[str, str]:
        return self.id, self.other_id


class PairsFound(Record):
    """The pairs that were found so far, the nearest first."""

    within: float
    pairs: tuple[NearPair, ...] = ()
    done: int = 0
    """Of `members`, how many were compared with all others."""
    members: int = 0
    more: bool = False
    """Whether there may be more within the distance than are kept."""

    @property
    def whole(self) -> bool:
        return self.done >= self.members


def sameness(one: Exemplar, other: Exemplar) -> Sameness:
    """Say what two exemplars have in common, word for word but for spaces: the task, and each look with its actions."""
    is_task = one.task.split() == other.task.split()
    is_steps = _looks(one) == _looks(other)
    if is_task:
        return "task and steps" if is_steps else "task"
    return "steps" if is_steps else "neither"


def _looks(exemplar: Exemplar) -> list[tuple[list[str], tuple[str, ...]]]:
    return [(step.observation.split(), step.actions) for step in exemplar.steps]


def compared_pair(pair: NearPair, one: Exemplar, other: Exemplar) -> NearPair:
    """Return a pair with what its exemplars say."""
    families, tasks = (one.family, other.family), (one.task, other.task)
    return pair.replace(same=sameness(one, other), families=families, tasks=tasks)


def grouped(pairs: Iterable[NearPair]) -> tuple[tuple[NearPair, ...], ...]:
    """Return the pairs in groups that hang together, each group and in each the nearest pair first."""
    leaders: dict[str, str] = {}

    def leader(id: str) -> str:
        while leaders.setdefault(id, id) != id:
            leaders[id] = leaders[leaders[id]]
            id = leaders[id]
        return id

    ordered = sorted(pairs, key=lambda pair: pair.order)
    for pair in ordered:
        leaders[leader(pair.other_id)] = leader(pair.id)
    groups: dict[str, list[NearPair]] = {}
    for pair in ordered:
        groups.setdefault(leader(pair.id), []).append(pair)
    return tuple(tuple(group) for group in groups.values())


Move = Literal["", "new", "gone", "up", "down", "used now", "used no more"]


class MapPlace(Record):
    """The result for one exemplar."""

    rank: int
    """Among all that are listed, by distance; the nearest is 1."""
    distance: float
    voted: bool = False
    used: bool = False
    why: str = ""


class TrialRow(Record):
    """One exemplar of a lookup: its result and, in a comparison, its earlier result."""

    id: str
    family: str
    task: str
    draft: bool = False
    """Whether it is the changed one."""
    now: MapPlace | None = None
    """None if it is not among those that are listed any more."""
    before: MapPlace | None = None
    move: Move = ""


class LookupTrial(Record):
    """A lookup that was tried; without `after` nothing is compared."""

    before: Recall
    after: Recall | None = None
    rows: tuple[TrialRow, ...] = ()
    """In the order of the lookup that is meant, what has gone last."""

    @property
    def now(self) -> Recall:
        return self.after or self.before


class FamilyFound(Record):
    """The result for one family."""

    family: str
    members: int
    right: int
    distance: float
    """From its members to the nearest other exemplar, on average."""
    taken_for: dict[str, int] = {}
    """The families that were found in place of it, the most frequent first."""


class LeftOutExemplar(Record):
    """The result of leaving one exemplar out."""

    members: int
    right: int
    alone: int = 0
    """Members that are the only ones of their family, which cannot be found: they count as wrong."""
    votes: int = 3
    embedding: str = ""
    families: tuple[FamilyFound, ...] = ()

    @property
    def share(self) -> float:
        """What part was right, from 0 to 1; 0 if there is nothing."""
        return self.right / self.members if self.members else 0.0


class MemberFound(Record):
    """What was found for one exemplar without itself."""

    number: int
    id: str
    family: str
    found: str
    """The family that is voted for; empty if there is no other exemplar."""
    distance: float
    """To the nearest other one."""
    nearest: str = ""
    """Its id; empty if there is no other exemplar."""

    @property
    def right(self) -> bool:
        return self.found == self.family
