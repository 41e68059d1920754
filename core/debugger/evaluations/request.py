"""The request of an evaluation, by flags, a file or the window, and the resulting plan."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.records import EvalRequest, EvaluationPlan, Variant, variants_of
from core.debugger.evaluations.selection import selected
from core.debugger.experiments.worth_records import read_seeds
from core.schema.errors import UsageError
from core.schema.task import Task
from core.settings.settings import Settings
from core.settings.user_file import UserFile, problem
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import evaluation_named
from core.trace.store import TraceStore


def read_request(path: Path | None, **flags: object) -> EvalRequest:
    """Return what a file asks, with the flags that are given going before it.

    Raises DataError with file, line and key where the file is wrong, and
    UsageError where a flag is.
    """
    request = EvalRequest()
    if path is not None:
        request = UserFile.read(path).validated(EvalRequest)
        request = request.replace(name=request.name or path.stem)
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    try:
        return EvalRequest.model_validate({**request.model_dump(), **given})
    except ValidationError as error:
        raise UsageError(f"eval: {problem(error, EvalRequest)}") from error


def plan_of(request: EvalRequest, settings: Settings, tasks: Sequence[Task], config: Path) -> EvaluationPlan:
    """Return what is to be done; raises UsageError and DataError if nothing can be."""
    return EvaluationPlan(
        variants=variants_of(
            request.preset or (settings.preset,), request.llm or (settings.llm,), request.exemplars
        ),
        tasks=selected(request.tasks, tasks, config),
        seeds=read_seeds(request.seeds),
        times=request.times,
    )


def plan_of_failures(request: EvalRequest, store: TraceStore) -> EvaluationPlan:
    """Return what does again what failed in the evaluation that is named; raises UsageError if nothing can be.

    Without a preset and an LLM each variant does its own failures.
    """
    name = request.failures_of
    if request.tasks:
        raise UsageError("Choose tasks or the failures of an evaluation, not both.")
    row = evaluation_named(store, name)
    if row is None:
        raise UsageError(f"There is no evaluation {name} with failures to repeat.")
    plan = planned(row)
    failed = [one.case for one in done_of(evaluated_runs(store, row.number)) if one.is_failure]
    if not failed:
        raise UsageError(f"The evaluation {name} has no failures yet.")
    variants: tuple[Variant, ...] = ()
    if request.preset or request.llm:
        presets = request.preset or tuple(one.preset for one in plan.variants)
        llms = request.llm or tuple(one.llm for one in plan.variants)
        variants = variants_of(presets, llms, request.exemplars)
    return plan.again(name, failed, variants)
