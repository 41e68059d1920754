"""What follows from a judgement: the next subtask, a remedy, a new trial, or the answer."""

from core.agent.state import RunState
from core.schema.step import Aligned, ReflectionRecord, RemedyRecord, Scheduled


def follow(state: RunState, aligned: Aligned) -> None:
    """Take the judgement to the plan and the remedies, and schedule what the next steps do by themselves.

    A no, or a plan at its end with the task not done, takes the topmost
    remedy; where none waits the trial has failed, and a plan that may be
    revised gets a new one.
    """
    reflection = state.reflection
    doing = reflection.doing
    if doing is not None and doing.kind == "remedy":
        reflection.remedies = reflection.remedies.tried(doing.entry, f"At step {state.number}.")
    else:
        _first_choice_tried(state)
    plan = reflection.plan
    if plan is not None and state.is_on("plan"):
        reflection.plan = plan = plan.worked_on(state.number)
    if reflection.scheduled is not None:
        return  # A person has said what comes next.
    if aligned.aligned is False:
        backtrack(state, aligned.by_rule or "The step was judged not to serve its subtask.")
        return
    if plan is not None and state.is_on("plan") and aligned.subtask_done:
        reflection.plan = plan = plan.over("needless" if aligned.needless else "done")
    if aligned.task_done:
        reflection.scheduled = Scheduled(kind="answer", why="The task was judged done.")
    elif plan is not None and state.is_on("plan") and plan.current is None:
        backtrack(state, "All subtasks are over, and the task was judged not done.")


def backtrack(state: RunState, why: str) -> None:
    """Schedule the topmost remedy; without one, and with a plan, the end of this trial."""
    if not state.is_on("remedies"):
        return
    state.queue.clear()
    entry, state.reflection.remedies = state.reflection.remedies.pop()
    if entry is not None:
        state.reflection.scheduled = Scheduled(kind="go back", entry=entry.number, why=why)
    elif state.is_on("plan"):
        end_trial(state, f"{why} No remedy is left.")


def end_trial(state: RunState, why: str) -> None:
    """Schedule a new trial, or the answer where none is left."""
    reflection = state.reflection
    state.queue.clear()
    if state.trial < state.trials:
        reflection.scheduled = Scheduled(kind="new trial", why=why)
    else:
        trials = f"trial {state.trial} of {state.trials}"
        reflection.scheduled = Scheduled(kind="answer", why=f"{why} This was {trials}: the answer is due.")


def _first_choice_tried(state: RunState) -> None:
    """Mark the first choice of this step, which lies on the stack as chosen, as tried."""
    remedies = state.reflection.remedies
    for entry in remedies.entries:
        if entry.state == "chosen" and entry.step == state.number:
            state.reflection.remedies = remedies.tried(entry.number, f"At step {state.number}.")


def reflection_record(state: RunState) -> ReflectionRecord | None:
    """Return what is to be kept of the reflection, or None where none of it is at work."""
    reflection = state.reflection
    at_work = any(state.is_on(one) for one in ("plan", "remedies", "judgement"))
    if not at_work and reflection.plan is None and not reflection.remedies.entries:
        return None
    return ReflectionRecord(
        plan=reflection.plan,
        remedies=tuple(
            RemedyRecord(
                number=entry.number,
                step=entry.step,
                action=str(entry.action),
                target=entry.target,
                reason=entry.reason,
                subtask=entry.subtask,
                state=entry.state,
                why=entry.why,
            )
            for entry in reflection.remedies.entries
        ),
        trial=state.trial,
        trials=state.trials,
        experience=tuple(reflection.experience),
        scheduled=reflection.scheduled,
    )
