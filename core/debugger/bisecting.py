"""From which step on a run can still be brought to success: prefixes replayed, the rest done by an LLM, several times.

Nothing is taken for granted of the curve: an agent may well do better from a
later step than from an earlier one, so every chosen prefix is tried.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from math import sqrt

from core.debugger.headless import RunReport
from core.errors import BackstepError, UsageError
from core.model import Record
from core.trace.records import StepRow

Z = 1.96
"""Standard normal quantile of a two-sided 95 % interval."""


class PrefixResult(Record):
    """What came of a prefix."""

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

    @property
    def share(self) -> float | None:
        """The share of successes among those judged, from 0 to 1."""
        return self.successes / self.judged if self.judged else None


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share, from 0 to 1; all of it where nothing was counted.

    E. B. Wilson, Probable inference, the law of succession, and statistical
    inference, JASA 22 (1927).
    """
    if count == 0:
        return 0.0, 1.0
    share = successes / count
    spread = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    middle = share + Z * Z / (2 * count)
    scale = 1 + Z * Z / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def chosen_steps(steps: Sequence[StepRow], wanted: Sequence[int], *, most: int = 8) -> tuple[int, ...]:
    """Return the steps to try: those that are wanted, or else at most `most` spread over the whole run.

    Raises UsageError for a step that the run does not have.
    """
    there = [row.number for row in steps]
    if not there:
        raise UsageError("The run has no steps to go back to.")
    if wanted:
        missing = [number for number in wanted if number not in there]
        if missing:
            raise UsageError(f"The run has no step {missing[0]}; its steps are {there[0]} to {there[-1]}.")
        return tuple(sorted(dict.fromkeys(wanted)))
    if len(there) <= most:
        return tuple(there)
    places = {round(place * (len(there) - 1) / (most - 1)) for place in range(most)}
    return tuple(there[place] for place in sorted(places))


async def bisect(
    steps: Sequence[StepRow],
    chosen: Sequence[int],
    times: int,
    fork: Callable[[int], Awaitable[RunReport]],
) -> AsyncIterator[PrefixResult]:
    """Yield what comes of each chosen step, in their order; `fork` makes one branch from a step and ends it.

    A branch that cannot be made is told as a problem of its prefix.
    """
    actions = {row.number: row.action for row in steps}
    for step in chosen:
        reports: list[RunReport] = []
        problems: list[str] = []
        for _ in range(times):
            try:
                reports.append(await fork(step))
            except BackstepError as error:
                problems.append(str(error))
        problems += [one.error for one in reports if one.success is None and one.error]
        judged = [one for one in reports if one.success is not None]
        successes = sum(bool(one.success) for one in judged)
        low, high = wilson(successes, len(judged))
        yield PrefixResult(
            step=step,
            action=actions.get(step, ""),
            runs=tuple(one.run for one in reports if one.run is not None),
            successes=successes,
            judged=len(judged),
            low=low,
            high=high,
            problems=tuple(dict.fromkeys(problems)),
        )
