"""The requirements of pyproject.toml, and which of them an environment lacks.

Like this whole package, it uses only the standard library, because it runs before anything is installed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.schema.errors import DataError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;]*)$")
_RANGE = re.compile(r"^(>=|<=|==|!=|~=|>|<)\s*(\d+(?:\.\d+)*)$")
_VERSION = re.compile(r"^v?(?:\d+!)?(\d+(?:\.\d+)*)(.*)$")
_WIDTH = 8
"""How many numbers of a release are compared."""


class Project(NamedTuple):
    """The parts of pyproject.toml that decide what has to be installed."""

    root: Path
    name: str
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
        name = str(table["name"])
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
        name=name,
        requirements=tuple(table.get("dependencies", [])),
        extras={extra: tuple(lines) for extra, lines in optional.items()},
        asks=json.dumps(deciding, sort_keys=True),
    )


def unmet(requirements: Iterable[str], path: Sequence[str]) -> list[str]:
    """Return the requirements that the distributions on `path` do not meet, as they were written.

    A requirement with more to it than ranges of plain release numbers counts
    as unmet: the caller then lets pip decide.
    """
    return [line for line in requirements if not _meets(line, path)]


def install_command(requirements: Iterable[str]) -> str:
    """Return what a user types to install `requirements` for the running Python; environments of uv have no pip."""
    import shlex
    from importlib.util import find_spec

    has_pip = find_spec("pip") is not None
    start = (
        (sys.executable, "-m", "pip", "install")
        if has_pip
        else ("uv", "pip", "install", "--python", sys.executable)
    )
    return shlex.join((*start, *requirements))


def find_distribution(name: str, path: Sequence[str]) -> Distribution | None:
    """Return the first distribution `name` on `path`, or None if there is none."""
    from importlib.metadata import Distribution

    return next(iter(Distribution.discover(name=name, path=list(path))), None)


def _meets(line: str, path: Sequence[str]) -> bool:
    match = _REQUIREMENT.match(line)
    distribution = find_distribution(match[1], path) if match is not None else None
    version: str | None = distribution.metadata["Version"] if distribution is not None else None
    if match is None or version is None:
        return False
    return all(_within(version, part.strip()) for part in match[2].split(",") if part.strip())


def _within(version: str, text: str) -> bool:
    match = _RANGE.match(text)
    if match is None:
        return False
    have, want = _release(version), _release(match[2])
    series = match[2].count(".")
    return {
        ">=": have >= want,
        "<=": have <= want,
        ">": have > want,
        # 6.12.0b1 is not what "<6.12" lets in, although it sorts before 6.12.
        "<": have[0] < want[0],
        "==": have == want,
        "!=": have != want,
        "~=": have >= want and have[0][:series] == want[0][:series],
    }[match[1]]


def _release(version: str) -> tuple[list[int], bool]:
    """Return the numbers of a release, filled up with zeros, and whether it is a final or post release."""
    match = _VERSION.match(version.strip())
    if match is None:
        return [0] * _WIDTH, False
    numbers = [int(number) for number in match[1].split(".")]
    rest = match[2].lstrip(".-_").lower()
    is_final = not rest or rest.startswith(("post", "+")) or bool(re.match(r"r(ev)?\d", rest))
    return (numbers + [0] * _WIDTH)[:_WIDTH], is_final
