"""Tasks from a file of one's own, in TOML or JSON; the form is described in resources/tasks-format.md."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, ValidationInfo

from core.environments.protocol import Ask, PageDriver
from core.environments.task_file_judge import Judge, Words, judge_page
from core.environments.web import full_url
from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.schema.task import Episode, Task, Verdict
from core.settings.user_file import Problem, UserFile
from core.storage.resources import RESOURCES

CLOCK = RESOURCES / "scripts" / "fixed_clock.js"
RESERVED = ("miniwob", "shop", "airline", "web", "webarena")


def _name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError("it may hold letters, digits, dots, dashes and underscores only")
    return value


def _start_url(value: str, info: ValidationInfo) -> str:
    """Return the URL of a task; one that begins with ``./`` or ``../`` is a file in the folder of the context."""
    folder: Any = info.context
    try:
        return full_url(str((folder / value).resolve()) if value.startswith(("./", "../")) else value)
    except UsageError as error:
        raise ValueError(str(error).rstrip(".")) from error


Name = Annotated[str, AfterValidator(_name)]
StartUrl = Annotated[Words, AfterValidator(_start_url)]


class TaskEntry(Record):
    """One task as the file has it."""

    model_config = ConfigDict(strict=True)

    id: Name
    instruction: Words
    url: StartUrl
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


class Form(Record):
    """What a task file may say."""

    model_config = ConfigDict(strict=True)

    name: Name | None = None
    title: Words | None = None
    tasks: Annotated[tuple[TaskEntry, ...], Field(min_length=1, strict=False)]


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
        if path.suffix.lower() not in (".toml", ".json"):
            raise DataError(f"{path} is not a task file: its name must end in .toml or .json.")
        file = UserFile.read(path)
        if isinstance(file.content(), list):
            file = UserFile(path, f'{{"tasks": {file.text}}}')
        try:
            form = Form.model_validate(file.content(), context=path.parent)
        except ValidationError as error:
            raise file.errors(file.problems(error, Form)) from error
        name = form.name or re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.") or "tasks"
        ids = [entry.id for entry in form.tasks]
        problems: list[Problem] = [
            (("tasks", at, "id"), f'"{id}" is the id of an earlier task too; give it another.')
            for at, id in enumerate(ids)
            if id in ids[:at]
        ]
        if name in RESERVED:
            problems.append((("name",), f'the name "{name}" belongs to Backstep; set `name` to another one.'))
        if problems:
            raise file.errors(problems)
        tasks = tuple(
            Task(
                id=f"{name}/{entry.id}",
                environment=name,
                instruction=entry.instruction,
                start_url=entry.url,
                tags=entry.tags,
                judged=entry.judge is not None,
                details=entry.details,
            )
            for entry in form.tasks
        )
        return cls(name, form.title or f"Tasks of {path.name}", tasks)

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
