"""The request of an evaluation, by flags, a file or the window, and the resulting plan."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from core.agent.resources import OWN_FOLDERS, AgentResources, files_in
from core.debugger.evaluations.bisection import bisect_plan
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.proof import repair_plan
from core.debugger.evaluations.records import (
    BisectRequest,
    EvalRequest,
    EvaluationPlan,
    RepairRequest,
    Request,
    Variant,
    WorthRequest,
    checked,
    variants_of,
)
from core.debugger.evaluations.selection import read_seeds, selected
from core.debugger.evaluations.worth import worth_plan
from core.environments.registry import Environments
from core.schema.errors import UsageError
from core.schema.task import Task
from core.settings.settings import Settings
from core.settings.user_file import UserFile, problem, read_text
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import evaluation_named
from core.trace.store import TraceStore

AnyRequest = TypeVar("AnyRequest", bound=Request)


def make_plan(
    request: Request,
    settings: Settings,
    environments: Environments,
    config: Path,
    resources: AgentResources,
    stored: Callable[[], AbstractContextManager[TraceStore]],
) -> EvaluationPlan:
    """Return what a request comes to; `stored` opens the database, for requests about what is in it.

    Raises UsageError, DataError, LibraryError and TraceError if nothing can be done.
    """
    match request:
        case EvalRequest(failures_of=""):
            return plan_of(request, settings, environments.tasks(), config)
        case WorthRequest():
            return worth_plan(request, settings, environments.tasks(), resources)
    with stored() as store:
        match request:
            case EvalRequest():
                return plan_of_failures(request, store)
            case BisectRequest():
                return bisect_plan(request, store)
            case RepairRequest():
                return repair_plan(request, store, environments)
    raise TypeError(type(request).__name__)


def named(request: AnyRequest) -> AnyRequest:
    """Return a request that has a name: what it is about, with the time, where it was given none."""
    return request if request.name else request.replace(name=name_now(request.about))


def name_now(about: str) -> str:
    """Return the name of what is begun now without one, by what it is about."""
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    return f"{about}, {now}" if about else now


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
    return checked(
        EvaluationPlan(
            variants=variants_of(
                request.preset or (settings.preset,), request.llm or (settings.llm,), request.exemplars
            ),
            tasks=selected(request.tasks, tasks, config),
            seeds=read_seeds(request.seeds),
            times=request.times,
        )
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
    chosen = ("seeds", "times") if request.preset or request.llm else ("seeds", "times", "exemplars")
    if unused := request.changed(*chosen):
        raise UsageError(
            f"Leave out {unused} with --failures-of: its cases are done again as they were, and --exemplars needs "
            "--preset or --llm."
        )
    plan = planned(row)
    if plan.repair is not None:
        raise UsageError(
            f"The evaluation {name} proves a change. Use repair with the same --name to continue it."
        )
    if plan.kind != "tasks":
        raise UsageError(
            f"The evaluation {name} compares runs with each other, so its failures alone say nothing. Resume it "
            "(--resume), or make it again."
        )
    failed = [run.case for run in done_of(evaluated_runs(store, row.number)) if run.is_failure]
    if not failed:
        raise UsageError(f"The evaluation {name} has no failures yet.")
    variants: tuple[Variant, ...] = ()
    if request.preset or request.llm:
        presets = request.preset or tuple(variant.preset for variant in plan.variants)
        llms = request.llm or tuple(variant.llm for variant in plan.variants)
        used = tuple(dict.fromkeys(variant.exemplars for variant in plan.variants))
        variants = variants_of(presets, llms, request.exemplars if request.changed("exemplars") else used)
    return plan.again(name, failed, variants)


def texts_in(folder: Path) -> dict[str, str]:
    """Return the texts of an agent's files in a folder that is laid out as the config folder.

    Raises UsageError if it has none, and DataError for one that cannot be read.
    """
    texts = {name: read_text(path) for name, path in files_in(folder)}
    if not texts:
        raise UsageError(
            f"{folder} is no folder with files of an agent. --change takes one laid out as the config folder, with "
            f"{', '.join(OWN_FOLDERS[:-1])} or {OWN_FOLDERS[-1]} in it."
        )
    return texts
