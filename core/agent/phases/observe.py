"""observe: the page as it was last read, read anew where it has changed since."""

from core.agent.state import RunState
from core.agent.world import World
from core.schema.observation import Capture
from core.schema.step import Observed


async def observe(state: RunState, world: World) -> tuple[Observed, Capture]:
    """Take the page as it was last read; read it anew where it has changed since.

    What the browser and the environment's server keep for it is read with it.
    """
    capture = state.capture
    reused = capture is not None and not state.stale and await world.unchanged(capture)
    if capture is None or not reused:
        capture = await world.read()
    if not reused or state.page.touched != world.touches.last:
        state.page = await world.page_state(state.episode)
    state.loaded_at.setdefault(capture.observation.document, state.number)
    capture = await world.capturer.with_picture(capture)
    state.capture = capture
    state.before = capture
    state.stale = False
    return Observed(observation=capture.observation, reused=reused), capture
