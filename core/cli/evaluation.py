"""The command eval: many runs at once, of all variants on all tasks and seeds."""

import shlex
import sys
import time
from contextlib import ExitStack

from core.agent.llm_calls import Asked
from core.browser.chromium import chromium_at
from core.browser.sharing import SharedChromium
from core.cli.evaluation_report import ReportOutput, give, unfinished
from core.cli.output import say
from core.cli.runs import reading
from core.cli.surroundings import in_loop, open_unattended
from core.debugger.evaluations.cluster import cluster_lanes, connected, node_setup
from core.debugger.evaluations.engine import EvaluationLimits, Evaluator, opened, planned
from core.debugger.evaluations.local import lanes_of, services_of
from core.debugger.evaluations.records import EvalRequest, EvaluationPlan, LLMUsed, Making
from core.debugger.evaluations.report import EvaluationReport, report_of
from core.debugger.evaluations.request import plan_of, plan_of_failures
from core.debugger.services import check_preset
from core.environments.registry import Environments
from core.llm.endpoints import origin
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.registry import LLMs
from core.schema.errors import UsageError, WorldError
from core.settings.settings import Settings, config_folder
from core.trace.evaluations import evaluation_named, note_made
from core.trace.exports.steps import backstep_version

_TELL_SECONDS = 5.0
"""So often at most the progress is told."""


def evaluate(
    request: EvalRequest,
    settings: Settings,
    environments: Environments,
    *,
    resume: bool,
    output: ReportOutput,
) -> EvaluationReport:
    """Make the runs and print the result of them; raises BackstepError if it cannot begin.

    Raises Interrupted if it was interrupted: what was done is kept.
    """
    if resume and not request.name:
        raise UsageError("Use --name to say which evaluation to resume.")
    name = request.name or time.strftime("%Y-%m-%d %H:%M:%S")
    asks = request.tasks or request.failures_of or not resume
    plan = _plan_of(request, settings, environments) if asks else _stored(name, settings)
    llms = open_unattended(settings, *(one.llm for one in plan.variants), patient=True)
    for variant in plan.variants:
        check_preset(config_folder(), variant.preset)
    with ExitStack() as stack:
        if request.cluster:
            stack.enter_context(connected(request.cluster, request.runtime_env))
        report = in_loop(_carry_out(request, name, plan, settings, environments, llms))
    with reading(settings) as store:
        give(store, report, settings, output)
    return report


def _plan_of(request: EvalRequest, settings: Settings, environments: Environments) -> EvaluationPlan:
    if not request.failures_of:
        return plan_of(request, settings, environments.tasks(), config_folder())
    with reading(settings) as store:
        return plan_of_failures(request, store)


def _stored(name: str, settings: Settings) -> EvaluationPlan:
    with reading(settings) as store:
        row = evaluation_named(store, name)
    if row is None:
        raise UsageError(f"There is no evaluation {name} to resume. To start it, leave out --resume.")
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
        with opened(services.store, name, plan) as row:
            progress = _Progress(plan.total)
            evaluation = Evaluator(
                services.store,
                row,
                EvaluationLimits(cost=request.max_cost, minutes=request.max_minutes),
                lambda: progress.tell(len(evaluation.done), evaluation.cost),
            )
            progress.begin(name, len(evaluation.done))
            if len(evaluation.done) < plan.total:
                note_made(services.store, row.number, _making(plan, settings, llms).model_dump_json())
            count = min(request.concurrency, max(plan.total - len(evaluation.done), 1))
            if request.cluster:
                setup = node_setup(services, (one.llm for one in plan.variants), count)
                making = cluster_lanes(services, setup, say)
            else:
                making = lanes_of(services, browser, count, _Away().note)
            async with making as lanes:
                try:
                    await evaluation.work(lanes)
                except WorldError:
                    say(unfinished(len(evaluation.done), plan.total))
                    raise
            stored = evaluation_named(services.store, name)
            return report_of(services.store, stored or row, evaluation.why)


def _making(plan: EvaluationPlan, settings: Settings, llms: LLMs) -> Making:
    """Return with what the runs are made."""
    used = []
    for name in dict.fromkeys(one.llm for one in plan.variants):
        llm, entry = llms.get(name), settings.llms.get(name)
        if isinstance(llm, OpenAICompatibleLLM):
            used.append(
                LLMUsed(
                    name=name,
                    model=llm.model,
                    server=origin(llm.base_url),
                    sampling=llm.sampling.model_dump(exclude_none=True),
                    body=entry.body if entry is not None else {},
                )
            )
        else:
            used.append(LLMUsed(name=name))
    return Making(
        version=backstep_version(),
        command=f"python3 main.py {shlex.join(sys.argv[1:])}",
        browser=settings.browser,
        max_steps=settings.max_steps,
        max_llm_calls=settings.max_llm_calls,
        on_gate=settings.on_gate,
        llms=tuple(used),
        purposes={
            name: one.model_dump(exclude_none=True, mode="json") for name, one in settings.purposes.items()
        },
    )


class _Away:
    """Reports why LLM calls wait, once for the calls of all runs."""

    def __init__(self) -> None:
        self._said = 0.0

    def note(self, asked: Asked) -> None:
        if asked.retry is None or not asked.retry.waited or time.monotonic() - self._said < _TELL_SECONDS:
            return
        self._said = time.monotonic()
        say(f"{asked.retry.reason} The call waits {asked.retry.waited:.0f} s.")


class _Progress:
    """Reports the progress of the evaluation."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._before = 0
        self._began = self._told = time.monotonic()

    def begin(self, name: str, done: int) -> None:
        self._before, self._began = done, time.monotonic()
        already = f", {done} of them already done" if done else ""
        say(f"evaluation {name}: {self._total} runs{already}")

    def tell(self, done: int, cost: float) -> None:
        now = time.monotonic()
        if done < self._total and now - self._told < _TELL_SECONDS:
            return
        self._told = now
        rate = (done - self._before) / max(now - self._began, 1e-6)
        left = (self._total - done) / rate / 60
        say(f"{done} of {self._total}, {rate * 60:.1f} a minute, ${cost:.4g}, {left:.1f} min left")
