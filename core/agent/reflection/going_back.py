"""act, for going back to a step and for a new trial: the browser, and the agent as the remedy's entry holds it."""

from core.agent.policies.stack import Stack
from core.agent.prompting import Prompter
from core.agent.records import Acted, Scheduled
from core.agent.reflection.carrying_out import choose_element, entry_of
from core.agent.spaces.memory import SpaceMemory
from core.agent.state import RunState
from core.agent.world import World
from core.browser.checkpoints.checkpoint import Ground
from core.browser.checkpoints.comparing import load_volatile
from core.browser.checkpoints.identity import FoundAgain
from core.browser.checkpoints.restoring import restore
from core.browser.driver import TabDriver
from core.browser.page import PageGone
from core.environments.protocol import KeepsState
from core.errors import ActionError, BackstepError, BrowserError
from core.observation import Element, Observation


async def go_back(state: RunState, world: World, prompter: Prompter, scheduled: Scheduled) -> Acted:
    """Bring page and agent back to where the remedy starts from; the grade is the outcome.

    Policy stack, subtask and buffer are as the entry holds them. History,
    tried actions, notes and budgets run on. A page that is lost leaves the
    remedy dropped. Raises BrowserError where the browser has ended.
    """
    entry = entry_of(state, scheduled)
    checkpoint = state.reflection.checkpoints[entry.step]
    ground = _ground(state, world, prompter)
    restored = await restore(checkpoint, ground, volatile=load_volatile())
    world.tabs.take_events()
    state.capture = await world.read()
    state.stale = False
    state.inputs = list(checkpoint.inputs)
    if restored.grade == "lost":
        state.reflection.remedies = state.reflection.remedies.dropped(
            entry.number, f"The page of step {entry.step} could not be restored."
        )
        return Acted(effect="go back", outcome="failed", message=restored.sentence, restored=restored)
    if entry.stack is not None and state.stack.top is not None:
        state.stack = state.stack.back_to(entry.stack, step=state.number)
    state.memory = entry.memory
    plan = state.reflection.plan
    if plan is not None and entry.subtask is not None and entry.trial == state.trial:
        state.reflection.plan = plan.with_current(entry.subtask)
    state.reflection.scheduled = Scheduled(kind="remedy", entry=entry.number, why=scheduled.why)
    return Acted(effect="go back", outcome="done", message=restored.sentence, restored=restored)


async def new_trial(state: RunState, world: World) -> Acted:
    """Begin the task anew in a clean profile; raises BrowserError where the browser has ended."""
    try:
        await _reopen(state, world)
        state.capture = await world.read()
    except (ActionError, PageGone) as error:
        reason = str(error) or "The page went away meanwhile."
        return Acted(
            effect="go back", outcome="failed", message=f"The task could not be begun anew: {reason}"
        )
    state.stale = False
    reflection = state.reflection
    reflection.remedies = reflection.remedies.cleared(f"Trial {state.trial} has ended.")
    reflection.plan = None
    reflection.tried.clear()
    state.inputs = []
    reflection.trial_began = state.totals.page_actions
    reflection.calls_before_trial = state.totals.llm_calls
    state.stack = state.stack.left(step=state.number) if state.stack.top is not None else Stack()
    state.memory = SpaceMemory()
    state.history.clear()
    state.trail.clear()
    state.queue.clear()
    return Acted(effect="go back", outcome="done", message="The task was begun anew.")


async def _reopen(state: RunState, world: World) -> None:
    await world.tabs.open_profile(None)
    state.episode = await world.environment.open(
        state.episode.task, state.episode.seed, TabDriver(world.tabs)
    )
    world.tabs.take_events()


def _ground(state: RunState, world: World, prompter: Prompter) -> Ground:
    environment = world.environment
    keeps = environment if isinstance(environment, KeepsState) else None

    async def read() -> Observation:
        try:
            return (await world.read()).observation
        except BrowserError as error:
            raise ActionError(str(error)) from error

    async def reopen() -> None:
        try:
            await _reopen(state, world)
        except BrowserError:
            raise
        except BackstepError as error:
            raise ActionError(f"The task could not be begun anew: {error}") from error

    async def put_back(snapshot: str) -> None:
        assert keeps is not None
        state.episode = await keeps.restore(state.episode, TabDriver(world.tabs), snapshot)

    async def choose(element: Element, found: FoundAgain, now: Observation) -> Element | None:
        return await choose_element(state, prompter, element, found, [])

    return Ground(
        tabs=world.tabs,
        actor=world.actor,
        read=read,
        reopen=reopen,
        put_server_back=put_back if keeps is not None else None,
        server_state=(lambda: keeps.snapshot(state.episode)) if keeps is not None else None,
        choose=choose,
    )
