"""What Plan & remedies says of subtasks, remedies, judgements and goings back, row by row."""

from core.debugger.snapshots import GradeView, JudgementView, PlanView, RemedyView, SubtaskView
from gui.widgets.formats import seconds
from gui.widgets.rows import Row

_SUBTASKS = {
    "done": ("check", "good", "done"),
    "current": ("arrow-right", "agent", "current"),
    "waiting": ("circle-outline", "dim", "waiting"),
    "needless": ("circle-slash", "dim", "needless"),
}
_REMEDIES = {
    "waiting": ("discard", "remedy", "waiting"),
    "chosen": ("arrow-right", "agent", "chosen"),
    "tried": ("check", "dim", "tried"),
    "dropped": ("close", "dim", "dropped"),
}
_ALIGNED = {
    True: ("check", "good", "aligned"),
    False: ("close", "bad", "not aligned"),
    None: ("question", "remedy", "could not be told"),
}
GRADE_MARKS = {
    "exact": ("check-all", "good"),
    "equivalent": ("check", "good"),
    "same page": ("warning", "remedy"),
    "lost": ("close", "bad"),
}


def subtask_row(at: int, subtask: SubtaskView) -> Row:
    """Return the row of the subtask at position `at`, from 0."""
    icon, tone, word = _SUBTASKS[subtask.status]
    steps = ""
    if subtask.steps:
        steps = f"step{'s' if len(subtask.steps) > 1 else ''} {ranges(subtask.steps)}"
    return Row(
        text=f"{at + 1}. {subtask.text}",
        icon=icon,
        tone=tone,
        word=word,
        detail=steps,
        strong=subtask.status == "current",
        quiet=subtask.status in ("done", "needless"),
        key=at,
    )


def remedy_row(remedy: RemedyView, plan: PlanView) -> Row:
    icon, tone, word = _REMEDIES[remedy.state]
    serves = ""
    if remedy.subtask is not None and remedy.subtask < len(plan.subtasks):
        serves = f"for subtask {remedy.subtask + 1}"
    told = (f"from step {remedy.step}", remedy.target, serves)
    lines = [" · ".join(part for part in told if part), remedy.reason, remedy.why]
    return Row(
        text=remedy.action,
        icon=icon,
        tone=tone,
        word=word,
        detail="\n".join(line for line in lines if line),
        machine=True,
        quiet=remedy.state in ("tried", "dropped"),
        key=remedy.number,
    )


def judgement_row(judgement: JudgementView) -> Row:
    icon, tone, word = _ALIGNED[judgement.aligned]
    facts = [f"step {judgement.step}"]
    for answer, yes, no in (
        (judgement.subtask_done, "subtask done", "subtask not done"),
        (judgement.task_done, "task done", "task not done"),
    ):
        if answer is not None:
            facts.append(yes if answer else no)
    lines = [" · ".join(facts)]
    if judgement.by_rule:
        lines.append(f"by rule, without the LLM: {judgement.by_rule}")
    if judgement.summarised:
        lines.append("the page was too long: a summary of it was judged")
    return Row(
        text=judgement.sentence or "No sentence was given.",
        icon=icon,
        tone=tone,
        word=word,
        detail="\n".join(lines),
        quiet=not judgement.sentence,
    )


def grade_row(grade: GradeView) -> Row:
    icon, tone = GRADE_MARKS[grade.grade]
    how = " · ".join(
        part for part in (grade.strategy, seconds(grade.seconds) if grade.seconds else "") if part
    )
    return Row(
        text=f"step {grade.step}: back to step {grade.to}",
        icon=icon,
        tone=tone,
        word=grade.grade,
        detail="\n".join(
            [
                *([how] if how else []),
                *(f"differs: {one}" for one in grade.differences),
                *grade.remarks,
            ]
        ),
    )


def plan_fact(view: PlanView) -> str:
    """Return such as ``2 of 4 · trial 1 of 3``: the current subtask, or how many are done."""
    parts = []
    total = len(view.subtasks)
    current = next((at for at, one in enumerate(view.subtasks) if one.status == "current"), None)
    if current is not None:
        parts.append(f"{current + 1} of {total}")
    elif total:
        over = sum(1 for one in view.subtasks if one.status in ("done", "needless"))
        parts.append(f"{over} of {total} done")
    if view.trials > 1 or view.trial > 1:
        parts.append(f"trial {view.trial} of {view.trials}")
    return " · ".join(parts)


def ranges(numbers: tuple[int, ...]) -> str:
    """Return ``1–3, 7`` for 1, 2, 3 and 7."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
