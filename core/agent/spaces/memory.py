"""What an action changes in the memory of a run through a state space."""

from collections.abc import Mapping

from core.agent.spaces.file import PLACEHOLDER, SpaceAction, SpaceState
from core.schema.progress import SetAside, SpaceMemory


def memory_after(
    memory: SpaceMemory,
    action: SpaceAction,
    arguments: Mapping[str, str],
    state: SpaceState,
    *,
    step: int,
    thought: str,
    url: str,
    title: str,
) -> SpaceMemory:
    """Return the memory once `action` was carried out in `state`."""
    remembered = dict(memory.remembered)
    buffer = memory.buffer
    if action.sets_aside:
        candidate = remembered.get(state.candidate, "")
        if candidate:
            entry = SetAside(candidate=candidate, url=url, title=title, reason=thought, step=step)
            buffer = (*(one for one in buffer if one.candidate != candidate), entry)
    for name, template in action.remembers.items():
        value = PLACEHOLDER.sub(lambda match: arguments.get(match[1], ""), template).strip()
        if value:
            remembered[name] = value
        else:
            remembered.pop(name, None)
    looked_at = memory.looked_at
    marked = arguments.get(action.marks, "") if action.marks else ""
    if marked and marked not in looked_at:
        looked_at = (*looked_at, marked)
    changed = memory.replace(remembered=remembered, looked_at=looked_at, buffer=buffer)
    return changed.moved(step=step, source=state.name, action=action.name)
