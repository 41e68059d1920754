"""Exemplars as files, read again when one changes: JSON lines, one exemplar a line, or TOML, one a file."""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from core.exemplars.editing.toml_text import text_of
from core.exemplars.library.records import Origin
from core.schema.errors import DataError
from core.schema.exemplar import Exemplar
from core.settings.file_kinds import is_database
from core.settings.user_file import MOST_LINES_BYTES, UserFile, beyond_bounds, problem, read_text
from core.storage.resources import RESOURCES

EXEMPLARS = RESOURCES / "exemplars"
LONGEST_ID = 120


class FileMember(NamedTuple):
    """An exemplar of a file."""

    origin: Origin
    """Whether the file is the user's, or comes with the program."""
    exemplar: Exemplar
    path: Path


class ExemplarFiles:
    """The exemplars of the installation and of the user's folder, which wins where an id is in both."""

    def __init__(self, folders: Iterable[Path] = (EXEMPLARS,)) -> None:
        self._folders = tuple(folders)
        self._read: dict[Path, tuple[tuple[int, int], _Lines]] = {}

    def all(self) -> tuple[Exemplar, ...]:
        """Return the exemplars that are not retired, by family and id; `problems` tells what was left out."""
        return tuple(
            member.exemplar for member in self.members() if member.exemplar.review.status != "retired"
        )

    def members(self) -> tuple[FileMember, ...]:
        """Return all exemplars by family and id, retired ones included; `problems` tells what was left out."""
        return self._looked_through()[0]

    def problems(self) -> tuple[str, ...]:
        """Return a sentence, with file and line, for each line that is left out.

        That is one that is no exemplar, one whose id its folder has already,
        and every line of a file that cannot be read.
        """
        return self._looked_through()[1]

    def _looked_through(self) -> tuple[tuple[FileMember, ...], tuple[str, ...]]:
        found: dict[str, FileMember] = {}
        problems: list[str] = []
        for folder in self._folders:
            here: dict[str, Path] = {}
            try:
                paths = _files_in(folder)
            except OSError as error:
                problems.append(f"{folder} cannot be read ({error.strerror}); check the folder.")
                continue
            for path in paths:
                lines = self._current(path)
                problems += lines.problems
                for exemplar in lines.exemplars:
                    if exemplar.id in here:
                        problems.append(
                            f"{path}: the exemplar {exemplar.id} is also in {here[exemplar.id].name}; give one of "
                            "them another id."
                        )
                        continue
                    here[exemplar.id] = path
                    origin: Origin = "bundled" if path.parent == EXEMPLARS else "file"
                    found[exemplar.id] = FileMember(origin, exemplar, path)
        members = sorted(found.values(), key=lambda member: (member.exemplar.family, member.exemplar.id))
        return tuple(members), tuple(problems)

    def _current(self, path: Path) -> "_Lines":
        try:
            status = path.stat()
        except OSError as error:
            return _Lines((), (f"{path} cannot be read ({error.strerror}); check that it is there.",))
        stamp = (status.st_mtime_ns, status.st_size)
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            known = self._read[path] = (stamp, _lines_of(path))
        return known[1]


def _files_in(folder: Path) -> list[Path]:
    """Return a folder's files of exemplars, or the file itself if it is one; none if there is nothing.

    Raises OSError for a folder that cannot be read.
    """
    if folder.is_file():
        return [folder]
    try:
        lines = sorted(path for path in folder.iterdir() if path.suffix == ".jsonl")
    except FileNotFoundError:
        return []
    inside = (path.relative_to(folder) for path in folder.rglob("*.toml"))
    return lines + sorted(folder / path for path in inside if not any(part[0] == "." for part in path.parts))


class _Lines(NamedTuple):
    """What the lines of a file came to."""

    exemplars: tuple[Exemplar, ...]
    problems: tuple[str, ...] = ()


def free_id(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """Return the id that is wanted, with a number behind it where it is taken."""
    number, id = 2, wanted
    while is_taken(id):
        id = f"{wanted[: LONGEST_ID - 8].rstrip('/')}-{number}"
        number += 1
    return id


def read_exemplars(path: Path) -> tuple[Exemplar, ...]:
    """Read one file; raises DataError with file, line and what is wrong for the first line that is no exemplar."""
    lines = _lines_of(path)
    if lines.problems:
        raise DataError(lines.problems[0])
    return lines.exemplars


def _lines_of(path: Path) -> _Lines:
    found: list[Exemplar] = []
    problems: list[str] = []
    try:
        text = read_text(path, most=MOST_LINES_BYTES)
    except DataError as error:
        return _Lines((), (str(error),))
    if path.suffix == ".toml":
        try:
            return _Lines((_validated(UserFile(path, text).content(), str(path)),))
        except DataError as error:
            return _Lines((), (str(error),))
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(exemplar_of(line, f"{path}, line {number}"))
        except DataError as error:
            problems.append(str(error))
    return _Lines(tuple(found), tuple(problems))


def write_exemplars(path: Path, exemplars: Iterable[Exemplar]) -> None:
    """Write a file of exemplars, whole or not at all; raises DataError."""
    write_files({path: "".join(f"{line_of(exemplar)}\n" for exemplar in exemplars)})


def write_files(files: dict[Path, str]) -> None:
    """Write all files next to their places first, then move them there; raises DataError, also for a database."""
    if database := next(filter(is_database, files), None):
        raise DataError(f"{database} is a database, and is not overwritten; choose another file.")
    places = {path: path.resolve() for path in files}  # A link stays a link.
    parts = {place.with_name(f".{place.name}.part"): path for path, place in places.items()}
    try:
        for part, path in parts.items():
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(files[path], encoding="utf-8", newline="")
            if path.exists():
                shutil.copymode(path, part)
        for part, path in parts.items():
            os.replace(part, places[path])
    except OSError as error:
        place = parts.get(Path(error.filename or ""), error.filename) or next(iter(files))
        raise DataError(
            f"{place} cannot be written ({error.strerror}); check the folder and the free space on the disk."
        ) from error
    finally:
        for part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def line_of(exemplar: Exemplar) -> str:
    """Return an exemplar as one line of JSON, without its end."""
    values = exemplar.model_dump(exclude_defaults=True) | {"format": exemplar.format}
    return json.dumps(values, ensure_ascii=False)


def exemplar_of(line: str, place: str) -> Exemplar:
    """Read one line back; raises DataError, which begins with `place`."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: this is not JSON ({error}); each line is one exemplar.") from error
    return _validated(values, place)


def toml_name(id: str) -> str:
    """Return the path of an exemplar's file in a folder; raises DataError for an id that is the name of no file."""
    if any(not part or part.startswith(".") for part in id.split("/")):
        raise DataError(
            f"The id {id} cannot be the name of a file: a part of it is empty or begins with a dot. Choose another id."
        )
    return f"{id}.toml"


def new_file_in(folder: Path, id: str) -> Path:
    """Return the path of a new exemplar's file; raises DataError if there is one, or if it is not in the folder."""
    path = folder / toml_name(id)
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{path} leads out of {folder}. Choose another id.")
    if path.exists():
        raise DataError(
            f"{path} is there already, with another exemplar or one that cannot be read. Choose another id, or mend "
            "that file."
        )
    return path


def toml_of(exemplar: Exemplar) -> str:
    """Return a whole TOML file of an exemplar: its text with its review, in a stable order."""
    review = exemplar.review.model_dump(exclude_defaults=True)
    table = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in review.items())
    return f"{text_of(exemplar)}\n[review]\n{table}" if table else text_of(exemplar)


def with_exemplar(text: str, path: Path, exemplar: Exemplar) -> str:
    """Return the text of a file with an exemplar in place of the one of its id; other lines stay as they are."""
    if path.suffix == ".toml":
        return toml_of(exemplar)
    lines = text.split("\n")
    for known in (f'"{exemplar.id}"', ""):  # Its id can be written with escapes, which is seldom.
        for at, line in enumerate(lines):
            with contextlib.suppress(DataError):
                if known in line and exemplar_of(line, "").id == exemplar.id:
                    lines[at] = line_of(exemplar) + ("\r" if line.endswith("\r") else "")
                    return "\n".join(lines)
    return "".join([text, "\n" if text and not text.endswith("\n") else "", line_of(exemplar), "\n"])


def _validated(values: object, place: str) -> Exemplar:
    if too_much := beyond_bounds(values):
        raise DataError(f"{place}: {too_much}; remove it.")
    try:
        return Exemplar.model_validate(values)
    except ValidationError as error:
        raise DataError(f"{place}: {problem(error, Exemplar)}") from error
