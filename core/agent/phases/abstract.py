"""abstract: from the observation to the clean one, which the prompt shows."""

from core.agent.abstraction.by_llm import Abstractor
from core.agent.abstraction.plain import clean_of, tokens_of
from core.agent.abstraction.ranking import ranked
from core.agent.state import RunState
from core.agent.world import World
from core.schema.step import Abstracted


async def abstract(state: RunState, world: World, abstractor: Abstractor) -> Abstracted:
    """Make the clean observation as the preset has it: by ranking, by the LLM, or cut to what fits.

    An LLM is not asked where the step needs no prompt: with actions waiting in
    the queue, or something scheduled. Raises LLMError and DataError.
    """
    state.check_queue()
    abstracted = await _abstracted(state, world, abstractor)
    state.clean = abstracted.clean
    return abstracted


def asks_llm(state: RunState) -> bool:
    """Return whether the LLM makes the clean observation of this step."""
    asked = not state.queue and state.reflection.scheduled is None
    return state.is_on("abstraction") and state.abstraction_settings.how != "ranked" and asked


async def _abstracted(state: RunState, world: World, abstractor: Abstractor) -> Abstracted:
    settings = state.abstraction_settings
    if asks_llm(state):
        return await (
            abstractor.explicit(state) if settings.how == "explicit" else abstractor.implicit(state, world)
        )
    if state.is_on("abstraction") and settings.how == "ranked":
        plan = state.reflection.plan
        subtask = plan.current.text if plan is not None and plan.current is not None else ""
        clean = ranked(state.observation, (*state.objectives, subtask), keep=settings.keep)
        how = f"ranking by the words of the task, {settings.keep} elements kept"
    else:
        clean, how = clean_of(state.observation), ""
    return Abstracted(clean=clean, tokens=tokens_of(clean), how=how)
