"""What Plan & remedies and Exemplars show of a step."""

from collections.abc import Iterable, Sequence

from core.debugger.snapshots import (
    ExemplarRow,
    ExemplarsView,
    GradeView,
    JudgementView,
    PlanView,
    RemedyView,
    SubtaskView,
)
from core.schema.errors import TraceError
from core.schema.exemplar import Exemplar
from core.schema.restore import PageDifference, Restored
from core.schema.step import (
    Acted,
    Aligned,
    Anticipated,
    Decided,
    PhaseRecord,
    Recalled,
    ReflectionTold,
    last_reflection,
    record_of,
)
from core.trace.store import TraceStore

DIFFERENCES = 20
"""Differences of a restored page that are told one by one."""


def plan_view(store: TraceStore, run: int, number: int, records: Sequence[PhaseRecord]) -> PlanView:
    """Return plan, remedies and judgements as the last phase of the step left them."""
    told, decided = last_reflection(records), record_of(Decided, records)
    judged = store.judged(run, number)
    if told is None and decided is None:
        # Until the step has decided, what the one before left is in force.
        left = (one.reflection for _, one in reversed(judged) if isinstance(one, Aligned) and one.reflection)
        told = next(left, None)
    if told is None:
        return PlanView(
            message="No plan and no remedies: the preset has none, or they are switched off. The presets "
            "reflect and combined have them."
        )
    plan = told.plan
    anticipated = record_of(Anticipated, records)
    remarks = (
        decided.problem if decided is not None else "",
        anticipated.problem if anticipated is not None else "",
        plan.remark if plan is not None else "",
        _doing(told, decided, anticipated),
    )
    return PlanView(
        subtasks=tuple(
            SubtaskView(text=one.text, status=one.status, steps=one.steps) for one in plan.subtasks
        )
        if plan is not None
        else (),
        revision=plan.revision if plan is not None else 0,
        author=plan.author if plan is not None else "agent",
        remark=" ".join(one for one in remarks if one),
        editable=True,
        trial=told.trial,
        trials=told.trials,
        remedies=_remedies(told, anticipated),
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
        experience="\n".join(told.experience),
    )


def _doing(told: ReflectionTold, decided: Decided | None, anticipated: Anticipated | None) -> str:
    """Return what this step did by itself, or what the next one will."""
    if told.scheduled is not None:
        return f"Next: {_SCHEDULED[told.scheduled.kind]}. {told.scheduled.why}"
    if decided is not None and decided.scheduled is not None:
        return f"This step: {_SCHEDULED[decided.scheduled.kind]}. {decided.scheduled.why}"
    if anticipated is not None and anticipated.beside and not anticipated.calls:
        return "Remedies are asked for while the action runs."
    return ""


_SCHEDULED = {
    "go back": "going back for a remedy",
    "remedy": "the remedy",
    "new trial": "a new trial",
    "answer": "the answer",
}


def _remedies(told: ReflectionTold, anticipated: Anticipated | None) -> tuple[RemedyView, ...]:
    """Return the remedies, the topmost of the stack first, and what was dropped before it came there last."""
    views = [
        RemedyView(
            number=one.number,
            step=one.step,
            action=one.action,
            target=one.target,
            reason=one.reason,
            state=one.state,
            why=one.why,
            subtask=one.subtask,
        )
        for one in reversed(told.remedies)
    ]
    waiting = [one for one in views if one.state == "waiting"]
    over = [one for one in views if one.state != "waiting"]
    dropped = anticipated.dropped if anticipated is not None else ()
    refused = [
        RemedyView(number=0, step=0, action=action, state="dropped", why=why) for action, why in dropped
    ]
    return (*waiting, *over, *refused)


def _judgement(step: int, record: Aligned) -> JudgementView:
    return JudgementView(
        step=step,
        sentence=record.sentence,
        aligned=record.aligned,
        subtask_done=record.subtask_done,
        task_done=record.task_done,
        summarised=bool(record.summarised),
        by_rule=record.by_rule,
    )


def _grade(step: int, restored: Restored) -> GradeView:
    told = [_difference(one) for one in restored.comparison.differences]
    if len(told) > DIFFERENCES:
        told = [*told[:DIFFERENCES], f"and {len(told) - DIFFERENCES} more"]
    tried = [f"{one.strategy}: {one.grade or one.reason}" for one in restored.attempts[:-1]]
    return GradeView(
        step=step,
        to=restored.step,
        grade=restored.grade,
        strategy=restored.strategy,
        seconds=restored.seconds,
        differences=tuple(told),
        remarks=(
            *(f"tried before: {one}" for one in tried),
            *(remark for attempt in restored.attempts for remark in attempt.remarks),
        ),
    )


def _difference(one: PageDifference) -> str:
    what = one.element or "the page"
    volatile = " (changes by itself)" if one.volatile else ""
    if one.what in ("added", "gone"):
        return f"{what} {one.what}{volatile}"
    return f'{what}: {one.part} "{one.before}" is now "{one.now}"{volatile}'


# Exemplars


def exemplars_view(store: TraceStore, run: int, recalled: Recalled | None) -> ExemplarsView:
    """Return what memory gave for the step, which may have been recalled at an earlier one."""
    if recalled is None:
        return ExemplarsView(message="Memory has not been asked yet: step on (F10).")
    if recalled.problem:
        return ExemplarsView(message=recalled.problem)
    if recalled.recalled_at is None:
        return ExemplarsView(
            message="No exemplars: the preset has no memory, or it is switched off. The presets synapse and "
            "combined recall them."
        )
    whole = recalled if recalled.recall is not None else _earlier(store, run, recalled.recalled_at)
    if whole is None or whole.recall is None:
        return ExemplarsView(message=f"What was recalled at step {recalled.recalled_at} cannot be read.")
    recall = whole.recall
    used = {one.id: one for one in recall.used}
    return ExemplarsView(
        query=recall.query,
        embedding=recall.embedding,
        family=recall.family,
        votes=tuple(recall.votes.items()),
        threshold=whole.threshold,
        rows=tuple(
            ExemplarRow(
                id=one.id,
                family=one.family,
                task=one.task,
                distance=one.distance,
                voted=one.voted,
                used=one.used,
                trajectory=trajectory_text(used[one.id]) if one.id in used else "",
            )
            for one in recall.retrieved
        ),
        why=recall.why,
        recalled_at=recalled.recalled_at,
    )


def _earlier(store: TraceStore, run: int, step: int) -> Recalled | None:
    try:
        records: Iterable[PhaseRecord] = store.step(run, step).records
    except TraceError:
        return None
    return record_of(Recalled, records)


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
