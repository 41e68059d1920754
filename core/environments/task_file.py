"""Tasks with their judges from a user's file in TOML or JSON; format: resources/tasks-format.md."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from core.environments.protocol import Ask, Environment, PageDriver
from core.environments.web import NO_JUDGE, full_url
from core.schema.errors import ActionError, DataError, UsageError
from core.schema.expression import compiled
from core.schema.pattern import Expression
from core.schema.record import Record
from core.schema.task import Episode, Task, Verdict
from core.schema.viewport import Viewport
from core.settings.file_kinds import TASK_FILE, refuse_others
from core.settings.settings import Site
from core.settings.user_file import Problem, UserFile
from core.storage.resources import RESOURCES
from core.system.paths import expanded

TASKS_ARE = (
    "a task file has [[tasks]] or a list of tasks, and a WebArena configuration is a task or a list of tasks"
)
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

_SHOWN = """(() => {
  const OPAQUE = "canvas, video, audio, object, select, textarea";
  const { checkVisibility, matches, querySelectorAll } = Element.prototype;
  const get = (type, name, node) => { try { return Reflect.get(type.prototype, name, node); } catch { return null; } };
  const shows = (el) => checkVisibility.call(el, { visibilityProperty: true, checkVisibilityCSS: true });
  const breaks = (el) => shows(el) && !getComputedStyle(el).display.startsWith("inline");
  const textOf = (node) => {
    const kind = get(Node, "nodeType", node);
    if (kind !== 1) return kind === 3 ? node.data : "";
    const { display } = getComputedStyle(node);
    if (display !== "contents" && !shows(node)) return "";
    const isOpaque = get(Element, "shadowRoot", node) || matches.call(node, OPAQUE);
    const holdsBlock = !breaks(node) && [...querySelectorAll.call(node, "*")].some(breaks);
    const isOpen = display === "contents" || (holdsBlock && !isOpaque);
    const parts = Array.from(isOpen ? get(Node, "childNodes", node) : [], textOf);
    const text = isOpen ? parts.join("") : get(HTMLElement, "innerText", node) ?? "";
    return matches.call(node, "br, slot") || breaks(node) ? `\\n${text}\\n` : text;
  };
  const texts = [];
  const read = (root) => {
    texts.push(root.innerText ?? Array.from(root.childNodes, textOf).join(""));
    for (const el of root.querySelectorAll("*")) {
      const framed = el.contentDocument;
      const inner = get(Element, "shadowRoot", el) ?? (framed && get(Document, "body", framed));
      const typed = matches.call(el, "input:not([type=password], [type=checkbox], [type=radio]), textarea");
      if ((inner || typed) && shows(el)) inner ? read(inner) : texts.push(el.value);
    }
  };
  const body = get(Document, "body", document);
  if (body) read(body);
  return texts.join("\\n");
})()"""
"""Gives the text that the page shows, with its fields, its open shadow roots, and its frames of the same origin.

What has a name hides the member of that name of its form or document: those of the prototypes are used. In a shadow
root, blocks inside of inline elements are lines of their own, and so is a slot.
"""

_TRUTH = '((value) => value instanceof Function || typeof value?.then === "function" ? null : Boolean(value))'
"""Null for what is true whatever it comes to."""


class Judge(Record):
    """The conditions at the end; all given ones must be true."""

    model_config = ConfigDict(strict=True)

    url_match: Words | None = None
    """The URL at the end, whole; a slash at its end does not matter."""
    url_regex: Annotated[Expression, StringConstraints(strip_whitespace=True, min_length=1)] | None = None
    """A regular expression found somewhere in the URL at the end."""
    must_include: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    """Texts that the page must show; case and spacing do not matter."""
    element: Words | None = None
    """CSS of an element that must be in the page."""
    answer: str | None = None
    """The whole answer; case, spacing and quotes around it do not matter."""
    answer_must_include: Annotated[tuple[Words, ...], Field(strict=False)] = ()
    script: Words | None = None
    """A JavaScript expression, evaluated in the page's own world, that must be true; it is not awaited or called."""

    @model_validator(mode="after")
    def _asks_something(self) -> "Judge":
        if not self.model_dump(exclude_defaults=True):
            raise ValueError("it is empty: add at least one condition, or remove the judge")
        return self


async def judge_page(judge: Judge, page: PageDriver, answer: str) -> Verdict:
    """Return a success if every condition holds; the reason names each one that does not.

    A selector or script that the browser cannot read leaves the success
    unknown, unless another condition fails anyway.
    """
    failures = await _simple_failures(judge, page, answer)
    unreadable: list[str] = []
    if judge.element is not None:
        found = await _evaluated(
            f"Document.prototype.querySelector.call(document, {json.dumps(judge.element)}) !== null", page
        )
        if found is None:
            unreadable.append(f"{judge.element} is not a CSS selector that the browser can read.")
        elif found is False:
            failures.append(f"No element of the page matches {judge.element}.")
    if judge.script is not None:
        held = await _evaluated(f"{_TRUTH}((\n{judge.script.rstrip(';')}\n))", page)
        if held is None:
            unreadable.append(
                f"The script {judge.script} is no JavaScript expression, or it gives a function or a promise."
            )
        elif held is not True:
            failures.append(f"The script {judge.script} is not true in the page{_because(held)}.")
    if failures:
        return Verdict(success=False, reward=0.0, judge="file", reason=" ".join(failures))
    if unreadable:
        return Verdict(judge="none", reason=" ".join(unreadable))
    return Verdict(success=True, reward=1.0, judge="file", reason="Every condition of the task holds.")


async def _simple_failures(judge: Judge, page: PageDriver, answer: str) -> list[str]:
    failures: list[str] = []
    url = await page.url()
    if judge.url_match is not None and url.rstrip("/") != judge.url_match.rstrip("/"):
        failures.append(f"The URL at the end is {url}, not {judge.url_match}.")
    if judge.url_regex is not None and not compiled(judge.url_regex).search(url):
        failures.append(f"The URL at the end, {url}, does not match {judge.url_regex}.")
    if judge.must_include:
        shown = _plain(str(await page.evaluate(_SHOWN)))
        failures += [
            f'The page does not show "{text}".' for text in judge.must_include if _plain(text) not in shown
        ]
    if judge.answer is not None and _unquoted(answer) != _unquoted(judge.answer):
        failures.append(f'The answer is "{answer}", not "{judge.answer}".')
    failures += [
        f'The answer "{answer}" does not include "{text}".'
        for text in judge.answer_must_include
        if _plain(text) not in _plain(answer)
    ]
    return failures


async def _evaluated(expression: str, page: PageDriver) -> bool | str | None:
    """Return what the expression gives, the error it raised as text, or None if it cannot be read."""
    # No eval() in the page: its content security policy may forbid it, the protocol's evaluation it cannot.
    script = (
        f"(() => {{ try {{ return {expression}; }} catch (error) {{"
        ' return error instanceof DOMException && error.name === "SyntaxError" ? null : String(error); } })()'
    )
    try:
        result = await page.evaluate(script, main_world=True)
    except ActionError as error:
        if "SyntaxError" in str(error):
            return None
        raise
    return result if isinstance(result, bool | str) else None


def _because(held: bool | str) -> str:
    return f": {held}" if isinstance(held, str) else ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _unquoted(text: str) -> str:
    plain = _plain(text)
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'":
        return plain[1:-1].strip()
    return plain


CLOCK = RESOURCES / "scripts" / "fixed_clock.js"
RESERVED = ("miniwob", "shop", "airline", "web", "webarena")


def _name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError("it may contain only letters, digits, dots, dashes and underscores")
    return value


def _start_url(value: str, info: ValidationInfo) -> str:
    """Return the URL of a task; one that begins with ``./`` or ``../`` is a file in the folder of the context."""
    folder: Any = info.context
    try:
        return full_url(os.path.realpath(folder / value) if value.startswith(("./", "../")) else value)
    except UsageError as error:
        raise ValueError(str(error).rstrip(".")) from error


def _folder(value: str, info: ValidationInfo) -> Path:
    """Return a folder; a relative path counts from the folder of the file."""
    folder: Any = info.context
    found = Path(folder, expanded(value)).absolute()
    if not os.path.isdir(found):
        raise ValueError(f"there is no folder {found}; create it, or correct the path")
    return found


Folder = Annotated[Words, AfterValidator(_folder)]
Name = Annotated[str, AfterValidator(_name)]
SecretName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
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
    sites: Annotated[tuple[Site, ...], Field(strict=False)] = ()
    upload_folders: Annotated[tuple[Folder, ...], Field(strict=False)] = ()
    viewport: Viewport | None = None
    secrets: dict[SecretName, Annotated[str, StringConstraints(min_length=1)]] = Field(default={}, repr=False)
    """What an agent types by a name without knowing it; ``$NAME`` is read from the environment or the keyring."""
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
    """The keys of a task file."""

    model_config = ConfigDict(strict=True)

    name: Name | None = None
    title: Words | None = None
    tasks: Annotated[tuple[TaskEntry, ...], Field(min_length=1, strict=False)]


class TaskFile(Environment):
    """The tasks of one file."""

    def __init__(self, name: str, title: str, tasks: tuple[Task, ...]) -> None:
        self.id = name
        self.title = title
        self._tasks = tasks

    @classmethod
    def read(cls, path: Path) -> "TaskFile":
        """Read a task file; raises DataError that lists all its problems, one a line."""
        file = UserFile.read(path)
        if path.suffix.lower() not in (".toml", ".json"):
            raise DataError(f"{path} is not a task file: its name must end in .toml or .json.")
        refuse_others(path, file.content(), TASK_FILE, TASKS_ARE)
        if isinstance(file.content(), list):
            file = UserFile(path, f'{{"tasks": {file.text}}}')
        try:
            form = Form.model_validate(file.content(), context=path.parent)
        except ValidationError as error:
            raise file.errors(file.problems(error, Form)) from error
        name = form.name or re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.") or "tasks"
        first: dict[str, int] = {}
        problems: list[Problem] = [
            (("tasks", at, "id"), f'"{entry.id}" is also the id of an earlier task; use another id.')
            for at, entry in enumerate(form.tasks)
            if first.setdefault(entry.id, at) != at
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
                sites=entry.sites,
                upload_folders=entry.upload_folders,
                viewport=entry.viewport,
                secrets=entry.secrets,
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

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        """Check every condition of the task's judge; all must hold."""
        conditions = episode.task.details.get("judge")
        if conditions is None:
            return NO_JUDGE
        return await judge_page(Judge.model_validate(conditions), page, answer)
