"""Where runs go another way than the successes on their task, told from the rows of their steps alone.

Two runs are compared page by page in `core.debugger.compare.service`; here
very many runs are held against all successes at once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from core.debugger.compare.views import comparable
from core.schema.record import Record
from core.schema.task import family_of
from core.trace.evaluated import WayStep

_NUMBERED = re.compile(r" \[\d+\]")
OF_EACH_TASK = 50
"""Successes of a task that runs at other seeds are held against, the first ones."""


class Walked(NamedTuple):
    """A run by what decides which successes it is held against."""

    run: int
    task: str
    seed: int


class Parting(Record):
    """The step that decided a run: the first that no success did after the same beginning, else its last."""

    step: int
    did: str = ""
    """What the run did there; empty where it went no other way."""
    successes_did: str = ""
    """What most successes did in its place."""


class _Place:
    """A point on the ways of the successes: how many came by, and where they went on."""

    def __init__(self) -> None:
        self.count = 0
        self.onward: dict[str, _Place] = {}

    def add(self, way: Iterable[str]) -> None:
        place = self
        for word in way:
            place = place.onward.setdefault(word, _Place())
            place.count += 1

    @property
    def likeliest(self) -> str:
        return max(self.onward, key=lambda word: self.onward[word].count, default="")


def partings(
    steps: Mapping[int, Sequence[WayStep]], runs: Iterable[Walked], successes: Iterable[Walked]
) -> dict[int, Parting]:
    """Return the deciding step of each run that has steps; `steps` has those of all of them.

    It is held against successes at the same task and seed by its very actions;
    where there are none, against those of the task, or else of the family of the
    task, by state, kind of action and role of the element.
    """
    same: dict[object, _Place] = {}
    alike: dict[object, _Place] = {}
    taken: Counter[str] = Counter()
    for one in successes:
        way = steps.get(one.run, ())
        same.setdefault((one.task, one.seed), _Place()).add(map(_exactly, way))
        taken[one.task] += 1
        for key in (one.task, family_of(one.task)) if taken[one.task] <= OF_EACH_TASK else ():
            alike.setdefault(key, _Place()).add(map(_in_kind, way))
    found: dict[int, Parting] = {}
    for one in runs:
        if not (way := steps.get(one.run, ())):
            continue
        exact = same.get((one.task, one.seed))
        start = exact or alike.get(one.task) or alike.get(family_of(one.task))
        found[one.run] = _parting(way, start, _exactly if exact is not None else _in_kind)
    return found


def _parting(way: Sequence[WayStep], start: _Place | None, word: Callable[[WayStep], str]) -> Parting:
    place = start
    for step in way if place is not None else ():
        assert place is not None
        onward = place.onward.get(word(step))
        if onward is None:
            return Parting(step=step.number, did=_in_kind(step), successes_did=place.likeliest)
        place = onward
    return Parting(step=way[-1].number, successes_did=place.likeliest if place is not None else "")


def _exactly(step: WayStep) -> str:
    """Return what was done in words that are the same in another run of the same task and seed."""
    action = _NUMBERED.sub("", step.action, count=1) if step.target else step.action
    return comparable(" ".join(filter(None, (action, step.target))) or step.effect)


def _in_kind(step: WayStep) -> str:
    """Return what kind of thing was done, on what kind of element and in which state."""
    verb, role = step.action.partition(" ")[0], step.target.partition(" ")[0]
    done = " ".join(filter(None, (verb, role))) or step.effect
    return f"{done} in {step.state}" if step.state else done
