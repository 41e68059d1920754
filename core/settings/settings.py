"""Settings: from one TOML file, then the environment, then flags; later ones win.

The file is ``settings.toml`` in the platform's config folder. It never contains a key: those come from the
environment or the system keyring (`core.llm.endpoints`). Each entry ``[llms.NAME]`` is an LLM that can be
chosen by that name; ``[purposes.decide]`` and the like send one purpose to another LLM or sample it differently.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

import platformdirs
from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from core.schema.errors import UsageError
from core.schema.messages import Purpose, ReasoningEffort, Sampling
from core.schema.record import Record
from core.schema.secrets import kind_of_header
from core.schema.viewport import VIEWPORT, Viewport
from core.settings.user_file import problem, read_model
from core.system.paths import expanded

APP = "backstep"
FILE_NAME = "settings.toml"
DATABASE_NAME = "traces.db"
LOCAL_PREFIX = "gguf:"
"""What begins the name of a local LLM; its model file follows."""
ONNX_PREFIX = "onnx:"
BUILT_IN = "built-in"
"""The embedding that is there without a server or a model."""

OnGate = Literal["refuse", "allow", "end"]
Dialogs = Literal["accept", "dismiss"]
Pictures = Literal["all", "failures", "none"]
Theme = Literal["system", "light", "dark"]


def _base_url(value: str) -> str:
    if not value or "://" not in value:
        return value.strip()
    value = value.strip()
    if unusable := next((char for char in value if char.isspace() or not char.isprintable()), ""):
        raise ValueError(f"an address contains no {unusable!r}; remove it")
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https"):
        raise ValueError(
            "give an address that begins with http:// or https://, or the name of an endpoint preset"
        )
    if parts.username or parts.password or {name for name, _ in parse_qsl(parts.query)} - {"api-version"}:
        raise ValueError(
            "leave keys and passwords out of the address; store a key in the system keyring instead"
        )
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError(f'"{parts.netloc}" has no port from 1 to 65535 after its colon; correct the port')
    host = (parts.hostname or "").removesuffix(".")
    if ":" not in host and (_FOUR_NUMBERS.fullmatch(host) or not all(map(_LABEL.fullmatch, host.split(".")))):
        raise ValueError(f'"{host}" is not the name or the IP address of a server; correct it')
    return value


_FOUR_NUMBERS = re.compile(r"(?!((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4})(\d+\.){3}\d+")
"""What looks like an IP address, and is none."""
_LABEL = re.compile(r"[A-Za-z0-9_\-\u0080-\U0010ffff]{1,63}")
"""A part of a server's name. Whether letters of other languages can be in one, the HTTP client knows."""


def _task_path(value: Path) -> Path:
    if value == Path():
        raise ValueError("give the path of a file")
    return value


_OWN_FIELDS = ("model", "messages", "stream", "tools", "tool_choice", "response_format")


def _headers(value: dict[str, str]) -> dict[str, str]:
    for name, text in value.items():
        if (
            not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name)
            or not text.isprintable()
            or not text.isascii()
        ):
            raise ValueError(
                f'"{name[:40]}" is not a header with a one-line value; write headers = {{"X-Name" = "value"}}'
            )
        if kind_of_header(name) is not None and not text.startswith("$"):
            raise ValueError(
                f'the value of "{name}" is a secret: keep it in the environment or the keyring, and write '
                f'"$NAME" with its name there'
            )
    return value


def _body(value: dict[str, Any]) -> dict[str, Any]:
    if own := [name for name in _OWN_FIELDS if name in value]:
        raise ValueError(f"{own[0]} is set for each call by Backstep; leave it out")
    if _has_null(value):
        raise ValueError("null cannot be stored in the settings file; leave the field out")
    return value


def _has_null(value: object) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(_has_null(one) for one in inner)


def _site(value: str) -> str:
    host = value.strip().lower()
    if "/" in host or not host.isprintable() or " " in host or not host:
        raise ValueError(
            f'"{value}" is not a host; write one such as example.org or localhost:8000, or * for all'
        )
    return host


Site = Annotated[str, AfterValidator(_site)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
TaskPath = Annotated[Path, AfterValidator(_task_path)]


class _SamplingSettings(Record):
    temperature: float | None = Field(default=None, ge=0, le=5)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=0)
    """0 sets no limit; if nothing is said, the client bounds the reply."""
    seed: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    parallel_tool_calls: bool | None = None

    @property
    def sampling(self) -> Sampling:
        return Sampling(**{name: getattr(self, name) for name in Sampling.model_fields})


class LLMSettings(_SamplingSettings):
    """An LLM the user has named: ``[llms.NAME]``."""

    base_url: BaseUrl = ""
    """An address, or the name of an endpoint preset; empty for the one at the top of the file."""
    model: str = ""
    """What the server calls it; empty if it is the entry's own name."""
    description: str = ""
    takes_images: bool = False
    timeout_seconds: float = Field(default=120.0, gt=0, le=3600)
    """How long to wait for the next piece of an answer."""
    total_timeout_seconds: float = Field(default=1800.0, gt=0, le=86_400)
    """How long to wait for the whole of an answer; a slow model may need many minutes for a long one."""
    attempts: int = Field(default=4, ge=1, le=20)
    """How often to try in all, where the failure is one that passes."""
    key_name: str = ""
    """The environment variable, or the name in the keyring, that holds its key."""
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = Field(default_factory=dict)
    """Sent with each request; ``$NAME`` stands for what is kept under that name as a key is."""
    body: Annotated[dict[str, Any], AfterValidator(_body)] = Field(default_factory=dict)
    """Fields of the request's body besides those that each call has."""
    api_version: str = Field(default="", pattern=r"^[A-Za-z0-9.-]*$")
    """Azure's: the address gets the deployment, and the key goes into the header ``api-key``."""
    deployment: str = Field(default="", pattern=r"^[^/?#\s]*$")
    """Azure's name for the model; empty if it is `model`."""
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """US dollars it may cost from one start of the program to the next."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)


class LocalSettings(Record):
    """How llama.cpp serves local LLMs: ``[local]``."""

    context: int = Field(default=8192, ge=0, le=10_000_000)
    """Tokens of prompt and reply together; 0 for as many as the model can take, which is never exceeded."""
    threads: int = Field(default=0, ge=0, le=512)
    """0 for the cores of this machine."""


class PurposeSettings(_SamplingSettings):
    """The settings of one purpose: ``[purposes.decide]``."""

    llm: str | None = None


class FileSettings(Record):
    """The keys of the settings file."""

    model_config = ConfigDict(hide_input_in_errors=True)  # an address may hold a password

    llm: str = Field(default="rules", min_length=1)
    base_url: BaseUrl = ""
    """Where LLMs answer that are named by their model alone; empty for OpenAI's own."""
    preset: str = Field(default="plain", min_length=1)
    db: Path | None = None
    """The database; a relative path counts from the data folder."""
    browser: str = Field(default="embedded", min_length=1)
    """``embedded``, ``chromium`` for the installed one, or the path of one."""
    embedded_profiles: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Named profiles, with their logins, that the embedded browser may open: another user of the machine can drive it
    meanwhile."""
    viewport: Viewport = VIEWPORT
    """The size in which agents see pages, unless the task or the preset says one."""
    max_steps: int = Field(default=30, ge=1, le=10_000)
    max_llm_calls: int = Field(default=200, ge=1, le=100_000)
    """LLM calls of one trial."""
    on_gate: OnGate = "refuse"
    dialogs: Dialogs = "accept"
    script_seconds: float = Field(default=15.0, ge=8, le=86_400, allow_inf_nan=False)
    """Seconds of the processor that a page's script may take without an answer of the page, before it is ended."""
    pictures: Pictures = "all"
    """Of runs without a window: whether the pictures of their steps are kept, or only where they are not success."""
    record_network: bool = True
    """Whether what servers answer is kept with a run, so that its pages can be given again without them."""
    embedding: str = Field(default=BUILT_IN, min_length=1)
    """What exemplars are found by: ``built-in``, ``onnx:FOLDER``, or a model as an LLM is named."""
    theme: Theme = "system"
    pace: float = Field(default=0.0, ge=0, le=600, allow_inf_nan=False)
    """Seconds to wait between the steps of a run."""
    task_files: tuple[TaskPath, ...] = ()
    """Task files whose tasks are always offered; a relative path counts from the folder of this file."""
    sites: tuple[Site, ...] = ()
    """Hosts that every task may open beside its own, each with those below it; ``*`` for all."""
    task_sites: dict[str, tuple[Site, ...]] = Field(default_factory=dict)
    """The same for single tasks: by the task's id, of the open web with the host it starts at."""
    upload_folders: tuple[TaskPath, ...] = ()
    """Folders whose files agents may give to pages; a relative path counts from the folder of this file."""
    webarena: tuple[TaskPath, ...] = ()
    """The same for WebArena's configuration files and folders of them."""
    local: LocalSettings = LocalSettings()
    llms: dict[str, LLMSettings] = Field(default_factory=dict)
    purposes: dict[Purpose, PurposeSettings] = Field(default_factory=dict)


class Settings(FileSettings):
    """The resulting settings after file, environment and flags."""

    database: Path
    """Where the traces are, as an absolute path."""
    base_url_origin: Literal["none", "file", "environment", "flag"] = "none"
    """Who gave `base_url`: a flag goes before the address of an LLM's own entry, the others do not."""
    base_url_before_flag: BaseUrl = ""
    """What holds for embeddings where a flag gave `base_url`, which redirects chat alone."""

    @property
    def shared_browser(self) -> str:
        """The browser in which several runs are made at once: ``chromium`` in place of ``embedded``."""
        return "chromium" if self.browser == "embedded" else self.browser


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the settings file; BACKSTEP_CONFIG_DIR goes before the platform's."""
    given = environ.get("BACKSTEP_CONFIG_DIR")
    return expanded(given) if given else platformdirs.user_config_path(APP, appauthor=False)


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of traces and the user's own data; BACKSTEP_DATA_DIR goes before the platform's."""
    given = environ.get("BACKSTEP_DATA_DIR")
    return expanded(given) if given else platformdirs.user_data_path(APP, appauthor=False)


def exemplars_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the user's own files of exemplars, wherever the traces are."""
    return data_folder(environ) / "exemplars"


def settings_path(environ: Mapping[str, str] = os.environ) -> Path:
    return config_folder(environ) / FILE_NAME


def read_settings_file(environ: Mapping[str, str] = os.environ) -> FileSettings:
    """Return what the settings file says, as it says it; raises DataError if it is wrong."""
    path = settings_path(environ)
    return read_model(path, FileSettings) if path.exists() else FileSettings()


def task_path(path: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the absolute path that an entry of `task_files` or `webarena` stands for."""
    return Path(os.path.abspath(config_folder(environ) / expanded(path)))


def load_settings(
    flags: Mapping[str, object] | None = None, *, environ: Mapping[str, str] = os.environ
) -> Settings:
    """Return the settings that hold; a missing file is an empty one.

    `flags` are keyed as the file's top level, and None stands for a flag not
    given. Raises DataError for a wrong file and UsageError for a wrong
    environment variable or flag, each in one sentence.
    """
    file = read_settings_file(environ)
    given = {name: getattr(file, name) for name in file.model_fields_set}
    origin = "file" if file.base_url else "none"
    folder = data_folder(environ)
    if file.db is not None:
        given["db"] = folder / expanded(file.db)
    given["task_files"] = tuple(task_path(path, environ) for path in file.task_files)
    given["webarena"] = tuple(task_path(path, environ) for path in file.webarena)
    given["upload_folders"] = tuple(task_path(path, environ) for path in file.upload_folders)

    if address := environ.get("OPENAI_BASE_URL", "").strip():
        given["base_url"] = _checked("base_url", address, "the environment variable OPENAI_BASE_URL")
        origin = "environment"

    before_flag = given.get("base_url", "")
    for name, value in (flags or {}).items():
        if value is None:
            continue
        given[name] = _checked(name, value, f"--{name.replace('_', '-')}")
        if name == "base_url":
            origin = "flag"
        if name == "db":
            given[name] = path = expanded(str(value))
            if path.absolute().parent != folder.absolute() and not path.absolute().parent.is_dir():
                raise UsageError(
                    f"--db: there is no folder {path.absolute().parent}; create it, or correct the path."
                )

    chosen = given.get("db") or folder / DATABASE_NAME
    return Settings(
        **given,
        database=Path(chosen).absolute(),
        base_url_origin=origin,
        base_url_before_flag=before_flag if origin == "flag" else "",
    )


def _checked(name: str, value: object, source: str) -> Any:
    try:
        return getattr(FileSettings.model_validate({name: value}), name)
    except ValidationError as error:
        raise UsageError(f"{source}: {problem(error, FileSettings)}") from error
