"""align and commit: the outcome of the action, its consequences, and the sealed step."""

from collections.abc import Awaitable, Callable

from core.agent.action_queue import drop_queue
from core.agent.policies.stack import place_of_page
from core.agent.reflection.alignment import AlignmentJudge
from core.agent.reflection.consequences import backtrack, follow, reflection_record, why_back
from core.agent.run_history import RunHistory
from core.agent.spaces.recognition import recognise_state
from core.agent.state import RunState, TrailStep
from core.agent.streaks import count_reply, give_up_trial
from core.schema.errors import UsageError
from core.schema.messages import Turn
from core.schema.observation import CleanObservation, one_line
from core.schema.step import Aligned, Committed, Judgement, Scheduled

_STOPPED_TWICE = "The agent stopped again on a page on which the task had been judged not done."


async def align(
    state: RunState,
    judge: AlignmentJudge,
    history: RunHistory,
    take_remedies: Callable[[bool], Awaitable[None]],
) -> Aligned:
    """Judge the step's action where the preset has it so; raises LLMError and DataError with nothing judged.

    `take_remedies` takes those in that were asked for while actions ran, and
    with True waits for those that are still out: only going back needs them.
    """
    acted = state.acted
    aligned = await _judgement(state, judge, history)
    failed = acted is not None and acted.outcome == "failed"
    await take_remedies(failed if aligned is None else why_back(state, aligned) != "")
    state.before_consequences = None
    state.before_consequences = state.copy()
    if aligned is None:
        _unjudged(state)
        aligned = Aligned()
    else:
        _consequences(state, aligned)
    state.aligned = aligned
    return aligned.replace(reflection=reflection_record(state))


def overrule(state: RunState, judgement: Judgement, begin: Callable[[], object]) -> None:
    """Put a person's judgement of the step in place of the one there is, with what follows from it.

    `begin` is called with the state as it was before the step was judged.
    Raises UsageError if the step has not been judged, or is over.
    """
    before, acted = state.before_consequences, state.acted
    if state.next_phase != "commit" or before is None or acted is None or state.aligned is None:
        raise UsageError("There is no judgement to overrule yet. Step to align (F9) and overrule it there.")
    refused = acted.effect == "stop" and judgement.task_done is False
    values = dict(judgement) | {"unclear": (), "overruled": True, "by_rule": "", "stop_refused": refused}
    aligned = state.aligned.replace(judged=True, **values)
    state.become(before)
    state.before_consequences = before
    begin()
    _consequences(state, aligned)
    state.next_phase, state.aligned = "commit", aligned


def _consequences(state: RunState, aligned: Aligned) -> None:
    """Do what follows from a judgement of the step's action, of its stop, or of a policy call that returned."""
    acted = state.acted
    if acted is not None and acted.effect == "stop":
        _take_stop_back(state, aligned)
    else:
        returned = acted is not None and acted.effect == "pop"
        follow(state, aligned, state.stack.finished[-1].step if returned else state.number)


async def _judgement(state: RunState, judge: AlignmentJudge, history: RunHistory) -> Aligned | None:
    acted, doing = state.acted, state.reflection.doing
    if acted is None or not state.is_on("judgement") or acted.episode_ended or acted.outcome == "skipped":
        return None
    remedy = doing is not None and doing.kind == "remedy"
    if acted.effect == "page action" or (remedy and acted.outcome == "failed"):
        return await judge.judge_action(state)
    by_agent = state.pending.origin == "agent"
    if acted.effect == "stop" and state.judgement_settings.check_stop and doing is None and by_agent:
        if state.reflection.refused_on == place_of_page(state.observation).fingerprint:
            return Aligned(judged=True, by_rule=_STOPPED_TWICE, task_done=False, stop_refused=True)
        return await judge.check_stop(state)
    if acted.effect == "pop" and state.remedy_settings.policies:
        ended = state.stack.finished[-1]
        return await judge.judge_call(state, ended, history.observation(ended.step))
    return None


def _take_stop_back(state: RunState, aligned: Aligned) -> None:
    """Let the run continue where the task was judged not done that the agent wanted to stop."""
    before = state.pending.before_stop
    if not aligned.stop_refused or before is None:
        return
    if aligned.by_rule == _STOPPED_TWICE:
        give_up_trial(state, _STOPPED_TWICE)
        if state.stuck:
            return
    state.answer = ""
    state.reflection.refused_on = place_of_page(state.observation).fingerprint
    if before.top is not None:
        state.stack = state.stack.back_to(before, step=state.number)
    # It takes a place in the budget: else it could continue for ever.
    state.totals.page_actions += 1


def _unjudged(state: RunState) -> None:
    """Take note of the outcome of a scheduled step."""
    acted, doing = state.acted, state.reflection.doing
    remedies = state.reflection.remedies
    refused = state.pending.refused
    if doing is not None and doing.kind == "new trial" and refused:
        # Going on in a trial that has failed would only lead here again.
        state.reflection.scheduled = Scheduled(kind="answer", why=f"{refused} The agent has to answer now.")
    if doing is not None and acted is not None and doing.kind in ("go back", "remedy"):
        if acted.outcome == "skipped" or state.pending.origin == "person":
            why = refused or "The person did not want it."
            state.reflection.remedies = remedies.dropped(doing.entry, why)
        elif doing.kind == "remedy":
            state.reflection.remedies = remedies.tried(doing.entry, f"At step {state.number}.")
        elif acted.outcome == "failed":
            backtrack(state, acted.message)


def commit(state: RunState) -> Committed:
    """Tell the step to history and to the policy at work; say where the run has come to a stopping state."""
    acted, pending = state.acted, state.pending
    action = pending.action
    if acted is not None:
        count_reply(state)
        skipped = pending.skip and not pending.refused
        if acted.effect == "none" and acted.outcome != "done" and not skipped and not state.unusable:
            # What was refused takes a place in the budget: else it could continue for ever.
            state.totals.page_actions += 1
        refused = state.aligned is not None and state.aligned.stop_refused
        result: str = acted.outcome
        if acted.message:
            result = f"{result}: {acted.message}" if acted.outcome != "done" else f"done. {acted.message}"
        if refused:
            result = "refused: the task was judged not done."
        if remark := pending.own_remark:
            result = f"{result.removesuffix('.')}. {remark}"
        unjudged = ""
        if judged := _judged(state):
            unjudged = result
            result = f"{result.removesuffix('.')}. {judged}"
        turn = Turn(
            number=state.number,
            thought=pending.thought,
            action=str(action) if action is not None else "",
            target=acted.target,
            after=acted.after,
            result=result,
            unjudged=unjudged,
            url=state.clean.url if state.clean else "",
        )
        state.history.append(turn)
        if state.stack.top is not None and (acted.effect not in ("push", "pop", "stop") or refused):
            place = place_of_page(state.observation) if acted.effect == "page action" else None
            state.stack = state.stack.record(turn, place)
        if acted.outcome != "done":
            drop_queue(
                state, f"The action before them {'failed' if acted.outcome == 'failed' else 'was not done'}."
            )
        _tell_trail(state, turn)
    return Committed(
        seconds=round(state.clock.active, 4),
        seconds_in_llm=round(state.clock.in_llm, 4),
        held=tuple(state.clock.held),
        stops=_stopping_state(state),
    )


def _judged(state: RunState) -> str:
    """Return what the judgement adds to the step's result, as later prompts tell it."""
    aligned = state.aligned
    if aligned is None or not aligned.judged or aligned.by_rule:
        return ""
    verdict = " It did not serve the subtask." if aligned.aligned is False else ""
    return f"{aligned.sentence}{verdict}".strip()


def _tell_trail(state: RunState, turn: Turn) -> None:
    """Add the step to the trajectory: actions of one reply belong to one look at the page."""
    action = state.pending.action
    if action is None or state.acted is None or state.acted.outcome == "skipped":
        return
    result = "" if turn.result == "done" else one_line(f"{turn.action}: {turn.result}")
    last = state.trail[-1] if state.trail else None
    if state.from_queue and last is not None and last.frame == state.frame:
        last.actions.append(action)
        last.results += [result] if result else []
        return
    seen = state.clean or CleanObservation(url="")
    state.trail.append(
        TrailStep(
            frame=state.frame,
            url=seen.url,
            title=seen.title,
            observation=seen.text,
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
