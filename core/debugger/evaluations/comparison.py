"""Compares two variants on the same cases: the difference, and which cases flipped."""

from collections.abc import Iterable

from core.debugger.evaluations.intervals import over_groups, paired
from core.schema.record import Record
from core.trace.records import EvaluatedRun

NOT_COMPARED = "Which cases were run depends on what runs came to, so the variants are not compared."


class Flip(Record):
    """A case in which only one of two variants succeeded."""

    task: str
    seed: int
    time: int
    runs: tuple[int, int]
    """The run of the first variant and that of the second."""
    to_success: bool
    """Whether the second variant succeeds."""


class VariantComparison(Record):
    """Two variants on the cases that were judged for both."""

    first: str
    second: str
    judged: int
    difference: float | None
    """By how much the share of successes of the second is higher, from -1 to 1."""
    low: float
    high: float
    """Its 95 % interval, as if all cases were independent (Newcombe)."""
    over_tasks: tuple[float, float] | None = None
    """Its 95 % interval over tasks (cluster bootstrap); None for one task."""
    flips: tuple[Flip, ...]

    @property
    def sentence(self) -> str:
        if self.difference is None:
            return "No case was judged for both variants, so they cannot be compared."
        low, high = self.over_tasks or (self.low, self.high)
        over = "over tasks" if self.over_tasks else "over the cases of one task"
        words = (
            f"{self.second} against {self.first}: {self.difference * 100:+.1f} points "
            f"(95 % {over}: {low * 100:+.1f} to {high * 100:+.1f}) on {self.judged} cases; "
            f"{len(self.flips)} flipped."
        )
        return f"{words} The interval contains 0." if low <= 0 <= high else words


def compared(runs: Iterable[EvaluatedRun], first: str, second: str) -> VariantComparison:
    """Return the second variant against the first; runs that a person has had a hand in count on neither side."""
    of: dict[str, dict[tuple[str, int, int], EvaluatedRun]] = {first: {}, second: {}}
    for run in runs:
        if run.variant in of and run.run is not None and run.success is not None and not run.touched:
            of[run.variant][(run.task, run.seed, run.time)] = run
    both = neither = 0
    by_task: dict[str, tuple[int, int]] = {}
    flips: list[Flip] = []
    for (task, seed, time), one in sorted(of[first].items(), key=lambda item: item[0]):
        other = of[second].get((task, seed, time))
        if other is None:
            continue
        gained, of_task = by_task.get(task, (0, 0))
        by_task[task] = (gained + bool(other.success) - bool(one.success), of_task + 1)
        both += bool(one.success and other.success)
        neither += not one.success and not other.success
        if one.success != other.success:
            pair = (one.run or 0, other.run or 0)
            flips.append(Flip(task=task, seed=seed, time=time, runs=pair, to_success=bool(other.success)))
    up = sum(flip.to_success for flip in flips)
    judged = both + neither + len(flips)
    low, high = paired(both, up, len(flips) - up, neither)
    difference = (2 * up - len(flips)) / judged if judged else None
    return VariantComparison(
        first=first,
        second=second,
        judged=judged,
        difference=difference,
        low=low,
        high=high,
        over_tasks=over_groups(by_task.values(), (low, high)),
        flips=tuple(flips),
    )
