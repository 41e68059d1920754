"""Presets of base URLs: known servers, whether they want a key, and what the key is called."""

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from core.schema.record import Record
from core.settings.user_file import read_model
from core.storage.resources import RESOURCES

ENDPOINTS_FILE = RESOURCES / "llm" / "endpoints.toml"
OPENAI_KEY_NAME = "OPENAI_API_KEY"


class Endpoint(Record):
    """A server that speaks OpenAI's chat completions."""

    name: str = Field(pattern=r"^[a-z0-9.-]+$")
    title: str
    base_url: str = Field(pattern=r"^https?://")
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
    """Return scheme, host and port of an address, without user, path or query."""
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
