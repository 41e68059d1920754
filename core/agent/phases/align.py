"""align: whether the action served its purpose, and what follows from that."""

from collections.abc import Awaitable, Callable

from core.agent.reflection.alignment import AlignmentJudge
from core.agent.reflection.consequences import backtrack, follow
from core.agent.reflection.snapshot import told
from core.agent.state import RunState
from core.schema.step import Aligned


async def align(
    state: RunState, judge: AlignmentJudge, take_remedies: Callable[[], Awaitable[None]]
) -> Aligned:
    """Judge the step's action where the preset has it so; raises LLMError and DataError with nothing judged.

    `take_remedies` waits for remedies that are still being asked for: the
    judgement does not need them, what follows from it does.
    """
    aligned = await _judged(state, judge)
    await take_remedies()
    if aligned is None:
        aligned = _unjudged(state)
    else:
        follow(state, aligned)
    state.aligned = aligned
    return aligned.replace(reflection=told(state))


async def _judged(state: RunState, judge: AlignmentJudge) -> Aligned | None:
    acted, doing = state.acted, state.reflection.doing
    if acted is None or not state.is_on("judgement") or acted.episode_ended or acted.outcome == "skipped":
        return None
    remedy = doing is not None and doing.kind == "remedy"
    if acted.effect != "page action" and not (remedy and acted.outcome == "failed"):
        return None
    return await judge.judge(state)


def _unjudged(state: RunState) -> Aligned:
    """Take note of what became of a scheduled step."""
    acted, doing = state.acted, state.reflection.doing
    remedies = state.reflection.remedies
    if doing is not None and acted is not None and doing.kind in ("go back", "remedy"):
        if acted.outcome == "skipped" or state.pending.origin == "person":
            state.reflection.remedies = remedies.dropped(doing.entry, "The person did not want it.")
        elif doing.kind == "remedy":
            state.reflection.remedies = remedies.tried(doing.entry, f"At step {state.number}.")
        elif acted.outcome == "failed":
            backtrack(state, acted.message)
    return Aligned()
