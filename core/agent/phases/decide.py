"""decide: ask for a thought and an action, or take what is scheduled, and put it up for review."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from core.agent.decision import Decider
from core.agent.prompt_builder import Prompter
from core.agent.reflection.questions import make_plan
from core.agent.reflection.scheduled import ScheduledSteps
from core.agent.reflection.snapshot import told
from core.agent.state import Pending, RunState
from core.schema.step import Decided, Origin

S = TypeVar("S")
T = TypeVar("T")


async def decide(
    state: RunState, decider: Decider, carrying_out: ScheduledSteps, prompter: Prompter
) -> Decided:
    """Return the proposal, which is pending from now on; raises LLMError and DataError.

    A plan that is due comes first; in fast mode it is asked for while the
    first action is, which then is chosen without it.
    """
    origin: Origin = "agent"
    if (scheduled := state.reflection.scheduled) is not None:
        decided = await carrying_out.decide(state, scheduled)
        origin = "agent" if scheduled.kind == "answer" else "remedy"
    else:
        problem = ""
        plan_is_due = state.is_on("plan") and state.reflection.plan is None
        overlap = state.overlap and state.judgement_settings.mode == "fast"
        if plan_is_due and overlap and prompter.asker.at_once("plan"):
            problem, decided = await _both(make_plan(state, prompter), decider.decide(state))
        else:
            if plan_is_due:
                problem = await make_plan(state, prompter)
            decided = await decider.decide(state)
        decided = decided.replace(problem=problem, reflection=told(state))
    proposal = decided.proposal
    state.last_proposal = proposal
    state.from_queue = decided.from_queue
    state.queue = list(decided.queue)
    state.queue_url = state.observation.document
    state.pending = Pending(
        action=proposal.action,
        thought=proposal.thought,
        proposed=proposal.action,
        problem=proposal.problem,
        origin=origin,
    )
    return decided


async def _both(first: Coroutine[Any, Any, S], second: Coroutine[Any, Any, T]) -> tuple[S, T]:
    """Return what two questions came to that are asked at once; where one fails the other is withdrawn."""
    one, other = asyncio.ensure_future(first), asyncio.ensure_future(second)
    try:
        return await one, await other
    except BaseException:
        for task in (one, other):
            task.cancel()
        await asyncio.gather(one, other, return_exceptions=True)
        raise
