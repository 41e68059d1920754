"""Where going on stops by itself, when nothing else stops it."""

from dataclasses import dataclass
from typing import Literal

from core.agent.loop import AgentRun
from core.agent.phases.page import asks_llm
from core.schema.step import Phase

GoalKind = Literal[
    "phase",  # after one phase
    "decide",  # before an LLM is first asked in the step
    "review",  # before the next review
    "step",  # before the next step
    "over",  # at the next review in which the policy at work, or one that called it, acts again
    "out",  # at the next review after the policy at work has returned
    "to step",  # at the review of a step
    "to subtask",  # at the first review in which a subtask, or a later one, is current
    "end",  # at the end of the run
]


@dataclass(frozen=True)
class RunGoal:
    """Where to stop; what it is measured by is of the moment it was asked for."""

    kind: GoalKind
    step: int = 0
    """The step that was under way, or for ``to step`` the one to stop at."""
    depth: int = 0
    frame: int = 0
    subtask: int = 0
    """From 0."""

    def reached(self, phase: Phase, run: AgentRun) -> bool:
        """Return whether to stop before this phase, once one has been done."""
        state = run.state
        review = phase == "review"
        match self.kind:
            case "phase":
                return True
            case "decide":
                # An LLM is not asked before the person steps.
                return phase == "decide" or (phase == "abstract" and asks_llm(state))
            case "review":
                return review
            case "step":
                return phase == "observe"
            case "over":
                return review and state.number > self.step and len(state.stack.frames) <= self.depth
            case "out":
                at_work = [frame.number for frame in state.stack.frames]
                return review and self.frame not in at_work
            case "to step":
                return review and state.number >= self.step
            case "to subtask":
                plan = state.reflection.plan
                at = None if plan is None else plan.index
                return review and at is not None and at >= self.subtask
            case "end":
                return False


def over(run: AgentRun) -> RunGoal:
    return RunGoal("over", step=run.state.number, depth=len(run.state.stack.frames))


def out(run: AgentRun) -> RunGoal:
    return RunGoal("out", step=run.state.number, frame=run.state.frame)
