"""Bisect: from which step on a run can still succeed.

The run is taken up again from several of its steps, and the LLM does the rest, several times. The success rate
need not fall with the step, as an agent may do better from a later one: so every chosen step is tried.
"""

from collections.abc import Sequence
from textwrap import shorten

from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import Share, done_of
from core.debugger.evaluations.records import BisectRequest, EvaluationPlan, Variant
from core.schema.changes import Changes
from core.schema.errors import TraceError, UsageError
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import all_evaluations
from core.trace.records import ATTACHED_NAME, StepRow
from core.trace.store import TraceStore

_SPREAD = 8
"""Steps that are tried of a run if nothing else is asked for."""
_LONGEST_ACTION = 60


def bisect_plan(request: BisectRequest, store: TraceStore) -> EvaluationPlan:
    """Return what is to be done.

    Raises UsageError for a step that the run lacks or a program that cannot be started again, and TraceError.
    """
    row, steps = store.run(request.run), store.steps(request.run)
    chosen = chosen_steps(steps, request.steps, every=request.every)
    for step in chosen:
        store.agent(row.run, step)
    if (request.preset or row.preset) == ATTACHED_NAME:
        from core.debugger.attach.agent import agent_of, check_agent  # Loads servers and clients.

        check_agent(agent_of(store, row))
    actions = {step.number: shorten(step.action, _LONGEST_ACTION, placeholder="…") for step in steps}
    return EvaluationPlan(
        kind="bisect",
        run=row.run,
        variants=tuple(
            Variant(
                preset=request.preset or row.preset,
                llm=request.llm or row.llm,
                title=f"from step {step}: {actions[step] or 'no action'}",
                asked=Changes(preset=request.preset, llm=request.llm),
                run=row.run,
                step=step,
            )
            for step in chosen
        ),
        tasks=(row.task,),
        seeds=(row.seed,),
        times=request.times,
    )


def chosen_steps(steps: Sequence[StepRow], asked: Sequence[int], *, every: int = 0) -> tuple[int, ...]:
    """Return the steps to try: those that were asked for, every `every`-th, or else some of the whole run.

    Raises UsageError for a step that the run does not have.
    """
    there = [row.number for row in steps]
    if not there:
        raise UsageError("The run has no steps to go back to.")
    if missing := [number for number in asked if number not in there]:
        raise UsageError(f"The run has no step {missing[0]}; its steps are {there[0]} to {there[-1]}.")
    if asked:
        return tuple(sorted(set(asked)))
    if every or len(there) <= _SPREAD:
        return tuple(there[:: every or 1])
    places = {round(place * (len(there) - 1) / (_SPREAD - 1)) for place in range(_SPREAD)}
    return tuple(there[place] for place in sorted(places))


def bisected(store: TraceStore, run: int) -> dict[int, Share]:
    """Return how often a run succeeded from each step, by its last bisection in which it did from any."""
    for row in store.ask(all_evaluations):
        try:
            plan = planned(row)
        except TraceError:
            continue  # Another program has written it.
        if (plan.kind, plan.run) != ("bisect", run):
            continue
        runs = done_of(evaluated_runs(store, row.number))
        shares = {
            variant.step: Share.of([made for made in runs if made.variant == variant.name])
            for variant in plan.variants
        }
        if any(share.successes for share in shares.values()):
            return shares
    return {}
