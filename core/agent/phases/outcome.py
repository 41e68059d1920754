"""align and commit: what became of the action, what follows from that, and the sealed step."""

from collections.abc import Awaitable, Callable

from core.agent.policies.stack import place_of_page
from core.agent.reflection.alignment import AlignmentJudge
from core.agent.reflection.consequences import backtrack, follow, reflection_record
from core.agent.spaces.recognition import recognise_state
from core.agent.state import RunState, TrailStep
from core.schema.messages import Turn
from core.schema.step import Aligned, Committed


async def align(
    state: RunState, judge: AlignmentJudge, take_remedies: Callable[[], Awaitable[None]]
) -> Aligned:
    """Judge the step's action where the preset has it so; raises LLMError and DataError with nothing judged.

    `take_remedies` waits for remedies that are still being asked for: the
    judgement does not need them, what follows from it does.
    """
    aligned = await _judgement(state, judge)
    await take_remedies()
    if aligned is None:
        aligned = _unjudged(state)
    else:
        follow(state, aligned)
    state.aligned = aligned
    return aligned.replace(reflection=reflection_record(state))


async def _judgement(state: RunState, judge: AlignmentJudge) -> Aligned | None:
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


def commit(state: RunState) -> Committed:
    """Tell the step to history and to the policy at work; say where the run has come to a stopping state."""
    acted, pending = state.acted, state.pending
    action = pending.action
    if acted is not None:
        if acted.effect == "none" and acted.outcome != "done" and not (pending.skip and not pending.refused):
            # What cannot be used, or was refused, takes a place in the budget: else it could go on for ever.
            state.totals.page_actions += 1
        result: str = acted.outcome
        if acted.message:
            result = f"{result}: {acted.message}" if acted.outcome != "done" else f"done. {acted.message}"
        if remark := state.last_proposal.remark:
            result = f"{result.removesuffix('.')}. {remark}"
        result += _judged(state)
        turn = Turn(
            number=state.number,
            thought=pending.thought,
            action=str(action) if action is not None else "",
            target=acted.target,
            result=result,
            url=state.clean.url if state.clean else "",
        )
        state.history.append(turn)
        if state.stack.top is not None and acted.effect not in ("push", "pop", "stop"):
            place = place_of_page(state.observation) if acted.effect == "page action" else None
            state.stack = state.stack.record(turn, place)
        if acted.outcome != "done":
            state.queue.clear()
        _tell_trail(state, turn)
    return Committed(
        seconds=round(state.clock.active, 4),
        seconds_in_llm=round(state.clock.in_llm, 4),
        stops=_stopping_state(state),
    )


def _judged(state: RunState) -> str:
    """Return what the judgement adds to the step's result, as later prompts tell it."""
    aligned = state.aligned
    if aligned is None or not aligned.judged or aligned.by_rule:
        return ""
    verdict = " It did not serve the subtask." if aligned.aligned is False else ""
    return f" {aligned.sentence}{verdict}".rstrip()


def _tell_trail(state: RunState, turn: Turn) -> None:
    """Add the step to the trajectory: actions of one reply belong to one look at the page."""
    action = state.pending.action
    if action is None or state.acted is None or state.acted.outcome == "skipped":
        return
    result = "" if turn.result == "done" else f"{turn.action}: {turn.result}"
    last = state.trail[-1] if state.trail else None
    if state.from_queue and last is not None and last.frame == state.frame:
        last.actions.append(action)
        last.results += [result] if result else []
        return
    state.trail.append(
        TrailStep(
            frame=state.frame,
            observation=state.clean.text if state.clean is not None else "",
            thought=turn.thought,
            actions=[action],
            results=[result] if result else [],
        )
    )


def _stopping_state(state: RunState) -> str:
    """Return the state that ends the run, where the action has led to one."""
    if state.space_state is None or state.acted is None or state.acted.effect != "page action":
        return ""
    space, _ = state.space_state
    if not any(one.stops for one in space.state):
        return ""
    found = recognise_state(space, state.observation).state
    here = space.state_named(found) if found is not None else None
    if here is None or not here.stops:
        return ""
    state.memory = state.memory.arrived(here.name)
    return here.name
