"""Edits of anticipatory reflection: plan, judgement, remedies, lessons, and a new trial."""

from core.agent.edits.edit import (
    Changed,
    EditContext,
    RunEdit,
    TextEdit,
    need_before_action,
    permissible_action,
)
from core.agent.general_space import label_of
from core.agent.phases.outcome import overrule
from core.agent.reflection.anticipation import base_entry
from core.agent.reflection.consequences import schedule_new_trial
from core.agent.reflection.remedies import RemedyEntry
from core.agent.state import RunState
from core.schema.action import Action, AgentAct
from core.schema.action_space import Permissible
from core.schema.element_identity import marks_of
from core.schema.errors import BackstepError, UsageError
from core.schema.observation import Observation
from core.schema.progress import Plan
from core.schema.step import Aligned, Judgement, JudgementPart, Recognised, Scheduled, record_of


class EditPlan(RunEdit):
    """Replace the subtasks of the plan, and continue with the one at `current`, from 0."""

    kind = "plan"
    subtasks: tuple[str, ...]
    current: int

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        texts = tuple(text for text in self.subtasks if text.strip())
        if not texts:
            raise UsageError("A plan needs at least one subtask. Write one, or switch Plan off.")
        if not state.is_on("plan"):
            raise UsageError("Plan is switched off; switch it on in Mechanisms first (Ctrl+Shift+H).")
        before = state.reflection.plan
        plan = before or Plan(subtasks=(), revision=state.trial - 1)
        after = state.reflection.plan = plan.edited(texts, min(max(self.current, 0), len(texts)))
        return Changed(
            before=before.in_words() if before is not None else "",
            after=after.in_words(),
            message="The plan was changed. The next prompt contains it.",
        )


class OverruleJudgement(RunEdit):
    """Overrule the judgement of the step that was just carried out, with its consequences.

    ``aligned``: it served its purpose. ``subtask`` and ``task``: they are done.
    """

    kind = "judgement"
    part: JudgementPart
    is_so: bool

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        judged = state.aligned or Aligned()
        field = {"aligned": "aligned", "subtask": "subtask_done", "task": "task_done"}[self.part]
        said = {name: getattr(judged, name) for name in Judgement.model_fields}
        earlier = [edit for edit in context.since_judged if not isinstance(edit, OverruleJudgement)]
        # Which remedy is tried follows from the judgement; other edits were made of what followed.
        of_remedies = [one for one in earlier if one.kind == "remedies"]
        try:
            overrule(
                state,
                Judgement(**(said | {field: self.is_so})),
                lambda: [remedy.apply(context) for remedy in of_remedies],
            )
            for one in earlier:
                if one not in of_remedies:
                    one.apply(context)
        except BackstepError as error:
            if not earlier:
                raise
            why = f"Your edits since then do not fit that judgement ({error})"
            raise UsageError(f"{why} Undo it first (Ctrl+Z).") from error
        was = getattr(judged, field)
        return Changed(
            before=f"{self.part}: {'unclear' if was is None else was}",
            after=f"{self.part}: {self.is_so}",
            message="The judgement was changed; its consequences were worked out again.",
        )


class FireRemedy(RunEdit):
    """Try a waiting remedy next.

    Before the step's action is carried out, the remedy replaces its proposal; a remedy of this step needs no
    going back.
    """

    kind = "remedy"
    number: int

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        doing, remedies = state.reflection.doing, state.reflection.remedies
        if doing is not None and doing.entry == self.number:
            raise UsageError("This remedy is already being tried.")
        if any(one.number == self.number and isinstance(one.action, AgentAct) for one in remedies.waiting):
            raise UsageError(
                f"Remedy {self.number} was reported by the agent in its own words, so only the agent can try "
                "it. Replace the next action instead."
            )
        entry, remedies = remedies.take(self.number)
        if entry is None:
            waiting = ", ".join(str(one.number) for one in remedies.waiting)
            raise UsageError(
                f"Remedy {self.number} is not waiting; {f'there are {waiting}' if waiting else 'none does'}."
            )
        here = entry.step == state.number and state.unacted
        if state.unacted and not state.undecided:
            # The other remedies of this step, whose page has not been touched, wait on.
            remedies = remedies.without_choice(state.number, self.number)
            if doing is not None and doing.entry:
                remedies = remedies.dropped(doing.entry, f"Remedy {self.number} was fired instead.")
            state.begin_again("decide", "The step was decided again.")
        state.reflection.remedies = remedies
        state.reflection.scheduled = Scheduled(
            kind="remedy" if here else "go back", entry=self.number, why="The person fired this remedy."
        )
        words = f"{entry.action} of step {entry.step}"
        return Changed(before="", after=words, message=f"{words} is tried next.")


class AddRemedy(RunEdit):
    """Put another action on top of the remedies, to be tried first if this step's action is wrong."""

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
    """Replace a waiting remedy by another action."""

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
            before=str(entry.action), after=str(action), message=f"Remedy {entry.number} is now {action}."
        )


class MoveRemedy(RunEdit):
    """Move a waiting remedy forward by `sooner` places, or back if that is negative."""

    kind = "remedies"
    number: int
    sooner: int

    def apply(self, context: EditContext) -> Changed:
        entry = _waiting(context.state, self.number)
        before = context.state.reflection.remedies
        after = before.moved(self.number, self.sooner)
        order = [one.number for one in reversed(after.waiting)]
        if order == [one.number for one in reversed(before.waiting)]:
            raise UsageError(
                f"{entry.action} is already the {'first' if self.sooner > 0 else 'last'} remedy."
            )
        context.state.reflection.remedies = after
        return Changed(
            before=", ".join(f"{one.action}" for one in reversed(before.waiting)),
            after=", ".join(f"{one.action}" for one in reversed(after.waiting)),
            message=f"{entry.action} is number {order.index(entry.number) + 1} of the remedies.",
        )


class DropRemedy(RunEdit):
    """Drop a waiting remedy."""

    kind = "remedies"
    number: int

    def apply(self, context: EditContext) -> Changed:
        entry = _waiting(context.state, self.number)
        reflection = context.state.reflection
        reflection.remedies = reflection.remedies.dropped(self.number, "The person dropped it.")
        return Changed(before=str(entry.action), after="", message=f"{entry.action} will not be tried.")


class StartNewTrial(RunEdit):
    """Review the trial and start the task again, as after a failed trial."""

    kind = "trial"
    again = "decide"

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        if not state.is_on("plan"):
            raise UsageError("A new trial needs a plan; switch Plan on in Mechanisms first (Ctrl+Shift+H).")
        schedule_new_trial(state, "The person asked for a new trial.")
        last = state.trial >= state.trials
        beyond = f", in trial {state.trial + 1}, one above the limit of {state.trials}" if last else ""
        return Changed(
            before=f"trial {state.trial}",
            after=f"trial {state.trial + 1}",
            message=f"The next step reviews this trial and starts the task again{beyond}.",
        )


class EditExperience(TextEdit):
    """Rewrite the lessons of failed trials, for the next plan and the next prompts."""

    name = "experience"
    kind = "trial"
    title = "Lessons of earlier trials"
    hint = "One lesson per line."

    @classmethod
    def offered(cls, context: EditContext) -> str:
        return "\n".join(" ".join(one.split()) for one in context.state.reflection.experience)

    def apply(self, context: EditContext) -> Changed:
        before = self.offered(context)
        lessons = [line.strip() for line in self.text.splitlines() if line.strip()]
        context.state.reflection.experience = lessons
        return Changed(
            before=before, after="\n".join(lessons), message="The next prompt contains these lessons."
        )


def _waiting(state: RunState, number: int) -> RemedyEntry:
    found = next((one for one in state.reflection.remedies.waiting if one.number == number), None)
    if found is None:
        raise UsageError(f"Remedy {number} is no longer waiting; choose one that is.")
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
