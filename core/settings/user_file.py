"""Files that people edit: TOML, JSON, and Markdown with TOML at its head, read into pydantic models.

Settings, tasks, presets, state spaces, policies, gates and price lists are
read here. A mistake is a DataError that names the file, the line, the key and
the nearest valid key. What the keys mean is the business of the models.

A file may come from a stranger: size, nesting and number of values are
bounded, and nothing but a regular file is opened.
"""

import errno
import json
import os
import re
import stat
import sys
import tomllib
import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.schema.errors import DataError
from core.settings.file_kinds import kind_of_file, kind_of_folder, kind_of_text
from core.settings.toml_layout import Location, layout

ModelT = TypeVar("ModelT", bound=BaseModel)
Problem = tuple[Location, str]
"""Where something is wrong, and what, in a sentence."""

MOST_BYTES = 16 << 20
"""Bytes that a file may have, unless its reader says otherwise."""
MOST_LINES_BYTES = 512 << 20
"""Bytes that a file of many records may have: reading it takes several times as much memory."""
DEEPEST = 100
"""How deep the values of a file may be nested."""
_MOST_VALUES = 250_000
_MOST_TOML = 4 << 20
"""Characters of TOML, whose parser reads about two million a second."""
_MOST_PLACED = 4 << 20
"""Characters of JSON up to which the lines of its values are looked for."""

_PART_OF_KEY = r"""(?:(?<![\w-])[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"{_PART_OF_KEY}(?:[ \t]*+\.[ \t]*+{_PART_OF_KEY}){{{DEEPEST}}}", re.ASCII)
"""A dotted key that nests deeper than is allowed: the parser takes the square of its length."""
_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:\n]|[^\s\[\]{},:"]+')
_FRONT = "+++"
MOST_TOLD = 20
"""How many problems of a file are told at once."""
_MOST_SHOWN = 80
_MOST_NAMES = 30

_REASONS = {
    "string_type": "it must be text in quotes",
    "bool_type": "it must be true or false",
    "string_too_short": "it must not be empty",
    "too_short": "it must not be empty",
    "list_type": "it must be a list",
    "tuple_type": "it must be a list",
    "dict_type": "it must be a table of keys and values",
    "model_type": "it must be a table of keys and values",
}
_SECRET = frozenset(("secrets", "headers"))
"""Keys whose values are not repeated."""


@dataclass(frozen=True)
class UserFile:
    """The text of a file; TOML where the name ends in ``.toml`` or ``.md`` (its front matter), else JSON."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> "UserFile":
        """Raises DataError if the file cannot be read or is not UTF-8."""
        return cls(path, read_text(path))

    @property
    def is_toml(self) -> bool:
        return self.path.suffix.lower() in (".toml", ".md")

    def content(self) -> Any:
        """Return what the text holds; raises DataError with the line where it is not TOML, or JSON.

        Raises DataError for what is nested deeper than `DEEPEST`, or has too many values, as well.
        """
        if self.is_toml and len(self.text) > _MOST_TOML:
            raise DataError(
                f"{self.path} has {len(self.text)} characters, but at most {_MOST_TOML} of TOML are read; split it."
            )
        if self.is_toml and (long := _LONG_KEY.search(self.text)):
            line = self.text.count("\n", 0, long.start()) + 1
            raise DataError(f"{self.path}, line {line}: a key has at most {DEEPEST} parts; shorten it.")
        try:
            content = tomllib.loads(self.text) if self.is_toml else json.loads(self.text)
        except json.JSONDecodeError as error:
            or_name = (
                "" if self.path.suffix.lower() == ".json" else ", or end the name of a TOML file in .toml"
            )
            raise not_json(self.path, self.text, error, f"correct the line{or_name}") from error
        except tomllib.TOMLDecodeError as error:
            reason, _, at = str(error).partition(" (at ")
            found = re.match(r"line (\d+)", at)
            line = int(found[1]) if found else self.text.count("\n") + 1
            raise DataError(
                f"{self.path}, line {line}: this is not TOML ({reason}); correct the line."
            ) from error
        except (RecursionError, ValueError) as error:
            raise DataError(
                f"{self.path} cannot be read: it is nested too deeply, or a number in it is too long."
            ) from error
        if too_much := beyond_bounds(content, most_values=_MOST_VALUES):
            raise DataError(f"{self.path} cannot be read: {too_much}.")
        return content

    def validated(self, model: type[ModelT]) -> ModelT:
        """Return the content as a `model`; raises DataError with the first problem."""
        content = self.content()
        try:
            return model.model_validate(content)
        except ValidationError as error:
            raise self.first_error(
                (detail["loc"], _sentence(detail, model, is_toml=self.is_toml)) for detail in _ordered(error)
            ) from error

    def problems(
        self, error: ValidationError, model: type[BaseModel], inside: Location = ()
    ) -> list[Problem]:
        """Return everything that `error` found wrong in the part at `inside`, which was to be a `model`."""
        return [
            ((*inside, *details["loc"]), _sentence(details, model, inside, is_toml=self.is_toml))
            for details in _details(error)
        ]

    def error(self, location: Location, sentence: str) -> DataError:
        """Return the error that tells the place of a problem and then the sentence."""
        line = self.line(location)
        return DataError(f"{self.path}, line {line}: {sentence}" if line else f"{self.path}: {sentence}")

    def first_error(self, problems: Iterable[Problem]) -> DataError:
        """Return the error for the first problem, which holds the first twenty."""
        found = tuple(islice(problems, MOST_TOLD))
        error = self.error(*found[0])
        error.problems = tuple((self.line(location) or 1, sentence) for location, sentence in found)
        return error

    def errors(self, problems: Sequence[Problem]) -> DataError:
        """Return the error for one problem, or for several, with a line below the path for each of the first twenty."""
        errors = [self.error(*one) for one in problems[:MOST_TOLD]]
        if len(problems) == 1:
            return errors[0]
        lines = [str(error)[len(f"{self.path}, ") :] for error in errors]
        if more := len(problems) - len(errors):
            lines.append(f"and {more} more; correct these first.")
        return DataError("\n  ".join((f"{self.path} has {len(problems)} problems:", *lines)))

    def line(self, location: Location) -> int | None:
        """Return the line, from 1, of a value or of the nearest thing around it, or None."""
        if self.is_toml:
            return layout(self.text).line_of(location)
        around = (location[:length] for length in range(len(location), 0, -1))
        return next((self._places[one] for one in around if one in self._places), None)

    @cached_property
    def _places(self) -> dict[Location, int]:
        return _json_places(self.text)


def read_model(path: Path, model: type[ModelT]) -> ModelT:
    """Read a file into `model`; raises DataError, for a missing file too."""
    return UserFile.read(path).validated(model)


def read_text(
    path: Path, *, line_ends: bool = False, most: int = MOST_BYTES, otherwise: str = "give a text file"
) -> str:
    """Return the file's text; raises DataError as `read_bytes` does, and where it is not UTF-8.

    An archive, a picture and the like is named as what it is, however large, with `otherwise` as what to
    do where nothing better is known. Lines end in ``\\n``, with
    `line_ends` as they do in the file.
    """
    if os.path.isdir(path) and (folder := kind_of_folder(path)):
        raise DataError(folder.sentence(path, otherwise))
    with open_regular(path, most=sys.maxsize) as file:
        kind = kind_of_file(file)
    if kind is not None:
        raise DataError(kind.sentence(path, otherwise))
    data = read_bytes(path, most=most)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        other = " but UTF-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else f" (byte {error.start})"
        raise DataError(f"{path} is not UTF-8 text{other}; save it as UTF-8.") from error
    return text if line_ends else text.replace("\r\n", "\n").replace("\r", "\n")


def stamp_of(path: Path) -> tuple[int, ...]:
    """Return what changes whenever a file is written or replaced; raises DataError if there is none."""
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def read_bytes(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """Return what is in a file; raises DataError if it has more than `most` bytes or cannot be read.

    A pipe or a device is refused: it may give bytes without end, or none for ever.
    """
    with open_regular(path, most=most) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise _unreadable(path, error) from error
    if len(data) > most:
        raise _too_large(path, len(data), most)
    return data


def open_regular(path: Path, *, most: int) -> BinaryIO:
    """Open a file to be read; raises DataError if it cannot be, is not a regular file, or is larger than `most`."""
    try:
        # Without this flag the opening of a pipe waits until somebody writes to it.
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise DataError(f"{str(path)!r} is not a path ({error}); give a file.") from error
    try:
        status = os.fstat(file.fileno())
        if stat.S_ISDIR(status.st_mode):
            raise _unreadable(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
        if not stat.S_ISREG(status.st_mode):
            raise DataError(
                f"{path} is a pipe or a device, and only files are read; save its content in a file, and use that."
            )
        if status.st_size > most:
            raise _too_large(path, status.st_size, most)
    except BaseException:
        file.close()
        raise
    return file


def not_json(
    path: Path, text: str, error: json.JSONDecodeError, advice: str, otherwise: str = "give a JSON file"
) -> DataError:
    """Return the error for a text that is not JSON: what it is instead, or the place and what to do there."""
    if kind := kind_of_text(text):
        return DataError(kind.sentence(path, otherwise))
    return DataError(
        f"{path}, line {error.lineno}, column {error.colno}: this is not JSON ({error.msg}); {advice}."
    )


def _unreadable(path: Path, error: OSError) -> DataError:
    if error.errno == errno.EISDIR:
        return DataError(f"{path} cannot be read ({error.strerror}); give a file.")
    return DataError(
        f"{path} cannot be read ({error.strerror or error}); check that it exists and that you may read it."
    )


def _too_large(path: Path, size: int, most: int) -> DataError:
    return DataError(
        f"{path} has {size >> 20} MB, but at most {most >> 20} MB are read; check that it is the right "
        "file, or split it."
    )


def beyond_bounds(content: object, *, most_values: int = sys.maxsize) -> str:
    """Return why what was parsed is nested too deep or holds too much, as the end of a sentence, or nothing."""
    level, depth, values = [content], 0, 0
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        values += sum(map(len, level))
        if depth > DEEPEST:
            return f"it is nested deeper than {DEEPEST} levels"
        if values > most_values:
            return f"it contains more than {most_values} values"
        level = [held for one in level for held in (one.values() if isinstance(one, dict) else one)]
    return ""


def split_front_matter(path: Path, text: str) -> tuple[UserFile, str, int]:
    """Return the front matter of a Markdown text, the body, and the line that the body begins in.

    The front matter is TOML between two lines of ``+++``; it has an empty
    line in place of the first, so that its lines count as in the file.
    Raises DataError if there is none.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != _FRONT:
        what = "YAML" if lines[0].rstrip() == "---" else "something else"
        raise DataError(
            f"{path}, line 1: a policy begins with TOML between two lines of {_FRONT}, not with {what}."
        )
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() == _FRONT:
            front = UserFile(path, "\n".join(["", *lines[1 : number - 1]]))
            return front, "\n".join(lines[number:]), number + 1
    raise DataError(f"{path}, line 1: the front matter has no end; add a line of {_FRONT} below it.")


def problem(error: ValidationError, model: type[BaseModel]) -> str:
    """Return the first thing that is wrong with values that are in no file of their own."""
    return _sentence(_ordered(error)[0], model)


def near(wrong: str, valid: Iterable[str]) -> str:
    """Return the end of a sentence that points to the nearest of the valid names, or lists them, at most thirty."""
    names = tuple(valid)
    close = get_close_matches(wrong, names, n=1, cutoff=0.55)
    if close:
        return f"did you mean {close[0]}?"
    be = "is" if len(names) == 1 else "are"
    if len(names) > _MOST_NAMES:
        names = (*names[:_MOST_NAMES], f"and {len(names) - _MOST_NAMES} more")
    return f"there {be} {', '.join(names)}." if names else "leave it out."


def _ordered(error: ValidationError) -> list[ErrorDetails]:
    """Return the errors with unknown keys first, as these are often why others are missing."""
    return sorted(_details(error), key=lambda details: details["type"] != "extra_forbidden")


def _details(error: ValidationError) -> list[ErrorDetails]:
    """Return the errors without those of lists that are too short only because their items are wrong."""
    return [
        one
        for one in error.errors(include_url=False)
        if one["type"] != "too_short" or len(one["input"]) < one["ctx"]["min_length"]
    ]


def _sentence(
    detail: ErrorDetails, model: type[BaseModel], inside: Location = (), *, is_toml: bool = False
) -> str:
    location: Location = detail["loc"]
    is_key = bool(location) and location[-1] == "[key]"
    key, table = _named((*inside, *(location[:-1] if is_key else location)), is_toml)
    if detail["type"] == "extra_forbidden":
        return f'there is no key "{key}"{table}; {near(key, _fields_at(model, location[:-1]))}'
    key_type = (get_args(_type_at(model, location[:-2])) or (None,))[0] if is_key else None
    if get_origin(key_type) is Literal:
        return f'there is no table "{key}"{table}; {near(key, map(str, get_args(key_type)))}'
    if detail["type"] == "missing":
        return f'the key "{key}" is missing{table}; add it.'
    reason = _REASONS.get(detail["type"]) or str(detail["msg"]).removeprefix("Value error, ")
    given = detail.get("input")
    # An address is not repeated: it may hold a password.
    is_plain = isinstance(given, str | int | float) and "://" not in str(given)
    is_secret = not _SECRET.isdisjoint((*inside, *location))
    shown = (
        f" = {given!r}" if is_plain and not (is_key or is_secret) and len(repr(given)) <= _MOST_SHOWN else ""
    )
    subject = f'"{key}"{shown}{table}' if key else "this"
    return f"{subject} cannot be used: {reason[:1].lower()}{reason[1:]}."


def _named(location: Location, is_toml: bool) -> tuple[str, str]:
    """Return the last key, and the table around it as ``in [a.b]`` in TOML and ``in a[0].b`` in JSON."""
    last = max((at for at, part in enumerate(location) if isinstance(part, str)), default=0)
    table = _dotted(location[:last], is_toml)
    return _dotted(location[last:], is_toml), table and (f" in [{table}]" if is_toml else f" in {table}")


def _dotted(location: Location, is_toml: bool) -> str:
    text = ""
    for part in location:
        if isinstance(part, str):
            text += f".{part}" if text else part
        elif not is_toml:
            text += f"[{part}]"
    return text


def _fields_at(model: type[BaseModel], location: Location) -> tuple[str, ...]:
    found = _type_at(model, location)
    return tuple(found.model_fields) if isinstance(found, type) and issubclass(found, BaseModel) else ()


def _type_at(model: type[BaseModel], location: Location) -> Any:
    found: Any = model
    for part in location:
        if isinstance(found, type) and issubclass(found, BaseModel):
            field = found.model_fields.get(str(part))
            found = field.annotation if field is not None else None
        elif get_origin(found) is dict:
            found = get_args(found)[1]
        else:
            found = next(iter(get_args(found)), None)
        while get_origin(found) in (Annotated, Union, types.UnionType):
            found = next(one for one in get_args(found) if one is not types.NoneType)
    return found


def _json_places(text: str) -> dict[Location, int]:
    found: dict[Location, int] = {}
    path: list[int | str | None] = []  # None stands for the key that comes next
    line = 1
    if len(text) > _MOST_PLACED:
        return found
    for token in _JSON.findall(text):
        if token == "\n":
            line += 1
        elif token in "]}":
            path.pop()
        elif token == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif token != ":":
            if path and path[-1] is None:
                path[-1] = str(json.loads(token))
            found.setdefault(tuple(part for part in path if part is not None), line)
            if token in "[{":
                path.append(0 if token == "[" else None)
    return found
