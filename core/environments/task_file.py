"""Tasks from a file of one's own, in TOML or JSON; the form is described in resources/tasks-format.md."""

import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

from core.environments.file_problems import SourceText, describe
from core.environments.protocol import Ask, PageDriver
from core.environments.task_file_judge import judge_page
from core.environments.web import full_url
from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.schema.task import Episode, Task, Verdict
from core.storage.resources import RESOURCES

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

CLOCK = RESOURCES / "scripts" / "fixed_clock.js"
RESERVED = ("miniwob", "shop", "airline", "web", "webarena")


class Judge(Record):
    """What must hold at the end; all parts that are given."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    url_match: Words | None = None
    """The URL at the end, whole; a slash at its end does not matter."""
    url_regex: Words | None = None
    """A regular expression found somewhere in the URL at the end."""
    must_include: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    """Texts that the page must show; case and spacing do not matter."""
    element: Words | None = None
    """CSS of an element that must be in the page."""
    answer: str | None = None
    """The whole answer; case, spacing and quotes around it do not matter."""
    answer_must_include: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    script: Words | None = None
    """A JavaScript expression, evaluated in the page's own world, that must be true."""

    @field_validator("url_regex")
    @classmethod
    def _is_regex(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"is not a regular expression: {error}") from error
        return value

    @model_validator(mode="after")
    def _asks_something(self) -> "Judge":
        if not self.model_fields_set:
            raise ValueError("is empty: give at least one condition, or leave the judge out")
        return self


class TaskEntry(Record):
    """One task as the file has it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: Name
    instruction: Words
    url: Words
    tags: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    clock: Annotated[datetime | None, Field(strict=False)] = None
    """The time at which every document of the task begins, UTC where no zone is given; its random numbers follow
    from the seed then."""
    judge: Judge | None = None

    @property
    def details(self) -> dict[str, Any]:
        """What is to be known of it when it is opened and judged."""
        found: dict[str, Any] = {}
        if self.judge is not None:
            found["judge"] = self.judge.model_dump(exclude_unset=True)
        if self.clock is not None:
            zoned = self.clock if self.clock.tzinfo else self.clock.replace(tzinfo=UTC)
            found["clock"] = int(zoned.timestamp() * 1000)
        return found


class Head(Record):
    """What the file says beside its tasks."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Name | None = None
    title: Words | None = None
    tasks: list[Any] = Field(min_length=1)


class TaskFile:
    """The tasks of one file."""

    hidden_selectors: tuple[str, ...] = ()

    def __init__(self, name: str, title: str, tasks: tuple[Task, ...]) -> None:
        self.id = name
        self.title = title
        self._tasks = tasks

    @classmethod
    def read(cls, path: Path) -> "TaskFile":
        """Read a task file; raises DataError that lists all its problems, one a line."""
        source = SourceText.read(path)
        data = _parse(source)
        problems: list[str] = []
        head: Head | None = None
        try:
            head = Head.model_validate({"tasks": data} if isinstance(data, list) else data)
        except ValidationError as error:
            problems += describe(error, Head, source)
        name = (
            (head.name if head else None)
            or re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.")
            or "tasks"
        )
        if name in RESERVED:
            problems.append(
                source.problem((), f'the name "{name}" belongs to Backstep; set `name` to another one')
            )
        entries = head.tasks if head else data.get("tasks") if isinstance(data, dict) else None
        tasks = _tasks(entries if isinstance(entries, list) else [], name, source, problems)
        if problems:
            count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
            raise DataError(f"{path} has {count}:\n" + "\n".join(f"  {problem}" for problem in problems))
        title = head.title if head and head.title else f"Tasks of {path.name}"
        return cls(name, title, tasks)

    def tasks(self) -> tuple[Task, ...]:
        return self._tasks

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        clock = task.details.get("clock")
        if clock is not None:
            settings = json.dumps({"origin": "", "clock": clock, "seed": seed})
            await page.add_init_script(f"({CLOCK.read_text(encoding='utf-8')})({settings});")
        await page.goto(task.start_url)
        return Episode(task=task, seed=seed, instruction=task.instruction, start_url=await page.url())

    async def ended(self, page: PageDriver) -> bool:
        return False

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Check every condition of the task's judge; all must hold."""
        conditions = episode.task.details.get("judge")
        if conditions is None:
            return Verdict(judge="none", reason="This task has no judge; a person can say how it ended.")
        return await judge_page(Judge.model_validate(conditions), page, answer)

    async def close(self) -> None:
        pass


def _parse(source: SourceText) -> Any:
    if source.path.suffix.lower() not in (".toml", ".json"):
        raise DataError(f"{source.path} is not a task file: its name must end in .toml or .json.")
    try:
        data = tomllib.loads(source.text) if source.is_toml else json.loads(source.text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        form = "TOML" if source.is_toml else "JSON"
        raise DataError(f"{source.path} has 1 problem:\n  it is not valid {form}: {error}") from error
    if not isinstance(data, (dict, list)):
        raise DataError(f"{source.path} has 1 problem:\n  line 1: a list of tasks is expected")
    return data


def _tasks(entries: list[Any], name: str, source: SourceText, problems: list[str]) -> tuple[Task, ...]:
    tasks: dict[str, Task] = {}
    for index, raw in enumerate(entries):
        where = ("tasks", index)
        try:
            entry = TaskEntry.model_validate(raw)
        except ValidationError as error:
            problems += describe(error, TaskEntry, source, where)
            continue
        try:
            url = _start_url(entry.url, source.path.parent)
        except UsageError as error:
            problems.append(source.problem((*where, "url"), str(error).rstrip(".")))
            continue
        if f"{name}/{entry.id}" in tasks:
            problems.append(source.problem((*where, "id"), f'"{entry.id}" is the id of an earlier task too'))
            continue
        task = Task(
            id=f"{name}/{entry.id}",
            environment=name,
            instruction=entry.instruction,
            start_url=url,
            tags=entry.tags,
            judged=entry.judge is not None,
            details=entry.details,
        )
        tasks[task.id] = task
    return tuple(tasks.values())


def _start_url(url: str, folder: Path) -> str:
    """Return the URL of a task; one that begins with ``./`` or ``../`` is a file beside the task file."""
    if url.startswith(("./", "../")):
        return full_url(str((folder / url).resolve()))
    return full_url(url)
