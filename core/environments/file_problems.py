"""Says what is wrong with a file of the user's: line, key, and the nearest valid key."""

import difflib
import json
import re
import types
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from core.schema.errors import DataError

Location = tuple[str | int, ...]

_SAID = {
    "missing": "is missing",
    "string_type": "must be text in quotes",
    "bool_type": "must be true or false",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table of keys and values",
    "string_pattern_mismatch": "may hold letters, digits, dots, dashes and underscores only",
}


class SourceText:
    """The text of a TOML or JSON file, searched for the line of a value."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.is_toml = path.suffix.lower() == ".toml"

    @classmethod
    def read(cls, path: Path) -> "SourceText":
        """Raises DataError where the file is missing or is not text."""
        try:
            return cls(path, path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
        except UnicodeDecodeError as error:
            raise DataError(f"{path} cannot be read: it is not UTF-8 text.") from error

    def problem(self, where: Location, said: str) -> str:
        """Return one line: the line number if it can be found, the key, and what is wrong."""
        key = _dotted(where)
        line = self.line(where)
        return ": ".join(part for part in (f"line {line}" if line else "", key, said) if part)

    def line(self, where: Location) -> int | None:
        """Return the line of the value at `where`, of the nearest thing around it, or None."""
        start, end = 0, len(self.text)
        found: int | None = None
        for depth, part in enumerate(where):
            if isinstance(part, int):
                span = self._item(where[: depth + 1], start, end)
                if span is None:
                    break
                start, end = span
                found = start
            elif (match := self._key(part, start, end)) is not None:
                found = match
                start = match
        return None if found is None else self.text.count("\n", 0, found) + 1

    def _item(self, where: Location, start: int, end: int) -> tuple[int, int] | None:
        index = where[-1]
        assert isinstance(index, int)
        if self.is_toml:
            name = re.escape(str(where[-2])) if len(where) > 1 else ""
            heads = [
                match.start()
                for match in re.finditer(rf"^[ \t]*\[\[\s*{name}\s*\]\]", self.text, re.MULTILINE)
            ]
            if index >= len(heads):
                return None
            return heads[index], (heads[index + 1] if index + 1 < len(heads) else len(self.text))
        return self._json_item(index, start, end)

    def _json_item(self, index: int, start: int, end: int) -> tuple[int, int] | None:
        decoder = json.JSONDecoder()
        at = self.text.find("[", start, end)
        for number in range(index + 1):
            match = re.compile(r"[\[,\s]*").match(self.text, at)
            begin = match.end() if match else at
            try:
                _, at = decoder.raw_decode(self.text, begin)
            except json.JSONDecodeError:
                return None
            if number == index:
                return begin, at
        return None

    def _key(self, key: str, start: int, end: int) -> int | None:
        name = re.escape(key)
        if self.is_toml:
            pattern = rf"^[ \t]*(?:\[+[^\]\n]*\b{name}\s*\]+|[\w.\" -]*\b{name}\"?\s*=)|[{{,]\s*{name}\s*="
        else:
            pattern = rf'"{name}"\s*:'
        match = re.compile(pattern, re.MULTILINE).search(self.text, start, end)
        return None if match is None else match.end() - len(match[0].lstrip())


def describe(
    error: ValidationError, model: type[BaseModel], source: SourceText, inside: Location = ()
) -> list[str]:
    """Return a line for each problem of `error`; unknown keys name the nearest valid one."""
    lines: list[str] = []
    for detail in error.errors():
        loc = tuple(part for part in detail["loc"])
        where = (*inside, *loc)
        kind = detail["type"]
        if kind == "extra_forbidden":
            said = _unknown(str(loc[-1]), fields_at(model, loc[:-1]))
        elif kind == "value_error":
            said = str(detail["ctx"]["error"])
        else:
            said = _SAID.get(kind) or detail["msg"][0].lower() + detail["msg"][1:]
        lines.append(source.problem(where, said))
    return lines


def fields_at(model: type[BaseModel], where: Location) -> tuple[str, ...]:
    """Return the valid keys of the table at `where` inside a `model`."""
    current: Any = model
    for part in where:
        if isinstance(part, int) or current is None:
            continue
        field = current.model_fields.get(part)
        current = None if field is None else _model_in(field.annotation)
    if current is None:
        return ()
    return tuple(field.alias or name for name, field in current.model_fields.items())


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple, list, Annotated):
        return next((found for one in get_args(annotation) if (found := _model_in(one))), None)
    return None


def _unknown(key: str, valid: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(key, valid, n=1, cutoff=0.6)
    if near:
        return f"is no key of this form; did you mean {near[0]}?"
    return f"is no key of this form; there are {', '.join(valid)}" if valid else "is no key of this form"


def _dotted(where: Location) -> str:
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
