"""The agents and sites that faults are tried on, and the folder in which their runs are kept."""

import json
import os
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from core.agent.llm_calls import Answerer
from core.agent.state import Budget
from core.agent.world import World
from core.browser.chromium import ChromiumHost, find_chromium
from core.debugger.editing.files import AgentFiles
from core.debugger.headless import RunReport, run_headless
from core.debugger.services import Services, open_services
from core.environments.registry import Environments
from core.llm.endpoints import Keys
from core.llm.registry import LLMs
from core.schema.errors import BackstepError
from core.schema.messages import LLM
from core.schema.step import Recognised, record_of
from core.schema.task import Task
from core.settings.settings import Settings
from core.storage.resources import RESOURCES
from tests.benchmarks.causes.mutants import Obeys
from tests.benchmarks.causes.obedient import ObedientLLM

SEEDS = (20, 21, 22)
"""Seeds at which no exemplar was recorded."""
_AIRLINE = (
    "find-flight",
    "find-booking",
    "cancel-booking",
    "change-passenger",
    "change-flights",
    "book-flight",
)
_MINIWOB = (
    "click-button click-link click-tab-2 choose-list enter-text login-user navigate-tree click-collapsible-2 "
    "email-inbox search-engine use-autocomplete"
).split()


class Case(NamedTuple):
    task: str
    seed: int


class Cell(NamedTuple):
    """A preset on a site, with the files that faults are planted in."""

    preset: str
    site: str
    files: tuple[str, ...]

    @property
    def groups(self) -> tuple[tuple[Case, ...], ...]:
        """Three cases each, on which an agent passes or fails together: a task at three seeds, or three goals."""
        if self.site == "shop":  # Its goals are the same at every seed.
            goals = [Case(f"shop/goal-{number:03}", SEEDS[0]) for number in range(60)]
            return tuple(tuple(goals[at : at + 1]) for at in range(len(goals)))
        # All of them where a fault lies in a file that few of them use; else the short ones.
        airline = _AIRLINE if self.preset in ("laser", "step") else _AIRLINE[:3]
        names = airline if self.site == "airline" else _MINIWOB
        return tuple(tuple(Case(f"{self.site}/{name}", seed) for seed in SEEDS) for name in names)


def _files(*patterns: str) -> tuple[str, ...]:
    return tuple(
        path.relative_to(RESOURCES).as_posix() for one in patterns for path in sorted(RESOURCES.glob(one))
    )


def _prompts(preset: str) -> tuple[str, ...]:
    return _files(f"presets/{preset}.toml", f"prompts/{preset}/*.j2")


CELLS = (
    Cell("laser", "shop", ("state_spaces/shop.toml", *_prompts("laser"))),
    Cell("laser", "airline", ("state_spaces/airline.toml", *_prompts("laser"))),
    Cell("laser", "miniwob", _prompts("laser")),
    Cell("step", "shop", (*_files("policies/shop/*.md"), *_prompts("step"))),
    Cell("step", "airline", (*_files("policies/airline/*.md"), *_prompts("step"))),
    Cell("step", "miniwob", _prompts("step")),
    Cell("reflect", "airline", _prompts("reflect")),
    Cell("reflect", "miniwob", _prompts("reflect")),
    Cell("synapse", "airline", (*_prompts("synapse"), "prompts/turn.j2")),
    Cell("synapse", "miniwob", (*_files("exemplars/*.jsonl"), *_prompts("synapse"), "prompts/turn.j2")),
)


class _LLMs(LLMs):
    """Knows the obedient LLM by its name."""

    def get(self, name: str) -> LLM:
        return ObedientLLM() if name == ObedientLLM.name else super().get(name)


class _Unedited(AgentFiles):
    """An agent's files as if all were bundled: faults are planted in copies, and that these are copies is no help."""

    def bundled(self, name: str) -> str | None:
        return self.read(name) if name in self.names() else super().bundled(name)


class Bench:
    """Runs agents, and keeps their runs in a folder with the lines that tell what they were for."""

    def __init__(self, folder: Path, services: Services, llms: LLMs) -> None:
        self.folder = folder
        self.services = services
        self.files = AgentFiles(folder / "config")
        self.unedited = _Unedited(folder / "config")
        self._llms: dict[Obeys, Answerer] = {"rules": llms.routed("rules"), "obedient": ObedientLLM()}

    def rows(self, kind: str) -> list[dict[str, Any]]:
        """Return what is known of a kind of line, in the order it was added."""
        path = self.folder / f"{kind}.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    def add(self, kind: str, row: Mapping[str, Any]) -> None:
        with (self.folder / f"{kind}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")

    async def play(self, preset: str, llm: Obeys, case: Case) -> RunReport | None:
        """Run a task to its end; None if it could not begin. Gates end a run."""
        try:
            return await run_headless(
                self.services,
                self.services.environments.find(case.task),
                case.seed,
                preset=preset,
                llm=self._llms[llm],
                budget=Budget(),
                on_gate="end",
            )
        except BackstepError:
            return None

    @contextmanager
    def planted(self, texts: Mapping[str, str]) -> Iterator[bool]:
        """Have agents use these files; yields whether all of them can be read."""
        targets = {self._target(name): text for name, text in texts.items()}
        try:
            for target, text in targets.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8")
            for name in texts:
                if not name.startswith("exemplars/"):  # These are read again by their time.
                    os.utime(self._target(name), (0, 0))  # As if it had been so when the run was made.
            yield not self.services.resources.problems()
        finally:
            for target in targets:
                target.unlink(missing_ok=True)

    def _target(self, name: str) -> Path:
        return self.folder / name if name.startswith("exemplars/") else self.files.target(name)

    def used(self, run: int) -> set[str]:
        """Return the files that a run used, by their names; of a state space also each state, after its name."""
        found: set[str] = set()
        store = self.services.store
        for step in store.steps(run):
            recognised = record_of(Recognised, store.step(run, step.number).records)
            if recognised is None:
                continue
            if recognised.diagram is not None:
                file = self.files.name_of(recognised.diagram.file)
                found |= {file, f"{file} {recognised.state}"}
            stack = recognised.stack
            for frame in (*stack.frames, *stack.finished) if stack is not None else ():
                found.add(self.files.name_of(frame.file))
        found |= {place[0] for place in self.exemplar_places(self._recalled(run)).values()}
        preset = self.services.resources.presets.get(store.run(run).preset)
        templates = preset.prompts.model_dump()
        asked = {call.purpose for call in store.calls.of(run)} | {"system", "user", "turn"}
        return found | self._with_included(f"prompts/{templates[one]}" for one in asked if templates.get(one))

    def _with_included(self, names: Iterable[str]) -> set[str]:
        """Return templates with those that they include by name."""
        found: set[str] = set()
        for name in names:
            found.add(name)
            included = re.findall(r'include "([^"]+\.j2)"', self.files.read(name))
            found |= self._with_included(f"prompts/{one}" for one in included)
        return found

    def _recalled(self, run: int) -> tuple[str, ...]:
        recalled = self.services.store.recalled(run, 1)
        return recalled.exemplars if recalled is not None else ()

    def exemplar_places(self, ids: tuple[str, ...]) -> dict[str, tuple[str, int]]:
        """Return file and line of exemplars."""
        found: dict[str, tuple[str, int]] = {}
        for member in self.services.resources.memory.files.members():
            if member.exemplar.id in ids:
                ids_there = [json.loads(line)["id"] for line in member.path.read_text("utf-8").splitlines()]
                line = ids_there.index(member.exemplar.id) + 1
                found[member.exemplar.id] = (f"exemplars/{member.path.name}", line)
        return found


def without_successes(database: Path, target: Path) -> Path:
    """Return a copy of a database in which no run is a success."""
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        copy.execute("UPDATE runs SET success = NULL WHERE success")
        copy.commit()
    return target


@asynccontextmanager
async def opened(folder: Path, *, alone: bool = False) -> AsyncIterator[Bench]:
    """Open the folder of a benchmark, with a browser that starts at the first run.

    With `alone`, runs are read from a copy that is thrown away, in which no run is a success.
    """
    with TemporaryDirectory() as copies:
        database = folder / "traces.db"
        async with _opened(
            folder, without_successes(database, Path(copies) / "traces.db") if alone else database
        ) as bench:
            yield bench


@asynccontextmanager
async def _opened(folder: Path, database: Path) -> AsyncIterator[Bench]:
    path = shutil.which("chromium-headless-shell") or find_chromium()
    if path is None:
        raise SystemExit("No Chromium is installed here.")
    folder.mkdir(parents=True, exist_ok=True)
    settings = Settings(database=database, pictures="none", record_network=False)
    llms = _LLMs(settings, keys=Keys())
    services = await open_services(
        settings,
        ChromiumHost(path),
        llms=llms,
        environments=Environments(),
        config=folder / "config",
        started=False,
    )
    world_of = services.world

    def without_pictures(task: Task) -> World:
        world = world_of(task)
        world.capturer.pictures = False  # No cause looks at them.
        return world

    services.world = without_pictures  # type: ignore[method-assign]
    # With the files of each run, what was planted would be what was changed since a success.
    services.resources.own_folders = None
    try:
        yield Bench(folder, services, llms)
    finally:
        await services.close()
