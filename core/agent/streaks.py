"""Replies that cannot be used, one after the other: when another form is asked for, and when the trial has to end."""

from core.agent.reflection.consequences import end_trial
from core.agent.state import RunState
from core.llm.repair import ReplyFormat

SAME = 3
"""So many times in a row the same problem: the LLM will not find out of it by itself."""
MOST = 6
"""So many unusable replies in a row, whatever their problems."""


def count_reply(state: RunState) -> None:
    """Take note of whether the step's reply could be used."""
    pending = state.pending
    if pending.action is not None:
        state.unusable.clear()
    elif pending.problem and not pending.skip:
        state.unusable.append(pending.problem)


def end_streak(state: RunState, other_form: ReplyFormat | None) -> None:
    """Where a streak of unusable replies is too long, ask in another form; where that was done, end the trial.

    `other_form` is one that the LLM keeps to, None if there is none. `state.stuck` has the reason if the run has
    to end.
    """
    problems = state.unusable
    same = len(problems) >= SAME and len(set(problems[-SAME:])) == 1
    if not same and len(problems) < MOST:
        return
    why = f"The last {len(problems)} replies could not be used. {problems[-1]}"
    problems.clear()
    if not state.reply_form and other_form is not None and other_form != state.preset.reply_format:
        state.reply_form = other_form
        state.queue_cut = f"{why} Replies are in {other_form.upper()} from now on."
    else:
        give_up_trial(state, why)


def give_up_trial(state: RunState, why: str) -> None:
    """End this trial: with a new one if there is a plan and one is left, or else with the run."""
    if state.is_on("plan") and state.trial < state.trials and not state.out_of_actions:
        end_trial(state, why)
    else:
        state.stuck = why
