"""Makes concurrent runs on the nodes of a Ray cluster, and stores each in the one database when it ends.

Ray starts, places and restarts the actors that make the runs (`cluster_node.ClusterNode`). If a node dies,
its runs are repeated on another one. Nothing of them was stored here.
"""

import asyncio
import logging
import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

import core
from core.agent.resources import OWN_FOLDERS
from core.debugger.evaluations.cluster_node import ClusterNode, NodeSetup, Played
from core.debugger.evaluations.engine import Lane
from core.debugger.evaluations.local import MadeRuns
from core.debugger.evaluations.records import Variant
from core.debugger.headless import RunReport, report
from core.debugger.services import Services
from core.environments.webarena_config import SITES
from core.exemplars.library.records import LIBRARY_NAME
from core.llm.local import LocalLLM
from core.llm.registry import PREFIX
from core.schema.errors import BrowserError, DataError, UsageError
from core.schema.task import SourceKind
from core.settings.settings import BUILT_IN, ONNX_PREFIX, config_folder, exemplars_folder
from core.setup.project import install_command
from core.storage.resources import RESOURCES
from core.trace.records import Case, CaseAttempt
from core.trace.store import TraceStore

CPUS = 2
"""Processors of a node for one actor: its Python and its Chromium use about one each."""
_MOST_LOST = 3
"""Nodes that may die under a run before it counts as failed."""
_CLOSE_SECONDS = 20.0
_CONNECT_SECONDS = 10.0
_TABLES = ("gates.toml", "endpoints.toml", "prices.toml", "thinking.toml")
_OWN_FILES = (*OWN_FOLDERS, *_TABLES)
"""What of the config folder goes to the nodes."""
_LOGINS = ("SHOPPING_SITE_ADMIN_USERNAME", "SHOPPING_SITE_ADMIN_PASSWORD")
_NOT_SENT = shutil.ignore_patterns("__pycache__", "pictures", "docs")

Tell = Callable[[str], None]


@contextmanager
def connected(address: str, runtime_env: Path | None) -> Generator[None, None, None]:
    """Connect to a cluster, as Ray writes its address, and release it.

    Its nodes get the program as it is here, in the runtime environment of a file
    of Ray's if one is named. Raises UsageError and DataError.
    """
    try:
        import ray
    except ImportError as error:
        raise UsageError(f"--cluster needs Ray. To install it, run: {install_command('cluster')}") from error
    environment = {} if runtime_env is None else _read(runtime_env)
    _check_address(address)
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        for package in (Path(core.__file__).parent, RESOURCES):
            shutil.copytree(package, Path(folder) / package.name, ignore=_NOT_SENT)
        try:
            # What Ray says of itself is no part of the report; what matters of it is told here.
            logging.getLogger("ray").setLevel(logging.CRITICAL)
            ray.init(
                address,
                runtime_env={**environment, "working_dir": folder},
                log_to_driver=False,
                logging_level="error",
                configure_logging=False,
            )
        except Exception as error:  # Ray raises many kinds, of which none is named in its documentation.
            ray.shutdown()
            raise UsageError(f"The cluster {address} cannot be used: {_first_line(error)}.") from error
    # Ray prints what befalls its nodes, to the last.
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        try:
            yield
        finally:
            ray.shutdown()


def _check_address(address: str) -> None:
    """Raise UsageError if nothing answers there: Ray would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
    except ValueError as error:
        raise UsageError(
            f"{address} is not a cluster address; write auto, HOST:PORT or ray://HOST:PORT."
        ) from error
    except OSError as error:
        raise UsageError(
            f"The cluster {address} cannot be reached ({error.strerror or error}); "
            "check its address, and with ray status that it is running."
        ) from error


def _read(path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"The runtime environment {path} cannot be read ({_first_line(error)}).") from error
    if not isinstance(content, dict) or "working_dir" in content:
        raise DataError(
            f"{path} is not a runtime environment: write Ray's keys, such as pip, without working_dir."
        )
    return content


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


# What nodes are given


def node_setup(services: Services, llms: Iterable[str], count: int) -> NodeSetup:
    """Gather what nodes need to make `count` runs at once each.

    Raises UsageError for an LLM that nodes cannot have.
    """
    for name in llms:
        if name.startswith(PREFIX):
            raise UsageError(f"{name} replays from the database of this machine. Omit --cluster.")
        if isinstance(services.llms.get(name), LocalLLM):
            raise UsageError(
                f"{name} is a model file of this machine. Omit --cluster, or serve it for all nodes."
            )
        services.llms.routed(name)
    settings = services.settings
    if settings.embedding.startswith(ONNX_PREFIX):
        raise UsageError(
            f"The embedding {settings.embedding} is a model of this machine. Omit --cluster, or serve it for all nodes."
        )
    if settings.embedding != BUILT_IN:
        services.llms.embedding(settings.embedding)
    files = {f"config/{name}": content for name, content in _files(config_folder(), _OWN_FILES)}
    own, beside = exemplars_folder(), settings.database.parent
    database_folder = "data" if own.parent == beside else "traces"
    files |= {f"data/{name}": content for name, content in _files(own.parent, (own.name,))}
    files |= {f"{database_folder}/{name}": content for name, content in _files(beside, ("exemplars",))}
    if (library := beside / LIBRARY_NAME).exists():
        files[f"{database_folder}/{LIBRARY_NAME}"] = _database(library)
    sources: list[tuple[SourceKind, str]] = []
    for number, source in enumerate(services.environments.sources):
        if source.problem:
            continue
        folder = f"tasks/{number}"
        files |= {
            f"{folder}/{name}": content for name, content in _files(source.path.parent, (source.path.name,))
        }
        sources.append((source.kind, f"{folder}/{source.path.name}"))
    return NodeSetup(
        settings=settings.replace(task_files=(), webarena=()),
        count=count,
        database_folder=database_folder,
        files=files,
        sources=tuple(sources),
        sites={name: os.environ[name] for name in (*SITES, *_LOGINS) if name in os.environ},
        keys=services.llms.secrets(),
    )


def _files(folder: Path, names: Sequence[str]) -> Generator[tuple[str, bytes], None, None]:
    """Give these files, and those in these folders, by their paths from `folder`."""
    for name in names:
        path = folder / name
        for one in sorted(path.rglob("*")) if path.is_dir() else (path,):
            if one.is_file():
                yield one.relative_to(folder).as_posix(), one.read_bytes()


def _database(path: Path) -> bytes:
    """Return a database that others may be writing to, as one file."""
    with (
        tempfile.TemporaryDirectory(prefix="backstep-") as folder,
        closing(sqlite3.connect(path)) as source,
        closing(sqlite3.connect(Path(folder) / "copy.db")) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE").fetchone()
        return (Path(folder) / "copy.db").read_bytes()


# Lanes


@asynccontextmanager
async def cluster_lanes(services: Services, setup: NodeSetup, tell: Tell) -> AsyncIterator[list[Lane]]:
    """Yield what makes runs on all nodes, each as many at once as its setup says; raises UsageError if no
    node fits.

    `tell` is called for nodes that are lost or cannot be used.
    """
    import ray

    count = sum(int(node["Resources"].get("CPU", 0)) // CPUS for node in ray.nodes() if node["Alive"])
    if not count:
        raise UsageError(
            f"No node of the cluster has {CPUS} processors; start one with: ray start --num-cpus."
        )
    make = ray.remote(
        num_cpus=CPUS,
        scheduling_strategy="SPREAD",
        max_restarts=-1,
        max_concurrency=setup.count + 2,
    )(ClusterNode)
    # Not by `ray.put`: the object store may spill to a disk, and keys are in it.
    actors = [make.remote(setup) for _ in range(count)]
    slots = _Slots(actors, setup.count, tell)
    made = MadeRuns(services)
    try:
        await slots.any_ready()
        yield [partial(_play, services, made, slots) for _ in range(count * setup.count)]
    finally:
        await slots.close()


async def _play(
    services: Services, made: MadeRuns, slots: "_Slots", variant: Variant, attempt: CaseAttempt
) -> RunReport:
    """Make the run of an attempt on a node, and store it here."""
    async with made.turn(variant, attempt) as runs:
        played = await slots.play(variant, attempt.case)
        if played.error is not None:
            raise played.error
        # Once it is here it is stored, though the evaluation ends meanwhile.
        run = await asyncio.shield(asyncio.to_thread(put_in, services.store, played.file, attempt))
        runs.append(run)
    return report(services.store.run(run))


def put_in(store: TraceStore, file: bytes, attempt: CaseAttempt) -> int:
    """Store the run of a file as that of an attempt, unless it has one that ended, and return its number."""
    with closing(TraceStore.of_content(file)) as source:
        (row,) = source.runs(limit=1)
        return source.copy_to(store, row.run, attempt=attempt)


class _Slots:
    """The slots for runs on the nodes; those of a lost actor return when Ray has restarted it."""

    def __init__(self, actors: Sequence[Any], count: int, tell: Tell) -> None:
        self._actors = dict(enumerate(actors))
        self._count = count
        self._tell = tell
        self._free: dict[int, int] = {}
        """How many places each actor that is ready has left."""
        self._nodes: dict[int, str] = {}
        """The node of each actor that was ready once."""
        self._lost: set[str] = set()
        self._changed = asyncio.Condition()
        self._awaited = {number: asyncio.create_task(self._add(number)) for number in self._actors}
        self.failure = ""
        """Why the last actor that cannot make runs cannot."""

    async def any_ready(self) -> None:
        """Wait for the first actor; raises BrowserError if none can make runs."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._free or not self._awaited)
        if not self._free:
            raise BrowserError(self.failure)

    async def play(self, variant: Variant, case: Case) -> Played:
        """Make a run of a case if there is a place; raises BrowserError if it cannot be had."""
        from ray.exceptions import ObjectLostError, RayActorError

        for _ in range(_MOST_LOST):
            number = await self._take()
            try:
                played: Played = await self._actors[number].play.remote(variant, case)
            except (RayActorError, ObjectLostError):  # The latter where it died before the run was fetched.
                await self._lose(number)
                continue
            finally:
                await self._give_back(number)
            return played
        raise BrowserError(
            f"{_MOST_LOST} nodes ended during this run; check their memory, or lower --concurrency."
        )

    async def _take(self) -> int:
        """Return the actor that has the most places left, when one has any."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: any(self._free.values()) or not (self._free or self._awaited)
            )
            if not self._free:
                raise BrowserError(self.failure)
            number = max(self._free, key=self._free.__getitem__)
            self._free[number] -= 1
            return number

    async def _give_back(self, number: int) -> None:
        async with self._changed:
            if number in self._free:
                self._free[number] = min(self._free[number] + 1, self._count)
            self._changed.notify_all()

    async def _lose(self, number: int) -> None:
        async with self._changed:
            if self._free.pop(number, None) is not None:
                node = self._nodes.get(number, "")
                if node not in self._lost:  # Several actors can be on it.
                    self._tell("A node of the cluster was lost; its runs are repeated on other nodes.")
                self._lost.add(node)
                self._awaited[number] = asyncio.create_task(self._add(number))

    async def _add(self, number: int) -> None:
        """Add the places of an actor when it is ready."""
        node, why = await _reason_against(self._actors[number])
        async with self._changed:
            del self._awaited[number]
            if why:
                self.failure = f"A node of the cluster cannot start runs: {why}"
                self._tell(self.failure)
            else:
                self._free[number] = self._count
                self._nodes[number] = node
                self._lost.discard(node)
            self._changed.notify_all()

    async def close(self) -> None:
        """End the actors, which release what they have."""
        import ray

        for task in self._awaited.values():
            task.cancel()
        ready = [self._actors[number] for number in self._free]
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                closing_down = [actor.close.remote() for actor in ready]
                await asyncio.gather(*closing_down, return_exceptions=True)
        for actor in self._actors.values():
            ray.kill(actor)


async def _reason_against(actor: Any) -> tuple[str, str]:
    """Wait until an actor is ready, wherever Ray puts it; return its node, and why it cannot be ready, or nothing."""
    from ray.exceptions import RayError

    try:
        found: tuple[str, str] = await actor.ready.options(max_task_retries=-1).remote()
    except RayError as error:
        # Its last line says what has failed there, such as a module that is missing.
        return "", str(error).strip().splitlines()[-1].strip()
    return found
