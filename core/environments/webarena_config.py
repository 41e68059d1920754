"""WebArena's configuration files: one task, or a list of tasks, as JSON, and the addresses of its sites."""

import ast
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from core.environments.web import with_scheme
from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.schema.task import UnsupportedTask
from core.schema.viewport import VIEWPORT, Viewport
from core.settings.file_kinds import TASKS, kind_of_folder, refuse_others
from core.settings.toml_layout import Location
from core.settings.user_file import MOST_TOLD, Problem, UserFile, problem

SITES = (
    "SHOPPING",
    "SHOPPING_ADMIN",
    "REDDIT",
    "GITLAB",
    "WIKIPEDIA",
    "MAP",
    "HOMEPAGE",
    "CLASSIFIEDS",
    "SUITECRM",
)
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
    """Return the address of a site with its scheme and no slash at its end; raises UsageError if it is not set."""
    address = sites.get(name, "").strip().rstrip("/")
    if not address:
        raise UsageError(
            f"{task} needs the address of {name}: set it in the settings or in the environment, "
            f"such as {name}=http://localhost:7770."
        )
    return with_scheme(address)


# The configuration

_CALLS = (
    "reddit_get_post_url",
    "shopping_get_latest_order_url",
    "shopping_get_sku_latest_review_author",
    "shopping_get_sku_latest_review_rating",
    "gitlab_get_project_memeber_role",
    "get_query_text",
    "get_query_text_lowercase",
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


_List = Annotated[tuple[str, ...], BeforeValidator(_as_list)]


def _comparison(value: str) -> str:
    if not all(COMPARISON.fullmatch(one) for one in value.split(OR)):
        raise ValueError("it needs a sign and a number, such as >= 300")
    return value


OR = " |OR| "
"""What joins alternatives."""
COMPARISON = re.compile(r"\s*(<=|>=|==|<|>)\s*(-?\d+(?:\.\d+)?)\s*")


class TextChecks(_Part):
    """What a text has to be, to contain and not to contain."""

    model_config = ConfigDict(extra="forbid")

    exact_match: str | None = None
    must_include: _List | None = None
    must_exclude: _List | None = None
    required_values: Annotated[
        tuple[Annotated[str, AfterValidator(_comparison)], ...], BeforeValidator(_as_list)
    ] = ()
    """Comparisons such as ``>= 300`` that the text as a whole number fulfils."""

    @property
    def asks_something(self) -> bool:
        lists = self.model_dump(exclude={"exact_match"})
        return self.exact_match is not None or any(lists.values())


class ReferenceAnswers(TextChecks):
    one_of: _List = ()
    fuzzy_match: Annotated[tuple[str, ...], BeforeValidator(_as_list)] | None = None
    """Meanings of the answer, for an LLM to compare; ``N/A`` alone for a task that cannot be done."""


class RequiredContents(TextChecks):
    fuzzy_match: str | tuple[str, ...] | None = None
    """One meaning that is given in parts, or several joined by ``|OR|``, for an LLM to compare."""

    @model_validator(mode="after")
    def _asks_something(self) -> "RequiredContents":
        if not self.asks_something:
            raise ValueError("it needs exact_match or must_include")
        return self


class ProgramHtml(_Part):
    """One place to look at: a page, what to take from it, and what that must contain."""

    url: Annotated[str, AfterValidator(_readable_call)]
    """A URL, ``last`` for where the agent ended, or ``func:`` and a call."""
    locator: Annotated[str, AfterValidator(_readable_call)] = ""
    """JavaScript that gives the content, ``func:`` or ``lambda:``, or nothing for the page's HTML."""
    prep_actions: tuple[str, ...] = ()
    required_contents: RequiredContents


class EvaluationConfig(_Part):
    eval_types: Annotated[
        tuple[Literal["string_match", "url_match", "program_html"], ...], Field(min_length=1)
    ]
    reference_answers: Annotated[ReferenceAnswers, BeforeValidator(_none_is_empty)] = ReferenceAnswers()
    reference_url: str | None = ""
    url_note: Literal["GOLD in PRED", "EXACT"] | None = None
    string_note: str | None = ""
    program_html: Annotated[tuple[ProgramHtml, ...], BeforeValidator(lambda value: value or ())] = ()

    @model_validator(mode="before")
    @classmethod
    def _only_what_judges(cls, data: Any) -> Any:
        """Leave out what belongs to an evaluator that is not asked."""
        kinds = data.get("eval_types") if isinstance(data, dict) else None
        if not isinstance(kinds, list):
            return data
        parts = {
            "reference_answers": "string_match",
            "reference_url": "url_match",
            "program_html": "program_html",
        }
        return {key: value for key, value in data.items() if parts.get(key, key) in kinds or key not in parts}

    @model_validator(mode="after")
    def _has_references(self) -> "EvaluationConfig":
        if "string_match" in self.eval_types and not self.reference_answers.asks_something:
            raise ValueError("string_match needs reference_answers")
        if "url_match" in self.eval_types and not self.reference_url:
            raise ValueError("url_match needs a reference_url")
        if "program_html" in self.eval_types and not self.program_html:
            raise ValueError("program_html needs at least one entry in program_html")
        return self


_VISUAL = frozenset(
    "image viewport_size visual_difficulty reasoning_difficulty overall_difficulty old_task_id page_image_query"
    " must_exclude required_values one_of".split()
)
"""Keys of VisualWebArena and of WebArena-Lite, which is judged by the same evaluators."""
_UNJUDGED = {
    "policies": "Not judged: the task's policies ({}).",
    "image": "Not shown to the agent: the pictures that the task speaks of ({}).",
    "setup_scripts": "Not run: the task's setup scripts ({}).",
    "viewport_size": "Not set: the size of the window that the task asks for.",
}


_SIZE: TypeAdapter[tuple[int, int]] = TypeAdapter(Viewport)


def _viewport(size: Any) -> tuple[int, int] | None:
    """Return WebArena's own size with what a task's `viewport_size` changes of it; None if there is no such size."""
    if not isinstance(size, dict) or not size:
        return None
    with suppress(ValidationError):
        return _SIZE.validate_python((size.get("width", VIEWPORT[0]), size.get("height", VIEWPORT[1])))
    return None


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _so_many(value: Any) -> str:
    return str(len(value) if isinstance(value, list) else 1)


class WebArenaConfig(_Part):
    """One task of WebArena."""

    task_id: int | str
    intent: str = Field(min_length=1)
    start_url: str
    sites: tuple[str, ...] = ()
    require_login: bool = False
    require_reset: bool = False
    storage_state: str | dict[str, Any] | None = None
    viewport_size: dict[str, Any] | None = None
    """What differs from the usual size, as VisualWebArena writes it."""
    geolocation: None = None
    eval: EvaluationConfig
    folder: str = ""
    """Where the file lies that the task came from; relative paths start there. Not part of the form."""
    visual: bool = False
    """Whether VisualWebArena's evaluators judge it, by the keys that only its files have. Not part of the form."""
    unjudged: tuple[str, ...] = ()
    """What the file asks for and is neither done nor judged here, a sentence each. Not part of the form."""

    @model_validator(mode="before")
    @classmethod
    def _known_by_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        evaluation = data["eval"] if isinstance(data.get("eval"), dict) else {}
        contents = [place.get("required_contents") for place in _dicts(evaluation.get("program_html"))]
        parts = _dicts([data, evaluation, evaluation.get("reference_answers"), *contents])
        keys = {key for part in parts for key in part}
        visual = bool(keys & _VISUAL) or evaluation.get("url_note") == "EXACT"
        if "unjudged" in data:  # It was read before; earlier versions did not look at the contents of pages.
            return {**data, "visual": data.get("visual") or visual}
        found = {key: data[key] for key in _UNJUDGED if data.get(key)}
        if _viewport(found.get("viewport_size")) is not None:
            del found["viewport_size"]
        said = [_UNJUDGED[key].format(_so_many(value)) for key, value in found.items()]
        return {**data, "visual": visual, "unjudged": said}

    @model_validator(mode="after")
    def _starts_somewhere(self) -> "WebArenaConfig":
        if not self.start_urls:
            raise ValueError("start_url has no address")
        return self

    @property
    def id(self) -> str:
        return str(self.task_id)

    @property
    def viewport(self) -> tuple[int, int] | None:
        """The size of the viewport, if the file says one that can be set."""
        return _viewport(self.viewport_size)

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


class WebArenaConfigs(NamedTuple):
    """The tasks of files, and those that cannot be run."""

    configs: tuple[WebArenaConfig, ...]
    unsupported: tuple[UnsupportedTask, ...] = ()


def read_configs(paths: Sequence[Path]) -> WebArenaConfigs:
    """Read configuration files, each one task or a list, and folders of them (``0.json``, ``1.json`` …).

    Tasks keep the order of the files and of each list. A task or file that
    cannot be used is listed beside the others. Raises DataError, with what is
    wrong, if all are faulty.
    """
    problems: list[str] = []
    unsupported: list[UnsupportedTask] = []
    configs: dict[str, WebArenaConfig] = {}
    sound = 0  # Tasks that only need an evaluator that is not built in.
    for path in _files(paths, problems):
        try:
            file = UserFile.read(path)
            data = file.content()
            refuse_others(path, data, TASKS, "give a WebArena configuration")
        except DataError as error:
            problems.append(str(error))
            why = str(error).removeprefix(str(path)).lstrip(":, ")
            unsupported.append(UnsupportedTask(id=path.name, place=path.name, why=why))
            continue
        many = isinstance(data, list)
        if data == []:
            problems.append(f"{path} contains no tasks; give a file that does.")
        for index, raw in enumerate(data if many else [data]):
            where: Location = (index,) if many else ()
            wrong: list[Problem] = []
            try:
                config = WebArenaConfig.model_validate(raw)
                if config.id in configs:
                    wrong = [((*where, "task_id"), f"the task {config.id} occurs twice; keep one.")]
            except ValidationError as error:
                needed = _needed(raw)
                sound += bool(needed)
                wrong = (
                    [((*where, "eval"), needed)] if needed else file.problems(error, WebArenaConfig, where)
                )
            if wrong:
                problems += [str(file.error(*one)) for one in wrong]
                unsupported.append(_unsupported(file, raw, where, wrong))
            else:
                configs[config.id] = config.replace(folder=str(path.resolve().parent))
    if not configs and not sound:
        if more := len(problems[MOST_TOLD:]):
            problems[MOST_TOLD:] = [f"and {more} more problems; correct these first."]
        raise DataError("\n  ".join(("WebArena's configuration cannot be used:", *problems)))
    return WebArenaConfigs(tuple(configs.values()), tuple(unsupported))


_NEEDS = {
    "page_image_query": "page_image_query compares pictures of the page with a vision model",
    "AgentResponseEvaluator": "AgentResponseEvaluator compares an answer in WebArena Verified's own JSON",
    "NetworkEventEvaluator": "NetworkEventEvaluator compares the requests of the run",
}
"""What evaluators that are not built in do."""


def _needed(raw: Any) -> str:
    """Return which evaluators of a task are known and not built in, and what they do; nothing for others."""
    evaluation = raw.get("eval") if isinstance(raw, dict) else None
    names: Any = evaluation.get("eval_types") if isinstance(evaluation, dict) else None
    if isinstance(evaluation, list):  # WebArena Verified
        names = [one.get("evaluator") for one in _dicts(evaluation)]
    needed = (
        [_NEEDS[name] for name in names if isinstance(name, str) and name in _NEEDS]
        if isinstance(names, list)
        else []
    )
    return f"{', and '.join(dict.fromkeys(needed))}, which is not done here." if needed else ""


def _unsupported(file: UserFile, raw: Any, where: Location, wrong: Sequence[Problem]) -> UnsupportedTask:
    task = raw if isinstance(raw, dict) else {}
    evaluation = task.get("eval")
    kinds = evaluation.get("eval_types") if isinstance(evaluation, dict) else None
    judges = f"{', '.join(map(str, kinds))}: " if isinstance(kinds, list) else ""
    line = file.line(wrong[0][0])
    return UnsupportedTask(
        id=f"webarena/{task['task_id']}" if "task_id" in task else f"{file.path.name}{[*where] or ''}",
        place=f"{file.path.name}, line {line}" if line else file.path.name,
        why=judges + " ".join(why for _, why in wrong),
    )


def _files(paths: Sequence[Path], problems: list[str]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not os.path.isdir(path):
            files.append(path)
            continue
        numbered = sorted(
            (one for one in path.glob("*.json") if one.stem.isdigit()), key=lambda one: int(one.stem)
        )
        if not numbered:
            kind = kind_of_folder(path)
            no_config = f"{path}: the folder contains no configuration such as 0.json."
            problems.append(kind.sentence(path) if kind else no_config)
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
        if os.path.isfile(place):
            return place
    raise UsageError(
        f"{task} starts logged in, but its storage state {given} is neither next to its config in "
        f"{folder} nor in the working directory: create it with WebArena's auto_login script, or set it to null."
    )
