"""What was read of a foreign file; its parts are taken out with checks that report what is wrong, and where."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from core.memory.exchange.imports.step_module import read_module
from core.schema.errors import DataError
from core.schema.exemplar import Exemplar
from core.schema.record import Record
from core.settings.file_kinds import PICKLE
from core.settings.user_file import MOST_LINES_BYTES, beyond_bounds, not_json, problem, read_text
from core.trace.imports.records import FaultyError, FileEntry

LONGEST = 120


class DocumentLine(NamedTuple):
    """One line of a file of JSON lines: a document, or why it is none."""

    number: int
    text: str
    value: Any = None
    fault: str = ""


class Document(Record):
    """One file: a JSON document, or JSON lines."""

    path: Path
    value: Any = None
    """The document; None if it is lines."""
    lines: tuple[DocumentLine, ...] = ()
    faulty: tuple[FileEntry, ...] = ()
    """What of a Python module cannot be read."""


def is_pickle(path: Path) -> bool:
    return path.name.endswith((".pkl", ".pickle", ".pkl.gz", ".pickle.gz"))


def read_document(path: Path) -> Document:
    """Read a file; raises DataError for what is not text of JSON, or a Python module that cannot be parsed.

    A line that is not JSON is reported in the line: the others stand.
    """
    if is_pickle(path):
        raise DataError(PICKLE.sentence(path, ""))
    text = read_text(path, line_ends=True, most=MOST_LINES_BYTES)
    if path.suffix == ".py":
        value, faulty = read_module(text, path)
        return Document(path=path, value=value, faulty=faulty)
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


def _lines(text: str) -> tuple[DocumentLine, ...]:
    # Not splitlines: JSON may hold the other line ends of Unicode inside its strings.
    return tuple(_line(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _line(number: int, text: str) -> DocumentLine:
    try:
        value = json.loads(text)
        if too_much := beyond_bounds(value):
            return DocumentLine(number, text, fault=too_much)
        return DocumentLine(number, text, value)
    except RecursionError:
        return DocumentLine(number, text, fault="it is nested too deeply")
    except json.JSONDecodeError as error:
        return DocumentLine(number, text, fault=f"this is not JSON ({error.msg}, column {error.colno})")
    except ValueError:
        return DocumentLine(number, text, fault="it contains a number that is too long")


_KINDS = {
    str: "a text",
    dict: "an object",
    list: "a list",
    int: "a number",
    float: "a number",
    bool: "yes or no",
}


class MisplacedError(FaultyError):
    """Something wrong at a place inside an entry; `position` is that place."""

    def __init__(self, position: str, why: str) -> None:
        super().__init__(why)
        self.position = position


def fault_of(error: FaultyError, position: str) -> FileEntry:
    """Return what is wrong with the entry at `position`, at the place inside it if that is known."""
    place = error.position if isinstance(error, MisplacedError) else position
    return FileEntry(position=place if is_sound(place) else repr(place), why=str(error))


def text_at(values: dict[str, Any], name: str, position: str, *, without: str | None = None) -> str:
    """Return a text; `without` is what a missing one is, if it may be missing. Raises MisplacedError."""
    found = values.get(name)
    if found is None and without is not None:
        return without
    if not isinstance(found, str):
        why = "is missing" if name not in values else f"must be a text, not {kind_of(found)}"
        raise MisplacedError(f"{position}.{name}" if position else name, f"it {why}")
    if not is_sound(found):
        raise MisplacedError(
            f"{position}.{name}" if position else name, "it contains half a character (a surrogate)"
        )
    return found


def list_at(values: dict[str, Any], name: str, position: str, *, optional: bool = False) -> list[Any]:
    """Return a list; raises MisplacedError."""
    found = values.get(name)
    if found is None and optional:
        return []
    if not isinstance(found, list):
        why = "is missing" if name not in values else f"must be a list, not {kind_of(found)}"
        raise MisplacedError(f"{position}.{name}" if position else name, f"it {why}")
    return found


def object_of(value: object, position: str) -> dict[str, Any]:
    """Return an object; raises MisplacedError."""
    if not isinstance(value, dict):
        raise MisplacedError(position, f"it must be an object, not {kind_of(value)}")
    return value


def kind_of(value: object) -> str:
    return "null" if value is None else _KINDS.get(type(value), "something else")


def is_sound(text: str) -> bool:
    """Return whether no character of the text is half of one, which JSON can hold and no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(value: object) -> str:
    """Return a text where it is one, and nothing else."""
    return value if isinstance(value, str) and is_sound(value) else ""


def cut(text: str, length: int = 80) -> str:
    """Return the text in one line, cut."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def id_of(*parts: object) -> str:
    """Return an id made of these parts, such as ``synapse/book-flight/0``; what no id may hold becomes ``-``."""
    plain = (re.sub(r"[^a-z0-9._]+", "-", str(part).lower()).strip("-._") for part in parts)
    whole = "/".join(part for part in plain if part) or "exemplar"
    if len(whole) <= LONGEST:
        return whole
    # What is cut off still tells two long names apart.
    return f"{whole[: LONGEST - 9]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def free_id(wanted: str, taken: set[str]) -> str:
    """Return the id, with a number where it is taken."""
    number, found = 2, wanted
    while found in taken:
        found = f"{wanted[: LONGEST - 8].rstrip('/')}-{number}"
        number += 1
    return found


_NOT_CONTENT = {"id", "source", "tags", "note", "archived", "format"}


class ReadOptions(Record):
    """What whoever imports may choose."""

    family: str = ""
    """Given to all in place of their own."""
    least_reward: float = Field(default=1.0, allow_inf_nan=False)
    """What a trajectory that was judged must have got, to be an exemplar."""


class Candidate(Record):
    """An exemplar as a file has it."""

    position: str
    """Where it stands, such as ``book-flight.demo[2]`` or ``line 7``."""
    exemplar: Exemplar
    remarks: tuple[str, ...] = ()
    """What could not be said in this program's words, a sentence each."""
    has_own_id: bool = False
    """Whether the file itself gives the id; otherwise it was made up and may be changed."""


class Reading(Record):
    """All that was read of one file or folder."""

    candidates: tuple[Candidate, ...] = ()
    left_out: tuple[FileEntry, ...] = ()
    """Entries that are no exemplars, and are not meant to be."""
    faulty: tuple[FileEntry, ...] = ()
    """Entries that cannot be read; the others do not suffer."""


def content_of(exemplar: Exemplar) -> str:
    """Return what makes two exemplars the same, whatever they are called and wherever they came from."""
    return json.dumps(exemplar.model_dump(mode="json", exclude=_NOT_CONTENT), sort_keys=True)


def half_character(exemplar: Exemplar) -> str:
    """Return the key path of a text with half a character (a surrogate), which JSON can hold and no file can."""
    waiting: list[tuple[str, Any]] = [("", exemplar.model_dump())]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}" if path else str(key), one) for key, one in value.items()]
        elif isinstance(value, (list, tuple)):
            waiting += [(f"{path}[{number}]", one) for number, one in enumerate(value)]
        elif isinstance(value, str) and not is_sound(value):
            return path
    return ""


def made_exemplar(**values: Any) -> Exemplar:
    """Return the exemplar; raises FaultyError, in words that go after its position, for values that make none."""
    try:
        return Exemplar.model_validate(values)
    except ValidationError as error:
        raise FaultyError(problem(error, Exemplar).rstrip(".")) from error
