"""recall: exemplars for the prompt."""

from core.agent.records import Recalled
from core.agent.state import RunState


def recall(state: RunState) -> Recalled:
    """Presets without memory recall nothing."""
    return Recalled()
