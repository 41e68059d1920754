"""observe: the page as it was last read, read anew where it has changed since."""

from core.agent.state import RunState
from core.agent.world import World
from core.schema.observation import Capture
from core.schema.step import Observed
from core.trace.store import TraceStore


class PageStore:
    """Stores the pages that a run observes; a page that is observed again is not written again."""

    def __init__(self, store: TraceStore, state: RunState) -> None:
        self._store = store
        self._state = state
        self._last: tuple[Capture, Observed] | None = None

    def save(self, capture: Capture, *, reused: bool = False) -> Observed:
        """Store the page with what the browser keeps for it, and return its record; raises TraceError."""
        state = self._state
        page = state.page if state.profile is None else state.page.without_logins()
        self._store.save_page(state.run, state.number, page.model_dump_json(exclude_defaults=True).encode())
        if self._last is None or self._last[0] is not capture:
            put = self._store.put_blob
            html = put(capture.html.encode(errors="replace"), "text/html") if capture.html else ""
            picture = put(capture.screenshot, "image/webp") if capture.screenshot else ""
            observed = Observed(observation=capture.observation, html=html, screenshot=picture)
            self._last = (capture, observed)
        return self._last[1].replace(reused=reused)


async def observe(state: RunState, world: World, pages: PageStore) -> Observed:
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
    return pages.save(capture, reused=reused)
