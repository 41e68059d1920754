"""Makes concurrent runs in this process: each lane has its own tabs in one shared Chromium."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from core.agent.llm_calls import Asked
from core.agent.resources import with_files
from core.agent.state import Budget
from core.browser.sharing import SharedChromium
from core.debugger.evaluations.engine import Lane
from core.debugger.evaluations.records import Variant
from core.debugger.headless import RunReport, check_again, fork_headless, run_headless
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.registry import LLMs
from core.schema.task import Task
from core.settings.settings import Settings, config_folder
from core.trace.evaluations import attempts_of
from core.trace.records import Case, CaseAttempt


@asynccontextmanager
async def services_of(
    settings: Settings,
    environments: Environments,
    llms: LLMs,
    browser: SharedChromium,
    *,
    started: bool = True,
) -> AsyncIterator[Services]:
    """Open the services that the runs share, and close them with the browser; it is not `started` without need."""
    try:
        services = await open_services(
            settings,
            browser.host,
            llms=llms,
            environments=environments,
            config=config_folder(),
            make_tabs=lambda _: browser.tabs(),
            started=started,
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
    on_asked: Callable[[Asked], None],
) -> AsyncIterator[list[Lane]]:
    """Yield what makes runs, `count` of them at once; `on_asked` is called for every LLM call."""
    made = MadeRuns(services)
    async with sharing(services, browser, count) as each:
        yield [partial(_play, one, made, on_asked) for one in each]


@asynccontextmanager
async def lane_of(services: Services, on_asked: Callable[[Asked], None]) -> AsyncIterator[list[Lane]]:
    """Yield what makes one run after another in the browser of the services."""
    yield [partial(_play, services, MadeRuns(services), on_asked)]


@asynccontextmanager
async def sharing(services: Services, browser: SharedChromium, count: int) -> AsyncIterator[list[Services]]:
    """Give the services for `count` runs at once: they differ in their tabs."""
    each = [services, *(replace(services, tabs=browser.tabs()) for _ in range(count - 1))]
    started: list[Services] = []
    try:
        for one in each[1:]:
            await one.tabs.browser.start()
            started.append(one)
        yield each
    finally:
        for one in started:
            await one.tabs.browser.close()


class MadeRuns:
    """The runs of each task so far: what they have sent is not sent again without permission."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._made: dict[str, list[int]] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def turn(self, variant: Variant, attempt: CaseAttempt) -> AsyncIterator[list[int]]:
        """Wait until no other run of the task is under way, if one could send what stays done; then begin one.

        Append the run to what is yielded. Raises UsageError if the task is not to be started again by the rule of
        gates; what goes on from a step is checked where it goes back.
        """
        name, services, rule = attempt.case.task, self._services, self._services.settings.on_gate
        task = _task_of(services, variant, attempt.case)
        if task.seeded or rule == "allow" or services.world(task).keeper is not None:
            yield []
            return
        async with self._turns.setdefault(name, asyncio.Lock()):
            if name not in self._made:  # Those of an earlier start too.
                tries = await asyncio.to_thread(attempts_of, services.store, attempt.evaluation)
                self._made[name] = [one.run.run for one in tries if one.run and one.attempt.case.task == name]
            if not variant.step:
                check_again(services, task, self._made[name], rule)
            yield self._made[name]


async def _play(
    services: Services,
    made: MadeRuns,
    on_asked: Callable[[Asked], None],
    variant: Variant,
    attempt: CaseAttempt,
) -> RunReport:
    """Make the run of an attempt."""
    async with made.turn(variant, attempt) as runs:
        report = await run_of(services, variant, attempt.case, on_asked, attempt=attempt)
        if report.run is not None:
            runs.append(report.run)
        return report


async def run_of(
    services: Services,
    variant: Variant,
    case: Case,
    on_asked: Callable[[Asked], None] = lambda asked: None,
    *,
    attempt: CaseAttempt | None = None,
) -> RunReport:
    """Make a run of a case; `attempt` says which of an evaluation of this database it is."""
    with _with_texts(services, variant.files) as changed:
        return await _run_with(changed, variant, case, on_asked, attempt)


async def _run_with(
    services: Services,
    variant: Variant,
    case: Case,
    on_asked: Callable[[Asked], None],
    attempt: CaseAttempt | None,
) -> RunReport:
    settings = services.settings
    row = services.store.run(variant.run) if variant.run else None
    if row is not None and variant.step:
        make = partial(fork_headless, services, row, variant.step)
    else:
        make = partial(run_headless, services, _task_of(services, variant, case), case.seed)
    return await make(
        preset=variant.preset,
        llm=services.llms.routed(variant.llm),
        budget=Budget(settings.max_steps, settings.max_llm_calls),
        on_gate=settings.on_gate,
        changes=variant.changes,
        attempt=attempt,
        on_asked=on_asked,
    )


def _task_of(services: Services, variant: Variant, case: Case) -> Task:
    if variant.run:
        return services.task_of(services.store.run(variant.run))
    return services.environments.find(case.task)


@contextmanager
def _with_texts(services: Services, texts: Mapping[str, str]) -> Iterator[Services]:
    """Give the services with files that win over the user's, in a folder that is deleted in the end."""
    if not texts:
        yield services
        return
    with tempfile.TemporaryDirectory(prefix="files-") as folder:
        for name, text in texts.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        resources = with_files(services.resources, services.config, Path(folder))
        yield replace(services, resources=resources)
