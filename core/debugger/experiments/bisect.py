"""From which step on a run can still be brought to success: prefixes replayed, the rest done by an LLM, several times.

Nothing is taken for granted of the curve: an agent may well do better from a
later step than from an earlier one, so every chosen prefix is tried.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from core.debugger.experiments.bisect_records import BranchResult, PrefixResult
from core.debugger.experiments.confidence import wilson
from core.debugger.headless import RunReport
from core.schema.errors import BackstepError, UsageError
from core.trace.records import StepRow


def chosen_steps(
    steps: Sequence[StepRow], wanted: Sequence[int], *, every: int = 0, most: int = 8
) -> tuple[int, ...]:
    """Return the steps to try: those that are wanted, every `every`-th, or else at most `most` of the whole run.

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
    if every:
        return tuple(there[::every])
    if len(there) <= most:
        return tuple(there)
    places = {round(place * (len(there) - 1) / (most - 1)) for place in range(most)}
    return tuple(there[place] for place in sorted(places))


async def bisect(
    steps: Sequence[StepRow],
    chosen: Sequence[int],
    times: int,
    fork: Callable[[int], Awaitable[RunReport]],
    *,
    on_branch: Callable[[PrefixResult], None] = lambda so_far: None,
    enough: Callable[[], str] = lambda: "",
) -> AsyncIterator[PrefixResult]:
    """Yield what comes of each chosen step, in their order; `fork` makes one branch from a step and ends it.

    A branch that cannot be made is told as a problem of its prefix. `on_branch`
    is told of a prefix after each of its branches. Nothing is begun any more
    once `enough` gives a reason, or a branch was interrupted.
    """
    actions = {row.number: row.action for row in steps}
    for step in chosen:
        result = PrefixResult(step=step, action=actions.get(step, ""))
        for _ in range(times):
            if enough():
                break
            result = _with_branch(result, await _branch(fork, step))
            on_branch(result)
            if result.branches[-1].outcome == "interrupted":
                yield result
                return
        if not result.branches:
            return
        yield result


async def _branch(fork: Callable[[int], Awaitable[RunReport]], step: int) -> BranchResult:
    try:
        report = await fork(step)
    except BackstepError as error:
        return BranchResult(outcome="error", error=str(error))
    values = report.model_dump(include=set(BranchResult.model_fields))
    return BranchResult.model_validate(values)


def _with_branch(result: PrefixResult, branch: BranchResult) -> PrefixResult:
    branches = (*result.branches, branch)
    judged = [one for one in branches if one.success is not None]
    successes = sum(bool(one.success) for one in judged)
    low, high = wilson(successes, len(judged))
    problems = [one.error for one in branches if one.success is None and one.error]
    return result.replace(
        branches=branches,
        runs=tuple(one.run for one in branches if one.run is not None),
        successes=successes,
        judged=len(judged),
        low=low,
        high=high,
        problems=tuple(dict.fromkeys(problems)),
    )
