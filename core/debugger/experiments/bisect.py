"""From which step on a run can still be brought to success: prefixes replayed, the rest done by an LLM, several times.

Nothing is taken for granted of the curve: an agent may well do better from a
later step than from an earlier one, so every chosen prefix is tried.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from core.debugger.experiments.bisect_records import Bisection, PrefixResult
from core.debugger.experiments.measurement import RunResult
from core.debugger.headless import RunReport
from core.schema.errors import UsageError
from core.trace.records import StepRow


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
    bisection: Bisection, steps: Sequence[StepRow], fork: Callable[[int], Awaitable[RunReport]]
) -> AsyncIterator[Bisection]:
    """Yield the bisection after each of its branches; `fork` makes one from a step and ends it.

    A branch that cannot be made is a problem of its prefix. Nothing is
    begun any more once a limit is reached, or a branch was interrupted.
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
