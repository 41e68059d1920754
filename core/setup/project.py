"""The requirements of pyproject.toml, and which of them an environment lacks.

Like this whole package, it uses only the standard library, because it runs before anything is installed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.schema.errors import DataError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_REQUIREMENT = re.compile(
    r"^\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?P<ranges>[^;]*?)\s*(?:;.*)?$"
)
_RANGE = re.compile(r"^(?P<sign>>=|<=|==|!=|~=|>|<)\s*(?P<version>\d+(?:\.\d+)*)$")


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
        "setuptools": document.get("tool", {}).get("setuptools", {}),
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


def find_distribution(name: str, path: Sequence[str]) -> Distribution | None:
    """Return the first distribution `name` on `path`, or None if there is none."""
    from importlib.metadata import Distribution

    return next(iter(Distribution.discover(name=name, path=list(path))), None)


def _meets(line: str, path: Sequence[str]) -> bool:
    match = _REQUIREMENT.match(line)
    if match is None or ";" in line:
        return False
    distribution = find_distribution(match["name"], path)
    version: str | None = distribution.metadata["Version"] if distribution is not None else None
    if version is None:
        return False
    ranges = [part.strip() for part in match["ranges"].split(",") if part.strip()]
    return all(_within(version, part) for part in ranges)


def _within(version: str, text: str) -> bool:
    match = _RANGE.match(text)
    if match is None:
        return False
    have, is_final = _release(version)
    want = tuple(int(number) for number in match["version"].split("."))
    width = max(len(have), len(want))
    left, right = _padded(have, width), _padded(want, width)
    # A pre-release of the bound itself lies below it.
    order = (left > right) - (left < right) or (0 if is_final else -1)
    if match["sign"] == "~=":
        return order >= 0 and have[: len(want) - 1] == want[:-1]
    return {
        ">=": order >= 0,
        "<=": order <= 0,
        ">": order > 0,
        # 6.12.0b1 is not what "<6.12" lets in, although it sorts before 6.12.
        "<": order < 0 and left != right,
        "==": order == 0,
        "!=": order != 0,
    }[match["sign"]]


def _release(version: str) -> tuple[tuple[int, ...], bool]:
    """Return the release numbers and whether it is a final or post release."""
    match = re.match(r"^v?(?:\d+!)?(\d+(?:\.\d+)*)(.*)$", version.strip())
    if match is None:
        return (0,), False
    rest = match[2].lstrip(".-_").lower()
    is_final = not rest or rest.startswith(("post", "+", "r"))
    if rest.startswith("rc"):
        is_final = False
    return tuple(int(number) for number in match[1].split(".")), is_final


def _padded(numbers: tuple[int, ...], width: int) -> tuple[int, ...]:
    return numbers + (0,) * (width - len(numbers))
