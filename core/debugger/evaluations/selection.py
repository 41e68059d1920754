"""Selects the tasks of an evaluation: ids, patterns, tags, files of ids and named suites.

A word is ``tag:NAME``, ``suite:NAME``, ``@FILE``, or an id or a pattern of
ids. A suite is a TOML file of such words in ``resources/suites``, or in the
folder ``suites`` of the user's configuration, which wins.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field

from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.schema.task import Task
from core.settings.user_file import UserFile, near, read_text
from core.storage.resources import RESOURCES
from core.system.paths import expanded

SUITES = RESOURCES / "suites"
_MOST_NUMBERS = 10_000


class Suite(Record):
    """A named selection, in a file."""

    title: str = ""
    source: str = ""
    """Where the selection comes from, such as the table of a paper."""
    tasks: tuple[str, ...] = Field(min_length=1)


def suites_in(config: Path) -> dict[str, Path]:
    """Return the files of suites by their names; those of the configuration go before."""
    folders = (SUITES, config / "suites")
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def readable_suites(config: Path) -> dict[str, Suite]:
    """Return the suites by their names, without those whose file cannot be read: choosing one says why."""
    found = {}
    for name, path in suites_in(config).items():
        with suppress(DataError):
            found[name] = UserFile.read(path).validated(Suite)
    return found


def selected(words: Iterable[str], tasks: Sequence[Task], config: Path) -> tuple[str, ...]:
    """Return the ids of the tasks that any of the words selects, each once, in the order of the words.

    Raises UsageError for a word that selects nothing, and DataError for a
    file that cannot be read or names a task that is not there.
    """
    found: dict[str, None] = {}
    for word in words:
        found.update(dict.fromkeys(_of_word(word, tasks, config)))
    if not found:
        raise UsageError(
            "No task is selected: give --tasks an id, a pattern such as miniwob/click-*, tag:NAME, "
            "suite:NAME or @FILE."
        )
    return tuple(found)


def _of_word(word: str, tasks: Sequence[Task], config: Path) -> tuple[str, ...]:
    if word.startswith("tag:"):
        return _tagged(word.removeprefix("tag:"), tasks)
    if word.startswith("suite:"):
        return _of_suite(word.removeprefix("suite:"), tasks, config)
    if word.startswith("@"):
        return _of_file(expanded(word.removeprefix("@")), tasks)
    return fitting((word,), tasks)


def _tagged(tag: str, tasks: Sequence[Task]) -> tuple[str, ...]:
    found = tuple(task.id for task in tasks if tag in task.tags)
    if not found:
        known = sorted({one for task in tasks for one in task.tags})
        raise UsageError(f'No task has the tag "{tag}"; {near(tag, known)}')
    return found


def _of_suite(name: str, tasks: Sequence[Task], config: Path) -> tuple[str, ...]:
    files = suites_in(config)
    if name not in files:
        raise UsageError(f'There is no suite "{name}"; {near(name, files)}')
    file = UserFile.read(files[name])
    chosen: dict[str, None] = {}
    for position, word in enumerate(file.validated(Suite).tasks):
        location = ("tasks", position)
        if word.startswith(("suite:", "@")):
            raise file.error(
                location, f'"{word}" cannot be used: a suite contains only tasks, patterns and tags.'
            )
        try:
            chosen.update(dict.fromkeys(_of_word(word, tasks, files[name].parent)))
        except UsageError as error:
            raise file.error(location, str(error)) from error
    return tuple(chosen)


def _of_file(path: Path, tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the tasks of a text file with one id or pattern in a line; ``#`` begins a comment."""
    chosen: dict[str, None] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        try:
            chosen.update(dict.fromkeys(fitting((word,), tasks)))
        except UsageError as error:
            raise DataError(f"{path}, line {number}: {error}") from error
    return tuple(chosen)


def fitting(patterns: Iterable[str], tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the ids that are named or that a pattern fits, each once; raises UsageError for one that no task has."""
    known = {task.id: task for task in tasks}
    chosen: dict[str, None] = {}
    for name in patterns:
        fits = (
            [id for id in known if fnmatchcase(id, name)] if any(sign in name for sign in "*?[") else [name]
        )
        if not fits or any(id not in known for id in fits):
            raise UsageError(f"There is no task {name}; list them with the command `tasks`.")
        chosen.update(dict.fromkeys(fits))
    return tuple(chosen)


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of a text such as ``0-4`` or ``1,4,7``; raises UsageError if it is none."""
    seeds, wrong = _numbers(text)
    if wrong or not seeds:
        raise UsageError(f'"{text}" is not a list of seeds: write 0-9, or 1,4,7; a range has at most 10000.')
    return seeds


def read_steps(text: str) -> tuple[int, ...]:
    """Return the steps of a text such as ``1, 3, 5-8``; raises UsageError if it is none."""
    steps, wrong = _numbers(text)
    if wrong:
        raise UsageError(f'"{wrong}" is not a step: write numbers and ranges, such as 1, 3, 5-8.')
    return steps


def _numbers(text: str) -> tuple[tuple[int, ...], str]:
    """Return the numbers of a text, each once, and the part that is no number and no range, or a range too long."""
    numbers: dict[int, None] = {}
    for part in text.replace(",", " ").split():
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 12:
            return (), part
        span = range(int(first), int(last or first) + 1)
        if not 0 < len(span) <= _MOST_NUMBERS:
            return (), part
        numbers.update(dict.fromkeys(span))
    return tuple(numbers), ""
