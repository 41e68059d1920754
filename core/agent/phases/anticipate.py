"""anticipate: remedies for the chosen action."""

from core.agent.records import Anticipated
from core.agent.state import RunState


def anticipate(state: RunState) -> Anticipated:
    """Presets without reflection prepare no remedies."""
    return Anticipated()
