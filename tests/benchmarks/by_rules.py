"""Runs of the built-in LLM with the preset `plain`, with a database and a config folder that are thrown away."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from core.agent.state import Budget
from core.browser.host import BrowserHost
from core.debugger.headless import RunReport, run_headless
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.endpoints import Keys
from core.llm.registry import LLMs
from core.schema.errors import BackstepError
from core.schema.task import Task
from core.settings.settings import OnGate, Settings


@asynccontextmanager
async def services_for(host: BrowserHost) -> AsyncIterator[Services]:
    """Open what such runs need, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(database=Path(folder) / "traces.db")
        services = await open_services(
            settings,
            host,
            llms=LLMs(settings, keys=Keys()),
            environments=Environments(),
            config=Path(folder) / "config",
        )
        try:
            yield services
        finally:
            await services.close()


async def run_by_rules(services: Services, task: Task, seed: int, on_gate: OnGate) -> RunReport:
    """Run a task to its end; the report of a run that cannot begin has no number, and the error."""
    try:
        return await run_headless(
            services,
            task,
            seed,
            preset="plain",
            llm=services.llms.routed("rules"),
            budget=Budget(),
            on_gate=on_gate,
        )
    except BackstepError as error:
        told = f"{type(error).__name__}: {error}"
        return RunReport(run=None, task=task.id, seed=seed, outcome="error", error=told)
