"""Runs at once in this process: each lane has tabs of its own in one shared Chromium."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from core.agent.llm_calls import Asked
from core.agent.state import Budget
from core.browser.sharing import SharedChromium
from core.debugger.evaluations.engine import Lane
from core.debugger.evaluations.records import Variant
from core.debugger.headless import RunReport, check_again, run_headless
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.registry import LLMs
from core.settings.settings import Settings, config_folder
from core.trace.records import CaseAttempt


@asynccontextmanager
async def services_of(
    settings: Settings, environments: Environments, llms: LLMs, browser: SharedChromium
) -> AsyncIterator[Services]:
    """Open the services that the runs share, and close them with the browser."""
    try:
        services = await open_services(
            settings,
            browser.host,
            llms=llms,
            environments=environments,
            config=config_folder(),
            make_tabs=lambda _: browser.tabs(),
        )
        try:
            yield services
        finally:
            await services.close()
    finally:
        await browser.close()


@asynccontextmanager
async def lanes_of(
    services: Services,
    browser: SharedChromium,
    count: int,
    settings: Settings,
    on_asked: Callable[[Asked], None],
) -> AsyncIterator[list[Lane]]:
    """Give what makes runs, for `count` of them at once; `on_asked` is told of every LLM call."""
    made: dict[str, list[int]] = {}
    each = [services, *(replace(services, tabs=browser.tabs()) for _ in range(count - 1))]
    started: list[Services] = []
    try:
        for one in each[1:]:
            await one.tabs.start()
            started.append(one)
        yield [partial(_play, one, settings, on_asked, made) for one in each]
    finally:
        for one in started:
            await one.tabs.close()


async def _play(
    services: Services,
    settings: Settings,
    on_asked: Callable[[Asked], None],
    made: dict[str, list[int]],
    variant: Variant,
    attempt: CaseAttempt,
) -> RunReport:
    """Make the run of an attempt; `made` has the runs of each task so far."""
    task = services.environments.find(attempt.case.task)
    if not task.seeded and services.world(task).keeper is None:
        check_again(services, task, made.get(task.id, ()), settings.on_gate)
    report = await run_headless(
        services,
        task,
        attempt.case.seed,
        preset=variant.preset,
        llm=services.llms.routed(variant.llm),
        budget=Budget(settings.max_steps, settings.max_llm_calls),
        on_gate=settings.on_gate,
        changes=variant.changes,
        attempt=attempt,
        on_asked=on_asked,
    )
    if report.run is not None:
        made.setdefault(task.id, []).append(report.run)
    return report
