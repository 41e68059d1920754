"""Adds, reloads and removes the user's task files."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from core.debugger.commands import command
from core.debugger.service import Service
from core.debugger.tasks.views import TaskFilesAnswer
from core.environments.own_tasks import absolute
from core.environments.registry import Environments
from core.schema.errors import BackstepError, DataError
from core.schema.formats import count
from core.schema.task import SourceKind, TaskSource
from core.settings.saving import save_settings
from core.settings.settings import read_settings_file, settings_path, task_path

if TYPE_CHECKING:
    from core.debugger.session import Session

_KEYS: dict[SourceKind, str] = {"tasks": "task_files", "webarena": "webarena"}


class TaskFilesService(Service[TaskFilesAnswer]):
    """Each view answers a change; new tasks are sent with the session's catalogue.

    Files are read in a thread, so that a run in progress continues meanwhile; one command follows another.
    """

    view = TaskFilesAnswer(ok=True, text="")

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._turn = asyncio.Lock()

    def failed(self, problem: str) -> None:
        self.send(TaskFilesAnswer(ok=False, text=problem))

    @command
    async def add(self, paths: tuple[str, ...]) -> None:
        """Add task files and WebArena configurations, or read them again, and remember them in the settings."""
        environments = self.services.environments
        async with self._turn:
            answers = [await asyncio.to_thread(_add_one, environments, Path(path)) for path in paths]
        self.session.offer()
        self.send(
            TaskFilesAnswer(
                ok=all(answer.ok for answer in answers),
                text="\n".join(answer.text for answer in answers),
                task=next((answer.task for answer in answers if answer.task), ""),
            )
        )

    @command
    async def remove(self, path: str) -> None:
        """Leave out the tasks of a file and forget it; the file itself stays as it is."""
        async with self._turn:
            answer = await asyncio.to_thread(_remove_one, self.services.environments, Path(path))
        self.session.offer()
        self.send(answer)

    @command
    async def refresh(self) -> None:
        """Read the files that have changed since they were last read."""
        async with self._turn:
            is_new = await asyncio.to_thread(self.services.environments.refresh)
        if is_new:
            self.session.offer()


def _add_one(environments: Environments, path: Path) -> TaskFilesAnswer:
    path = absolute(path)
    try:
        source = environments.add_file(path)
    except DataError as error:
        return TaskFilesAnswer(
            ok=False, text=f"{path.name} was not added. Correct it, then add it again.\n{error}"
        )
    number = count(len(source.tasks), "task")
    if source.unsupported:
        number += f", {len(source.unsupported)} more not supported (see Task files)"
    said = f"{source.name}: {number}, also added for the next start."
    try:
        _remember(source)
    except BackstepError as error:
        return TaskFilesAnswer(
            ok=False,
            text=f"{source.name}: {number}, added only until the window closes. {error}",
            task=next(iter(source.tasks), ""),
        )
    environments.set_remembered(path, True)
    return TaskFilesAnswer(ok=True, text=said, task=next(iter(source.tasks), ""))


def _remove_one(environments: Environments, path: Path) -> TaskFilesAnswer:
    path = absolute(path)
    if any(source.path == path and source.remembered for source in environments.sources):
        _save(_without(path))
    source = environments.remove_file(path)
    return TaskFilesAnswer(
        ok=True, text=f"{source.name} was removed from the list; the file itself is unchanged."
    )


def _remember(source: TaskSource) -> None:
    """Name the source in the settings, once and under the key of its kind."""
    try:
        str(source.path).encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"Its name is not UTF-8, so {settings_path()} cannot store it. Rename the file."
        ) from error
    changes = _without(source.path)
    key = _KEYS[source.kind]
    there = {task_path(path): str(path) for path in getattr(read_settings_file(), key)}
    changes[key] = [*changes[key], there.get(source.path, str(source.path))]
    _save(changes)


def _without(path: Path) -> dict[str, list[str]]:
    """Return the lists of the settings file as they are written there, but for this path."""
    file = read_settings_file()
    return {key: [str(one) for one in getattr(file, key) if task_path(one) != path] for key in _KEYS.values()}


def _save(lists: dict[str, list[str]]) -> None:
    save_settings({key: listed or None for key, listed in lists.items()})


make_service = TaskFilesService
