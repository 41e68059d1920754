"""abstract: from the observation to the clean one, which the prompt shows."""

from core.agent.abstraction.ranked import ranked
from core.agent.clean import clean_of, tokens_of
from core.agent.presets import AbstractionTable
from core.agent.records import Abstracted
from core.agent.state import RunState


def abstract(state: RunState) -> Abstracted:
    """Make the clean observation as the preset has it: ranked by the task's words, or cut to what fits."""
    if state.is_on("abstraction"):
        settings = state.preset.abstraction or AbstractionTable()
        state.clean = ranked(state.observation, state.objectives, keep=settings.keep)
        how = f"ranked by the words of the task, {settings.keep} elements kept"
    else:
        state.clean = clean_of(state.observation)
        how = ""
    return Abstracted(clean=state.clean, tokens=tokens_of(state.clean), how=how)
