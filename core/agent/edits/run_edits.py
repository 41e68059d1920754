"""Carries out edits on a run. An edit is applied completely or not at all. It can be undone until the run
asks an LLM or acts.
"""

from collections.abc import Callable
from dataclasses import replace

from core.agent.edits.edit import Changed, EditContext, RunEdit, Undoable
from core.agent.edits.registry import TEXTS, WITHOUT_VALUES
from core.agent.loop import AgentRun
from core.agent.reflection.consequences import reflection_record
from core.agent.state import RunState
from core.schema.errors import BackstepError, UsageError
from core.schema.step import Recalled


def apply_edit(run: AgentRun, edit: RunEdit) -> Changed:
    """Carry out an edit and store what it changes of the step.

    Raises UsageError, DataError and TraceError with nothing changed.
    """
    if not run.resting:
        raise UsageError("A phase is running; pause first (F5), then change it.")
    before = run.state.copy()
    try:
        changed = edit.apply(run.edit_context)
        if edit.again is not None and run.state.unacted and run.state.has_done(edit.again):
            run.state.queue.clear()  # The action is asked for with what was changed.
            run.state.begin_again(edit.again, "The step was decided again.")
        _store(run, before)
    except BaseException:
        run.state.become(before)
        raise
    if run.state.next_phase != before.next_phase:
        run.withdraw_questions()
    run.edited = run.state.number
    run.undoable.append(Undoable(edit, changed, before))
    run.redoable.clear()
    return changed


def undo_edit(run: AgentRun) -> Changed:
    """Take back the last edit; raises UsageError if there is none to undo any more."""
    if not run.undoable or not run.resting:
        raise UsageError("There is no edit to undo. An edit can be undone until the run continues.")
    undone = run.undoable.pop()
    edited = run.state.copy()
    run.state.become(undone.before)
    _store(run, edited)
    run.redoable.append(undone)
    return undone.changed.replace(before=undone.changed.after, after=undone.changed.before)


def redo_edit(run: AgentRun) -> Changed:
    """Carry out the edit again that was undone last, under its number; raises as `apply_edit` does."""
    if not run.redoable:
        raise UsageError("There is no edit to redo. An edit can be redone until the run continues.")
    undone, rest = run.redoable[-1], run.redoable[:-1]
    changed = apply_edit(run, undone.edit)
    run.undoable[-1] = replace(run.undoable[-1], number=undone.number)
    run.redoable[:] = rest
    return changed


def try_edit(run: AgentRun, edit: RunEdit) -> None:
    """Raise why an edit could not be carried out now; nothing is changed."""
    edit.apply(_copied(run))


def problem_of(run: AgentRun, edit: RunEdit) -> str:
    """Return why an edit could not be carried out now, or nothing; nothing is changed."""
    return _why_not(edit.apply, _copied(run))


def refusals(run: AgentRun) -> dict[str, str]:
    """Return by name why texts and edits without values cannot be had now; what can be is left out."""
    if not run.resting:
        return {}
    context = _copied(run)
    found = {name: _why_not(text.offered, context) for name, text in TEXTS.items()}
    found |= {name: problem_of(run, edit) for name, edit in WITHOUT_VALUES.items()}
    return {name: why for name, why in found.items() if why}


def _copied(run: AgentRun) -> EditContext:
    return replace(run.edit_context, state=run.state.copy())


def _why_not(ask: Callable[[EditContext], object], context: EditContext) -> str:
    try:
        ask(context)
    except BackstepError as error:
        return str(error)
    return ""


def _store(run: AgentRun, other: RunState) -> None:
    """Store the differences of the state from `other`, for phases that the step has done."""
    state = run.state
    if state.reflection != other.reflection:
        run.store_reflection()
    if state.next_phase == "observe":
        return  # The step has not begun.
    recalled, aligned = state.recalled, state.aligned
    if recalled is not None and recalled.recalled_at != state.number and recalled != other.recalled:
        # An earlier step has the whole of it.
        recalled = Recalled(exemplars=recalled.exemplars, recalled_at=recalled.recalled_at)
    if aligned is not None and aligned != other.aligned:
        aligned = aligned.replace(reflection=reflection_record(state))
    for record, before in (
        (state.recognised, other.recognised),
        (recalled, other.recalled),
        (state.abstracted, other.abstracted),
        (aligned, other.aligned),
    ):
        if record is not None and record is not before and state.has_done(record.phase):
            run.store.save_phase(state.run, state.number, record)
