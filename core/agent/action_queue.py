"""The queue of a reply's further actions: when it is dropped, and how the LLM and the person are told."""

from collections.abc import Iterable

from core.agent.state import RunState
from core.schema.action import Action, Stop
from core.schema.action_space import Permissible
from core.schema.messages import Turn


def check_queue(state: RunState) -> None:
    """Drop the queue where it was meant for something else: another document, policy or trial, or other actions."""
    if not state.queue:
        return
    if state.trial != state.queue_trial:
        drop_queue(state, "They were meant for an earlier trial.")
    elif state.frame != state.queue_frame:
        drop_queue(state, "They were meant by another policy.")
    elif state.observation.document != state.queue_url:
        drop_queue(state, "The page they were meant for was replaced by another one.")
    elif problem := state.permissible.problem(state.queue[0]):
        drop_queue(state, problem)


def fill_queue(state: RunState, actions: Iterable[Action]) -> None:
    """Have these actions follow the next one, as long as page, policy and trial stay the same."""
    state.queue = list(actions)
    state.queue_url, state.queue_frame, state.queue_trial = (
        state.observation.document,
        state.frame,
        state.trial,
    )


def stands_alone(action: Action, permissible: Permissible) -> bool:
    """Return whether nothing of the same reply goes before or after an action: a stop, or the call of a policy.

    What follows them is decided by another policy or by nobody, and what goes before them is to be seen first.
    """
    allowed = permissible.action(action.name)
    return isinstance(action, Stop) or (allowed is not None and allowed.origin == "policy")


def drop_queue(state: RunState, why: str) -> None:
    """Empty the queue; the next decision tells the LLM and the person what was dropped, and `why`."""
    if not state.queue:
        return
    actions = "; ".join(str(action) for action in state.queue)
    few = (
        "An action that was to follow was"
        if len(state.queue) == 1
        else f"{len(state.queue)} actions that were to follow were"
    )
    state.queue_cut = f"{few} not done: {actions}. {why}"
    state.queue.clear()


def tell_cut(state: RunState) -> None:
    """Have prompts tell, with the outcome of the last step, what of the queue was dropped since."""
    cut, last = state.queue_cut, state.history[-1].number if state.history else 0
    if not cut:
        return

    def told(turn: Turn) -> Turn:
        if turn.number != last or cut in turn.result:
            return turn
        unjudged = f"{turn.unjudged.removesuffix('.')}. {cut}" if turn.unjudged else ""
        return turn.replace(result=f"{turn.result.removesuffix('.')}. {cut}", unjudged=unjudged)

    state.history[-1:] = [told(turn) for turn in state.history[-1:]]
    if (top := state.stack.top) is not None:
        state.stack = state.stack.edited(top.replace(history=tuple(told(turn) for turn in top.history)))
    if state.trail and state.trail[-1].frame == state.frame and cut not in state.trail[-1].results:
        state.trail[-1].results.append(cut)
