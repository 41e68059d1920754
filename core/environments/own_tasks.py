"""The user's task files: reads them, reloads them after an edit, adds and removes them.

A file that is damaged by an edit keeps the tasks it had, besides the sentence
that says what is wrong with it. Everything here may block on the disk; two
calls that change something must not overlap (core/environments/registry.py
sees to that).
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.environments.protocol import Environment
from core.environments.task_file import TASKS_ARE, TaskEntry, TaskFile
from core.environments.webarena import WebArena
from core.environments.webarena_config import WebArenaConfig, WebArenaConfigs, read_configs
from core.schema.errors import DataError, UsageError
from core.schema.task import SourceKind, TaskSource, UnsupportedTask
from core.settings.file_kinds import TASKS, refuse_others
from core.settings.user_file import UserFile
from core.system.paths import expanded

Content = TaskFile | WebArenaConfigs
Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, inode, time of change and size of each file; nothing if they cannot be read."""


@dataclass(frozen=True)
class _Held:
    """A source with what was read of it; nothing before it was ever read."""

    source: TaskSource
    content: Content | None = None
    stamp: Stamp = ()

    def changed(self, **changes: Any) -> "_Held":
        """Return it with these fields of the source changed."""
        return replace(self, source=self.source.replace(**changes))


class OwnTasks:
    """The files and folders in use, and the environments made of them."""

    def __init__(
        self, *, taken: Collection[str] = (), webarena_sites: Mapping[str, str] | None = None
    ) -> None:
        """`taken` are the ids of environments that no task file may have."""
        self._taken = frozenset(taken)
        self._sites = webarena_sites
        self._held: tuple[_Held, ...] = ()
        self._members: tuple[Environment, ...] = ()

    @property
    def sources(self) -> tuple[TaskSource, ...]:
        return tuple(one.source for one in self._held)

    @property
    def members(self) -> tuple[Environment, ...]:
        """One environment for each task file, then one for all of WebArena's."""
        return self._members

    def source_of(self, task: str) -> TaskSource | None:
        """Return the source that the task of this id comes from."""
        return next((source for source in self.sources if task in source.tasks), None)

    def begin(self, sources: Sequence[TaskSource]) -> None:
        """Read these; each that cannot be read says so in its `problem`."""
        self._hold(self._read_again(_Held(source) for source in _merged(sources)))

    def refresh(self) -> bool:
        """Read again what has changed or had a problem; return whether anything is different now."""
        before, now = self._held, self._read_again(self._held)
        changed = [(one.source, one.content) for one in before] != [(one.source, one.content) for one in now]
        if changed:
            self._hold(now)
        return changed

    def add(self, path: Path) -> TaskSource:
        """Read a file or folder and use it, in place of what was read of it before.

        Raises DataError if it cannot be used; everything is as it was then.
        """
        path = absolute(path)
        stamp = _stamp(path)
        kind = kind_of(path)
        content = _read(path, kind)
        at = next((at for at, one in enumerate(self._held) if one.source.path == path), len(self._held))
        above, below = self._held[:at], self._held[at + 1 :]
        problem = self._clash(path, content, (*above, *below))
        if problem:
            raise DataError(problem)
        before = self._held[at] if at < len(self._held) else _Held(TaskSource(path=path, kind=kind))
        added = _filled(before.changed(kind=kind), content, stamp)
        self._hold((*above, added, *below))
        return added.source

    def remove(self, path: Path) -> TaskSource:
        """Stop using a source; raises UsageError if there is none at this path."""
        path = absolute(path)
        gone = next((one.source for one in self._held if one.source.path == path), None)
        if gone is None:
            raise UsageError(f"{path} is not in the list of task files; it was removed before.")
        # What clashed with it can be used now.
        self._hold(self._read_again(one for one in self._held if one.source.path != path))
        return gone

    def set_remembered(self, path: Path, remembered: bool) -> None:
        """Note whether the settings name the source at this path."""
        path = absolute(path)
        self._held = tuple(
            one.changed(remembered=remembered) if one.source.path == path else one for one in self._held
        )

    def _read_again(self, held: Iterable[_Held]) -> tuple[_Held, ...]:
        done: list[_Held] = []
        for one in held:
            stamp = _stamp(one.source.path)
            if one.content is not None and stamp and stamp == one.stamp and not one.source.problem:
                done.append(one)
                continue
            try:
                content = _read(one.source.path, one.source.kind)
                problem = self._clash(one.source.path, content, done)
            except DataError as error:
                problem = str(error)
            done.append(one.changed(problem=problem) if problem else _filled(one, content, stamp))
        return tuple(done)

    def _clash(self, path: Path, content: Content, others: Iterable[_Held]) -> str:
        """Return why `content` cannot be used together with the others, in a sentence, or nothing."""
        if isinstance(content, TaskFile):
            if content.id in self._taken:
                return (
                    f'{path} cannot be used: the name "{content.id}" belongs to Backstep\'s own tasks; '
                    "give the task file another `name`."
                )
            for other in others:
                if isinstance(other.content, TaskFile) and content.id == other.content.id:
                    return (
                        f'Two environments are called "{content.id}", by {other.source.path} and by {path}: '
                        "give one of the task files another `name`."
                    )
            return ""
        for other in others:
            known = {config.id for config in _configs(other.content)}
            twice = [config.id for config in content.configs if config.id in known]
            if twice:
                more = f" and {len(twice) - 1} more" if len(twice) > 1 else ""
                return (
                    f"{path} cannot be used together with {other.source.path}: both have WebArena's task "
                    f"{twice[0]}{more}; keep one of the two."
                )
        return ""

    def _hold(self, held: Sequence[_Held]) -> None:
        files = [one.content for one in held if isinstance(one.content, TaskFile)]
        configs = [config for one in held for config in _configs(one.content)]
        webarena = [WebArena(configs, self._sites)] if configs else []
        self._held, self._members = tuple(held), (*files, *webarena)


def _configs(content: Content | None) -> tuple[WebArenaConfig, ...]:
    return content.configs if isinstance(content, WebArenaConfigs) else ()


def absolute(path: Path) -> Path:
    """Return `path` as it is compared: absolute, without ``~`` and ``..``; links stay as they are."""
    return Path(os.path.abspath(expanded(path)))


def kind_of(path: Path) -> SourceKind:
    """Tell a task file from WebArena's configuration by what is in it; raises DataError if it is neither."""
    if os.path.isdir(path):
        return "webarena"
    data = UserFile.read(path).content()
    if isinstance(data, dict) and "tasks" in data:
        return "tasks"
    refuse_others(path, data, TASKS, TASKS_ARE)
    first = next(iter(data), None) if isinstance(data, list) else data
    if not isinstance(first, dict):
        raise DataError(f"{path} contains no tasks: {TASKS_ARE}.")
    of_task_file = len(first.keys() & TaskEntry.model_fields.keys())
    of_webarena = len(first.keys() & WebArenaConfig.model_fields.keys())
    return "webarena" if of_webarena > of_task_file else "tasks"


def _merged(sources: Iterable[TaskSource]) -> tuple[TaskSource, ...]:
    """Return each path once; the first decides how it is read."""
    found: dict[Path, TaskSource] = {}
    for source in sources:
        path = absolute(source.path)
        known = found.get(path, source)
        found[path] = known.replace(
            path=path,
            given=known.given or source.given,
            remembered=known.remembered or source.remembered,
        )
    return tuple(found.values())


def _filled(one: _Held, content: Content, stamp: Stamp) -> _Held:
    unsupported: tuple[UnsupportedTask, ...] = ()
    if isinstance(content, TaskFile):
        title, ids = content.title, tuple(task.id for task in content.tasks())
    else:
        title, ids = "WebArena", tuple(f"{WebArena.id}/{config.id}" for config in content.configs)
        unsupported = content.unsupported
    changed = one.changed(title=title, tasks=ids, unsupported=unsupported, problem="")
    return replace(changed, content=content, stamp=stamp)


def _read(path: Path, kind: SourceKind) -> Content:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DataError(
            f"{path} cannot be read: there is no such file or folder. Restore it, or correct the flag or "
            "the list of task files that names it."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', '') or error}.") from error
    return TaskFile.read(path) if kind == "tasks" else read_configs([path])


def _stamp(path: Path) -> Stamp:
    try:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        stats = [(file.name, file.stat()) for file in files]
    except (OSError, ValueError):
        return ()
    return tuple((name, stat.st_ino, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
