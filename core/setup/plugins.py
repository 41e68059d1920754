"""What installed packages add to the registries: their entry points of the groups ``backstep.…``.

A registry has one call of `load_plugins`, made when its things are first asked for. Code of others can fail in
any way: what cannot be used is left out, and a sentence says which and why.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from functools import cache
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from core.schema.errors import BackstepError, DataError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
PREFIX = "backstep."
log = logging.getLogger(__name__)


class Plugins(NamedTuple, Generic[T]):
    """What packages add to one registry, by name."""

    things: dict[str, T]
    problems: dict[str, str]
    """For what cannot be used, or is refused because of its name: a sentence."""

    def sentences(self) -> str:
        """Return what goes behind a list of what is built in: the names, and what was left out and why."""
        names = (f"From packages: {', '.join(self.things)}.",) if self.things else ()
        return "".join(f" {sentence}" for sentence in (*names, *self.problems.values()))


def load_plugins(group: str, taken: Collection[str], check: Callable[[str, Any], T]) -> Plugins[T]:
    """Return what packages add to a group, such as ``exporters``; imports their modules.

    `taken` are the names of what is built in. `check` is given the name and
    what was declared, and returns the thing; it raises ValueError, with what
    it has to be instead, for what is not of the kind.
    """
    things: dict[str, T] = {}
    problems: dict[str, str] = {}
    for entry, package in _entry_points():
        if entry.group != PREFIX + group:
            continue
        try:
            if entry.name in taken or entry.name in things:
                raise ValueError("there is another one of that name")
            things[entry.name] = check(entry.name, entry.load())
        except (Exception, SystemExit) as error:
            why = str(error) if type(error) is ValueError else _in_short(error)
            problems[entry.name] = _say_once(
                f"{entry.name} of the package {package} was not added to the {group}: {why}. "
                "Correct or uninstall that package."
            )
    return Plugins(things, problems)


def expect(kind: type[T], name: str, thing: Any, named: str) -> T:
    """Return the thing, an instance of `kind` whose attribute `named` is `name`; raises ValueError."""
    if not isinstance(thing, kind):
        raise ValueError(f"it has to be {kind.__module__}.{kind.__name__}, and is {type(thing).__name__}")
    if getattr(thing, named) != name:
        raise ValueError(f"its {named} is {getattr(thing, named)!r}: give the entry point the same name")
    return thing


@contextmanager
def guarded(name: str) -> Generator[None, None, None]:
    """Raise a DataError for what the code of the package that adds `name` raises, unless it is a BackstepError."""
    try:
        yield
    except BackstepError:
        raise
    except Exception as error:
        raise DataError(
            f"{name} failed ({_in_short(error)}); tell the author of the package that adds it."
        ) from error


def _in_short(error: BaseException) -> str:
    text = (str(error).strip() or "no details").splitlines()[0].rstrip(".")
    return f"{type(error).__name__}: {text}"


@cache
def _entry_points() -> tuple[tuple[EntryPoint, str], ...]:
    """Return the entry points of all groups with their packages; of a package on the path twice, only the first.

    Only files that name a group are read as metadata: every start of the program looks here.
    """
    from importlib.metadata import Distribution

    packages: dict[str, Distribution] = {}
    for folder in sys.path:
        for name in glob("*-info/entry_points.txt", root_dir=folder):
            file = Path(folder, name)
            if f"[{PREFIX}" in file.read_text(encoding="utf-8", errors="replace"):
                package = Distribution.at(file.parent)
                packages.setdefault(package.name, package)
    return tuple((entry, name) for name, package in packages.items() for entry in package.entry_points)


@cache
def _say_once(sentence: str) -> str:
    log.warning(sentence)
    return sentence
