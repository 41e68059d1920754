"""The command eval: many runs at once, of all variants on all tasks and seeds."""

import time
from contextlib import ExitStack
from pathlib import Path

from pydantic import Field, ValidationError

from core.agent.llm_calls import Asked
from core.browser.chromium import chromium_at
from core.browser.sharing import SharedChromium
from core.cli.output import put, put_json, put_table, say
from core.cli.runs import reading
from core.cli.surroundings import in_loop, open_unattended
from core.debugger.evaluations.cluster import cluster_lanes, connected, luggage_of
from core.debugger.evaluations.engine import EvaluationLimits, Evaluator, opened, planned
from core.debugger.evaluations.local import lanes_of, services_of
from core.debugger.evaluations.records import EvaluationPlan, ExemplarUse, variants_of
from core.debugger.evaluations.report import EvaluationReport, VariantShare, report_of
from core.debugger.evaluations.selection import selected
from core.debugger.experiments.evaluation_records import read_seeds
from core.debugger.services import check_preset
from core.environments.registry import Environments
from core.llm.registry import LLMs
from core.schema.errors import UsageError
from core.schema.record import Record
from core.settings.settings import Settings, config_folder
from core.settings.user_file import UserFile, problem

_TELL_SECONDS = 5.0
"""So often at the most the progress is told."""


class EvalRequest(Record):
    """What is asked by flags, or by a TOML file with the same keys."""

    name: str = ""
    tasks: tuple[str, ...] = ()
    """Ids, patterns, ``tag:NAME``, ``suite:NAME`` and ``@FILE``."""
    seeds: str = "0"
    preset: tuple[str, ...] = ()
    llm: tuple[str, ...] = ()
    exemplars: tuple[ExemplarUse, ...] = ("own",)
    times: int = Field(default=1, ge=1, le=100)
    concurrency: int = Field(default=1, ge=1, le=64)
    max_cost: float | None = Field(default=None, gt=0)
    max_minutes: float | None = Field(default=None, gt=0)
    cluster: str = ""
    """A Ray cluster as Ray writes its address: ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``; empty for none."""
    runtime_env: Path | None = None
    """What Ray installs on the nodes: a file of its own form."""


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


def evaluate(
    request: EvalRequest,
    settings: Settings,
    environments: Environments,
    *,
    resume: bool,
    as_json: bool,
) -> EvaluationReport:
    """Make the runs and print what came of them; raises BackstepError where it cannot begin.

    Raises Interrupted where it was interrupted: what was done is kept.
    """
    if resume and not request.name:
        raise UsageError("Say with --name which evaluation is resumed.")
    name = request.name or time.strftime("%Y-%m-%d %H:%M:%S")
    plan = (
        _plan_of(request, settings, environments) if request.tasks or not resume else _stored(name, settings)
    )
    llms = open_unattended(settings, *(one.llm for one in plan.variants), patient=True)
    for variant in plan.variants:
        check_preset(config_folder(), variant.preset)
    with ExitStack() as stack:
        if request.cluster:
            stack.enter_context(connected(request.cluster, request.runtime_env))
        report = in_loop(_carry_out(request, name, plan, settings, environments, llms))
    _print(report, as_json=as_json)
    return report


def _plan_of(request: EvalRequest, settings: Settings, environments: Environments) -> EvaluationPlan:
    return EvaluationPlan(
        variants=variants_of(
            request.preset or (settings.preset,), request.llm or (settings.llm,), request.exemplars
        ),
        tasks=selected(request.tasks, environments.tasks(), config_folder()),
        seeds=read_seeds(request.seeds),
        times=request.times,
    )


def _stored(name: str, settings: Settings) -> EvaluationPlan:
    with reading(settings) as store:
        row = store.evaluation(name)
    if row is None:
        raise UsageError(f"There is no evaluation {name} to resume; leave out --resume to begin it.")
    return planned(row)


async def _carry_out(
    request: EvalRequest,
    name: str,
    plan: EvaluationPlan,
    settings: Settings,
    environments: Environments,
    llms: LLMs,
) -> EvaluationReport:
    chosen = "chromium" if settings.browser == "embedded" else settings.browser
    # On a cluster the browsers are those of the nodes.
    executable = chosen if request.cluster else chromium_at(chosen)
    browser = SharedChromium(executable, dialogs=settings.dialogs)
    opening = services_of(settings, environments, llms, browser, started=not request.cluster)
    async with opening as services:
        row = opened(services.store, name, plan)
        progress = _Progress(plan.total)
        evaluation = Evaluator(
            services.store,
            row,
            EvaluationLimits(cost=request.max_cost, minutes=request.max_minutes),
            lambda: progress.tell(len(evaluation.done), evaluation.cost),
        )
        progress.begin(name, len(evaluation.done))
        count = min(request.concurrency, max(plan.total - len(evaluation.done), 1))
        if request.cluster:
            luggage = luggage_of(services, (one.llm for one in plan.variants), count)
            making = cluster_lanes(services, luggage, say)
        else:
            making = lanes_of(services, browser, count, _Away().note)
        async with making as lanes:
            await evaluation.work(lanes)
        return report_of(row.number, row.name, plan, evaluation.done, evaluation.why)


class _Away:
    """Says why LLM calls wait, once for the calls of all runs."""

    def __init__(self) -> None:
        self._said = 0.0

    def note(self, asked: Asked) -> None:
        if asked.retry is None or not asked.retry.waited or time.monotonic() - self._said < _TELL_SECONDS:
            return
        self._said = time.monotonic()
        say(f"{asked.retry.reason} The call waits {asked.retry.waited:.0f} s.")


class _Progress:
    """Tells how far the evaluation is."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._before = 0
        self._began = self._told = time.monotonic()

    def begin(self, name: str, done: int) -> None:
        self._before, self._began = done, time.monotonic()
        already = f", {done} of them done before" if done else ""
        say(f"evaluation {name}: {self._total} runs{already}")

    def tell(self, done: int, cost: float) -> None:
        now = time.monotonic()
        if done < self._total and now - self._told < _TELL_SECONDS:
            return
        self._told = now
        rate = (done - self._before) / max(now - self._began, 1e-6)
        left = (self._total - done) / rate / 60
        say(f"{done} of {self._total}, {rate * 60:.1f} a minute, ${cost:.4g}, {left:.1f} min left")


def _print(report: EvaluationReport, *, as_json: bool) -> None:
    if as_json:
        put_json(report.model_dump())
        return
    columns = ("success", "95 % interval", "reward", "steps", "LLM calls", "cost", "failed", "again")
    put_table(("variant", *columns), [(one.variant, *_cells(one)) for one in report.variants])
    put("")
    put_table(("task", "variant", *columns), [(one.task, one.variant, *_cells(one)) for one in report.tasks])
    if report.comparison is not None:
        put("")
        put(report.comparison.sentence)
    if report.comparison is not None and report.comparison.flips:
        put_table(
            ("task", "seed", "time", "runs", "flip"),
            [
                (
                    one.task,
                    str(one.seed),
                    str(one.time),
                    f"{one.runs[0]}, {one.runs[1]}",
                    "to success" if one.to_success else "to failure",
                )
                for one in report.comparison.flips
            ],
        )
    if report.why:
        say(f"{report.why} {report.done} of {report.total} runs are done; --resume goes on.")


def _cells(one: VariantShare) -> tuple[str, ...]:
    return (
        f"{one.successes} of {one.judged}",
        f"{one.low:.2f} to {one.high:.2f}" if one.judged else "nothing judged",
        "" if one.reward is None else f"{one.reward:.2f}",
        f"{one.steps:.1f}",
        f"{one.llm_calls:.1f}",
        "" if one.cost is None else f"${one.cost:.4g}",
        str(one.failed or ""),
        str(one.tried_again or ""),
    )
