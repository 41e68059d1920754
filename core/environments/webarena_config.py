"""WebArena's configuration files: one task, or a list of tasks, as JSON, and the addresses of its sites."""

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.settings.user_file import MOST_TOLD, UserFile, problem

SITES = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE")
_PLACEHOLDER = re.compile(rf"__({'|'.join(sorted(SITES, key=len, reverse=True))})__")


def with_sites(value: Any, sites: Mapping[str, str], task: str) -> Any:
    """Return `value` with every ``__SHOPPING__`` and the like replaced, in strings at any depth.

    Raises UsageError that names the address that is not set.
    """
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: site_address(match[1], sites, task), value)
    if isinstance(value, dict):
        return {key: with_sites(one, sites, task) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [with_sites(one, sites, task) for one in value]
    return value


def site_address(name: str, sites: Mapping[str, str], task: str) -> str:
    """Return the address of a site without a slash at its end; raises UsageError if it is not set."""
    address = sites.get(name, "").strip().rstrip("/")
    if not address:
        raise UsageError(
            f"{task} needs the address of {name}: set it in the settings or in the environment, "
            f"such as {name}=http://localhost:7770."
        )
    return address


# The configuration

_CALLS = (
    "reddit_get_post_url",
    "shopping_get_latest_order_url",
    "shopping_get_sku_latest_review_author",
    "shopping_get_sku_latest_review_rating",
    "gitlab_get_project_memeber_role",
)
"""The ``func:`` forms of program_html; no code of the file is run."""
_LONGEST_CALL = 2000


def parse_call(text: str) -> tuple[str, tuple[str, ...]]:
    """Read ``name('argument', __page__)``; the page is left out of the arguments returned.

    Raises ValueError for any other form or an unknown name.
    """
    if len(text) > _LONGEST_CALL:
        raise ValueError(f"a call has at most {_LONGEST_CALL} characters, not {len(text)}")
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{text} is not a call") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        raise ValueError(f"{text} is not a plain call")
    if call.func.id not in _CALLS:
        raise ValueError(f"{call.func.id} is not known; there are {', '.join(_CALLS)}")
    arguments: list[str] = []
    for argument in call.args:
        if isinstance(argument, ast.Name) and argument.id == "__page__":
            continue
        if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
            raise ValueError(f"{text} has an argument that is not text")
        arguments.append(argument.value)
    wanted = 0 if call.func.id == "shopping_get_latest_order_url" else 1
    if len(arguments) != wanted:
        raise ValueError(f"{call.func.id} takes {wanted or 'no'} text argument{'' if wanted == 1 else 's'}")
    return call.func.id, tuple(arguments)


def _none_is_empty(value: Any) -> Any:
    return {} if value is None or value == [] else value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _readable_call(value: str) -> str:
    if value.strip().startswith("func:"):
        parse_call(value.strip().removeprefix("func:"))
    return value


class _Part(Record):
    """Keys that judge nothing (notes, annotations) are let through and dropped."""

    model_config = ConfigDict(extra="ignore")


class ReferenceAnswers(_Part):
    model_config = ConfigDict(extra="forbid")

    exact_match: str | None = None
    must_include: tuple[str, ...] | None = None
    fuzzy_match: Annotated[tuple[str, ...], BeforeValidator(_as_list)] | None = None
    """Meanings of the answer, for an LLM to compare; ``N/A`` alone for a task that cannot be done."""


class RequiredContents(_Part):
    model_config = ConfigDict(extra="forbid")

    exact_match: str | None = None
    must_include: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> "RequiredContents":
        if self.exact_match is None and self.must_include is None:
            raise ValueError("it needs exact_match or must_include")
        return self


class ProgramHtml(_Part):
    """One place to look at: a page, what to take from it, and what that must contain."""

    url: Annotated[str, AfterValidator(_readable_call)]
    """A URL, ``last`` for where the agent ended, or ``func:`` and a call."""
    locator: Annotated[str, AfterValidator(_readable_call)] = ""
    """JavaScript that gives the content, ``func:`` and a call, or nothing for the page's HTML."""
    prep_actions: tuple[str, ...] = ()
    required_contents: RequiredContents


class EvaluationConfig(_Part):
    eval_types: Annotated[
        tuple[Literal["string_match", "url_match", "program_html"], ...], Field(min_length=1)
    ]
    reference_answers: Annotated[ReferenceAnswers, BeforeValidator(_none_is_empty)] = ReferenceAnswers()
    reference_url: str | None = ""
    url_note: Literal["GOLD in PRED"] = "GOLD in PRED"
    string_note: str | None = ""
    program_html: Annotated[tuple[ProgramHtml, ...], BeforeValidator(lambda value: value or ())] = ()

    @model_validator(mode="after")
    def _has_references(self) -> "EvaluationConfig":
        if "string_match" in self.eval_types and not self.reference_answers.model_fields_set:
            raise ValueError("string_match needs reference_answers")
        if "url_match" in self.eval_types and not self.reference_url:
            raise ValueError("url_match needs a reference_url")
        if "program_html" in self.eval_types and not self.program_html:
            raise ValueError("program_html needs at least one entry in program_html")
        return self


class WebArenaConfig(_Part):
    """One task of WebArena."""

    task_id: int | str
    intent: str = Field(min_length=1)
    start_url: str = Field(min_length=1)
    sites: tuple[str, ...] = ()
    require_login: bool = False
    require_reset: bool = False
    storage_state: str | dict[str, Any] | None = None
    geolocation: None = None
    eval: EvaluationConfig
    folder: str = ""
    """Where the file lies that the task came from; relative paths start there. Not part of the form."""

    @property
    def id(self) -> str:
        return str(self.task_id)

    @property
    def start_urls(self) -> tuple[str, ...]:
        return tuple(url.strip() for url in self.start_url.split(" |AND| ") if url.strip())


class Cookie(_Part):
    """A cookie as Playwright writes it into a storage state."""

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = -1
    http_only: bool = Field(default=False, alias="httpOnly")
    secure: bool = False
    same_site: Literal["Strict", "Lax", "None"] | None = Field(default=None, alias="sameSite")

    def as_protocol(self) -> dict[str, Any]:
        """Return the fields of Network.setCookie; a session cookie has no time of expiry."""
        left_out = set() if self.expires > 0 else {"expires"}
        # Chromium refuses SameSite=None without Secure; a browser with such a cookie took it as unset.
        if self.same_site == "None" and not self.secure:
            left_out.add("same_site")
        return self.model_dump(by_alias=True, exclude=left_out, exclude_none=True)


class StorageItem(_Part):
    name: str
    value: str


class StorageOrigin(_Part):
    origin: str
    local_storage: tuple[StorageItem, ...] = Field(default=(), alias="localStorage")


class StorageState(_Part):
    cookies: tuple[Cookie, ...] = ()
    origins: tuple[StorageOrigin, ...] = ()


def read_configs(paths: Sequence[Path]) -> tuple[WebArenaConfig, ...]:
    """Read configuration files, each one task or a list, and folders of them (``0.json``, ``1.json`` …).

    Tasks keep the order of the files and of each list. Raises DataError with
    all problems of all files.
    """
    problems: list[str] = []
    configs: dict[str, WebArenaConfig] = {}
    for path in _files(paths, problems):
        try:
            file = UserFile.read(path)
            data = file.content()
        except DataError as error:
            problems.append(str(error))
            continue
        many = isinstance(data, list)
        for index, raw in enumerate(data if many else [data]):
            where = (index,) if many else ()
            try:
                config = WebArenaConfig.model_validate(raw)
            except ValidationError as error:
                problems += [str(file.error(*one)) for one in file.problems(error, WebArenaConfig, where)]
                continue
            if config.id in configs:
                twice = file.error((*where, "task_id"), f"the task {config.id} occurs twice; keep one.")
                problems.append(str(twice))
            configs[config.id] = config.replace(folder=str(path.resolve().parent))
    if problems:
        if more := len(problems[MOST_TOLD:]):
            problems[MOST_TOLD:] = [f"and {more} more problems; correct these first."]
        raise DataError("\n  ".join(("WebArena's configuration cannot be used:", *problems)))
    return tuple(configs.values())


def _files(paths: Sequence[Path], problems: list[str]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        numbered = sorted(
            (one for one in path.glob("*.json") if one.stem.isdigit()), key=lambda one: int(one.stem)
        )
        if not numbered:
            problems.append(f"{path}: the folder contains no configuration such as 0.json.")
        files += numbered
    return files


def read_storage_state(config: WebArenaConfig, task: str) -> StorageState:
    """Return the logins a task starts with, from the file it names or from the config itself.

    A relative path is looked for next to the config, in the folder above it,
    and in the working directory. Raises UsageError if it is nowhere, and
    DataError where it is damaged.
    """
    given = config.storage_state
    if given is None:
        return StorageState()
    try:
        if isinstance(given, str):
            given = UserFile.read(_find_state(given, Path(config.folder), task)).content()
        return StorageState.model_validate(given)
    except ValidationError as error:
        raise DataError(
            f"The storage state of {task} is damaged: {problem(error, StorageState)} Log in and save it again."
        ) from error


def _find_state(given: str, folder: Path, task: str) -> Path:
    places = [folder / given, folder.parent / given, Path.cwd() / given]
    for place in places:
        if place.is_file():
            return place
    raise UsageError(
        f"{task} starts logged in, but its storage state {given} is neither next to its config in "
        f"{folder} nor in the working directory: create it with WebArena's auto_login script, or set it to null."
    )
