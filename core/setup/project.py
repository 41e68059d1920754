"""The requirements of pyproject.toml.

Like this whole package, it uses only the standard library, because it runs before anything is installed.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.schema.errors import DataError
from core.system.program import ROOT


class Project(NamedTuple):
    """The parts of pyproject.toml that decide what has to be installed."""

    root: Path
    requirements: tuple[str, ...]
    extras: Mapping[str, tuple[str, ...]]
    asks: str
    """All of it as text: it changes when, and only when, an installed environment may no longer fit."""

    def wanted(self, extras: Iterable[str]) -> tuple[str, ...]:
        """Return the requirements with those of `extras`, in the order of the file."""
        names = sorted(extras)
        return (*self.requirements, *(line for extra in names for line in self.extras.get(extra, ())))


def load_project(root: Path) -> Project:
    """Read `root`/pyproject.toml; raises DataError."""
    import tomllib  # here, so that a Python before 3.11 gets as far as being told so

    path = root / "pyproject.toml"
    try:
        document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        table = document["project"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError) as error:
        raise DataError(f"{path} cannot be read ({error!r}); restore it from the repository.") from error
    optional = table.get("optional-dependencies", {})
    deciding = {
        "requires": table.get("requires-python"),
        "dependencies": table.get("dependencies", []),
        "extras": optional,
        "scripts": table.get("scripts", {}),
        "build": document.get("build-system", {}),
        "hatch": document.get("tool", {}).get("hatch", {}),
    }
    return Project(
        root=root,
        requirements=tuple(table.get("dependencies", [])),
        extras={extra: tuple(lines) for extra, lines in optional.items()},
        asks=json.dumps(deciding, sort_keys=True),
    )


def absent(requirements: Iterable[str]) -> list[str]:
    """Return the requirements of which no version is installed for the running Python."""
    from importlib.metadata import PackageNotFoundError, version

    missing: list[str] = []
    for line in requirements:
        try:
            version(re.split(r"[^\w.-]", line.strip(), maxsplit=1)[0])
        except PackageNotFoundError:
            missing.append(line)
    return missing


def install_command(what: str | Iterable[str]) -> str:
    """Return what a user types to install for the running Python an extra of the project, or requirements.

    Environments of uv have no pip.
    """
    from importlib.util import find_spec

    requirements = load_project(ROOT).extras[what] if isinstance(what, str) else what
    has_pip = find_spec("pip") is not None
    start = (
        (sys.executable, "-m", "pip", "install")
        if has_pip
        else ("uv", "pip", "install", "--python", sys.executable)
    )
    return shlex.join((*start, *requirements))
