"""recall: exemplars for the prompt, at the start of the run and of each frame."""

from core.agent.abstraction.plain import clean_of
from core.agent.resources import AgentResources
from core.agent.state import RunState
from core.schema.errors import LibraryError, LLMError
from core.schema.exemplar import metadata_of
from core.schema.step import Recalled


async def recall(state: RunState, knowledge: AgentResources) -> Recalled:
    """Fetch exemplars by the objective and the page, once for each frame.

    An embedding server or a library that fails is told as the problem, and the step goes on
    without exemplars; it is asked again at the next one. Raises DataError for
    a file that is wrong.
    """
    if not state.is_on("memory"):
        return Recalled()
    known = state.recalled
    if known is not None and known.recall is not None:
        return Recalled(exemplars=known.exemplars, recalled_at=state.recalled_at[state.frame])
    settings = state.memory_settings
    query = metadata_of(" ".join(state.objectives[-1:]), clean_of(state.observation).text)
    try:
        found = await knowledge.memory.recall(query, settings, environment=state.episode.task.environment)
    except (LLMError, LibraryError) as error:
        return Recalled(problem=f"{error} The step goes on without exemplars.", recalled_at=state.number)
    recalled = Recalled(
        exemplars=tuple(one.id for one in found.used),
        recalled_at=state.number,
        recall=found,
        threshold=settings.threshold,
    )
    state.recalled_by_frame[state.frame] = recalled
    state.recalled_at[state.frame] = state.number
    return recalled
