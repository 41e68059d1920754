"""observe, recall and abstract: the page, its exemplars, and the part of it that the prompt shows."""

import asyncio

from core.agent.abstraction import clean_of, ranked_page, tokens_of
from core.agent.abstraction_by_llm import Abstractor, way_of
from core.agent.action_queue import check_queue
from core.agent.resources import AgentResources
from core.agent.state import RunState
from core.agent.world import World
from core.browser.checkpoints.page_state import PageState
from core.schema.errors import DataError, LibraryError, LLMError
from core.schema.exemplar import metadata_of
from core.schema.observation import Capture, picture_type
from core.schema.step import Abstracted, Observed, Recalled
from core.settings.settings import Pictures
from core.trace.store import TraceStore


class PageStore:
    """Stores the pages that a run observes; a page that is observed again is not stored again.

    If only pictures of failures are kept, they are held in memory until the run ends.
    """

    def __init__(self, store: TraceStore, state: RunState) -> None:
        self.pictures: Pictures = "all"
        self._store = store
        self._state = state
        self._last: tuple[Capture, Observed] | None = None
        self._held: dict[int, bytes] = {}
        """By the step's number."""

    def save(self, capture: Capture, *, reused: bool = False) -> Observed:
        """Store the page with what the browser keeps for it, and return its record; raises TraceError."""
        state = self._state
        page = state.page if state.profile is None else state.page.without_logins()
        self._store.pages.save(state.run, state.number, page.model_dump_json(exclude_defaults=True).encode())
        if self._last is None or self._last[0] is not capture:
            put = self._store.put_blob
            html = put(capture.html.encode(errors="replace"), "text/html") if capture.html else ""
            kept = capture.screenshot if self.pictures == "all" else b""
            picture = put(kept, picture_type(kept)) if kept else ""
            observed = Observed(observation=capture.observation, html=html, screenshot=picture)
            self._last = (capture, observed)
        if self.pictures == "failures" and capture.screenshot:
            self._held[state.number] = capture.screenshot
        return self._last[1].replace(reused=reused)

    def end(self, *, success: bool) -> None:
        """Store the pictures that were held back, unless the run is a success; raises TraceError."""
        if self._held and not success:
            self._store.pages.save_pictures(self._state.run, self._held)
        self._held = {}


async def observe(state: RunState, world: World, pages: PageStore) -> Observed:
    """Take the page as it was last read; read it again where it has changed since.

    What the browser and the environment's server keep for it is read with it.
    """
    capture = state.capture
    reused = False
    if capture is not None and not state.stale:
        # The picture comes first: it shows the page as it was read only if that has not changed by then.
        capture = await world.capturer.with_picture(capture)
        # Both are asked together: hardly ever has the page changed by itself.
        reused, state.page = await asyncio.gather(world.unchanged(capture), _kept(state, world))
    if capture is None or not reused:
        capture = await world.read()
        state.page = await world.page_state(state.episode)
    state.loaded_at.setdefault(capture.observation.document, state.number)
    capture = await world.capturer.with_picture(capture)
    state.capture = capture
    state.before = capture
    state.stale = False
    return pages.save(capture, reused=reused)


async def _kept(state: RunState, world: World) -> PageState:
    """Return what is kept for the page as it is now, read again where the browser was touched since."""
    if state.page.touched == world.touches.last:
        return state.page
    return await world.page_state(state.episode)


async def recall(state: RunState, resources: AgentResources) -> Recalled:
    """Fetch exemplars by the objective and the page, once for each frame.

    An embedding server, an index or a library that fails is reported as the problem, and the step continues
    without exemplars; it is asked again at the next one.
    """
    if not state.is_on("memory"):
        return Recalled()
    known = state.recalled
    if known is not None and known.recall is not None:
        if state.recalled_at[state.frame] == state.number:
            return known  # The phase is done again: the step's record has the whole of it.
        return Recalled(exemplars=known.exemplars, recalled_at=state.recalled_at[state.frame])
    settings = state.memory_settings
    query = metadata_of(" ".join(state.objectives[-1:]), clean_of(state.observation).text)
    try:
        found = await resources.memory.recall(query, settings, environment=state.episode.task.environment)
    except (LLMError, LibraryError, DataError) as error:
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


async def abstract(state: RunState, world: World, abstractor: Abstractor) -> Abstracted:
    """Make the clean observation as the preset has it: by ranking, by the LLM, or cut to what fits.

    An LLM is not asked where the step needs no prompt: with actions waiting in
    the queue, or something scheduled. Raises LLMError and DataError.
    """
    check_queue(state)
    abstracted = abstract_without_llm(state)
    if abstracted is None:
        explicit = way_of(state) == "explicit"
        abstracted = await (abstractor.explicit(state) if explicit else abstractor.implicit(state, world))
    state.clean, state.abstracted = abstracted.clean, abstracted
    return abstracted


def abstracts_by_llm(state: RunState) -> bool:
    """Return whether the LLM makes the clean observation of this step."""
    asked = not state.queue and state.reflection.scheduled is None and state.own_observation is None
    return state.is_on("abstraction") and asked and way_of(state) != "ranked"


def abstract_without_llm(state: RunState) -> Abstracted | None:
    """Make the clean observation where no LLM is asked for it; None if one is."""
    if abstracts_by_llm(state):
        return None
    if state.own_observation is not None:
        abstracted = state.own_observation
    elif keep := _kept_elements(state):
        abstracted = ranked_page(state.observation, state.ranked_by, keep=keep)
    else:
        shown = clean_of(state.observation)
        abstracted = Abstracted(clean=shown, tokens=tokens_of(shown))
    state.clean = abstracted.clean
    return abstracted


def _kept_elements(state: RunState) -> int:
    """Return how many elements are kept at most, or 0 if the page is not ranked."""
    ranked = state.is_on("abstraction") and way_of(state) == "ranked"
    limits = (state.abstraction_settings.keep if ranked else None, state.shortened.elements)
    return min((limit for limit in limits if limit is not None), default=0)
