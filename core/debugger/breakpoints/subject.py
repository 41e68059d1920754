"""The values of a debug event for expressions: a tree of plain values, built on demand.

Page, state, permissible actions and policies are those of the step before until the step has its own, so a
value does not change between two steps without reason. Action, thought and judgement belong only to their own
step.

Completion and help are made from these models: users see their docstrings when they write an expression.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

from pydantic import SkipValidation

from core.agent.general_space import label_of
from core.debugger.breakpoints.debug_event import DebugEvent, StepSoFar, Where
from core.schema.action import Action, Goto, Named
from core.schema.messages import Purpose
from core.schema.record import Record
from core.schema.step import (
    Acted,
    Aligned,
    Decided,
    Observed,
    Origin,
    Phase,
    Recognised,
    Reviewed,
    StackRecord,
)


class RunPart(Record):
    """The run and its figures so far."""

    number: int
    """The number of the run."""
    task: str
    """The task, as in miniwob/book-flight."""
    instruction: str
    """The instruction of the task."""
    seed: int
    """The seed of the task."""
    preset: str
    """The preset the run began with."""
    llm: str
    """The LLM the run began with."""
    cost: float | None
    """US dollars so far; nothing if no call had a price."""
    tokens: int
    """Tokens of all calls so far."""
    seconds: float
    """Working time so far, without waiting for a person."""
    llm_calls: int
    """LLM calls so far, including one that is running."""
    page_actions: int
    """Actions carried out in the page so far."""


class StepPart(Record):
    """The current step."""

    number: int
    """Its number in the run, from 1."""
    trial: int
    """Its trial, from 1."""
    phase: Phase
    """The current phase, such as observe, decide, review or act."""
    where: Where
    """The place in the phase: before, after, before call, after call, request or event."""


class PageElement(Record):
    """An element of the page."""

    ref: int
    """Its number in the observation."""
    role: str
    """Its ARIA role, such as button; text for plain text."""
    name: str
    """Its accessible name; for text, the text itself."""
    value: str
    """What is typed or chosen in it."""
    states: tuple[str, ...]
    """Such as checked, disabled or focused."""
    in_viewport: bool
    """Whether it can be seen without scrolling."""


class PagePart(Record):
    """The page as it was last observed."""

    url: str
    """Its URL."""
    title: str
    """Its title."""
    elements: SkipValidation[tuple[PageElement, ...]]
    """Its elements, in document order."""


class StatePart(Record):
    """The state of the page."""

    name: str
    """The name of the state."""
    space: str
    """The state space; general or none if there is no file for the page."""


class ActionPart(Record):
    """The next action, or the one that was carried out."""

    name: str
    """Its name among the permissible actions, such as click or buy_now."""
    written: str
    """The whole action as text, such as click [12]."""
    text: str
    """The text it types, chooses, notes, answers or gets as arguments; empty for other actions."""
    target: str
    """The element it acts on, such as button "Save"."""
    url: str
    """The URL it opens; empty for other actions."""
    origin: Origin
    """Who chose it: agent, person, remedy or replay."""


class PolicyPart(Record):
    """The policy at work."""

    name: str
    """The name it was called by."""
    argument: str
    """The arguments of its call."""
    depth: int
    """How many policies are on the stack, including this one."""


class PlanPart(Record):
    """The plan."""

    current: str | None
    """The current subtask; nothing if all are over."""
    done: int
    """Subtasks that are over."""
    left: int
    """Subtasks that are left, including the current one."""
    revision: int
    """How often it was revised after a failed trial."""


class JudgementPart(Record):
    """The judgement of this step after it was carried out."""

    aligned: bool | None
    """Whether it served its subtask; nothing if that could not be determined."""
    sentence: str
    """What the action did, in a sentence."""


class RemediesPart(Record):
    """The stack of remedies."""

    waiting: int
    """Remedies that are waiting."""


class RetrievalPart(Record):
    """The exemplars that were recalled for the policy or the task at work."""

    distance: float | None
    """The distance of the nearest one; nothing if none was found."""
    family: str
    """The family that won the vote."""
    exemplars: tuple[str, ...]
    """The ids of those in the prompt."""


class LastPart(Record):
    """The outcome of the last action: of this step after it has acted, otherwise of the step before."""

    outcome: str
    """done, failed or skipped."""
    message: str
    """Why it failed, or what else happened."""


class CallPart(Record):
    """The LLM call that is about to be made, or has ended."""

    number: int
    """Its number in the run, from 1."""
    purpose: Purpose
    """Its purpose, such as decide or judgement."""
    llm: str
    """The LLM that is asked."""
    seconds: float
    """How long it took; 0 before the call."""
    tokens: int
    """Tokens of prompt and reply; 0 before the call."""
    error: str
    """Why there was no reply; empty if there was one."""


class RequestPart(Record):
    """The request that the page is about to send."""

    method: str
    """Its method, such as POST."""
    url: str
    """Its URL."""
    socket: bool
    """Whether it uses a WebSocket."""


class EventSubject(Record):
    """All names of an expression; a value that an event does not have is nothing."""

    run: RunPart
    """The run and its figures so far."""
    step: StepPart
    """The current step."""
    page: PagePart | None
    """The page as it was last observed: the effect of an action is visible at the next step."""
    state: StatePart | None
    """The state of the page."""
    permissible: tuple[str, ...] | None
    """The names of the permissible actions."""
    action: ActionPart | None
    """The next action, or the one that was carried out."""
    thought: str | None
    """Why the action was chosen, in the words of the agent or person who chose it."""
    policy: PolicyPart | None
    """The policy at work."""
    stack: tuple[str, ...] | None
    """The names of the policies on the stack; the last is the one at work."""
    plan: PlanPart | None
    """The plan."""
    judgement: JudgementPart | None
    """The judgement of this step."""
    remedies: RemediesPart | None
    """The stack of remedies."""
    retrieval: RetrievalPart | None
    """The exemplars that were recalled."""
    last: LastPart | None
    """The outcome of the last action."""
    call: CallPart | None
    """The current LLM call."""
    request: RequestPart | None
    """The request that the page is about to send."""


class SubjectOf:
    """The subject of one event, by the names of its parts."""

    def __init__(self, event: DebugEvent) -> None:
        self._event = event

    def __getitem__(self, name: str) -> Any:
        parts = self._event.parts
        if name not in parts:
            parts[name] = _BUILDERS[name](self._event)
        return parts[name]

    def differs(self, earlier: DebugEvent | None, names: Iterable[str]) -> bool:
        """Return whether any part of these names is other than at the earlier event, or there was none."""
        if earlier is None:
            return True
        before = SubjectOf(earlier)
        return any(self[name] != before[name] for name in names)


def _run(event: DebugEvent) -> RunPart:
    row, figures = event.run, event.figures
    return RunPart(
        number=row.run,
        task=row.task,
        instruction=row.instruction,
        seed=row.seed,
        preset=row.preset,
        llm=row.llm,
        cost=figures.cost,
        tokens=figures.tokens,
        seconds=figures.seconds,
        llm_calls=figures.llm_calls,
        page_actions=figures.page_actions,
    )


def _step(event: DebugEvent) -> StepPart:
    figures = event.figures
    return StepPart(number=figures.step, trial=figures.trial, phase=event.phase, where=event.where)


def _page(event: DebugEvent) -> PagePart | None:
    observed = event.latest(Observed)
    if observed is None:
        return None
    page = observed.observation
    # The elements stand there as they are, not copied: a page may have thousands.
    elements = cast("tuple[PageElement, ...]", page.elements)
    return PagePart(url=page.url, title=page.title, elements=elements)


def _state(event: DebugEvent) -> StatePart | None:
    recognised = event.latest(Recognised)
    return None if recognised is None else StatePart(name=recognised.state, space=recognised.space)


def _permissible(event: DebugEvent) -> tuple[str, ...] | None:
    recognised = event.latest(Recognised)
    return None if recognised is None else tuple(action.name for action in recognised.permissible.actions)


def _action(event: DebugEvent) -> ActionPart | None:
    action = event.step.action
    if action is None:
        return None
    observed, acted = event.step.get(Observed), event.step.get(Acted)
    label = label_of(observed.observation, action) if observed is not None else ""
    return ActionPart(
        name=action.name,
        written=str(action),
        text=text_of(action),
        target=(acted.target if acted is not None else "") or label,
        url=action.url if isinstance(action, Goto) else "",
        origin=_origin(event.step),
    )


def _origin(step: StepSoFar) -> Origin:
    reviewed, decided = step.get(Reviewed), step.get(Decided)
    if reviewed is not None:
        return reviewed.origin
    scheduled = decided.scheduled if decided is not None else None
    return "agent" if scheduled is None or scheduled.kind == "answer" else "remedy"


def text_of(action: Action) -> str:
    """Return what an action types, chooses, notes, answers or is given."""
    if isinstance(action, Named):
        return ", ".join(action.arguments)
    given = (getattr(action, name, None) for name in ("text", "option", "keys", "answer", "path", "url"))
    return next((text for text in given if text), "")


def _thought(event: DebugEvent) -> str | None:
    reviewed, decided = event.step.get(Reviewed), event.step.get(Decided)
    if reviewed is not None and (reviewed.thought or reviewed.edited):
        return reviewed.thought
    return decided.proposal.thought if decided is not None else None


def _stack_record(event: DebugEvent) -> StackRecord | None:
    recognised = event.latest(Recognised)
    return recognised.stack if recognised is not None else None


def _policy(event: DebugEvent) -> PolicyPart | None:
    stack = _stack_record(event)
    if stack is None or not stack.frames:
        return None
    top = stack.frames[-1]
    return PolicyPart(name=top.policy, argument=top.argument, depth=len(stack.frames))


def _stack(event: DebugEvent) -> tuple[str, ...] | None:
    stack = _stack_record(event)
    return None if stack is None else tuple(frame.policy for frame in stack.frames)


def _plan(event: DebugEvent) -> PlanPart | None:
    reflection = _reflection_step(event).reflection
    if reflection is None or reflection.plan is None:
        return None
    plan = reflection.plan
    over = sum(subtask.status in ("done", "needless") for subtask in plan.subtasks)
    return PlanPart(
        current=plan.current.text if plan.current is not None else None,
        done=over,
        left=len(plan.subtasks) - over,
        revision=plan.revision,
    )


def _remedies(event: DebugEvent) -> RemediesPart | None:
    reflection = _reflection_step(event).reflection
    if reflection is None:
        return None
    return RemediesPart(waiting=sum(remedy.state == "waiting" for remedy in reflection.remedies))


def _reflection_step(event: DebugEvent) -> StepSoFar:
    """Return the step whose plan and remedies hold: until this one has decided, the one before."""
    if event.step.reflection is None and event.before is not None:
        return event.before
    return event.step


def _judgement(event: DebugEvent) -> JudgementPart | None:
    aligned = event.step.get(Aligned)
    if aligned is None or not aligned.judged:
        return None
    return JudgementPart(aligned=aligned.aligned, sentence=aligned.sentence)


def _retrieval(event: DebugEvent) -> RetrievalPart | None:
    recall = event.recall
    if recall is None:
        return None
    return RetrievalPart(
        distance=min((one.distance for one in recall.retrieved), default=None),
        family=recall.family,
        exemplars=(*(one.id for one in recall.used), *(one.name for one in recall.shown)),
    )


def _last(event: DebugEvent) -> LastPart | None:
    acted = event.step.get(Acted)
    if acted is None and event.before is not None:
        acted = event.before.get(Acted)
    return None if acted is None else LastPart(outcome=acted.outcome, message=acted.message)


def _call(event: DebugEvent) -> CallPart | None:
    call = event.call
    if call is None:
        return None
    ended = event.where == "after call"
    return CallPart(
        number=call.number,
        purpose=call.purpose,
        llm=call.llm,
        seconds=call.seconds if ended else 0.0,
        tokens=call.usage.prompt_tokens + call.usage.completion_tokens if ended else 0,
        error=call.error if ended else "",
    )


def _request(event: DebugEvent) -> RequestPart | None:
    request = event.request
    if request is None:
        return None
    return RequestPart(method=request.method, url=request.url, socket=request.socket)


_BUILDERS: dict[str, Callable[[DebugEvent], Any]] = {
    "run": _run,
    "step": _step,
    "page": _page,
    "state": _state,
    "permissible": _permissible,
    "action": _action,
    "thought": _thought,
    "policy": _policy,
    "stack": _stack,
    "plan": _plan,
    "judgement": _judgement,
    "remedies": _remedies,
    "retrieval": _retrieval,
    "last": _last,
    "call": _call,
    "request": _request,
}
