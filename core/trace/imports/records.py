"""The content of an imported file: a run, the entries that were left out, and errors."""

from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from core.schema.action import Action
from core.schema.errors import DataError
from core.schema.formats import count
from core.schema.hiding import Secrets
from core.schema.record import Record
from core.schema.step import Effect


class FileEntry(Record):
    """An entry of the file that is not a step, and why."""

    position: str
    """If it is in the file, such as ``steps[3]``."""
    why: str


class ImportedStep(Record):
    """One action of the file; fields that the file does not have are empty."""

    position: str
    action: Action | None = None
    effect: Effect = "page action"
    thought: str = ""
    target: str = ""
    """What was acted on, in words."""
    xpath: str = ""
    frames: tuple[int, ...] = ()
    """The frame it is in: the number of a child frame of the page, of a child of that, and so on."""
    url: str = ""
    title: str = ""
    screenshot: bytes = b""
    outcome: Literal["done", "failed", "skipped"] = "done"
    message: str = ""
    begun: float | None = None
    """Seconds since the epoch."""
    seconds: float = 0.0


class ImportedRun(Record):
    """A run from another program's file."""

    origin: Literal["agent", "person"]
    made_with: str
    """What recorded it, in place of the LLM or the browser that nobody knows."""
    instruction: str = ""
    start_url: str = ""
    answer: str = ""
    steps: tuple[ImportedStep, ...] = ()
    left_out: tuple[FileEntry, ...] = ()
    """Entries that are no actions of a page."""
    faulty: tuple[FileEntry, ...] = ()
    """Entries that cannot be read; the others are imported."""


def check_steps(path: Path, imported: ImportedRun) -> None:
    """Raise DataError if there is nothing to import."""
    if imported.steps:
        return
    why = "contains no page action, so there is nothing to import"
    if imported.faulty:
        first, count = imported.faulty[0], len(imported.faulty)
        more = f" ({count} entries in all)" if count > 1 else ""
        why = f"was not imported, because no entry can be read: {first.position}: {first.why}{more}"
    raise DataError(f"{path} {why}.")


def without(imported: ImportedRun) -> str:
    """Return how many entries of an imported file could not be read, as the end of a sentence, or nothing."""
    faulty = len(imported.faulty)
    return f", without {count(faulty, 'entry', 'entries')} that cannot be read" if faulty else ""


def hidden_in(value: Any, secrets: Secrets) -> Any:
    """Return a JSON value without the secrets in its texts."""
    if isinstance(value, str):
        return secrets.text(value)
    if isinstance(value, list):
        return [hidden_in(one, secrets) for one in value]
    return {key: hidden_in(one, secrets) for key, one in value.items()} if isinstance(value, dict) else value


class FaultyError(Exception):
    """Why an entry cannot be read; the text follows its position."""


def first_reason(error: ValidationError) -> str:
    """Return the first thing that a validation found wrong, with the name of its field."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    said = str(first["msg"]).partition(" or instance of ")[0]
    return f"{where}: {said}" if where else said
