"""The command eval: many runs at once, of all variants on all tasks and seeds."""

import shlex
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass

from core.agent.llm_calls import Asked
from core.agent.presets import ATTACHED
from core.browser.chromium import chromium_at
from core.browser.host import BrowserHost
from core.browser.sharing import SharedChromium
from core.cli.evaluation_report import ReportOutput, give, unfinished
from core.cli.output import say
from core.cli.runs import reading
from core.cli.surroundings import (
    WithEmbedded,
    in_browser,
    in_loop,
    open_unattended,
    resources_of,
    services_in,
)
from core.debugger.evaluations.cluster import cluster_lanes, connected, node_setup
from core.debugger.evaluations.engine import Evaluator, Lane, opened, planned
from core.debugger.evaluations.local import lane_of, lanes_of, services_of
from core.debugger.evaluations.proof import cases_of
from core.debugger.evaluations.records import EvalRequest, EvaluationPlan, LLMUsed, Making, Request
from core.debugger.evaluations.report import EvaluationReport, report_of
from core.debugger.evaluations.request import make_plan, named
from core.debugger.evaluations.worth import keep_worth, worth_result
from core.debugger.services import Services, check_preset
from core.environments.registry import Environments
from core.llm.endpoints import origin
from core.llm.openai_compatible import OpenAICompatibleLLM
from core.llm.registry import LLMs
from core.schema.errors import UsageError, WorldError
from core.settings.settings import Settings, config_folder
from core.system.program import COMMAND, program_version
from core.trace.evaluations import evaluation_named, note_made, note_plan

_TELL_SECONDS = 5.0
"""So often at most the progress is told."""


def evaluate(
    request: Request,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    output: ReportOutput,
    *,
    resume: bool = False,
) -> EvaluationReport:
    """Make the runs and print the result of them; raises BackstepError if it cannot begin.

    Raises Interrupted if it was interrupted: what was done is kept.
    """
    if resume and not request.name:
        raise UsageError("Use --name to say which evaluation to resume.")
    stored = isinstance(request, EvalRequest) and resume and not (request.tasks or request.failures_of)
    plan = _stored(request.name, settings) if stored else _plan_of(request, settings, environments)
    if stored and (unused := request.changed("preset", "llm", "exemplars", "seeds", "times")):
        raise UsageError(f"Leave out {unused} with --resume: the evaluation goes on as it was planned.")
    report = carried_out(named(request), plan, settings, environments, with_embedded)
    with reading(settings) as store:
        give(store, report, settings, output)
    return report


def carried_out(
    request: Request,
    plan: EvaluationPlan,
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    asked_name: str = "",
) -> EvaluationReport:
    """Make the runs of a plan that are left, and return the report; `request` has a name. Raises as `evaluate` does.

    `asked_name` is the name that the command goes on with, if it is another.
    """
    if request.on_gate:
        settings = settings.replace(on_gate=request.on_gate)
    llms = open_unattended(settings, *(variant.llm for variant in plan.variants), patient=True)
    for variant in plan.variants:
        check_preset(config_folder(), variant.preset)
    return _in_browsers(
        _Work(request, plan, settings, environments, llms, asked_name or request.name), with_embedded
    )


def _plan_of(request: Request, settings: Settings, environments: Environments) -> EvaluationPlan:
    resources = resources_of(settings)
    try:
        return make_plan(
            request, settings, environments, config_folder(), resources, lambda: reading(settings)
        )
    finally:
        resources.memory.close()


def _stored(name: str, settings: Settings) -> EvaluationPlan:
    with reading(settings) as store:
        row = evaluation_named(store, name)
    if row is None:
        raise UsageError(f"There is no evaluation {name} to resume. To start it, leave out --resume.")
    return planned(row)


@dataclass(frozen=True)
class _Work:
    """An evaluation to carry out."""

    request: Request
    plan: EvaluationPlan
    settings: Settings
    environments: Environments
    llms: LLMs
    asked_name: str
    """The name that its command goes on with."""

    @property
    def one_by_one(self) -> bool:
        """Whether its runs go on from a run's steps, or measure exemplars, and none is made beside another.

        They use the browser in which a person works.
        """
        return self.plan.kind != "tasks" and self.request.concurrency == 1

    @property
    def browser(self) -> str:
        """The browser of its runs, as settings name one."""
        return self.settings.browser if self.one_by_one else self.settings.shared_browser


def _in_browsers(work: _Work, with_embedded: WithEmbedded) -> EvaluationReport:
    """Make the runs in the browsers that they need: on a cluster, in one Chromium, or in that of the settings."""
    request, settings = work.request, work.settings
    cluster = request.cluster if isinstance(request, EvalRequest) else ""
    if cluster and work.plan.kind != "tasks":
        raise UsageError(
            "Leave out --cluster: the nodes do not have the runs and exemplars that this is about."
        )
    if work.one_by_one:

        async def in_host(host: BrowserHost) -> EvaluationReport:
            opening = services_in(host, settings, work.llms, work.environments)
            return await _carry_out(work, opening, lambda services, count: lane_of(services, _Away().note))

        attached = any(variant.preset == ATTACHED.name for variant in work.plan.variants)
        return in_browser(in_host, settings, with_embedded, shared=attached)
    # On a cluster the browsers are those of the nodes.
    browser = SharedChromium(work.browser if cluster else chromium_at(work.browser), dialogs=settings.dialogs)
    opening = services_of(settings, work.environments, work.llms, browser, started=not cluster)

    def make_lanes(services: Services, count: int) -> AbstractAsyncContextManager[list[Lane]]:
        if not cluster:
            return lanes_of(services, browser, count, _Away().note)
        setup = node_setup(services, (variant.llm for variant in work.plan.variants), count)
        return cluster_lanes(services, setup, say)

    with ExitStack() as stack:
        if cluster:
            assert isinstance(request, EvalRequest)
            stack.enter_context(connected(cluster, request.runtime_env))
        return in_loop(_carry_out(work, opening, make_lanes))


async def _carry_out(
    work: _Work,
    opening: AbstractAsyncContextManager[Services],
    make_lanes: Callable[[Services, int], AbstractAsyncContextManager[list[Lane]]],
) -> EvaluationReport:
    request, plan = work.request, work.plan
    async with opening as services:
        with opened(services.store, request.name, plan) as row:
            progress = _Progress(plan.total, "of at most" if plan.repair is not None else "of")
            evaluation = Evaluator(
                services.store,
                row,
                request,
                lambda: progress.tell(len(evaluation.done), evaluation.cost),
                None if plan.repair is None else cases_of,
            )
            left = plan.total - len(evaluation.done)
            progress.begin(request.name, len(evaluation.done))
            if left:
                if not any(variant.run for variant in plan.variants):
                    for task in {case.task for _, case in plan.cases() if case not in evaluation.done}:
                        services.environments.find(task)  # It may be gone since the plan was made.
                making = _making(work)
                note_made(services.store, row.number, making.model_dump_json())
            try:
                async with make_lanes(services, min(request.concurrency, max(left, 1))) as lanes:
                    await evaluation.work(lanes)
            except WorldError:
                say(unfinished(work.asked_name, len(evaluation.done), plan.total))
                raise
            finally:
                if plan.kind == "worth":
                    keep_worth(services.resources.memory, worth_result(services.store, row, plan))
                elif plan.repair is not None and next(cases_of(plan, evaluation.done), None) is None:
                    # What it came to is all that there was to do.
                    whole = plan.replace(only=tuple(evaluation.done))
                    note_plan(services.store, row.number, whole.model_dump_json())
            row = evaluation_named(services.store, request.name) or row
            return report_of(services.store, row, evaluation.why)


def _making(work: _Work) -> Making:
    """Return with what the runs are made."""
    settings = work.settings
    used = []
    for name in dict.fromkeys(variant.llm for variant in work.plan.variants):
        llm, entry = work.llms.get(name), settings.llms.get(name)
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
        version=program_version(),
        command=f"{COMMAND} {shlex.join(sys.argv[1:])}",
        browser=work.browser,
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

    def __init__(self, total: int, words: str) -> None:
        """`words` stand before the total."""
        self._total, self._words = total, words
        self._before = 0
        self._began = self._told = time.monotonic()

    def begin(self, name: str, done: int) -> None:
        self._before, self._began = done, time.monotonic()
        already = f", {done} of them already done" if done else ""
        most = "at most " if self._words != "of" else ""
        say(f"evaluation {name}: {most}{self._total} runs{already}")

    def tell(self, done: int, cost: float) -> None:
        now = time.monotonic()
        if done < self._total and now - self._told < _TELL_SECONDS:
            return
        self._told = now
        rate = (done - self._before) / max(now - self._began, 1e-6)
        left = (self._total - done) / rate / 60
        within = f", {left:.1f} min left" if self._words == "of" else ""
        say(f"{done} {self._words} {self._total}, {rate * 60:.1f} a minute, ${cost:.4g}{within}")
