"""act, for going back to a step and for a new trial: the browser, and the agent as the remedy's entry holds it."""

from core.agent.policies.stack import Stack
from core.agent.prompt_builder import Prompter
from core.agent.reflection.scheduled import entry_of
from core.agent.restore_context import reopen, restore_context_of
from core.agent.run_history import RunHistory
from core.agent.state import RunState
from core.agent.world import World
from core.browser.channel import PageGone
from core.browser.checkpoints.comparison import load_volatile
from core.browser.checkpoints.restoring import restore
from core.schema.errors import ActionError
from core.schema.progress import SpaceMemory
from core.schema.step import Acted, Scheduled


async def go_back(
    state: RunState, world: World, prompter: Prompter, scheduled: Scheduled, past: RunHistory
) -> Acted:
    """Bring page and agent back to where the remedy starts from; the grade is the outcome.

    Policy stack, subtask and buffer are as the entry holds them. History,
    tried actions, notes and budgets run on. A page that is lost leaves the
    remedy dropped. Raises BrowserError where the browser has ended.
    """
    entry = entry_of(state, scheduled)
    checkpoint = past.checkpoint(entry.step)
    restored = await restore(
        checkpoint, restore_context_of(state, world, prompter, past), volatile=load_volatile()
    )
    world.tabs.take_events()
    world.tabs.network.drop()
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
    """Begin the task anew, in a clean profile unless the run has a named one.

    Raises BrowserError where the browser has ended.
    """
    try:
        await reopen(state, world)
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
    state.loaded_at.clear()
    reflection.trial_began = state.totals.page_actions
    reflection.calls_before_trial = state.totals.llm_calls
    state.stack = state.stack.left(step=state.number) if state.stack.top is not None else Stack()
    state.memory = SpaceMemory()
    state.history.clear()
    state.trail.clear()
    state.queue.clear()
    return Acted(effect="go back", outcome="done", message="The task was begun anew.")
