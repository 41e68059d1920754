"""Breakpoints on problems, calls, figures and expressions."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from core.debugger.breakpoints.debug_event import DebugEvent, Figures, StepSoFar
from core.debugger.breakpoints.expression import compile_expression, is_true
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint, ChoiceWords, Expression, Limit, cut
from core.debugger.breakpoints.subject import SubjectOf
from core.schema.errors import UsageError
from core.schema.messages import Purpose
from core.schema.progress import Plan
from core.schema.record import Record
from core.schema.step import Acted, Aligned, Decided, Recalled, Scheduled, last_reflection, reflection_of

FailureKind = Literal["any", "action", "call", "reply", "crash"]
_LABELS: dict[FailureKind, str] = {
    "any": "anything fails",
    "action": "an action fails",
    "call": "an LLM call fails",
    "reply": "a reply cannot be used",
    "crash": "the page crashes",
}
_SENTENCES: dict[FailureKind, str] = {
    "action": "The action failed",
    "call": "An LLM call failed",
    "reply": "The LLM's reply could not be used",
    "crash": "The page crashed",
}


class Failure(Breakpoint):
    """An action or an LLM call failed, a reply could not be used, or the page crashed."""

    title: ClassVar[str] = "Something fails"
    kind: Literal["error"] = "error"
    of: Annotated[FailureKind, ChoiceWords({"any": "anything"})] = Field(default="any", title="What fails")

    def label(self) -> str:
        return _LABELS[self.of]

    def hits(self, event: DebugEvent) -> str | None:
        failure = _failure(event)
        if failure is None or self.of not in ("any", failure[0]):
            return None
        what, reason = failure
        return f"{_SENTENCES[what]}: {cut(reason)}"


_CRASHES = ("crash", "hang", "replaced")


def _failure(event: DebugEvent) -> tuple[FailureKind, str] | None:
    """Return what has failed at this event, and why."""
    if event.browser_event is not None:
        return ("crash", event.browser_event.text) if event.browser_event.kind in _CRASHES else None
    if event.where == "after call" and event.call is not None:
        error = event.call.error
        # The person who cancels a call knows about it.
        return ("call", error) if error and not error.startswith("cancelled") else None
    if decided := event.completed(Decided):
        return ("reply", decided.proposal.problem) if decided.proposal.problem else None
    acted = event.completed(Acted)
    if acted is None:
        return None
    crash = next((one for one in acted.events if one.kind in _CRASHES), None)
    if crash is not None:
        return "crash", crash.text
    # A step without an action had a reply that could not be used, which has hit after decide.
    failed = acted.outcome == "failed" and event.step.action is not None
    return ("action", acted.message) if failed else None


class NotAligned(Breakpoint):
    """A step was judged not to serve its subtask."""

    title: ClassVar[str] = "A step is not aligned"
    kind: Literal["not aligned"] = "not aligned"

    def label(self) -> str:
        return "a step is judged not aligned"

    def hits(self, event: DebugEvent) -> str | None:
        aligned = event.completed(Aligned)
        if aligned is None or aligned.aligned is not False:
            return None
        return f"The step was judged not aligned. {cut(aligned.by_rule or aligned.sentence)}".rstrip()


class RemedyFired(Breakpoint):
    """A remedy is about to be tried, after going back for it if necessary."""

    title: ClassVar[str] = "A remedy is fired"
    kind: Literal["remedy fired"] = "remedy fired"

    def label(self) -> str:
        return "a remedy is fired"

    def hits(self, event: DebugEvent) -> str | None:
        scheduled = _remedy(event.step) if event.completed(Decided) else None
        if scheduled is None:
            return None
        before = _remedy(event.before) if event.before is not None else None
        if before is not None and before.entry == scheduled.entry:
            return None  # It has hit at the step that went back for it.
        reflection = event.step.reflection
        remedies = reflection.remedies if reflection is not None else ()
        entry = next((remedy for remedy in remedies if remedy.number == scheduled.entry), None)
        what = f": {cut(entry.action)}{f' on {entry.target}' if entry.target else ''}" if entry else ""
        return f"Remedy {scheduled.entry} is fired{what}. {cut(scheduled.why)}".rstrip()


def _remedy(step: StepSoFar) -> Scheduled | None:
    decided = step.get(Decided)
    scheduled = decided.scheduled if decided is not None else None
    return scheduled if scheduled is not None and scheduled.kind in ("go back", "remedy") else None


class PlanRevised(Breakpoint):
    """The agent or a person changed the subtasks."""

    title: ClassVar[str] = "The plan is revised"
    kind: Literal["plan revised"] = "plan revised"

    def label(self) -> str:
        return "the plan is revised"

    def hits(self, event: DebugEvent) -> str | None:
        record = event.completed(Record)
        reflection = reflection_of(record) if record is not None else None
        if reflection is None:
            return None
        earlier = last_reflection(event.step.records[:-1])
        if earlier is None and event.before is not None:
            earlier = event.before.reflection
        now, before = reflection.plan, earlier.plan if earlier is not None else None
        if now is None or (_texts(before) == _texts(now) if before is not None else not now.revision):
            return None
        author = "by a person" if now.author == "person" else "by the agent"
        return f"The plan was revised {author}: {cut(now.in_words())}."


def _texts(plan: Plan) -> tuple[str, ...]:
    return tuple(subtask.text for subtask in plan.subtasks)


FigureName = Literal["cost", "tokens", "steps", "seconds", "calls", "page actions"]


class LLMCall(Breakpoint):
    """An LLM call is about to be made, or has ended."""

    title: ClassVar[str] = "An LLM call"
    kind: Literal["call"] = "call"
    purpose: Purpose | None = Field(default=None, description="None means any.")
    when: Literal["before", "after"] = "before"

    def label(self) -> str:
        purpose = f" ({self.purpose})" if self.purpose else ""
        return f"{self.when} an LLM call{purpose}"

    def hits(self, event: DebugEvent) -> str | None:
        call = event.call
        if call is None or event.where != f"{self.when} call":
            return None
        if self.purpose is not None and call.purpose != self.purpose:
            return None
        if call.error.startswith("cancelled"):  # It was not needed any more: there is nothing to look at.
            return None
        became = "is about to be made" if self.when == "before" else "has ended"
        return f"LLM call {call.number} ({call.purpose}) {became}."


class RetrievalFar(Breakpoint):
    """The nearest recalled exemplar is further away than a distance."""

    title: ClassVar[str] = "No near exemplar"
    kind: Literal["retrieval distance"] = "retrieval distance"
    above: Limit = Field(title="More than")

    def label(self) -> str:
        return f"the nearest exemplar is further than {self.above:g}"

    def hits(self, event: DebugEvent) -> str | None:
        recalled = event.completed(Recalled)
        if recalled is None or recalled.recall is None:
            return None
        nearest = min(recalled.recall.retrieved, key=lambda one: one.distance, default=None)
        if nearest is None or nearest.distance <= self.above:
            return None
        return f"The nearest exemplar, {nearest.id}, is {nearest.distance:.3g} away, above {self.above:g}."


class FigureAbove(Breakpoint):
    """A figure of the run has exceeded a value."""

    title: ClassVar[str] = "A figure rises above a value"
    kind: Literal["figure"] = "figure"
    figure: FigureName
    above: Limit = Field(title="More than")

    def label(self) -> str:
        return f"{self.figure} above {self.above:g}"

    def hits(self, event: DebugEvent) -> str | None:
        now = self._of(event.figures)
        before = self._of(event.previous.figures) if event.previous is not None else 0.0
        if not before <= self.above < now:
            return None
        written = f"{now:g}" if now < 1e6 else f"{now:.0f}"
        return f"The {self.figure} of the run reached {written}, above {self.above:g}."

    def _of(self, figures: Figures) -> float:
        return {
            "cost": figures.cost or 0.0,
            "tokens": figures.tokens,
            "steps": figures.step,
            "seconds": figures.seconds,
            "calls": figures.llm_calls,
            "page actions": figures.page_actions,
        }[self.figure]


class Condition(Breakpoint):
    """An expression has become true."""

    title: ClassVar[str] = "A condition becomes true"
    kind: Literal["condition"] = "condition"
    expression: Expression

    def label(self) -> str:
        return f"{self.expression} becomes true"

    def hits(self, event: DebugEvent) -> str | None:
        """Where nothing that the expression reads has changed it is not evaluated: pages are large."""
        compiled, subject, before = compile_expression(self.expression), SubjectOf(event), event.previous
        if not subject.differs(before, compiled.names) or not is_true(compiled, subject):
            return None
        try:
            was_true = before is not None and is_true(compiled, SubjectOf(before))
        except UsageError:
            was_true = False
        return None if was_true else f"{self.expression} has become true."
