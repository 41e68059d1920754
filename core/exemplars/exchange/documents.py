"""Files of other programs, opened: JSON, JSON lines, or a Python module, which is parsed and never run."""

import ast
import json
from pathlib import Path
from typing import Any, NamedTuple

from core.exemplars.exchange.plain_python import module_values
from core.schema.errors import DataError
from core.schema.record import Record
from core.settings.file_kinds import PICKLE
from core.settings.user_file import MOST_LINES_BYTES, UserFile, beyond_bounds, not_json, read_text

READ = (".json", ".jsonl", ".ndjson", ".py", ".toml")
"""How the names of files end that are read in a folder."""


class RawRecord(NamedTuple):
    """One record of a file, or why it cannot be read."""

    position: str
    """Such as ``line 3`` or ``[2]``."""
    value: Any = None
    fault: str = ""


class Document(Record):
    """One file."""

    path: Path
    value: Any = None
    """The JSON document."""
    lines: tuple[RawRecord, ...] = ()
    module: dict[str, Any] = {}
    """What the names of a Python module stand for, as in `module_values`."""
    beside: Any = None
    """The JSON document of the file that belongs to it, if there is one."""

    @property
    def records(self) -> tuple[RawRecord, ...]:
        """The lines, the items of a list, or the one object."""
        if isinstance(self.value, list):
            return tuple(RawRecord(f"[{number}]", value) for number, value in enumerate(self.value))
        return self.lines or (RawRecord("the record", self.value),)

    @property
    def objects(self) -> tuple[dict[str, Any], ...]:
        """The records that are objects."""
        return tuple(entry.value for entry in self.records if isinstance(entry.value, dict))

    @property
    def fields(self) -> dict[str, Any]:
        """The one object that the file holds; empty for another file."""
        return self.value if isinstance(self.value, dict) else {}


def is_pickle(path: Path) -> bool:
    return path.name.endswith((".pkl", ".pickle", ".pkl.gz", ".pickle.gz"))


def read_document(path: Path) -> Document:
    """Read a file; raises DataError for a file that is neither JSON, TOML nor Python.

    A line that is not JSON is a fault of the line: the others stand.
    """
    if is_pickle(path):
        raise DataError(PICKLE.sentence(path, ""))
    text = read_text(path, line_ends=True, most=MOST_LINES_BYTES)
    if path.suffix == ".py":
        return Document(path=path, module=_module(text, path))
    if path.suffix == ".toml":
        return Document(path=path, value=UserFile(path, text).content())
    if path.suffix in (".jsonl", ".ndjson"):
        return Document(path=path, lines=_lines(text))
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise DataError(f"{path} is nested too deeply; export it again.") from error
    except json.JSONDecodeError as error:
        # A file of lines is known by its first one; "Extra data" stands where the second begins.
        if error.msg == "Extra data" and error.lineno > 1 and text[: error.pos].count("\n") < 3:
            return Document(path=path, lines=_lines(text))
        raise not_json(path, text, error, "export it again") from error
    except ValueError as error:
        raise DataError(f"{path} contains a number that is too long; export it again.") from error
    if too_much := beyond_bounds(value):
        raise DataError(f"{path} cannot be read: {too_much}; export it again.")
    return Document(path=path, value=value)


def _module(text: str, path: Path) -> dict[str, Any]:
    try:
        return module_values(ast.parse(text))
    except SyntaxError as error:
        place, why = f"{path}, line {error.lineno}", error.msg
        raise DataError(f"{place}: this is not Python ({why}); save it again.") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"{path} is not valid Python; save it again.") from error


def _lines(text: str) -> tuple[RawRecord, ...]:
    # Not splitlines: JSON may hold the other line ends of Unicode inside its strings.
    lines = enumerate(text.split("\n"), start=1)
    return tuple(_line(f"line {number}", line) for number, line in lines if line.strip())


def _line(position: str, text: str) -> RawRecord:
    try:
        value = json.loads(text)
    except RecursionError:
        return RawRecord(position, fault="it is nested too deeply")
    except json.JSONDecodeError as error:
        return RawRecord(position, fault=f"this is not JSON ({error.msg}, column {error.colno})")
    except ValueError:
        return RawRecord(position, fault="it contains a number that is too long")
    return RawRecord(position, value, beyond_bounds(value))
