"""The live browser as bringing a page back needs it, with what only the environment and the agent can do."""

from dataclasses import replace

from core.agent.prompt_builder import Prompter
from core.agent.reflection.scheduled import choose_element
from core.agent.run_history import RunHistory
from core.agent.state import RunState
from core.agent.world import World
from core.browser.capturer import Capturer
from core.browser.checkpoints.checkpoint import RestoreContext
from core.browser.checkpoints.comparison import load_volatile
from core.browser.checkpoints.page_state import TabHistory
from core.browser.driver import TabDriver
from core.schema.element_identity import FoundAgain
from core.schema.errors import ActionError, BackstepError, BrowserError
from core.schema.observation import Element, Observation


async def reopen(state: RunState, world: World) -> None:
    """Begin the task anew: in a clean profile, or in the named one that the run has."""
    world.follow_network(state.episode.task)
    await world.tabs.open_profile(state.profile)
    state.episode = await world.environment.open(
        state.episode.task, state.episode.seed, TabDriver(world.tabs)
    )
    world.touches.touch()
    world.tabs.take_events()


def restore_context_of(state: RunState, world: World, prompter: Prompter, past: RunHistory) -> RestoreContext:
    """Return what bringing a page back works with."""
    keeps = world.keeper
    # Nobody looks at a picture of a page that is only compared.
    plain = Capturer(world.tabs.host, hidden=world.capturer.hidden, pictures=False)
    reading = replace(world, capturer=plain)

    async def read() -> Observation:
        try:
            return (await reading.read()).observation
        except BrowserError as error:
            raise ActionError(str(error)) from error

    async def begin_anew() -> None:
        try:
            await reopen(state, world)
        except BrowserError:
            raise
        except BackstepError as error:
            raise ActionError(f"The task could not be begun anew: {error}") from error

    async def begin_here() -> None:
        try:
            history = await TabHistory.read(world.tabs.current)
            await history.go_to_first(world.tabs)
            state.episode = await world.environment.open(
                state.episode.task, state.episode.seed, TabDriver(world.tabs)
            )
        except BrowserError:
            raise
        except BackstepError as error:
            raise ActionError(f"The task could not be begun anew: {error}") from error

    async def put_back(snapshot: str) -> None:
        assert keeps is not None
        try:
            state.episode = await keeps.restore(state.episode, TabDriver(world.tabs), snapshot)
        except BrowserError:
            raise
        except BackstepError as error:
            raise ActionError(f"The site's state could not be put back: {error}") from error

    async def choose(element: Element, found: FoundAgain, now: Observation) -> Element | None:
        return await choose_element(state, prompter, element, found, [])

    return RestoreContext(
        tabs=world.tabs,
        actor=world.actor,
        read=read,
        reopen=begin_anew,
        put_server_back=put_back if keeps is not None else None,
        server_state=(lambda: keeps.snapshot(state.episode)) if keeps is not None else None,
        page_state=lambda: world.page_state(state.episode),
        touched=lambda: world.touches.last,
        touch=world.touches.touch,
        # What a seed decides repeats itself, harms nobody, and is made and kept by the page's scripts.
        begin_here=begin_here if state.episode.task.seeded else None,
        clean=state.profile is None,
        own_cookies=keeps.session_cookies if keeps is not None else (),
        choose=choose,
        stable_url=load_volatile().url,
        body=past.body,
    )
