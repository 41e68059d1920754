"""Breakpoints on calls and figures, and the one whose test is an expression of the user."""

from typing import ClassVar, Literal

from pydantic import Field

from core.debugger.breakpoints.debug_event import DebugEvent, Figures
from core.debugger.breakpoints.expression import compile_expression, is_true
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint, Expression, Limit
from core.debugger.breakpoints.subject import SubjectOf
from core.schema.errors import UsageError
from core.schema.messages import Purpose
from core.schema.step import Recalled

FigureName = Literal["cost", "tokens", "steps", "seconds", "calls", "page actions"]


class LLMCall(Breakpoint):
    """An LLM call is about to be made, or has ended."""

    title: ClassVar[str] = "An LLM call"
    kind: Literal["call"] = "call"
    purpose: Purpose | None = Field(default=None, description="None for any.")
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
        became = "is about to be made" if self.when == "before" else "has ended"
        return f"LLM call {call.number} ({call.purpose}) {became}."


class RetrievalFar(Breakpoint):
    """The nearest exemplar that was recalled is further away than this."""

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
    """A figure of the run has passed a value."""

    title: ClassVar[str] = "A figure passes a value"
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
        return f"The {self.figure} of the run came to {written}, above {self.above:g}."

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
