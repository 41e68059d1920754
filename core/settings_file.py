"""TOML files that people edit: reading them, and saying in one sentence what is wrong where.

Serves the settings, the price list and the endpoint presets. What the keys
mean is the business of the model each of them is read into.
"""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from core.schema.errors import DataError

ModelT = TypeVar("ModelT", bound=BaseModel)
Location = tuple[int | str, ...]

_HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_.\s-]|"[^"]*"|'[^']*')+?)\s*=""")


def read_toml_model(path: Path, model: type[ModelT]) -> ModelT:
    """Read `path` into `model`.

    Raises DataError with one sentence: the file, the line where it is known,
    the key, and for an unknown key the nearest valid one. A missing file
    raises it too; callers that do without the file look first.
    """
    text = read_text(path)
    data = parse_toml(text, path)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise DataError(describe(error, model, path=path, text=text)) from error


def read_text(path: Path) -> str:
    """Return the file's text; raises DataError where it cannot be read or is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}); check that it is there and yours."
        ) from (error)
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return the tables of a TOML text; raises DataError that names file and line."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = str(error) or "nested too deep"
        match = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)", reason)
        line = text.count("\n") + 1
        if match:
            line = int(match[1]) if match[1] else line
            reason = reason[: match.start()]
        raise DataError(f"{path}, line {line}: this is not TOML ({reason}); correct the line.") from error


def describe(error: ValidationError, model: type[BaseModel], *, path: Path, text: str) -> str:
    """Return one sentence for the first thing that `error` finds wrong in the file."""
    first = first_error(error)
    line = line_of(text, first["loc"])
    place = f"{path}, line {line}" if line else str(path)
    return f"{place}: {problem(first, model)}"


def first_error(error: ValidationError) -> dict[str, Any]:
    """Return the error to speak of: an unknown key goes first, as it is often why another is missing."""
    errors: list[dict[str, Any]] = [dict(one) for one in error.errors(include_url=False)]
    return next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])


def problem(first: Mapping[str, Any], model: type[BaseModel]) -> str:
    """Return what is wrong with one key, as pydantic found it, without the place."""
    location: Location = first["loc"]
    table, key = _split(location)
    if first["type"] == "extra_forbidden":
        return f'there is no key "{key}"{table}; {near(str(key), _fields_at(model, location[:-1]))}'
    if location and location[-1] == "[key]":
        names = _choices_at(model, location)
        wrong = str(location[-2])
        return f'there is no table "{wrong}"{_split(location[:-1])[0]}; {near(wrong, names)}'
    if first["type"] == "missing":
        return f'the key "{key}" is missing{table}; add it.'
    reason = str(first["msg"]).removeprefix("Value error, ")
    given = first.get("input")
    # An address is not repeated: it may hold a password.
    plain = isinstance(given, (str, int, float, bool)) and "://" not in str(given)
    shown = f" = {given!r}" if plain else ""
    return f'"{key}"{shown}{table} cannot be used: {reason[:1].lower()}{reason[1:]}.'


def near(wrong: str, valid: tuple[str, ...]) -> str:
    """Return the end of a sentence that points to the nearest of the valid names, or lists them."""
    close = get_close_matches(wrong, valid, n=1, cutoff=0.55)
    if close:
        return f"did you mean {close[0]}?"
    return f"there are {', '.join(valid)}." if valid else "leave it out."


def line_of(text: str, location: Location) -> int | None:
    """Return the line, from 1, where a key or the nearest table around it stands, or None."""
    places = _places(text)
    for length in range(len(location), 0, -1):
        if location[:length] in places:
            return places[location[:length]]
    return None


def _places(text: str) -> dict[Location, int]:
    found: dict[Location, int] = {}
    counts: dict[Location, int] = {}
    table: Location = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            path = _key_path(header[2])
            if path is None:
                continue
            path = (*_inside(path[:-1], counts), path[-1])
            if header[1] == "[[":
                counts[path] = counts.get(path, -1) + 1
                found.setdefault(path, number)
                path = (*path, counts[path])
            table = path
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            path = _key_path(key[1])
            if path is not None:
                for length in range(1, len(path) + 1):
                    found.setdefault((*table, *path[:length]), number)
    return found


def _inside(path: Location, counts: Mapping[Location, int]) -> Location:
    """Return the path of tables with the number of the last one in each array of tables."""
    found: Location = ()
    for part in path:
        found = (*found, part)
        if found in counts:
            found = (*found, counts[found])
    return found


def _key_path(text: str) -> Location | None:
    try:
        value: Any = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        return None
    path: list[str] = []
    while isinstance(value, dict):
        key, value = next(iter(value.items()))
        path.append(key)
    return tuple(path)


def _split(location: Location) -> tuple[str, str]:
    names = [str(part) for part in location if isinstance(part, str) and part != "[key]"]
    key = names[-1] if names else ""
    tables = ".".join(names[:-1])
    return (f" in [{tables}]" if tables else ""), key


def _fields_at(model: type[BaseModel], location: Location) -> tuple[str, ...]:
    found = _type_at(model, location)
    return tuple(found.model_fields) if isinstance(found, type) and issubclass(found, BaseModel) else ()


def _choices_at(model: type[BaseModel], location: Location) -> tuple[str, ...]:
    found = _type_at(model, location[:-2])
    arguments = get_args(found)
    return tuple(str(name) for name in get_args(arguments[0])) if arguments else ()


def _type_at(model: type[BaseModel], location: Location) -> Any:
    found: Any = model
    for part in location:
        if isinstance(found, type) and issubclass(found, BaseModel):
            field = found.model_fields.get(str(part))
            found = field.annotation if field is not None else None
        elif get_origin(found) is dict:
            found = get_args(found)[1]
        elif get_origin(found) in (tuple, list):
            found = get_args(found)[0]
        else:
            return None
    return found
