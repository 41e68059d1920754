"""decide and review: the proposal, gates and the person's decision, and the resulting action."""

from collections.abc import Awaitable, Callable
from typing import Literal

from core.agent.action_queue import check_queue, fill_queue, tell_cut
from core.agent.fitting import told
from core.agent.general_space import label_of
from core.agent.going_back import ScheduledSteps, stays_done
from core.agent.llm_calls import together
from core.agent.policies.stack import place_of_page
from core.agent.prompt_builder import Prompter
from core.agent.reflection.consequences import reflection_record
from core.agent.reflection.plan import make_plan
from core.agent.resources import AgentResources
from core.agent.state import Pending, RunState
from core.agent.world import World
from core.schema.action import Action, Backtrack, Named, NewTrial
from core.schema.record import Record
from core.schema.restore import not_taken_back
from core.schema.step import Decided, Origin, Reviewed


async def decide(
    state: RunState,
    chosen: Callable[[RunState], Awaitable[Decided]],
    carrying_out: ScheduledSteps,
    prompter: Prompter,
) -> Decided:
    """Return the proposal, which `chosen` gives, and which is pending from now on; raises LLMError and DataError.

    A plan that is due comes first; in fast mode it is asked for while the
    first action is, which then is chosen without it.
    """
    origin: Origin = "agent"
    check_queue(state)
    tell_cut(state)
    if (scheduled := state.reflection.scheduled) is not None:
        decided = await carrying_out.decide(state, scheduled)
        origin = "agent" if scheduled.kind == "answer" else "remedy"
    else:
        problem = ""
        plan_is_due = state.is_on("plan") and state.reflection.plan is None
        overlap = state.overlap and state.judgement_settings.mode == "fast"
        if plan_is_due and overlap and prompter.asker.at_once("plan"):
            problem, decided = await together(make_plan(state, prompter), chosen(state))
        else:
            if plan_is_due:
                problem = await make_plan(state, prompter)
            decided = await chosen(state)
        decided = decided.replace(problem=problem, reflection=reflection_record(state))
    left_out = told(state)
    if state.queue_cut or left_out:
        decided = decided.replace(cut=f"{state.queue_cut} {left_out}".strip())
    proposal = decided.proposal
    state.last_proposal = proposal
    state.from_queue = decided.from_queue
    fill_queue(state, decided.queue)
    state.pending = Pending(
        action=proposal.action,
        thought=proposal.thought,
        proposed=proposal.action,
        problem=proposal.problem,
        remark=proposal.remark,
        origin=origin,
    )
    return decided


# review


class HeldGate(Record):
    """Why the pending action stops at a gate."""

    kind: Literal["undo", "loop", "effects", "hint"]
    """``undo``: it cannot be undone. ``loop``: it calls a policy again with nothing new. ``effects``: it goes back
    to before something that stays done, or starts the task again after it. ``hint``: the LLM itself says that it
    cannot be undone."""
    reason: str
    """In words; of ``effects`` a whole clause, of ``loop`` whole sentences."""


def gate_of(state: RunState, world: World, resources: AgentResources) -> HeldGate | None:
    """Return the gate that the pending action must stop at, or None."""
    action = state.pending.action
    if action is None or state.pending.skip:
        return None
    if loop := _loop(state, resources, action):
        return HeldGate(kind="loop", reason=loop)
    if isinstance(action, Backtrack | NewTrial):
        return _effects(state, world, action)
    environment = state.episode.task.environment
    reason = world.gates.reason(action, label_of(state.observation, action), state.permissible, environment)
    if reason is not None:
        return HeldGate(kind="undo", reason=reason)
    hint = world.gates.hint(state.pending.thought, environment) if action.in_page else ""
    return HeldGate(kind="hint", reason=f"the LLM says “{hint}”") if hint else None


def _effects(state: RunState, world: World, action: Backtrack | NewTrial) -> HeldGate | None:
    if state.remedy_settings.effects == "allow":
        return None
    if isinstance(action, NewTrial):
        step, doing = state.reflection.trial_step, "A new trial"
    else:
        step, doing = action.step, f"Going back to step {action.step}"
    reason = not_taken_back(doing, stays_done(state, world, step))
    return HeldGate(kind="effects", reason=reason) if reason else None


def review(state: RunState) -> Reviewed:
    """Let the pending action leave, with whose it is."""
    pending = state.pending
    action = None if pending.skip else pending.action
    return Reviewed(
        origin=pending.origin,
        action=action,
        proposed=pending.proposed if pending.edited or pending.skip else None,
        thought=pending.thought,
        edited=pending.edited,
        note=pending.note,
    )


def _loop(state: RunState, resources: AgentResources, action: Action) -> str:
    allowed = state.permissible.action(action.name) if isinstance(action, Named) else None
    if allowed is None or allowed.origin != "policy" or state.stack.top is None:
        return ""
    assert isinstance(action, Named)
    caller = resources.policies.get(state.stack.top.policy)
    called = resources.policies.called(
        caller, action.name, state.episode.task.environment, state.observation.url
    )
    refusal = state.stack.refusal(called.id, called.name, action.arguments, place_of_page(state.observation))
    return refusal.sentence if refusal is not None and refusal.kind == "loop" else ""
