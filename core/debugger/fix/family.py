"""The family of a run: its task at other seeds, before and after a change, as an evaluation has measured it."""

from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.records import EvaluationPlan
from core.debugger.fix.views import FamilyResult
from core.schema.errors import TraceError
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import all_evaluations
from core.trace.records import EvaluatedRun
from core.trace.store import TraceStore


def measured_family(store: TraceStore, run: int) -> FamilyResult | None:
    """Return how far the latest family of a run is, or None if there is none."""
    for row in store.ask(all_evaluations):
        try:
            plan = planned(row)
        except TraceError:
            continue  # Another version of the program has written it.
        if (plan.kind, plan.run) == ("family", run):
            return _result(row.name, plan, done_of(evaluated_runs(store, row.number)))
    return None


def _result(name: str, plan: EvaluationPlan, runs: tuple[EvaluatedRun, ...]) -> FamilyResult:
    def counted(side: str) -> tuple[int, int]:
        judged = [bool(run.success) for run in runs if run.variant == side and run.success is not None]
        return sum(judged), len(judged)

    return FamilyResult(
        name=name,
        fixed=plan.fixed,
        before=counted("before"),
        after=counted("after"),
        seeds=len(plan.seeds) * plan.times,
        done=len(runs),
        total=plan.total,
    )
