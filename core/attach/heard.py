"""Adds the reports of an attached agent to its run: steps, state, policies, plan, exemplars."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from core.agent.phases.recognise import stack_record
from core.agent.policies.stack import Frame, Stack
from core.agent.reflection.consequences import reflection_record
from core.agent.reflection.remedies import RemedyEntry, RemedyStack
from core.agent.state import RunState
from core.attach.told import (
    Told,
    ToldExemplars,
    ToldNote,
    ToldOutcome,
    ToldPlan,
    ToldPolicy,
    ToldPolicyEnd,
    ToldRemedy,
    ToldState,
    ToldStep,
)
from core.schema.action import AgentAct
from core.schema.exemplar import Recall, ShownExemplar
from core.schema.progress import Plan, SpaceMemory, Subtask, SubtaskStatus
from core.schema.step import AgentStep, Diagram, Recalled, Recognised
from core.schema.task import Verdict

SPACE = "agent"
"""The name of the space of the states that an agent says."""
_ENDED_KEPT = 50
"""Ended policies that are kept: each tool that an agent uses may be one."""
_LONGEST_NAME = 80
_BY_AGENT = "The agent's own environment reported this."


class ToldAt(NamedTuple):
    """A report, with its step."""

    step: int
    told: Told


class AgentReports:
    """The reports of one agent so far, in the state of its run."""

    def __init__(self, state: RunState, on_note: Callable[[str], object]) -> None:
        """`on_note` is called with each note, once."""
        self._state = state
        self._on_note = on_note
        self._here: ToldState | None = None
        self._shown = Recalled()
        self._frames: dict[str, int] = {}
        """The frames of the policies that are at work, by the agent's own ids."""
        self.step: AgentStep | None = None
        """The agent's own step that is at work; None if it tells none."""
        self.outcome: ToldOutcome | None = None
        """How the agent's episode has ended."""

    def begin_again(self, earlier: Iterable[ToldAt]) -> None:
        """Have the state hold what was said at the steps before this one, and nothing else."""
        state = self._state
        state.stack, state.memory = Stack(), SpaceMemory()
        state.reflection.plan, state.reflection.remedies = None, RemedyStack()
        by_step: dict[int, list[Told]] = {}
        for one in earlier:
            by_step.setdefault(one.step, []).append(one.told)
        for turn in state.history:
            for told in by_step.get(turn.number, ()):
                self._take(told, turn.number)
            self.work_on_plan(turn.number)
            if state.stack.top is not None:
                state.stack = state.stack.record(turn)

    def hear(self, said: Iterable[Told]) -> None:
        """Take in what was said since the last time; it belongs to the current step."""
        for told in said:
            self._take(told, self._state.number)
            if isinstance(told, ToldNote):
                self._on_note(told.text)
            elif isinstance(told, ToldOutcome):
                self._on_note(_in_words(told))

    def of_this_step(self, said: Sequence[Told]) -> int:
        """Return how much of what was said comes before the agent's own step ends."""
        return next((at for at, one in enumerate(said) if self._ends_step(one)), len(said))

    def _ends_step(self, told: Told) -> bool:
        if isinstance(told, ToldOutcome):
            return told.ended
        return isinstance(told, ToldStep) and (self.step is None or told.number != self.step.number)

    def work_on_plan(self, step: int) -> None:
        """Add the step to those that work on the current part of the plan."""
        reflection = self._state.reflection
        if reflection.plan is not None:
            reflection.plan = reflection.plan.worked_on(step)

    # As the phases leave it

    def recognised(self, found: Recognised) -> Recognised:
        """Return what was found of the page, with what the agent has said."""
        state = self._state
        stack = state.stack if state.stack.frames or state.stack.finished else None
        record = stack_record(stack, lambda _: "") if stack is not None else None
        if record is not None:
            record = record.replace(depth_limit=0, calls_limit=0)  # It has no limits of ours.
        found = found.replace(stack=record, reflection=reflection_record(state))
        here = self._here
        if here is None:
            return found
        why = here.description or "The agent reported this."
        if state.forced_state:
            why = f"You set this state; the agent reports {here.name}."
        gone = state.memory.transitions
        names = [name for one in gone for name in (one.source, one.target)]
        states = tuple((name, "", False) for name in dict.fromkeys((*names, here.name)))
        return found.replace(
            space=SPACE,
            state=state.forced_state or here.name,
            why=why,
            memory=state.memory,
            diagram=Diagram(title="Reported by the agent", states=states),
        )

    def recalled(self) -> Recalled:
        """Return the exemplars that the agent was shown."""
        shown = self._shown
        return shown if shown.recalled_at == self._state.number else shown.replace(recall=None)

    def judged(self, verdict: Verdict) -> Verdict:
        """Return the verdict of the task's judge, or the one of the agent's environment if there is none."""
        told = self.outcome
        if told is None or verdict.success is not None or verdict.reward is not None:
            return verdict
        if told.success is None and told.reward is None:
            return verdict.replace(reason=told.reason or verdict.reason)
        return Verdict(
            success=told.success,
            reward=told.reward,
            judge="agent",
            reason=" ".join(filter(None, (_BY_AGENT, told.reason))),
        )

    # One by one

    def _take(self, told: Told, step: int) -> None:
        match told:
            case ToldPolicy():
                self._begin(told, step)
            case ToldPolicyEnd():
                self._end(told, step)
            case ToldState():
                self._arrive(told, step)
            case ToldPlan():
                reflection = self._state.reflection
                reflection.plan = _plan_of(told, reflection.plan)
            case ToldRemedy():
                self._push_remedy(told, step)
            case ToldExemplars():
                self._show(told, step)
            case ToldNote():
                stack = self._state.stack
                self._state.stack = stack if stack.top is None else stack.note(told.text)
            case ToldStep():
                self.step = _step_of(told, self.step)
            case ToldOutcome() if told.ended:
                self.step, self.outcome = None, told

    def _begin(self, told: ToldPolicy, step: int) -> None:
        state, stack = self._state, self._state.stack
        number = max((one.number for one in (*stack.frames, *stack.finished)), default=0) + 1
        caller = self._frames.get(told.parent, state.frame)
        frame = Frame(
            number=number,
            policy=told.name,
            name=told.name,
            arguments=(told.argument,) if told.argument else (),
            caller=caller or None,
            call=stack.calls + 1,
            step=step,
        )
        self._frames[told.id] = number
        state.stack = stack.replace(frames=(*stack.frames, frame))

    def _end(self, told: ToldPolicyEnd, step: int) -> None:
        """End a policy, wherever on the stack it is: those of other tasks may have begun since."""
        stack = self._state.stack
        frame = stack.frame(self._frames.pop(told.id, 0))
        if frame is None or frame not in stack.frames:
            return
        ended = frame.replace(state="lacked" if told.error else "returned", lacked=told.error, ended_at=step)
        self._state.stack = stack.replace(
            frames=tuple(one for one in stack.frames if one is not frame),
            finished=(*stack.finished, ended)[-_ENDED_KEPT:],
        )

    def _arrive(self, told: ToldState, step: int) -> None:
        state, before = self._state, self._here
        self._here = told
        if before is not None and before.name != told.name:
            action = next((one.action for one in reversed(state.history) if one.number < step), "")
            moved = state.memory.moved(step=step, source=before.name, action=action)
            state.memory = moved.arrived(told.name)

    def _push_remedy(self, told: ToldRemedy, step: int) -> None:
        state, remedies = self._state, self._state.reflection.remedies
        entry = RemedyEntry(
            number=len(remedies.entries) + 1,
            step=step,
            trial=state.trial,
            action=AgentAct(words=told.text),
            reason=f"instead of {told.for_action}" if told.for_action else "",
        )
        known = ((one.step, one.action, one.reason) for one in remedies.waiting)
        if (step, entry.action, entry.reason) not in known:
            state.reflection.remedies = remedies.push([entry])

    def _show(self, told: ToldExemplars, step: int) -> None:
        shown = tuple(_exemplar(at, one) for at, one in enumerate(told.shown, start=1))
        self._shown = Recalled(
            exemplars=tuple(one.name for one in shown),
            recalled_at=step,
            recall=Recall(shown=shown, why="The agent reported that it was shown these."),
        )


def _step_of(told: ToldStep, before: AgentStep | None) -> AgentStep:
    """Return the step that was told; said again, it keeps what is not told again."""
    same = before if before is not None and before.number == told.number else AgentStep(number=told.number)
    return same.replace(goal=told.goal or same.goal, actions=told.actions or same.actions)


def _in_words(told: ToldOutcome) -> str:
    parts = []
    if told.ended:
        parts.append(
            {True: "ended with success", False: "ended without success", None: "ended"}[told.success]
        )
    if told.reward is not None:
        parts.append(f"reward {told.reward:g}")
    said = f"The agent's episode: {', '.join(parts)}." if parts else ""
    return " ".join(filter(None, (said, told.reason)))


def _exemplar(at: int, given: str | tuple[str, str]) -> ShownExemplar:
    if not isinstance(given, str):
        return ShownExemplar(name=given[0] or f"exemplar {at}", text=given[1])
    line = next((one.strip() for one in given.splitlines() if one.strip()), "")
    name = line if len(line) <= _LONGEST_NAME else f"{line[:_LONGEST_NAME]}…"
    return ShownExemplar(name=f"{at}. {name}", text=given)


def _plan_of(told: ToldPlan, before: Plan | None) -> Plan:
    """Return the plan that was said; of the one before it keeps what steps have the same words."""
    texts = [" ".join(step.split()) for step in told.steps]
    left = list(before.subtasks) if before is not None else []
    kept: list[Subtask] = []
    for text in texts:  # In order: several may have the same words.
        known = next((subtask for subtask in left if subtask.text == text), None)
        kept.append(known or Subtask(text=text))
        if known is not None:
            left.remove(known)
    over = ("done", "needless")
    at = told.at
    if at is None:
        at = next((number for number, one in enumerate(kept) if one.status not in over), len(kept))
    subtasks: list[Subtask] = []
    for number, one in enumerate(kept):
        status: SubtaskStatus = "current" if number == at else "waiting"
        if number < at:
            status = one.status if one.status in over else "done"
        subtasks.append(one.replace(status=status))
    same = before is None or [subtask.text for subtask in before.subtasks] == texts
    revision = before.revision if before is not None else 0
    return Plan(subtasks=tuple(subtasks), revision=revision if same else revision + 1)
