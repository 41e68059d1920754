"""Makes the views of the agent's mechanisms at a step: states, policies, plan, remedies, exemplars, switches."""

from collections import Counter
from collections.abc import Mapping, Sequence

from core.agent.presets import AbstractionTable, Mechanism, Preset, bounds
from core.agent.state import RunState
from core.debugger.session_view import AmountView, MechanismView
from core.debugger.steps.views import (
    DiagramEdgeView,
    DiagramState,
    ExemplarRow,
    ExemplarsView,
    FrameView,
    GradeView,
    JudgementView,
    PlanView,
    SetAsideView,
    StackView,
    StateView,
)
from core.schema.errors import TraceError
from core.schema.exemplar import Exemplar, Recall
from core.schema.observation import Observation
from core.schema.progress import SpaceMemory
from core.schema.restore import Restored, sent_summary
from core.schema.step import (
    Acted,
    Aligned,
    Anticipated,
    CallRecord,
    Decided,
    DiagramEdge,
    FrameRecord,
    Judgement,
    Observed,
    PhaseRecord,
    Recalled,
    Recognised,
    ReflectionRecord,
    RemedyRecord,
    last_reflection,
    record_of,
)
from core.trace.calls import exemplars_sent
from core.trace.records import StepDetail, StepRow
from core.trace.under_way import StepSource

_TITLES: dict[Mechanism, tuple[str, str]] = {
    "states": (
        "States",
        "The page is recognised as a state, which determines the permissible actions (LASER).",
    ),
    "policies": ("Policies", "Policies act, call one another and return results (SteP)."),
    "plan": ("Plan", "The task is split into subtasks; a failed trial leads to a new plan (reflection)."),
    "remedies": ("Remedies", "Alternative actions are prepared before one is carried out (reflection)."),
    "judgement": (
        "Judgement",
        "Each action is judged; a wrong one is undone and replaced by a remedy (reflection).",
    ),
    "abstraction": (
        "Abstraction",
        "Only the parts of the page that the task needs go into the prompt (Synapse).",
    ),
    "memory": ("Memory", "The prompt begins with complete trajectories of similar tasks (Synapse)."),
}
"""The mechanisms that can be switched, with what they do."""
_AMOUNT_LABELS: dict[Mechanism, str] = {
    "plan": "trials at most",
    "remedies": "remedies per action",
    "abstraction": "elements at most",
    "memory": "nearest exemplars that vote",
}


_NOT_TOLD = (
    "This agent has not reported {what}. Call backstep_sdk.{call} in its program to fill this "
    "panel; see Your own agent."
)
_NONE_TOLD = {
    "state": _NOT_TOLD.format(what="its state", call="state(…)"),
    "stack": _NOT_TOLD.format(what="which policies are at work", call="policy(…)"),
    "plan": _NOT_TOLD.format(what="its plan or remedies", call="plan(…) or remedy(…)"),
    "exemplars": _NOT_TOLD.format(what="which exemplars it was shown", call="exemplars(…)"),
}
"""What panels say of an attached agent, by panel."""


def mechanisms_of(state: RunState) -> tuple[MechanismView, ...]:
    """Return the switches of a run."""
    amounts = amounts_of(state.preset, state.amounts)
    return tuple(
        MechanismView(
            name=name,
            title=title,
            on=state.is_on(name),
            by_preset=state.preset.has(name),
            description=description,
            amount=amounts.get(name),
        )
        for name, (title, description) in _TITLES.items()
    )


def amounts_of(preset: Preset, chosen: Mapping[Mechanism, int]) -> dict[Mechanism, AmountView]:
    """Return the numbers that can be set, with a person's choices; not all kinds of abstraction have one."""
    found: dict[Mechanism, AmountView] = {}
    for mechanism, label in _AMOUNT_LABELS.items():
        if mechanism == "abstraction" and (preset.abstraction or AbstractionTable()).how != "ranked":
            continue
        least, most = bounds(mechanism)
        by_preset = preset.amount(mechanism)
        found[mechanism] = AmountView(
            mechanism=mechanism,
            label=label,
            value=chosen.get(mechanism, by_preset),
            by_preset=by_preset,
            least=least,
            most=most,
        )
    return found


def state_view(observed: Observed | None, recognised: Recognised | None, *, told: bool = False) -> StateView:
    """Return the state of a step, with the run's path through its space; `told`: by an attached agent."""
    if recognised is None:
        return StateView(message="The page has not been recognised yet. Step (F10).")
    if told and recognised.diagram is None:
        return StateView(message=_NONE_TOLD["state"])
    observation = observed.observation if observed else Observation(url="")
    view = StateView(
        space=recognised.space,
        state=recognised.state,
        why=recognised.why,
        also=recognised.also,
        url=observation.url,
        title=observation.title,
        fits=recognised.fits,
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
                **dict(one), kept=_kept(memory, one.candidate), chosen=one.candidate == memory.chosen
            )
            for one in memory.buffer
        ),
        remembered=(*memory.remembered.items(), *_kept_beside_the_buffer(memory)),
        transitions=len(memory.transitions),
        transitions_limit=diagram.transitions,
        choose_at=diagram.choose_at,
    )


def _kept(memory: SpaceMemory, candidate: str) -> tuple[tuple[str, str], ...]:
    return tuple((one.name.replace("_", " "), one.told) for one in memory.kept_of(candidate))


def _kept_beside_the_buffer(memory: SpaceMemory) -> tuple[tuple[str, str], ...]:
    """Return what is kept of candidates that are not set aside, such as the one in view."""
    return tuple(
        (f"{one.candidate}, {one.name.replace('_', ' ')}", one.told)
        for one in memory.kept
        if memory.entry(one.candidate) is None
    )


def _states(recognised: Recognised) -> tuple[DiagramState, ...]:
    assert recognised.diagram is not None
    transitions = recognised.memory.transitions
    visits = Counter(transition.target for transition in transitions if transition.target)
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
    """Return the edges in the file and those of the run's path, each pair of states once."""
    assert recognised.diagram is not None
    gone = [transition for transition in recognised.memory.transitions if transition.target]
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


def stack_view(
    recognised: Recognised | None, detail: StepDetail, source: StepSource, run: int, *, told: bool = False
) -> StackView:
    """Return the policy stack as the step found it."""
    if recognised is None:
        return StackView(message="The page has not been recognised yet. Step (F10).")
    record = recognised.stack
    if record is None and told:
        return StackView(message=_NONE_TOLD["stack"])
    if record is None:
        return StackView(
            message="No policy is at work: the preset has none, they are switched off, or none applies to this "
            "page. The preset step has policies."
        )
    rows = {row.number: row for row in source.steps(run)}
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

    actions = recognised.permissible.actions
    return StackView(
        callable=tuple(action.name for action in actions if action.origin == "policy"),
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


DIFFERENCES = 20
"""Differences of a restored page that are listed one by one."""


def plan_view(
    source: StepSource, run: int, number: int, records: Sequence[PhaseRecord], *, told: bool = False
) -> PlanView:
    """Return plan, remedies and judgements as the last phase of the step left them."""
    reflection, decided = last_reflection(records), record_of(Decided, records)
    judged = source.judged(run, number)
    if reflection is None and decided is None:
        # Until the step has decided, what the one before left is in force.
        left = (one.reflection for _, one in reversed(judged) if isinstance(one, Aligned) and one.reflection)
        reflection = next(left, None)
    if reflection is None and told:
        return PlanView(message=_NONE_TOLD["plan"])
    if reflection is None:
        return PlanView(
            message="No plan and no remedies: the preset has none, or they are switched off. The presets "
            "reflect and combined have them."
        )
    plan = reflection.plan
    anticipated = record_of(Anticipated, records)
    remarks = (
        decided.problem if decided is not None else "",
        anticipated.problem if anticipated is not None else "",
        plan.remark if plan is not None else "",
        _doing(reflection, decided, anticipated),
    )
    return PlanView(
        subtasks=plan.subtasks if plan is not None else (),
        revision=plan.revision if plan is not None else 0,
        author=plan.author if plan is not None else "agent",
        remark=" ".join(remark for remark in remarks if remark),
        editable=not told,
        told=told,
        trial=reflection.trial,
        trials=reflection.trials,
        remedies=_remedies(reflection, anticipated),
        judgements=tuple(
            _judgement(step, record)
            for step, record in reversed(judged)
            if isinstance(record, Aligned) and record.judged
        ),
        grades=tuple(
            _grade(step, record.restored)
            for step, record in reversed(judged)
            if isinstance(record, Acted) and record.restored is not None
        ),
        experience="\n".join(reflection.experience),
    )


def _doing(reflection: ReflectionRecord, decided: Decided | None, anticipated: Anticipated | None) -> str:
    """Return what this step did by itself, or what the next one will."""
    if reflection.scheduled is not None:
        return f"Next: {_SCHEDULED[reflection.scheduled.kind]}. {reflection.scheduled.why}"
    if decided is not None and decided.scheduled is not None:
        return f"This step: {_SCHEDULED[decided.scheduled.kind]}. {decided.scheduled.why}"
    if anticipated is not None and anticipated.beside and not anticipated.calls:
        return "Remedies are requested while the action runs."
    return ""


_SCHEDULED = {
    "go back": "going back for a remedy",
    "remedy": "the remedy",
    "new trial": "a new trial",
    "answer": "the answer",
}


def _remedies(reflection: ReflectionRecord, anticipated: Anticipated | None) -> tuple[RemedyRecord, ...]:
    """Return the remedies, the topmost of the stack first, and what was dropped before it came there last."""
    latest_first = reflection.remedies[::-1]
    waiting = [one for one in latest_first if one.state == "waiting"]
    over = [one for one in latest_first if one.state != "waiting"]
    dropped = anticipated.dropped if anticipated is not None else ()
    refused = [
        RemedyRecord(number=0, step=0, action=action, state="dropped", why=why) for action, why in dropped
    ]
    return (*waiting, *over, *refused)


def _judgement(step: int, record: Aligned) -> JudgementView:
    said = {name: getattr(record, name) for name in Judgement.model_fields}
    return JudgementView(step=step, summarised=bool(record.summarised), **said)


def _grade(step: int, restored: Restored) -> GradeView:
    differences = [difference.words for difference in restored.comparison.differences]
    if len(differences) > DIFFERENCES:
        differences = [*differences[:DIFFERENCES], f"and {len(differences) - DIFFERENCES} more"]
    tried = [f"{attempt.strategy}: {attempt.grade or attempt.reason}" for attempt in restored.attempts[:-1]]
    return GradeView(
        step=step,
        to=restored.step,
        grade=restored.grade,
        strategy=restored.strategy,
        seconds=restored.seconds,
        differences=tuple(differences),
        remarks=(
            *((f"not undone: {sent_summary(restored.sent)}",) if restored.sent else ()),
            *(f"tried before: {one}" for one in tried),
            *(remark for attempt in restored.attempts for remark in attempt.remarks),
        ),
    )


# Exemplars


_NOT_SENT = "Left out of this step's prompt: it shows an action that is not permitted here, or the prompt was too long."


def exemplars_view(
    source: StepSource,
    run: int,
    recalled: Recalled | None,
    calls: Sequence[CallRecord] = (),
    *,
    told: bool = False,
) -> ExemplarsView:
    """Return what memory gave for the step, which may have been recalled at an earlier one, and what its calls had."""
    if recalled is None:
        return ExemplarsView(message="Memory has not been used yet. Step (F10).")
    if recalled.problem:
        return ExemplarsView(message=recalled.problem)
    if recalled.recalled_at is None and told:
        return ExemplarsView(message=_NONE_TOLD["exemplars"])
    if recalled.recalled_at is None:
        return ExemplarsView(
            message="No exemplars: the preset has no memory, or it is switched off. The presets synapse and "
            "combined recall them."
        )
    whole = recalled if recalled.recall is not None else _earlier(source, run, recalled.recalled_at)
    if whole is None or whole.recall is None:
        return ExemplarsView(message=f"The exemplars recalled at step {recalled.recalled_at} cannot be read.")
    recall = whole.recall
    return ExemplarsView(
        query=recall.query,
        embedding=recall.embedding,
        family=recall.family,
        votes=tuple(recall.votes.items()),
        threshold=whole.threshold,
        rows=_exemplar_rows(recall, _sent(source, calls)),
        why=recall.why,
        problems=recall.problems,
        recalled_at=recalled.recalled_at,
    )


def _sent(source: StepSource, calls: Sequence[CallRecord]) -> frozenset[str] | None:
    try:
        sent = exemplars_sent(source, calls)
    except TraceError:
        return None  # Told where the call itself is shown.
    return None if sent is None else frozenset(part.id for part in sent)


def _exemplar_rows(recall: Recall, sent: frozenset[str] | None) -> tuple[ExemplarRow, ...]:
    """Return what is for the prompt, then what was near; a person may have changed which are used.

    `sent` are those that the prompt had, if that is known.
    """
    problems = {one.id: "" if sent is None or one.id in sent else _NOT_SENT for one in recall.used}
    used = {one.id: one for one in recall.used}
    shown = [
        ExemplarRow(
            id=f"shown {at}",
            family="",
            task=one.name,
            distance=0.0,
            used=True,
            told=True,
            trajectory=one.text,
        )
        for at, one in enumerate(recall.shown, start=1)
    ]
    near = [
        ExemplarRow(
            **(dict(one) | {"used": one.id in used, "problem": problems.get(one.id, one.problem)}),
            trajectory=trajectory_text(used[one.id]) if one.id in used else "",
        )
        for one in recall.retrieved
    ]
    retrieved = {one.id for one in near}
    added = [
        ExemplarRow(
            id=one.id,
            family=one.family,
            task=one.task,
            distance=0.0,
            used=True,
            added=True,
            problem=problems[one.id],
            trajectory=trajectory_text(one),
        )
        for one in recall.used
        if one.id not in retrieved
    ]
    return tuple(sorted([*shown, *near, *added], key=lambda row: not row.used))


def _earlier(source: StepSource, run: int, step: int) -> Recalled | None:
    try:
        return source.recalled(run, step)
    except TraceError:
        return None


def trajectory_text(exemplar: Exemplar) -> str:
    """Return an exemplar as a text to read."""
    parts = [f"Task: {exemplar.task}"]
    for step in exemplar.steps:
        parts.append(f"Observation:\n{step.observation}")
        said = [f"Thought: {step.thought}"] if step.thought else []
        parts.append("\n".join([*said, *(f"Action: {action}" for action in step.actions)]))
    if exemplar.source:
        parts.append(f"From {exemplar.source}.")
    return "\n\n".join(parts)
