"""What a session works with: settings, tasks, the files agents use, LLMs, trace and browser, and the current run."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.agent.gates import Gates, gates_of
from core.agent.loop import AgentRun
from core.agent.presets import ATTACHED
from core.agent.resources import AgentResources, agent_resources_of
from core.agent.world import World
from core.browser.actor import Actor
from core.browser.capturer import Capturer
from core.browser.host import BrowserHost
from core.browser.tabs import Tabs
from core.environments.registry import Environments
from core.environments.web import OPEN_TASK
from core.llm.embedding import Embedding
from core.llm.endpoints import Keys
from core.llm.honoured import FILE_NAME as HONOURED_NAME
from core.llm.honoured import HonouredFile
from core.llm.registry import LLMs, open_llms
from core.schema.changes import Changes
from core.schema.errors import UsageError
from core.schema.hosts import site_of
from core.schema.task import Task
from core.settings.settings import Settings, config_folder, data_folder, exemplars_folder
from core.trace.records import Intervention, InterventionKind, RunRow
from core.trace.replay_llm import ReplayLLM
from core.trace.store import TraceStore


@dataclass
class Services:
    """Everything except the run itself; create it with `open_services`, release it with `close`."""

    settings: Settings
    environments: Environments
    resources: AgentResources
    llms: LLMs
    gates: Gates
    store: TraceStore
    tabs: Tabs
    config: Path
    """The folder of the user's own files, which go before the bundled ones."""
    browsers: Callable[[str], BrowserHost]
    """Gives a browser by its name (``embedded``, ``chromium``, a path; empty: the usual one); raises BrowserError."""

    @property
    def host(self) -> BrowserHost:
        """The browser in use."""
        return self.tabs.browser.host

    async def use_browser(self, name: str) -> bool:
        """Have the next profile be opened in the browser of this name; returns whether it is another one than before.

        Raises BrowserError.
        """
        host = self.browsers(name)
        if host is self.host:
            return False
        await self.tabs.browser.move_to(host)
        return True

    def world(self, task: Task) -> World:
        """Return the browser and the environment for a run of this task."""
        environment = self.environments.environment_of(task)
        return World(
            viewport=self.settings.viewport,
            tabs=self.tabs,
            actor=Actor(self.tabs),
            capturer=Capturer(),
            environment=environment,
            gates=self.gates,
            record_network=self.settings.record_network,
            sites=(*self.settings.sites, *self.settings.task_sites.get(sites_key(task), ())),
            upload_folders=self.settings.upload_folders,
            find_secret=self.llms.find_key,
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

    def resources_for(self, changes: Changes) -> AgentResources:
        """Return the files that an agent uses for which `changes` hold; raises UsageError and DataError."""
        return self.resources.changed(changes)

    async def close(self) -> None:
        """Release the browser, the LLMs, the environments, the exemplars and the trace, in this order."""
        await self.tabs.browser.close()
        await self.llms.close()
        await self.environments.close()
        self.resources.memory.close()
        self.store.close()


def sites_key(task: Task) -> str:
    """Return the name of a task in `task_sites` of the settings."""
    return f"{task.id} {site_of(task.start_url)}" if task.environment == "web" else task.id


class Current:
    """Shared by the parts of a session; read and changed in the worker's loop only."""

    def __init__(self, who: str) -> None:
        """`who` is what the trace calls the person."""
        self.run: AgentRun | None = None
        """The run that is shown and gone on with; it may have ended."""
        self.services: Services | None = None
        self.failure = ""
        """Why there are none, where they could not be opened."""
        self._who = who

    @property
    def store(self) -> TraceStore | None:
        return self.services.store if self.services is not None else None

    @property
    def under_way(self) -> AgentRun | None:
        """The current run, unless it has ended."""
        return self.run if self.run is not None and not self.run.ended else None

    def need_services(self) -> Services:
        """Return the services; raises UsageError if they are not open."""
        if self.services is None:
            raise UsageError(self.failure or "The browser is not ready yet; wait a moment and try again.")
        return self.services

    def need_run(self, why: str) -> AgentRun:
        """Return the current run; raises UsageError that says `why` one is needed."""
        if self.under_way is None:
            raise UsageError(f"{why} Open a task first (Ctrl+N).")
        return self.under_way

    def store_intervention(self, kind: InterventionKind, before: str, after: str) -> None:
        """Store what the person changed in the current step; raises TraceError."""
        assert self.run is not None
        self.run.store.save_intervention(
            Intervention(
                run=self.run.state.run,
                step=self.run.state.number,
                kind=kind,
                who=self._who,
                when=time.time(),
                before=before,
                after=after,
            )
        )


def user_llms(
    settings: Settings, *, keys: Keys | None = None, before: LLMs | None = None, patient: bool = False
) -> LLMs:
    """Return the LLMs of the user's files, with the replies of recorded runs among them; raises DataError.

    The person, and what each LLM has used, are those of the registry `before`.
    `patient` ones wait for a server that does not answer.
    """
    return open_llms(
        settings,
        keys=keys,
        person=before.person if before is not None else None,
        config_folder=config_folder(),
        replay=ReplayLLM,
        honoured=HonouredFile(data_folder() / HONOURED_NAME),
        meters=before.meters if before is not None else None,
        patient=patient,
    )


def check_preset(config: Path, name: str) -> None:
    """Raise UsageError or DataError if there is no such preset or its file is wrong."""
    if name != ATTACHED.name:  # It uses no file.
        agent_resources_of(config).presets.get(name)


async def open_services(
    settings: Settings,
    host: BrowserHost,
    *,
    llms: LLMs,
    environments: Environments,
    config: Path,
    browsers: Callable[[str], BrowserHost] | None = None,
    make_tabs: Callable[[BrowserHost], Tabs] = Tabs,
    started: bool = True,
) -> Services:
    """Open the trace and connect to the browser; raises TraceError, DataError or BrowserError.

    `browsers` gives others by their names; without it there is only `host`.
    `make_tabs` gives the tabs where the browser is shared with other runs. One
    that is not `started` is connected to when a task is first opened.
    """
    store = TraceStore.open(settings.database)
    tabs = make_tabs(host)
    tabs.browser.script_patience.seconds = settings.script_seconds

    def embedding() -> Embedding:
        """Return the one that is set by now, of the LLMs that are there by now."""
        return services.llms.embedding(services.settings.embedding)

    try:
        store.recover()
        services = Services(
            settings=settings,
            environments=environments,
            resources=agent_resources_of(
                config,
                data=settings.database.parent,
                exemplars=exemplars_folder(),
                embedding=embedding,
            ),
            llms=llms,
            gates=gates_of(config),
            store=store,
            tabs=tabs,
            config=config,
            browsers=browsers or (lambda name: host),
        )
        if started:
            await tabs.browser.start()
    except BaseException:
        store.close()
        raise
    return services
