"""review: where the gates and the person come in, and the action that leaves."""

from typing import Literal

from core.agent.general_space import label_of
from core.agent.policies.frame import place_of_page
from core.agent.resources import AgentResources
from core.agent.state import RunState
from core.agent.world import World
from core.schema.action import Action, Backtrack, Named
from core.schema.record import Record
from core.schema.restore import told_of
from core.schema.step import Reviewed


class HeldGate(Record):
    """Why the pending action must not simply happen."""

    kind: Literal["undo", "loop", "effects", "hint"]
    """``undo``: it cannot be undone. ``loop``: it calls a policy again with nothing new. ``effects``: it goes back
    to before something that stays done. ``hint``: the LLM itself says that it cannot be undone."""
    reason: str


def gate_of(state: RunState, world: World, knowledge: AgentResources) -> HeldGate | None:
    """Return the gate that the pending action must stop at, or None."""
    action = state.pending.action
    if action is None or state.pending.skip:
        return None
    if loop := _loop(state, knowledge, action):
        return HeldGate(kind="loop", reason=loop)
    if isinstance(action, Backtrack):
        return _effects(state, world, action)
    environment = state.episode.task.environment
    reason = world.gates.reason(action, label_of(state.observation, action), state.permissible, environment)
    if reason is not None:
        return HeldGate(kind="undo", reason=reason)
    hint = world.gates.hint(state.pending.thought, environment) if action.in_page else ""
    return HeldGate(kind="hint", reason=f"the LLM says of it “{hint}”") if hint else None


def _effects(state: RunState, world: World, action: Backtrack) -> HeldGate | None:
    if state.remedy_settings.effects == "allow":
        return None
    lasting = world.lasting(state.sent, action.step, state.episode)
    return HeldGate(kind="effects", reason=told_of(lasting)) if lasting else None


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


def _loop(state: RunState, knowledge: AgentResources, action: Action) -> str:
    allowed = state.permissible.action(action.name) if isinstance(action, Named) else None
    if allowed is None or allowed.origin != "policy" or state.stack.top is None:
        return ""
    assert isinstance(action, Named)
    caller = knowledge.policies.get(state.stack.top.policy)
    called = knowledge.policies.called(
        caller, action.name, state.episode.task.environment, state.observation.url
    )
    refusal = state.stack.refusal(called.id, called.name, action.arguments, place_of_page(state.observation))
    return refusal.sentence if refusal is not None and refusal.kind == "loop" else ""
