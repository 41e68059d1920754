"""align: whether the action served its purpose."""

from core.agent.records import Aligned
from core.agent.state import RunState


def align(state: RunState) -> Aligned:
    """Presets without reflection judge nothing."""
    return Aligned()
