"""Finds from which step on a run can still succeed: replays prefixes, and lets an LLM do the rest, several times.

The success rate need not fall with the step: an agent may do better from a later step. So every chosen prefix
is tried.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from core.debugger.experiments.measurement import (
    Measurement,
    MeasurementRequest,
    RunResult,
    calls_of,
    cost_of,
    read_numbers,
    some,
    wilson,
)
from core.schema.errors import UsageError
from core.schema.record import Record
from core.trace.records import StepRow

if TYPE_CHECKING:
    from core.debugger.headless import RunReport


class PrefixResult(Record):
    """The result of a prefix."""

    step: int
    """The first step that was not replayed."""
    action: str = ""
    """What the run itself did there."""
    runs: tuple[int, ...] = ()
    """The branches, in the order they were made."""
    successes: int = 0
    judged: int = 0
    """Branches that were judged; the others count neither way."""
    low: float = 0.0
    high: float = 1.0
    """The 95 % interval of the share of successes, from 0 to 1."""
    problems: tuple[str, ...] = ()
    """Why a branch could not be made or judged."""
    branches: tuple[RunResult, ...] = ()

    @property
    def share(self) -> float | None:
        """The share of successes among those judged, from 0 to 1."""
        return self.successes / self.judged if self.judged else None

    @property
    def calls(self) -> int:
        return calls_of(self.branches)

    @property
    def cost(self) -> float | None:
        return cost_of(self.branches)

    def with_branch(self, branch: RunResult) -> "PrefixResult":
        """Return it with one more branch, counted again."""
        branches = (*self.branches, branch)
        judged = [one.success for one in branches if one.success is not None]
        low, high = wilson(sum(judged), len(judged))
        problems = [one.error for one in branches if one.success is None and one.error]
        return PrefixResult(
            step=self.step,
            action=self.action,
            runs=tuple(one.run for one in branches if one.run is not None),
            successes=sum(judged),
            judged=len(judged),
            low=low,
            high=high,
            problems=tuple(dict.fromkeys(problems)),
            branches=branches,
        )


class BisectRequest(MeasurementRequest):
    """The request of a bisection; preset and LLM are by default those of the run."""

    run: int
    steps: tuple[int, ...] = ()
    """The steps to continue from; empty for all, or for every `every`-th."""
    every: int = Field(default=1, ge=1)
    times: int = Field(default=3, ge=1, le=1000)
    """How many branches are made from each step."""


class Bisection(Measurement):
    """A bisection with its results so far; stored with its run."""

    run: int
    chosen: tuple[int, ...]
    """The steps, in the order they are tried."""
    results: tuple[PrefixResult, ...] = ()

    @property
    def what(self) -> str:
        return f"{some(len(self.chosen), 'step')} × {self.times}"

    @property
    def run_results(self) -> Iterable[RunResult]:
        return (branch for one in self.results for branch in one.branches)

    @property
    def done(self) -> int:
        """Branches that were made, or that could not be."""
        return sum(max(len(one.branches), len(one.runs)) for one in self.results)

    @property
    def total(self) -> int:
        return len(self.chosen) * self.times

    def table(self) -> Sequence[Mapping[str, object]]:
        """Return a row for each step."""
        return [
            {
                "from_step": one.step,
                "the_run_did": one.action,
                "successes": one.successes,
                "judged": one.judged,
                "share": "" if one.share is None else f"{one.share:.4f}",
                "low": f"{one.low:.4f}" if one.judged else "",
                "high": f"{one.high:.4f}" if one.judged else "",
                "llm_calls": one.calls,
                "cost": "" if one.cost is None else f"{one.cost:.6f}",
                "branches": " ".join(map(str, one.runs)),
                "problems": " | ".join(one.problems),
            }
            for one in sorted(self.results, key=lambda one: one.step)
        ]


def read_steps(text: str) -> tuple[int, ...]:
    """Return the steps of a text such as ``1, 3, 5-8``; raises UsageError if it is none."""
    try:
        return read_numbers(text)
    except ValueError as error:
        raise UsageError(f'"{error}" is not a step: write numbers and ranges, such as 1, 3, 5-8.') from error


def chosen_steps(
    steps: Sequence[StepRow], asked: Sequence[int], *, every: int = 0, most: int = 8
) -> tuple[int, ...]:
    """Return the steps to try: those that were asked for, every `every`-th, or else at most `most` of the whole run.

    Raises UsageError for a step that the run does not have.
    """
    there = [row.number for row in steps]
    if not there:
        raise UsageError("The run has no steps to go back to.")
    if asked:
        missing = [number for number in asked if number not in there]
        if missing:
            raise UsageError(f"The run has no step {missing[0]}; its steps are {there[0]} to {there[-1]}.")
        return tuple(sorted(dict.fromkeys(asked)))
    if every:
        return tuple(there[::every])
    if len(there) <= most:
        return tuple(there)
    places = {round(place * (len(there) - 1) / (most - 1)) for place in range(most)}
    return tuple(there[place] for place in sorted(places))


async def bisect(
    bisection: Bisection, steps: Sequence[StepRow], fork: Callable[[int], Awaitable["RunReport"]]
) -> AsyncIterator[Bisection]:
    """Yield the bisection after each of its branches; `fork` makes a branch from a step and runs it to the end.

    A branch that cannot be made is a problem of its prefix. No further branch is started after a limit is
    reached, or a branch was interrupted.
    """
    actions = {row.number: row.action for row in steps}
    for step in bisection.chosen:
        prefix = PrefixResult(step=step, action=actions.get(step, ""))
        for _ in range(bisection.times):
            if bisection.limit_reached():
                return
            branch = await RunResult.of(fork(step))
            prefix = prefix.with_branch(branch)
            others = tuple(one for one in bisection.results if one.step != step)
            bisection = bisection.replace(results=(*others, prefix))
            yield bisection
            if branch.outcome == "interrupted":
                return
