"""The queue of a reply's further actions: when it is dropped, and how the LLM and the person are told."""

from core.agent.state import RunState
from core.schema.messages import Turn


def check_queue(state: RunState) -> None:
    """Drop the queue where the page demands a new look: a new document, or the next action not permissible."""
    if not state.queue:
        return
    if state.observation.document != state.queue_url:
        drop_queue(state, "The page they were meant for was replaced by another one.")
    elif problem := state.permissible.problem(state.queue[0]):
        drop_queue(state, problem)


def drop_queue(state: RunState, why: str) -> None:
    """Empty the queue; the next decision tells the LLM and the person what was dropped, and `why`."""
    if not state.queue:
        return
    actions = "; ".join(str(action) for action in state.queue)
    few = "An action" if len(state.queue) == 1 else f"{len(state.queue)} actions"
    state.queue_cut = (
        f"{few} of the same reply {'was' if len(state.queue) == 1 else 'were'} not done: {actions}. {why}"
    )
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
