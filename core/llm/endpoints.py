"""Known servers with their base URLs, and API keys: from the environment first, then from the system keyring.

A key is found by its name (``OPENAI_API_KEY``) or by the address of the
server it is for. The keyring is imported on first use; one that is missing or
locked gives no key and no error, and `why` says so. Keys of the environment are
moved out of it, so that no program that this one starts inherits them.
"""

import os
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from pydantic import Field

from core.schema.errors import DataError
from core.schema.record import Record
from core.schema.secrets import is_key, without_keys
from core.settings.settings import APP, LOCAL_PREFIX, BaseUrl, Settings
from core.settings.user_file import read_model
from core.storage.resources import RESOURCES

ENDPOINTS_FILE = RESOURCES / "llm" / "endpoints.toml"
OPENAI_KEY_NAME = "OPENAI_API_KEY"


class Endpoint(Record):
    """A server that speaks OpenAI's chat completions."""

    name: str = Field(pattern=r"^[a-z0-9.-]+$")
    title: str
    base_url: BaseUrl = Field(pattern=r"^https?://")
    needs_key: bool = False
    key_name: str = ""
    """The environment variable, or the name in the keyring, for its key."""
    note: str = ""


class _EndpointFile(Record):
    endpoint: tuple[Endpoint, ...] = ()


def load_endpoints(path: Path = ENDPOINTS_FILE, own: Path | None = None) -> tuple[Endpoint, ...]:
    """Return the presets in the order of the file.

    Those of the user's `own` file, where it exists, come first and replace
    presets of the same name. Raises DataError for a wrong file.
    """
    shipped = read_model(path, _EndpointFile).endpoint
    mine = read_model(own, _EndpointFile).endpoint if own is not None and own.exists() else ()
    names = {endpoint.name for endpoint in mine}
    return (*mine, *(endpoint for endpoint in shipped if endpoint.name not in names))


def origin(url: str) -> str:
    """Return scheme, host and port of an address, without user, path or query; of a local LLM its name."""
    if url.startswith(LOCAL_PREFIX):
        return url
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    try:
        port = parts.port
    except ValueError:
        port = None
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != default else "")


def azure_address(base_url: str, api_version: str, deployment: str) -> tuple[str, str]:
    """Return the address that chat completions hang below, and the API version.

    Both forms that Azure shows are read: the resource's address, and the
    target URI with its path and ``?api-version=``. Any other address stays as
    it is, without a version.
    """
    parts = urlsplit(base_url)
    version = dict(parse_qsl(parts.query)).get("api-version", "") or api_version
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    if version and "/deployments/" not in path:
        path = f"{path.removesuffix('/openai')}/openai/deployments/{quote(deployment, safe='')}"
    return (urlunsplit((parts.scheme, parts.netloc, path, "", "")), version) if version else (base_url, "")


def is_loopback(url: str) -> bool:
    """Return whether the address is this machine's own."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")


def key_name_for(base_url: str, endpoints: tuple[Endpoint, ...]) -> str:
    """Return what the key of a server is called: its preset's name for it, else its host."""
    for endpoint in endpoints:
        if endpoint.key_name and origin(endpoint.base_url) == origin(base_url):
            return endpoint.key_name
    return origin(base_url).partition("://")[2]


# Keys

TAKEN: dict[str, str] = {}
"""The keys that were in the environment of this process."""
ENVIRONMENT: Mapping[str, str] = ChainMap(os.environ, TAKEN)
"""The environment with its keys."""
_ORDINARY = frozenset(
    "DISPLAY HOME HOST HOSTNAME LANG LOGNAME PATH PWD SHELL TEMP TERM TMP TMPDIR USER USERNAME".split()
)
"""What a header may name too, and programs need."""


def secret_names(settings: Settings, endpoints: tuple[Endpoint, ...]) -> frozenset[str]:
    """Return the environment variables that hold keys of the user's: those of all LLMs, presets and headers."""
    entries = settings.llms.values()
    addresses = (settings.base_url, *(entry.base_url for entry in entries))
    names = {
        OPENAI_KEY_NAME,
        *(endpoint.key_name for endpoint in endpoints),
        *(entry.key_name for entry in entries),
        *(name for entry in entries for name in header_keys(entry.headers)),
        *(key_name_for(address, endpoints) for address in addresses if "://" in address),
    }
    return frozenset(names - _ORDINARY - {""})


def header_keys(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the keys that stand in headers as ``$NAME``."""
    return tuple(text[1:] for text in headers.values() if text.startswith("$"))


def take_keys(settings: Settings, endpoints: tuple[Endpoint, ...]) -> None:
    """Move the keys out of the environment of this process; `Keys` finds them still."""
    for name in secret_names(settings, endpoints):
        if name in os.environ:
            TAKEN[name] = os.environ.pop(name)


class KeyringBackend(Protocol):
    """What is used of a keyring; the module `keyring` has it."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...


class Keys:
    """Finds and stores keys."""

    def __init__(
        self,
        endpoints: tuple[Endpoint, ...] = (),
        *,
        environ: Mapping[str, str] = ENVIRONMENT,
        backend: KeyringBackend | None = None,
    ) -> None:
        self._endpoints = endpoints
        self._environ = environ
        self._backend = backend

    def name_of(self, name_or_url: str) -> str:
        """Return the name under which a key is kept."""
        if "://" in name_or_url:
            return key_name_for(name_or_url, self._endpoints)
        return name_or_url

    def find_key(self, name_or_url: str) -> str | None:
        """Return the key, or None. May block while the system asks to unlock its keyring."""
        name = self.name_of(name_or_url)
        return self.find_in_environment(name) or self._from_keyring(name)[0]

    def find_in_environment(self, name: str) -> str | None:
        """Return the environment variable of that name, or None if it is not set or empty."""
        return self._environ.get(name, "").strip() or None

    def why(self, name_or_url: str) -> str:
        """Return where the key was found, or why there is none, in a sentence without the key."""
        name = self.name_of(name_or_url)
        if self.find_in_environment(name):
            return f"The key is in the environment variable {name}."
        found, trouble = self._from_keyring(name)
        if found:
            return f"The key {name} is in the system keyring."
        if trouble:
            return f"No key {name} in the environment, and the system keyring cannot be used ({trouble})."
        return f"There is no key {name} in the environment or the system keyring."

    def store_key(self, name_or_url: str, key: str) -> None:
        """Keep a key in the system keyring; raises DataError if that cannot be done."""
        name = self.name_of(name_or_url)
        key = key.strip()
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise DataError(
                f"The text given as the key {name} is not a key: it is empty or contains blanks or other "
                "invalid characters. Copy it again."
            )
        try:
            self._keyring().set_password(APP, name, key)
        except Exception as error:
            # Backends raise what they like; a message of theirs could quote what they were given.
            reason = _trouble(error, key)
        else:
            return
        raise DataError(
            f"The system keyring cannot store the key {name} ({reason}); set the environment variable of "
            "that name instead."
        )

    def _from_keyring(self, name: str) -> tuple[str | None, str]:
        try:
            found = self._keyring().get_password(APP, name)
        except Exception as error:  # a backend raises what it likes, and having no key is not a failure
            return None, _trouble(error)
        return (found.strip() if found else None), ""

    def _keyring(self) -> KeyringBackend:
        if self._backend is None:
            import keyring

            self._backend = keyring.get_keyring()
        return self._backend


def _trouble(error: Exception, key: str = "") -> str:
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    return without_keys(text, filter(is_key, (key,)))
