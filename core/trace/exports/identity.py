"""What a run is called outside its database: the same in every export of it."""

import hashlib
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core.trace.records import RunRow

AGENT = "backstep"
_PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"


def id_of(row: RunRow, *parts: object, digits: int = 32) -> str:
    """Return hexadecimal digits for a run, or for what `parts` name in it; always the same ones."""
    facts = (row.run, row.started, row.task, row.seed, row.preset, row.llm, *parts)
    return hashlib.sha256(repr(facts).encode(errors="replace")).hexdigest()[:digits]


def backstep_version() -> str:
    try:
        return version(AGENT)
    except PackageNotFoundError:
        # Started from a checkout, which is not installed.
        return str(tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"]["version"])
