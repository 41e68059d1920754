"""All environments of a session: every task by its id, and the environment that opens and judges it."""

import difflib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.environments.airline.environment import Airline
from core.environments.miniwob import MiniWob
from core.environments.own_tasks import OwnTasks
from core.environments.protocol import Environment
from core.environments.shop.environment import Shop
from core.environments.web import OPEN_TASK, OpenWeb
from core.schema.errors import DataError, UsageError
from core.schema.task import Task, TaskSource
from core.setup.plugins import Plugins, expect, load_plugins
from core.system.program import COMMAND

NEAREST = 4
_BUILT_IN = (MiniWob, Shop, Airline, OpenWeb)


def environment_plugins() -> Plugins[Environment]:
    """Return the environments that packages add, made anew."""
    return load_plugins("environments", [kind.id for kind in _BUILT_IN], _environment)


def _environment(name: str, make: Any) -> Environment:
    environment = make() if callable(make) else None
    if not isinstance(environment, Environment):
        raise ValueError(
            "it has to be a class, or function, that makes a core.environments.protocol.Environment"
        )
    expect(Environment, name, environment, "id")  # type: ignore[type-abstract]
    tasks = environment.tasks()
    strange = [task for task in tasks if task.environment != name or not task.id.startswith(f"{name}/")]
    if strange:
        raise ValueError(f"its task {strange[0].id} has to be of the environment {name}, with an id {name}/…")
    return environment


class Environments:
    """MiniWoB++, the open web, and what packages and the user's files add."""

    def __init__(
        self,
        *,
        task_files: Sequence[Path] = (),
        webarena: Sequence[Path] = (),
        remembered_task_files: Sequence[Path] = (),
        remembered_webarena: Sequence[Path] = (),
        strict: bool = True,
        webarena_sites: Mapping[str, str] | None = None,
        time_limit: bool = False,
    ) -> None:
        """Read all files at once, those that were asked for and those that the settings remember.

        Raises DataError that lists every problem of every file asked for; what
        is wrong with a remembered one, or with any where not `strict`, stands
        in `sources`. `webarena_sites` gives the addresses of the sites
        (``SHOPPING`` to ``http://…``) and, next to them, what their judges
        need; None takes them from the process's environment.
        """
        self._web = OpenWeb()
        built_in = (MiniWob(time_limit=time_limit), Shop(), Airline(), self._web)
        self.plugins = environment_plugins()
        self._given: tuple[Environment, ...] = (*built_in, *self.plugins.things.values())
        self._changing = threading.Lock()
        self._own = OwnTasks(taken={member.id for member in self._given}, webarena_sites=webarena_sites)
        self._own.begin(
            (
                *(TaskSource(path=path, kind="tasks", given=True) for path in task_files),
                *(TaskSource(path=path, kind="webarena", given=True) for path in webarena),
                *(TaskSource(path=path, kind="tasks", remembered=True) for path in remembered_task_files),
                *(TaskSource(path=path, kind="webarena", remembered=True) for path in remembered_webarena),
            )
        )
        problems = [source.problem for source in self._own.sources if source.given and source.problem]
        if strict and problems:
            raise DataError("\n".join(problems))
        self._join()

    @property
    def members(self) -> tuple[Environment, ...]:
        """The environments, in the order their tasks are listed."""
        return tuple(self._members.values())

    @property
    def sources(self) -> tuple[TaskSource, ...]:
        """The user's files and folders of tasks, with what is wrong with them."""
        return self._own.sources

    def refresh(self, task: str = "") -> bool:
        """Read the user's files that have changed; return whether anything is different now.

        Where `task` is given and is not one of theirs, nothing is read. May
        block on the disk, and may be called from any thread.
        """
        if task.strip().partition("/")[0] in {member.id for member in self._given}:
            return False
        with self._changing:
            changed = self._own.refresh()
            if changed:
                self._join()
            return changed

    def add_file(self, path: Path) -> TaskSource:
        """Add a task file or WebArena's configuration, told apart by what is in it, or read it again.

        Raises DataError if it cannot be used; everything is as it was then.
        May block on the disk, and may be called from any thread.
        """
        with self._changing:
            source = self._own.add(path)
            self._join()
            return source

    def remove_file(self, path: Path) -> TaskSource:
        """Leave out the tasks of a file; a run that is in progress on one of them continues."""
        with self._changing:
            source = self._own.remove(path)
            self._join()
            return source

    def set_remembered(self, path: Path, remembered: bool) -> None:
        """Note whether the settings name the file at this path."""
        with self._changing:
            self._own.set_remembered(path, remembered)

    def tasks(self) -> tuple[Task, ...]:
        """Return all tasks, environment by environment."""
        return tuple(self._tasks.values())

    def find(self, id: str, *, url: str = "", instruction: str = "") -> Task:
        """Return the task of that id; raises UsageError that names the nearest ids.

        `web/open` takes its `url` and `instruction` from here; any other task
        refuses them. Raises DataError for a task of a file that was damaged
        since it was read.
        """
        wanted = id.strip()
        if wanted == OPEN_TASK:
            return self._web.task(url, instruction) if url or instruction else self._web.tasks()[0]
        task = self._tasks.get(wanted)
        if task is None:
            unsupported = [one for each in self.sources for one in each.unsupported if one.id == wanted]
            if unsupported:
                raise DataError(unsupported[0].sentence)
            problem = self.plugins.problems.get(wanted.partition("/")[0])
            raise UsageError(problem or f'There is no task "{wanted}"; {self._nearest(wanted)}.')
        source = self._own.source_of(wanted)
        if source is not None and source.problem:
            raise DataError(source.problem)
        if url or instruction:
            raise UsageError(
                f"{wanted} has its own URL and instruction: leave yours out, or use them with {OPEN_TASK}."
            )
        return task

    def environment_of(self, task: Task) -> Environment:
        """Return the environment that opens and judges `task`; raises UsageError for an unknown one."""
        try:
            return self._members[task.environment]
        except KeyError as error:
            raise UsageError(
                f'The environment "{task.environment}" of {task.id} is not available: '
                "add the task file that it came from."
            ) from error

    async def close(self) -> None:
        for member in self._members.values():
            await member.close()

    def _join(self) -> None:
        members = {member.id: member for member in (*self._given, *self._own.members)}
        self._tasks = {task.id: task for member in members.values() for task in member.tasks()}
        self._members = members

    def _nearest(self, wanted: str) -> str:
        tasks = list(self._tasks)
        name = wanted.rpartition("/")[2].lower()
        whole = difflib.get_close_matches(wanted, tasks, n=NEAREST, cutoff=0.6)
        short = {task.rpartition("/")[2].lower(): task for task in reversed(tasks)}
        named = [short[one] for one in difflib.get_close_matches(name, short, n=NEAREST, cutoff=0.6)]
        holding = [task for task in tasks if name and name in task.lower()]
        near = list(dict.fromkeys([*named, *whole, *holding]))[:NEAREST]
        if near:
            return f"the nearest are {', '.join(near)}"
        return f"`{COMMAND} tasks` lists all"
