"""Asks a question of a step again and replaces its answer."""

from typing import Literal

from core.agent.edits.edit import Changed, EditContext, RunEdit, need_before_action
from core.agent.state import RunState
from core.schema.errors import UsageError

Asked = Literal["plan", "recall", "abstraction", "remedies", "judgement"]
_WORDS: dict[Asked, str] = {
    "plan": "plan of this step will be",
    "recall": "exemplars of this step will be",
    "abstraction": "clean observation of this step will be",
    "remedies": "remedies of this step will be",
    "judgement": "judgement of this step will be",
}


class AskQuestionAgain(RunEdit):
    """Ask a question again and discard its earlier answer."""

    what: Asked
    kind = "ask again"

    def apply(self, context: EditContext) -> Changed:
        if self.what == "judgement" and context.since_judged:
            raise UsageError("Your edits since the judgement would be lost. Undo them first (Ctrl+Z).")
        before = _ASK[self.what](context.state)
        return Changed(before=before, after="", message=f"The {_WORDS[self.what]} requested again.")


def _plan(state: RunState) -> str:
    need_before_action(state, "abstract")
    if not state.is_on("plan"):
        raise UsageError("Plan is switched off; switch it on in Mechanisms first (Ctrl+Shift+H).")
    plan, state.reflection.plan = state.reflection.plan, None
    state.begin_again("decide", "The plan was made again.")
    return plan.in_words() if plan is not None else ""


def _recall(state: RunState) -> str:
    need_before_action(state, "recall")
    recalled = state.recalled_by_frame.pop(state.frame, None)
    state.begin_again("recall", "The exemplars were recalled again.")
    return ", ".join(recalled.exemplars) if recalled is not None else ""


def _abstraction(state: RunState) -> str:
    need_before_action(state, "abstract")
    state.programs.pop(state.frame, None)
    state.own_observation = None
    state.begin_again("abstract", "The clean observation was made again.")
    return state.clean.text if state.clean is not None else ""


def _remedies(state: RunState) -> str:
    need_before_action(state, "anticipate")
    if not state.is_on("remedies"):
        raise UsageError("Remedies are switched off; switch them on in Mechanisms first (Ctrl+Shift+H).")
    stack = state.reflection.remedies
    own = ", ".join(str(one.action) for one in stack.waiting if one.step == state.number)
    state.reflection.remedies = stack.without_step(state.number, "They were requested again.")
    state.next_phase = "anticipate"
    return own


def _judgement(state: RunState) -> str:
    before, aligned = state.before_consequences, state.aligned
    if state.next_phase != "commit" or before is None or aligned is None:
        raise UsageError(
            "There is no judgement to request again yet. Step to align (F9) and request it there."
        )
    state.become(before)
    state.next_phase = "align"
    return aligned.sentence


_ASK = {
    "plan": _plan,
    "recall": _recall,
    "abstraction": _abstraction,
    "remedies": _remedies,
    "judgement": _judgement,
}
