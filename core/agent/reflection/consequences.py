"""The consequences of a judgement: the next subtask, a remedy, a new trial, or the answer."""

from core.agent.action_queue import drop_queue
from core.agent.state import RunState
from core.schema.action import AgentAct
from core.schema.progress import Plan
from core.schema.step import Aligned, ReflectionRecord, Remedy, RemedyRecord, Scheduled


def follow(state: RunState, aligned: Aligned, step: int) -> None:
    """Apply the judgement of the decision at `step` to the plan and the remedies, and schedule what comes next.

    If a remedy is due (`why_back`), the topmost one is used; if none is waiting, the trial has failed, and a
    plan that may be revised leads to a new trial.
    """
    reflection = state.reflection
    doing = reflection.doing
    if doing is not None and doing.kind == "remedy":
        reflection.remedies = reflection.remedies.tried(doing.entry, f"At step {state.number}.")
    else:
        _first_choice_tried(state, step)
    if reflection.plan is not None and state.is_on("plan"):
        reflection.plan = reflection.plan.worked_on(state.number)
    if reflection.scheduled is not None:
        return  # A person has said what comes next.
    why = why_back(state, aligned)
    reflection.plan = _plan_after(state, aligned)
    if why:
        backtrack(state, why)
    elif aligned.task_done:
        reflection.scheduled = Scheduled(kind="answer", why="The task was judged done.")


def why_back(state: RunState, aligned: Aligned) -> str:
    """Return why a remedy is due after this judgement, or nothing.

    It is after a no, after replies that say neither yes nor no, and at the end
    of a plan with the task not done.
    """
    if aligned.aligned is False:
        return aligned.by_rule or "The step was judged not to serve its subtask."
    if "aligned" in aligned.unclear:
        return "The LLM did not say whether the step served its subtask; that counts as no."
    plan = _plan_after(state, aligned)
    if plan is not None and state.is_on("plan") and plan.current is None and not aligned.task_done:
        return "No subtask is left, but the task was judged not done."
    return ""


def _plan_after(state: RunState, aligned: Aligned) -> Plan | None:
    """Return the plan with its subtask over, where the judgement says so and the step was not wrong."""
    plan = state.reflection.plan
    wrong = aligned.aligned is False or "aligned" in aligned.unclear
    if plan is None or not state.is_on("plan") or wrong or not aligned.subtask_done:
        return plan
    return plan.over("needless" if aligned.needless else "done")


def backtrack(state: RunState, why: str) -> None:
    """Schedule the topmost remedy; without one, and with a plan, the end of this trial."""
    if not state.is_on("remedies"):
        return
    drop_queue(state, why)
    entry, state.reflection.remedies = state.reflection.remedies.pop()
    if entry is not None:
        state.reflection.scheduled = Scheduled(kind="go back", entry=entry.number, why=why)
    elif state.is_on("plan"):
        end_trial(state, f"{why} No remedy is left.")


def schedule_new_trial(state: RunState, why: str) -> None:
    """Have this trial reviewed and the task started again, however many trials are allowed."""
    drop_queue(state, why)
    state.reflection.scheduled = Scheduled(kind="new trial", why=why)


def end_trial(state: RunState, why: str) -> None:
    """Schedule a new trial, or the answer if none is left or may act."""
    reflection = state.reflection
    drop_queue(state, why)
    if state.out_of_actions:
        why = f"{why} The task has used its {state.budget.page_actions} actions, so the agent has to answer now."
        reflection.scheduled = Scheduled(kind="answer", why=why.strip(), at_limit=True)
    elif state.trial < state.trials:
        schedule_new_trial(state, why)
    else:
        why = f"{why} This was trial {state.trial} of {state.trials}, so the agent has to answer now."
        reflection.scheduled = Scheduled(kind="answer", why=why, at_limit=state.trial_is_over)


def _first_choice_tried(state: RunState, step: int) -> None:
    """Mark the first choice of a step, which lies on the stack as chosen, as tried."""
    remedies = state.reflection.remedies
    for entry in remedies.entries:
        if entry.state == "chosen" and entry.step == step:
            state.reflection.remedies = remedies.tried(entry.number, f"At step {state.number}.")


def reflection_record(state: RunState) -> ReflectionRecord | None:
    """Return what is to be kept of the reflection, or None if none of it is at work."""
    reflection = state.reflection
    at_work = any(state.is_on(one) for one in ("plan", "remedies", "judgement"))
    if not at_work and reflection.plan is None and not reflection.remedies.entries:
        return None
    return ReflectionRecord(
        plan=reflection.plan,
        remedies=tuple(
            RemedyRecord(
                action=entry.action.words if isinstance(entry.action, AgentAct) else str(entry.action),
                **{name: getattr(entry, name) for name in Remedy.model_fields},
            )
            for entry in reflection.remedies.entries
        ),
        trial=state.trial,
        trials=state.trials,
        experience=tuple(reflection.experience),
        scheduled=reflection.scheduled,
    )
