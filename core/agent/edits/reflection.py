"""Edits of anticipatory reflection: remedies, what trials have taught, and a new trial."""

from core.agent.edits.edit import (
    Changed,
    EditContext,
    RunEdit,
    TextEdit,
    need_before_action,
    permissible_action,
)
from core.agent.general_space import label_of
from core.agent.reflection.anticipation import base_entry
from core.agent.reflection.consequences import schedule_new_trial
from core.agent.reflection.remedies import RemedyEntry
from core.agent.state import RunState
from core.schema.action import Action
from core.schema.action_space import Permissible
from core.schema.element_identity import marks_of
from core.schema.errors import UsageError
from core.schema.observation import Observation
from core.schema.step import Recognised, record_of


class AddRemedy(RunEdit):
    """Put another action on top of the remedies, to be tried first where this step's action is wrong."""

    kind = "remedies"
    action: str

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        need_before_action(state, "recognise")
        action = permissible_action(self.action, state.permissible)
        entry = _with_action(base_entry(state, action), action, state.observation)
        state.reflection.remedies = state.reflection.remedies.push([entry])
        return Changed(before="", after=str(action), message=f"{action} is the next remedy.")


class EditRemedy(RunEdit):
    """Put another action in place of a remedy that waits."""

    kind = "remedies"
    number: int
    action: str

    def apply(self, context: EditContext) -> Changed:
        entry = _waiting(context.state, self.number)
        page, permissible = _page_of(context, entry.step)
        action = permissible_action(self.action, permissible)
        changed = _with_action(entry, action, page)
        context.state.reflection.remedies = context.state.reflection.remedies.replaced(changed)
        return Changed(
            before=str(entry.action), after=str(action), message=f"Remedy {entry.number} is {action} now."
        )


class MoveRemedy(RunEdit):
    """Have a remedy that waits tried sooner, by so many places, or later where `sooner` is negative."""

    kind = "remedies"
    number: int
    sooner: int

    def apply(self, context: EditContext) -> Changed:
        entry = _waiting(context.state, self.number)
        before = context.state.reflection.remedies
        after = before.moved(self.number, self.sooner)
        context.state.reflection.remedies = after
        order = [f"{one.action}" for one in reversed(after.waiting)]
        return Changed(
            before=", ".join(f"{one.action}" for one in reversed(before.waiting)),
            after=", ".join(order),
            message=f"{entry.action} is number {order.index(str(entry.action)) + 1} of the remedies.",
        )


class DropRemedy(RunEdit):
    """Do without a remedy that waits."""

    kind = "remedies"
    number: int

    def apply(self, context: EditContext) -> Changed:
        entry = _waiting(context.state, self.number)
        reflection = context.state.reflection
        reflection.remedies = reflection.remedies.dropped(self.number, "The person dropped it.")
        return Changed(before=str(entry.action), after="", message=f"{entry.action} is not tried any more.")


class StartNewTrial(RunEdit):
    """Have the trial reviewed and the task begun anew, as after a trial that failed."""

    kind = "trial"
    again = "decide"

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        if not state.is_on("plan"):
            raise UsageError("A new trial needs a plan; switch Plan on in Mechanisms first (Ctrl+Shift+H).")
        schedule_new_trial(state, "The person asked for a new trial.")
        last = state.trial >= state.trials
        beyond = f", in trial {state.trial + 1}: one more than the limit of {state.trials}" if last else ""
        return Changed(
            before=f"trial {state.trial}",
            after=f"trial {state.trial + 1}",
            message=f"The next step reviews this trial and begins the task anew{beyond}.",
        )


class EditExperience(TextEdit):
    """Rewrite what the trials that failed have taught; the next plan and the next prompts have it."""

    name = "experience"
    kind = "trial"
    title = "What earlier trials have taught"
    hint = "One lesson a line."

    @classmethod
    def offered(cls, context: EditContext) -> str:
        return "\n".join(" ".join(one.split()) for one in context.state.reflection.experience)

    def apply(self, context: EditContext) -> Changed:
        before = self.offered(context)
        lessons = [line.strip() for line in self.text.splitlines() if line.strip()]
        context.state.reflection.experience = lessons
        return Changed(before=before, after="\n".join(lessons), message="The next prompt has these lessons.")


def _waiting(state: RunState, number: int) -> RemedyEntry:
    found = next((one for one in state.reflection.remedies.waiting if one.number == number), None)
    if found is None:
        raise UsageError(f"Remedy {number} does not wait any more; choose one that does.")
    return found


def _page_of(context: EditContext, step: int) -> tuple[Observation, Permissible]:
    """Return the page that a step found, and what was permissible on it; raises TraceError."""
    state = context.state
    if step == state.number and state.unacted:
        return state.observation, state.permissible
    recognised = record_of(Recognised, context.history.records(step))
    return context.history.observation(step), recognised.permissible if recognised else Permissible()


def _with_action(entry: RemedyEntry, action: Action, page: Observation) -> RemedyEntry:
    return entry.replace(
        action=action,
        target=label_of(page, action),
        marks=marks_of(action, page),
        reason="The person wrote it.",
    )
