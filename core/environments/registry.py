"""All environments of a session: every task by its id, and the environment that opens and judges it."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.environments.miniwob import MiniWob
from core.environments.protocol import Environment
from core.environments.task_file import TaskFile
from core.environments.web import OPEN_TASK, OpenWeb
from core.environments.webarena import WebArena
from core.errors import DataError, UsageError
from core.task import Task

NEAREST = 4


class Environments:
    """MiniWoB++, the open web, and what the user's files add."""

    def __init__(
        self,
        *,
        task_files: Sequence[Path] = (),
        webarena: Sequence[Path] = (),
        webarena_sites: Mapping[str, str] | None = None,
        time_limit: bool = False,
    ) -> None:
        """Read all files at once; raises DataError that lists every problem of every file.

        `webarena_sites` gives the addresses of the sites (``SHOPPING`` to
        ``http://…``) and, beside them, what their judges need; None takes them
        from the process's environment.
        """
        self._web = OpenWeb()
        members: list[Environment] = [MiniWob(time_limit=time_limit), self._web]
        problems: list[str] = []
        for path in task_files:
            try:
                members.append(TaskFile.read(path))
            except DataError as error:
                problems.append(str(error))
        if webarena:
            try:
                members.append(WebArena.read(webarena, sites=webarena_sites))
            except DataError as error:
                problems.append(str(error))
        self._members: dict[str, Environment] = {}
        for member in members:
            if member.id in self._members:
                problems.append(
                    f'Two environments are called "{member.id}": give the task file another `name`.'
                )
            self._members[member.id] = member
        if problems:
            raise DataError("\n".join(problems))
        self._tasks: dict[str, Task] | None = None

    @property
    def members(self) -> tuple[Environment, ...]:
        """The environments, in the order their tasks are listed."""
        return tuple(self._members.values())

    def tasks(self) -> tuple[Task, ...]:
        """Return all tasks, environment by environment."""
        return tuple(self._by_id().values())

    def find(self, id: str, *, url: str = "", instruction: str = "") -> Task:
        """Return the task of that id; raises UsageError that names the nearest ids.

        `web/open` takes its `url` and `instruction` from here; any other task
        refuses them.
        """
        wanted = id.strip()
        if wanted == OPEN_TASK:
            return self._web.task(url, instruction) if url or instruction else self._web.tasks()[0]
        task = self._by_id().get(wanted)
        if task is None:
            raise UsageError(f'There is no task "{wanted}"; {self._nearest(wanted)}.')
        if url or instruction:
            raise UsageError(
                f"{wanted} brings its own URL and instruction: leave yours out, or use {OPEN_TASK} for them."
            )
        return task

    def environment_of(self, task: Task) -> Environment:
        """Return the environment that opens and judges `task`; raises UsageError for an unknown one."""
        try:
            return self._members[task.environment]
        except KeyError as error:
            raise UsageError(
                f'The environment "{task.environment}" of {task.id} is not there now: '
                "add the task file that it came from."
            ) from error

    async def close(self) -> None:
        for member in self._members.values():
            await member.close()

    def _by_id(self) -> dict[str, Task]:
        if self._tasks is None:
            self._tasks = {task.id: task for member in self._members.values() for task in member.tasks()}
        return self._tasks

    def _nearest(self, wanted: str) -> str:
        tasks = list(self._by_id())
        name = wanted.rpartition("/")[2].lower()
        whole = difflib.get_close_matches(wanted, tasks, n=NEAREST, cutoff=0.6)
        short = {task.rpartition("/")[2].lower(): task for task in reversed(tasks)}
        named = [short[one] for one in difflib.get_close_matches(name, short, n=NEAREST, cutoff=0.6)]
        holding = [task for task in tasks if name and name in task.lower()]
        near = list(dict.fromkeys([*named, *whole, *holding]))[:NEAREST]
        if near:
            return f"the nearest are {', '.join(near)}"
        return "`main.py tasks` lists all"
