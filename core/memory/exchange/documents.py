"""Files as documents, before anyone asks of which format: read with care, as they come from anywhere."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from core.schema.errors import DataError
from core.schema.record import Record

MOST_BYTES = 512 * 1024 * 1024
"""A larger file is refused: reading it would take several times as much memory."""

_ARCHIVES = {
    b"PK\x03\x04": "ZIP",
    b"PK\x05\x06": "ZIP",
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf": "7z",
    b"BZh": "bzip2",
}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
PICKLE = (
    "is a Python pickle: reading one runs whatever code is in it, so it is never opened. Export the steps as JSON "
    "with the program that made it, in BrowserGym with save_json=True (steps_info.json), and import that"
)


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
    """The document; None where it is lines."""
    lines: tuple[DocumentLine, ...] = ()


def is_pickle(path: Path) -> bool:
    return path.name.endswith((".pkl", ".pickle", ".pkl.gz", ".pickle.gz"))


def read_document(path: Path) -> Document:
    """Read a file; raises DataError for what is no text of JSON.

    A line that is not JSON is told in the line: the others stand.
    """
    if is_pickle(path):
        raise DataError(f"{path} {PICKLE}.")
    text = _text(path)
    if path.suffix in (".jsonl", ".ndjson"):
        return Document(path=path, lines=_lines(text))
    try:
        return Document(path=path, value=json.loads(text))
    except RecursionError as error:
        raise DataError(f"{path} is nested too deeply to be read; export it again.") from error
    except json.JSONDecodeError as error:
        # A file of lines is known by its first one; "Extra data" stands where the second begins.
        if error.msg == "Extra data" and error.lineno > 1 and text[: error.pos].count("\n") < 3:
            return Document(path=path, lines=_lines(text))
        raise DataError(
            f"{path}, line {error.lineno}, column {error.colno}: this is not JSON ({error.msg}); export it again."
        ) from error
    except ValueError as error:
        raise DataError(f"{path} holds a number that is too long to be read; export it again.") from error


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise DataError(
                f"{path} has {size >> 20} MB, and at most {MOST_BYTES >> 20} are read at once; split it."
            )
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check that it is there.") from error
    for start, name in _ARCHIVES.items():
        if data.startswith(start):
            raise DataError(f"{path} is a {name} archive: unpack it, and import the folder.")
    if data.startswith(b"\x80") and data[1:2] in b"\x02\x03\x04\x05":
        raise DataError(f"{path} {PICKLE}.")
    if data.startswith(_UTF16):
        raise DataError(f"{path} is text in UTF-16: save it as UTF-8.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not text in UTF-8 (byte {error.start}): save it as UTF-8.") from error


def _lines(text: str) -> tuple[DocumentLine, ...]:
    # Not splitlines: JSON may hold the other line ends of Unicode inside its strings.
    return tuple(_line(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _line(number: int, text: str) -> DocumentLine:
    try:
        return DocumentLine(number, text, json.loads(text))
    except RecursionError:
        return DocumentLine(number, text, fault="it is nested too deeply to be read")
    except json.JSONDecodeError as error:
        return DocumentLine(number, text, fault=f"this is not JSON ({error.msg}, column {error.colno})")
    except ValueError:
        return DocumentLine(number, text, fault="it holds a number that is too long to be read")
