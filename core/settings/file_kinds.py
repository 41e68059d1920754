"""What a file or folder is, by its content: kinds of other programs that are easily mistaken for those read here."""

import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from core.schema.errors import DataError
from core.system.program import COMMAND

_IMPORT = f"import it with {COMMAND} import or {COMMAND} exemplars import"


class KnownKind(NamedTuple):
    """A kind that cannot be read where it was given."""

    what: str
    """Such as ``a ZIP archive``."""
    advice: str = ""
    """What to do with it; empty if nothing helps."""
    fate: str = "cannot be used here"

    def reason(self, otherwise: str = "") -> str:
        """Return what it is and what to do, which is `otherwise` for a kind without advice; goes after "it is"."""
        return f"{self.what}, which {self.fate}; {self.advice or otherwise}"

    def sentence(self, path: Path, otherwise: str = "") -> str:
        return f"{path} is {self.reason(otherwise)}."


_UNPACK = "unpack it, and use the files in it"
_CONVERT = "convert it to JSON, and use that"
PICKLE = KnownKind(
    "a Python pickle",
    "export its content as JSON with the program that made it (BrowserGym does so with save_json=True)",
    "is never opened, because reading it runs the code in it",
)
_PLAYWRIGHT = KnownKind("a Playwright trace", "open it with npx playwright show-trace")
TASKS = KnownKind("a task of WebArena", "use it with --webarena, or add it in the task chooser")
TASK_FILE = KnownKind("a task file", "use it with --tasks-file, or add it in the task chooser")
DATABASE_MAGIC = b"SQLite format 3\x00"
_MAGIC: tuple[tuple[bytes, KnownKind], ...] = (
    (b"7z\xbc\xaf\x27\x1c", KnownKind("a 7z archive", _UNPACK)),
    (b"BZh", KnownKind("a bzip2 archive", _UNPACK)),
    (b"\xfd7zXZ\x00", KnownKind("an xz archive", _UNPACK)),
    (b"\x28\xb5\x2f\xfd", KnownKind("a Zstandard archive", _UNPACK)),
    (b"Rar!\x1a\x07", KnownKind("a RAR archive", _UNPACK)),
    (DATABASE_MAGIC, KnownKind("an SQLite database", "export what you need from it as JSON")),
    (b"%PDF-", KnownKind("a PDF document")),
    (b"PAR1", KnownKind("a Parquet file", _CONVERT)),
    (b"\x93NUMPY", KnownKind("a NumPy array", _CONVERT)),
    (b"\x89PNG\r\n", KnownKind("a PNG picture")),
    (b"\xff\xd8\xff", KnownKind("a JPEG picture")),
    (b"GIF87a", KnownKind("a GIF picture")),
    (b"GIF89a", KnownKind("a GIF picture")),
)
_HEAD = 512
_INSIDE: tuple[tuple[int, bytes, KnownKind], ...] = (
    (257, b"ustar", KnownKind("a tar archive", _UNPACK)),
    (8, b"WEBP", KnownKind("a WebP picture")),
)
"""What lies behind the first bytes of a file."""
_OLD_PICKLE = re.compile(rb"\(?[dl]p\d+\n|c[a-z_][\w.]*\n\w+\n|\((?:dp|lp|i[a-z_][\w.]*\n)|\][q)]|\}[q)]")
"""How pickles of protocols 0 and 1 begin, which have no mark of their own."""
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.I | re.S
)
_XML = re.compile(r"\s*<\?xml\b")


def kind_of_file(file: BinaryIO) -> KnownKind | None:
    """Return what a file that is no text is by its first bytes and, for archives, by the names in it, or None."""
    head = file.read(_HEAD)
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"):
        return _in_zip(file)
    if head.startswith(b"\x1f\x8b"):
        return _in_gzip(head)
    if _is_pickle(head):
        return PICKLE
    found = next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
    return found or next((kind for at, magic, kind in _INSIDE if head.startswith(magic, at)), None)


def is_database(path: Path) -> bool:
    """Whether a regular file at this path can be read and is an SQLite database."""
    try:
        if not path.is_file():  # Opening a pipe would wait.
            return False
        with path.open("rb") as file:
            return file.read(len(DATABASE_MAGIC)) == DATABASE_MAGIC
    except OSError:
        return False


def _is_pickle(head: bytes) -> bool:
    return (head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")) or bool(
        _OLD_PICKLE.match(head)
    )


def _in_zip(file: BinaryIO) -> KnownKind:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except NotImplementedError:  # By zipfile, of a newer version of the format.
        return KnownKind("a ZIP archive", _UNPACK)
    except (zipfile.BadZipFile, OSError, ValueError):
        return KnownKind("a ZIP archive that is damaged", "download or save it again")
    if any(name.endswith(".trace") for name in names):
        return _PLAYWRIGHT._replace(what="a Playwright trace (a ZIP archive)")
    if "[Content_Types].xml" in names:
        return KnownKind("an Office document", _CONVERT)
    if any(name.endswith("data.pkl") for name in names):
        return PICKLE
    return KnownKind("a ZIP archive", _UNPACK)


def _in_gzip(head: bytes) -> KnownKind:
    try:
        inside = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    except zlib.error:
        inside = b""
    if _is_pickle(inside):
        return PICKLE
    return KnownKind(
        "a tar archive packed with gzip" if inside[257:262] == b"ustar" else "a gzip archive", _UNPACK
    )


def kind_of_text(text: str) -> KnownKind | None:
    """Return what a text that is not one JSON document is: markup, or lines of JSON of a known kind."""
    if _HTML.match(text[:4096]):
        return KnownKind("an HTML page", "save the file itself, not the page that shows it")
    if _XML.match(text[:100]):
        return KnownKind("an XML document", _CONVERT)
    first = text.lstrip().partition("\n")[0]
    try:
        return kind_of_value(json.loads(first)) if first.startswith("{") else None
    except (ValueError, RecursionError):
        return None


def kind_of_value(value: Any) -> KnownKind | None:
    """Return what a JSON document is by its outermost keys, or None if it is of no known kind."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return None
    keys = set(first)
    if is_atif(first):
        return KnownKind("an ATIF trajectory")
    if first.get("form") == "backstep run":
        return KnownKind("the JSON export of a run", "export the run again with --format repro")
    if first.get("type") == "context-options":
        return _PLAYWRIGHT
    if isinstance(first.get("log"), dict) and "entries" in first["log"]:
        return KnownKind("an HTTP archive (HAR)")
    if "resourceSpans" in keys:
        return KnownKind("an OpenTelemetry trace")
    if {"cookies", "origins"} <= keys:
        return KnownKind("a storage state of Playwright, with logins")
    if {"intent", "eval"} <= keys:
        return TASKS
    if isinstance(first.get("history"), list):
        return KnownKind("a browser-use history", _IMPORT)
    if is_recording(first):
        return KnownKind("a Chrome DevTools recording", _IMPORT)
    if len(keys & {"id", "family", "task", "steps"}) >= 3:
        return KnownKind("a file of exemplars", f"import it with {COMMAND} exemplars import")
    if {"role", "content"} <= keys:
        return KnownKind("a list of chat messages")
    if isinstance(first.get("tasks"), list):
        return TASK_FILE
    return None


def refuse_others(path: Path, value: Any, own: KnownKind, otherwise: str) -> None:
    """Raise DataError if a JSON document is of a known kind that is not `own`; `otherwise` as in `sentence`."""
    kind = kind_of_value(value)
    if kind not in (None, own):
        assert kind is not None
        raise DataError(kind.sentence(path, otherwise))


def is_atif(document: dict[str, Any]) -> bool:
    return str(document.get("schema_version", "")).upper().startswith("ATIF")


def is_recording(document: dict[str, Any]) -> bool:
    """Return whether this is a recording of Chrome DevTools: steps of which one has a type, and no trajectory."""
    steps = document.get("steps")
    if not isinstance(steps, list) or is_atif(document):
        return False
    typed = any(isinstance(step, dict) and isinstance(step.get("type"), str) for step in steps)
    return typed or (not steps and isinstance(document.get("title"), str))


def kind_of_folder(path: Path) -> KnownKind | None:
    """Return what a folder is by the names in it, or None."""
    if any(path.glob("*.trace")):
        return _PLAYWRIGHT._replace(what="the folder of a Playwright trace")
    return None
