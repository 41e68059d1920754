"""Makes runs on a node of a cluster: an actor with one shared Chromium, and its setup from the driver.

Each run has its own database, which is sent to the driver as one file when the run ends, and then deleted here.
"""

import asyncio
import os
import platform
import tempfile
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.browser.chromium import chromium_at
from core.browser.sharing import SharedChromium
from core.debugger.evaluations.local import run_of, services_of, sharing
from core.debugger.evaluations.records import Variant
from core.debugger.services import Services, user_llms
from core.environments.registry import Environments
from core.llm.endpoints import Keys, load_endpoints
from core.schema.errors import BackstepError, BrowserError, TraceError
from core.schema.task import SourceKind
from core.settings.settings import DATABASE_NAME, Settings, config_folder
from core.system.temp_folder import begin_temp_folder
from core.trace.records import Case
from core.trace.repro.exporter import whole_file
from core.trace.store import TraceStore


@dataclass(frozen=True)
class NodeSetup:
    """What a node needs from the driver's machine, besides the program."""

    settings: Settings
    count: int
    """Runs at once."""
    database_folder: str
    """Where the database and the library of exemplars are, as a path of `files`."""
    files: dict[str, bytes] = field(repr=False)
    """The user's own files by their paths: below ``config``, ``data``, ``traces`` and ``tasks``."""
    sources: tuple[tuple[SourceKind, str], ...]
    """The files and folders of tasks among them."""
    sites: dict[str, str] = field(repr=False)
    """Addresses and logins of WebArena's sites."""
    keys: dict[str, str] = field(repr=False)
    """Keys of LLMs; they are kept in memory alone."""

    def unpack(self, folder: Path) -> Settings:
        """Write the files into a folder, have this process use them, and return the settings that hold there."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        os.environ["BACKSTEP_CONFIG_DIR"] = str(folder / "config")
        os.environ["BACKSTEP_DATA_DIR"] = str(folder / "data")
        return self.settings.replace(database=folder / self.database_folder / DATABASE_NAME)

    def environments(self, folder: Path) -> Environments:
        """Return all tasks; raises DataError for a file that cannot be used."""
        of = {kind: [folder / name for one, name in self.sources if one == kind] for kind, _ in self.sources}
        return Environments(
            task_files=of.get("tasks", ()), webarena=of.get("webarena", ()), webarena_sites=self.sites
        )


@dataclass(frozen=True)
class Played:
    """The result of a run: its database as one file, or why it could not begin."""

    file: bytes = b""
    error: BackstepError | None = None


class ClusterNode:
    """The actor: makes as many runs at once as its setup says, and queues the rest."""

    def __init__(self, setup: NodeSetup) -> None:
        self._setup = setup
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._free: asyncio.Queue[Services] | None = None
        self._folder = Path()

    async def ready(self) -> tuple[str, str]:
        """Open what runs need, if that is not done; return the node's id, and why that cannot be done, or nothing."""
        import ray

        node = str(ray.get_runtime_context().get_node_id())
        async with self._opening:
            if self._free is None:
                try:
                    self._free = await self._open()
                except BackstepError as error:
                    await self._stack.aclose()
                    return node, f"on {platform.node()}: {error}"
        return node, ""

    async def _open(self) -> "asyncio.Queue[Services]":
        self._folder = begin_temp_folder()
        settings = self._setup.unpack(self._folder)
        environments = self._setup.environments(self._folder)
        browser = SharedChromium(chromium_at(settings.shared_browser), dialogs=settings.dialogs)
        keys = Keys(load_endpoints(own=config_folder() / "endpoints.toml"), environ=self._setup.keys)
        llms = user_llms(settings, keys=keys, patient=True)
        opened = services_of(settings, environments, llms, browser)
        services = await self._stack.enter_async_context(opened)
        free: asyncio.Queue[Services] = asyncio.Queue()
        for one in await self._stack.enter_async_context(sharing(services, browser, self._setup.count)):
            free.put_nowait(one)
        return free

    async def play(self, variant: Variant, case: Case) -> Played:
        """Make a run of a case."""
        _, why = await self.ready()
        if why:
            return Played(error=BrowserError(why))
        assert self._free is not None
        services = await self._free.get()
        try:
            with tempfile.TemporaryDirectory(prefix="run-", dir=self._folder) as folder:
                return await self._run(
                    replace(services, store=TraceStore.open(Path(folder) / "run.db")), variant, case
                )
        except TraceError as error:
            # It is not the database of the evaluation that failed.
            return Played(error=BrowserError(str(error)))
        except BackstepError as error:
            return Played(error=error)
        finally:
            self._free.put_nowait(services)

    async def _run(self, services: Services, variant: Variant, case: Case) -> Played:
        with closing(services.store):
            report = await run_of(services, variant, case)
        if report.run is None:
            return Played(error=BrowserError(report.error))
        return Played(file=whole_file(services.store.path))

    async def close(self) -> None:
        """Release the browser and the files."""
        await self._stack.aclose()
