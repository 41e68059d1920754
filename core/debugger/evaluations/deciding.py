"""The step of a run that decided how it ended: where a run is opened of which nothing else is known."""

from collections.abc import Iterable

from core.debugger.compare.service import compare_runs
from core.debugger.evaluations.figures import family_of
from core.trace.records import EvaluatedRun, StepRow
from core.trace.store import TraceStore


def deciding_step(store: TraceStore, run: int, tries: Iterable[EvaluatedRun]) -> int:
    """Return the first step that differs from a successful run among the tries, else the last one.

    The same task at the same seed goes before the task at another seed, and
    that before another task of the family. Pages of other seeds differ in
    what they say: there, steps are the same where their state and the kind of
    their action are. Raises TraceError.
    """
    row = store.run(run)
    steps = store.steps(run)
    last = steps[-1].number if steps else 1
    model = None if row.verdict.success else _model_for(row.task, row.seed, tries)
    if model is None or model.run is None:
        return last
    if (model.task, model.seed) != (row.task, row.seed):
        return _first_of_another_kind(steps, store.steps(model.run)) or last
    pairs = compare_runs(store, run, model.run).pairs
    differing = (pair.left for pair in pairs if not pair.same and pair.left is not None)
    return next((step.number for step in differing), last)


def _model_for(task: str, seed: int, tries: Iterable[EvaluatedRun]) -> EvaluatedRun | None:
    """Return the successful run that is most like one of the task at the seed; of several the first."""
    family = family_of(task)
    alike = (one for one in tries if one.run is not None and one.success and family_of(one.task) == family)
    return min(alike, key=lambda one: (one.task != task, one.seed != seed), default=None)


def _first_of_another_kind(steps: tuple[StepRow, ...], model: tuple[StepRow, ...]) -> int | None:
    for at, step in enumerate(steps):
        if at >= len(model) or _kind(step) != _kind(model[at]):
            return step.number
    return None


def _kind(step: StepRow) -> tuple[str, str]:
    return step.state, step.action.partition(" ")[0]
