"""Adding, reading anew and removing the user's files of tasks while the window is open."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from core.debugger.commands import TaskDeskAnswer
from core.environments.own_tasks import absolute
from core.environments.registry import Environments
from core.environments.task_source import SourceKind, TaskSource
from core.schema.errors import BackstepError, DataError
from core.schema.signal import Signal
from core.settings.saving import save_settings
from core.settings.settings import read_settings_file, settings_path, task_path

_KEYS: dict[SourceKind, str] = {"tasks": "task_files", "webarena": "webarena"}


class TaskDesk:
    """The `TaskDeskCommands` of the window.

    `post` queues work on the worker's loop, where `announce` sends the new
    catalogue; files are read in a thread beside it, so that a run under way
    goes on meanwhile.
    """

    def __init__(
        self,
        post: Callable[[Coroutine[Any, Any, None]], None],
        environments: Callable[[], Environments],
        announce: Callable[[], None],
    ) -> None:
        self.answered: Signal[TaskDeskAnswer] = Signal()
        self._post = post
        self._environments = environments
        self._announce = announce

    def add(self, paths: tuple[str, ...]) -> None:
        self._post(self._answering(lambda: self._add([Path(path) for path in paths])))

    def remove(self, path: str) -> None:
        self._post(self._answering(lambda: self._remove(Path(path))))

    def refresh(self) -> None:
        self._post(self._refresh())

    async def _answering(self, work: Callable[[], Awaitable[TaskDeskAnswer]]) -> None:
        try:
            answer = await work()
        except BackstepError as error:
            answer = TaskDeskAnswer(ok=False, text=str(error))
        self.answered.send(answer)

    async def _add(self, paths: list[Path]) -> TaskDeskAnswer:
        environments = self._environments()
        answers = [await asyncio.to_thread(_add_one, environments, path) for path in paths]
        self._announce()
        return TaskDeskAnswer(
            ok=all(one.ok for one in answers),
            text="\n".join(one.text for one in answers),
            task=next((one.task for one in answers if one.task), ""),
        )

    async def _remove(self, path: Path) -> TaskDeskAnswer:
        environments = self._environments()
        answer = await asyncio.to_thread(_remove_one, environments, path)
        self._announce()
        return answer

    async def _refresh(self) -> None:
        if await asyncio.to_thread(self._environments().refresh):
            self._announce()


def _add_one(environments: Environments, path: Path) -> TaskDeskAnswer:
    path = absolute(path)
    try:
        source = environments.add_file(path)
    except DataError as error:
        return TaskDeskAnswer(
            ok=False, text=f"{path.name} was not added: correct it, then add it again.\n{error}"
        )
    number = "1 task" if len(source.tasks) == 1 else f"{len(source.tasks)} tasks"
    said = f"{source.name}: {number}, remembered for next time."
    try:
        _remember(source)
    except BackstepError as error:
        return TaskDeskAnswer(
            ok=False,
            text=f"{source.name}: {number}, for this time only, as they cannot be remembered. {error}",
            task=source.tasks[0],
        )
    environments.set_remembered(path, True)
    return TaskDeskAnswer(ok=True, text=said, task=source.tasks[0])


def _remove_one(environments: Environments, path: Path) -> TaskDeskAnswer:
    path = absolute(path)
    if any(source.path == path and source.remembered for source in environments.sources):
        _save(_without(path))
    source = environments.remove_file(path)
    return TaskDeskAnswer(
        ok=True, text=f"{source.name} was taken out of the list; the file itself is as it was."
    )


def _remember(source: TaskSource) -> None:
    """Name the source in the settings, once and under the key of its kind."""
    try:
        str(source.path).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{settings_path()} cannot hold its name, which is not UTF-8: rename it.") from error
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
