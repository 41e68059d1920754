"""What a session works with, joined once: settings, tasks, the files agents go by, LLMs, trace and browser."""

from dataclasses import dataclass
from pathlib import Path

from core.agent.gates import Gates, gates_of
from core.agent.resources import AgentResources, agent_resources_of
from core.agent.world import World
from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.environments.registry import Environments
from core.environments.web import OPEN_TASK
from core.llm.registry import LLMs
from core.schema.changes import Changes
from core.schema.errors import UsageError
from core.schema.task import Task
from core.settings.settings import Settings
from core.trace.records import RunRow
from core.trace.store import TraceStore


@dataclass
class Services:
    """Everything but the run itself; made by `open_services`, let go of by `close`."""

    settings: Settings
    environments: Environments
    knowledge: AgentResources
    llms: LLMs
    gates: Gates
    store: TraceStore
    host: BrowserHost
    tabs: Tabs

    def world(self, task: Task) -> World:
        """Return the browser and the environment for a run of this task."""
        environment = self.environments.environment_of(task)
        return World(
            tabs=self.tabs,
            actor=Actor(self.tabs),
            capturer=Capturer(self.host),
            environment=environment,
            gates=self.gates,
            record_network=self.settings.record_network,
        )

    def task_of(self, row: RunRow) -> Task:
        """Return the task of a stored run.

        One that is not there any more is opened at its URL where the run is
        offline, and has no judge then. Raises UsageError and DataError as
        `Environments.find` does.
        """
        web = {"url": row.start_url, "instruction": row.instruction}
        if row.environment == "web":
            return self.environments.find(row.task, **web)
        try:
            return self.environments.find(row.task)
        except UsageError:
            if not row.offline:
                raise
            return self.environments.find(OPEN_TASK, **web)

    def knowledge_for(self, changes: Changes) -> AgentResources:
        """Return the files that an agent goes by for which `changes` hold; raises UsageError and DataError."""
        return self.knowledge.changed(changes)

    async def close(self) -> None:
        """Let go of the browser, the LLMs, the environments, the exemplars and the trace, in this order."""
        await self.tabs.close()
        await self.llms.close()
        await self.environments.close()
        self.knowledge.memory.close()
        self.store.close()


def check_preset(config: Path, name: str) -> None:
    """Raise UsageError or DataError where there is no such preset or its file is wrong."""
    agent_resources_of(config).presets.get(name)


async def open_services(
    settings: Settings,
    host: BrowserHost,
    *,
    llms: LLMs,
    environments: Environments,
    config: Path,
) -> Services:
    """Open the trace and connect to the browser; raises TraceError, DataError or BrowserError."""
    store = TraceStore.open(settings.database)
    tabs = Tabs(host)
    try:
        store.recover()
        services = Services(
            settings=settings,
            environments=environments,
            knowledge=agent_resources_of(
                config, data=settings.database.parent, embedding=lambda: llms.embedding(settings.embedding)
            ),
            llms=llms,
            gates=gates_of(config),
            store=store,
            host=host,
            tabs=tabs,
        )
        await tabs.start()
    except BaseException:
        store.close()
        raise
    return services
