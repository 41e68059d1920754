"""Finds where runs differ from the successful runs of their task, from the rows of their steps alone.

`core.debugger.compare.alignment` compares two runs page by page; this module compares very many runs with all
successful ones at once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from core.debugger.compare.views import comparable
from core.schema.record import Record
from core.schema.task import family_of
from core.trace.evaluated import WayStep
from core.trace.records import StepRow

_NUMBERED = re.compile(r" \[\d+\]")
OF_EACH_TASK = 50
"""Successes of a task that runs at other seeds are held against, the first ones."""


class Walked(NamedTuple):
    """A run, with what decides which successful runs it is compared with."""

    run: int
    task: str
    seed: int


class Parting(Record):
    """The deciding step of a run: the first that no successful run took after the same beginning, or else the last."""

    step: int
    did: str = ""
    """What the run did there; empty if it went no other way."""
    successes_did: str = ""
    """What kind of thing most successes did in its place."""


class _Place:
    """A point on the paths of successful runs: how many passed it, and how they continued."""

    def __init__(self) -> None:
        self.count = 0
        self.kind = ""
        """The kind of the step that leads here."""
        self.onward: dict[str, _Place] = {}

    def add(self, way: Iterable[WayStep], word: Callable[[WayStep], str]) -> None:
        place = self
        for step in way:
            place = place.onward.setdefault(word(step), _Place())
            place.count += 1
            place.kind = place.kind or _in_kind(step)

    @property
    def likeliest(self) -> str:
        """The kind of step by which most successes went on from here."""
        return max(self.onward.values(), key=lambda place: place.count).kind if self.onward else ""


def partings(
    steps: Mapping[int, Sequence[WayStep]], runs: Iterable[Walked], successes: Iterable[Walked]
) -> dict[int, Parting]:
    """Return the deciding step of each run that has steps; `steps` has those of all of them.

    It is held against successes at the same task and seed by its very actions;
    if there are none, against those of the task, or else of the family of the
    task, by state, kind of action and role of the element.
    """
    same: dict[object, _Place] = {}
    alike: dict[object, _Place] = {}
    taken: Counter[str] = Counter()
    for success in successes:
        way = steps.get(success.run, ())
        same.setdefault((success.task, success.seed), _Place()).add(way, exactly)
        taken[success.task] += 1
        for key in (success.task, family_of(success.task)) if taken[success.task] <= OF_EACH_TASK else ():
            alike.setdefault(key, _Place()).add(way, _in_kind)
    found: dict[int, Parting] = {}
    for run in runs:
        if not (way := steps.get(run.run, ())):
            continue
        exact = same.get((run.task, run.seed))
        start = exact or alike.get(run.task) or alike.get(family_of(run.task))
        found[run.run] = _parting(way, start, exactly if exact is not None else _in_kind)
    return found


def _parting(way: Sequence[WayStep], start: _Place | None, word: Callable[[WayStep], str]) -> Parting:
    place = start
    for step in way if place is not None else ():
        assert place is not None
        onward = place.onward.get(word(step))
        if onward is None:
            kind, instead = _in_kind(step), place.likeliest
            return Parting(
                step=step.number,
                did=kind,
                successes_did="the same action on another element" if instead == kind else instead,
            )
        place = onward
    return Parting(step=way[-1].number, successes_did=place.likeliest if place is not None else "")


def exactly(step: WayStep | StepRow) -> str:
    """Return what was done in words that are the same in another run of the same task and seed."""
    action = _NUMBERED.sub("", step.action, count=1) if step.target else step.action
    return comparable(" ".join(filter(None, (action, step.target))) or step.effect)


def _in_kind(step: WayStep) -> str:
    """Return what kind of thing was done, on what kind of element and in which state."""
    verb, role = step.action.partition(" ")[0], step.target.partition(" ")[0]
    done = " ".join(filter(None, (verb, role))) or step.effect
    return f"{done} in {step.state}" if step.state else done
