"""What the panels of the agent's mechanisms show of a step: its state, its policy stack, its switches."""

from collections import Counter

from core.agent.presets import AMOUNTS, Mechanism, bounds
from core.agent.state import RunState
from core.debugger.snapshots import (
    AmountView,
    DiagramEdgeView,
    DiagramState,
    FitView,
    FrameView,
    MechanismView,
    SetAsideView,
    StackView,
    StateView,
)
from core.schema.observation import Observation
from core.schema.step import DiagramEdge, FrameRecord, Observed, Recognised
from core.trace.records import StepDetail, StepRow

_TITLES: dict[Mechanism, tuple[str, str]] = {
    "states": ("States", "The page is recognised as a state, which fixes what is permissible (LASER)."),
    "policies": ("Policies", "Policies act, call one another and tell what came of it (SteP)."),
    "plan": ("Plan", "The task is parted into subtasks; a trial that failed gives a new plan (reflection)."),
    "remedies": ("Remedies", "Other actions are prepared before one is carried out (reflection)."),
    "judgement": ("Judgement", "Each action is judged; a wrong one is taken back for a remedy (reflection)."),
    "abstraction": ("Abstraction", "Only what the task needs of the page goes into the prompt (Synapse)."),
    "memory": ("Memory", "The prompt begins with whole trajectories of tasks like this one (Synapse)."),
}
"""The mechanisms that can be switched, with what they do."""
AMOUNT_LABELS: dict[Mechanism, str] = {
    "plan": "trials at the most",
    "remedies": "remedies at each action",
    "abstraction": "elements kept",
    "memory": "nearest exemplars that vote",
}


def mechanisms_of(state: RunState) -> tuple[MechanismView, ...]:
    """Return the switches of a run."""
    return tuple(
        MechanismView(
            name=name,
            title=title,
            on=state.is_on(name),
            by_preset=state.preset.has(name),
            description=description,
            amount=_amount(state, name),
        )
        for name, (title, description) in _TITLES.items()
    )


def _amount(state: RunState, mechanism: Mechanism) -> AmountView | None:
    if mechanism not in AMOUNTS or (
        mechanism == "abstraction" and state.abstraction_settings.how != "ranked"
    ):
        return None
    least, most = bounds(mechanism)
    return AmountView(
        label=AMOUNT_LABELS[mechanism],
        value=state.amount(mechanism),
        by_preset=state.preset.amount(mechanism),
        least=least,
        most=most,
    )


def state_view(observed: Observed | None, recognised: Recognised | None) -> StateView:
    """Return the state of a step, with the way the run has come through its space."""
    if recognised is None:
        return StateView(message="The page has not been recognised yet: step on (F10).")
    observation = observed.observation if observed else Observation(url="")
    view = StateView(
        space=recognised.space,
        state=recognised.state,
        why=recognised.why,
        also=recognised.also,
        url=observation.url,
        title=observation.title,
        fits=tuple(FitView.model_validate(fit.model_dump()) for fit in recognised.fits),
    )
    diagram = recognised.diagram
    if diagram is None:
        return view
    memory = recognised.memory
    return view.replace(
        instruction=diagram.instruction,
        file=diagram.file,
        states=_states(recognised),
        edges=_edges(recognised),
        buffer=tuple(
            SetAsideView(
                candidate=one.candidate,
                title=one.title,
                reason=one.reason,
                step=one.step,
                chosen=one.candidate == memory.chosen,
            )
            for one in memory.buffer
        ),
        remembered=tuple(memory.remembered.items()),
        transitions=len(memory.transitions),
        transitions_limit=diagram.transitions,
        choose_at=diagram.choose_at,
    )


def _states(recognised: Recognised) -> tuple[DiagramState, ...]:
    assert recognised.diagram is not None
    transitions = recognised.memory.transitions
    visits = Counter(one.target for one in transitions if one.target)
    if transitions:
        visits[transitions[0].source] += 1
    here = recognised.state if recognised.space not in ("general", "none") else ""
    if here and not visits[here]:
        visits[here] = 1
    return tuple(
        DiagramState(name=name, title=title, stops=stops, current=name == here, visits=visits[name])
        for name, title, stops in recognised.diagram.states
    )


def _edges(recognised: Recognised) -> tuple[DiagramEdgeView, ...]:
    """Return the ways that the file names and those the run has gone, each pair of states once."""
    assert recognised.diagram is not None
    gone = [one for one in recognised.memory.transitions if one.target]
    ways = [*recognised.diagram.edges]
    ways += [DiagramEdge(source=one.source, action=one.action, target=one.target) for one in gone]
    pairs = list(dict.fromkeys((way.source, way.target) for way in ways))
    last = (gone[-1].source, gone[-1].target) if gone else None
    return tuple(
        DiagramEdgeView(
            source=source,
            target=target,
            actions=tuple(
                dict.fromkeys(way.action for way in ways if (way.source, way.target) == (source, target))
            ),
            taken=sum((one.source, one.target) == (source, target) for one in gone),
            last=(source, target) == last,
        )
        for source, target in pairs
    )


def stack_view(recognised: Recognised | None, detail: StepDetail, steps: tuple[StepRow, ...]) -> StackView:
    """Return the policy stack as the step found it; `steps` are those of the run, for what each frame did."""
    if recognised is None:
        return StackView(message="The page has not been recognised yet: step on (F10).")
    record = recognised.stack
    if record is None:
        return StackView(
            message="No policy is at work: the preset has none, they are switched off, or none is meant for "
            "this page. The preset step works with policies."
        )
    rows = {row.number: row for row in steps}
    top = record.frames[-1].number if record.frames else 0

    def view(frame: FrameRecord) -> FrameView:
        acting = frame.number == top
        state = "acting" if acting else "waiting" if frame.state == "active" else frame.state
        return FrameView(
            policy=frame.policy,
            argument=frame.argument,
            steps=len(frame.steps),
            current=acting,
            number=frame.number,
            state=state,
            began=frame.began,
            result=frame.outcome,
            history=tuple(_line(rows[number]) for number in frame.steps if number in rows),
            notes=frame.notes,
            calls=tuple(call.number for call in detail.calls) if acting else (),
            file=frame.file,
        )

    return StackView(
        frames=tuple(view(frame) for frame in reversed(record.frames)),
        finished=tuple(view(frame) for frame in reversed(record.finished)),
        depth_limit=record.depth_limit,
        calls=record.calls,
        calls_limit=record.calls_limit,
    )


def _line(row: StepRow) -> str:
    target = f" ({row.target})" if row.target else ""
    message = f": {row.message}" if row.message and row.outcome != "done" else ""
    return f"{row.number}. {row.action or 'no action'}{target}, {row.outcome}{message}"
