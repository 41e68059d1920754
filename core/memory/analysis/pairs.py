"""What pairs of exemplars have in common, and how they hang together."""

from collections.abc import Iterable

from core.memory.analysis.records import NearPair, Sameness
from core.schema.exemplar import Exemplar


def sameness(one: Exemplar, other: Exemplar) -> Sameness:
    """Say what two exemplars have in common, word for word but for spaces: the task, and each look with its actions."""
    is_task = one.task.split() == other.task.split()
    is_steps = _looks(one) == _looks(other)
    if is_task:
        return "task and steps" if is_steps else "task"
    return "steps" if is_steps else "neither"


def _looks(exemplar: Exemplar) -> list[tuple[list[str], tuple[str, ...]]]:
    return [(step.observation.split(), step.actions) for step in exemplar.steps]


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
