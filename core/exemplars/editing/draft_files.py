"""Unsaved drafts of exemplars on disk, one file each, so that a crash loses nothing."""

import hashlib
import re
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError, model_validator

from core.exemplars.editing.toml_text import text_of
from core.exemplars.library.records import Provenance
from core.schema.errors import DataError
from core.schema.exemplar import Draft
from core.schema.record import Record

FOLDER = "drafts"
"""In the data folder."""
_TITLE = re.compile(r"^task *= *[\"']+\n?(.+?)[\"']*$", re.MULTILINE)


class KeptDraft(Record):
    """A draft with its origin."""

    key: str
    """The id of the exemplar that it changes, or a name of its own for a new one."""
    text: str
    """As it was typed, possibly with errors."""
    id: str = ""
    """The exemplar of the library that it changes; empty for a new one."""
    version: int = 0
    """Its version when the editing began."""
    provenance: Provenance | None = None
    when: float = 0.0
    """Seconds since the epoch."""

    @model_validator(mode="before")
    @classmethod
    def _of_fields(cls, values: Any) -> Any:
        """Read a draft that was kept before exemplars were edited as text."""
        if isinstance(values, dict) and "draft" in values:
            values = {**values, "text": text_of(Draft.model_validate(values["draft"]))}
            del values["draft"]
        return values

    @property
    def title(self) -> str:
        """Its task or its id, as far as the text tells it."""
        found = _TITLE.search(self.text)
        return found[1] if found else self.id or "without a task"


class Drafts:
    """Reads and writes them; each write is whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, kept: KeptDraft) -> None:
        """Write a draft over what was kept by its key; raises DataError."""
        path = self._path(kept.key)
        part = path.with_suffix(".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Half a character, which a page may have, is none that a file can hold.
            part.write_bytes(kept.model_dump_json(exclude_defaults=True).encode("utf-8", "replace"))
            part.replace(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(
                f"The draft cannot be saved in {self.folder} ({reason}). Save the exemplar before you close it."
            ) from error

    def get(self, key: str) -> KeptDraft | None:
        """Return what is kept by a key; None if there is nothing, or nothing that can be read."""
        return _read(self._path(key))

    def forget(self, key: str) -> None:
        """Delete what is kept by a key; without it nothing happens."""
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError as error:
            raise DataError(f"The draft in {self.folder} cannot be deleted ({error.strerror}).") from error

    def all(self) -> tuple[KeptDraft, ...]:
        """Return all that can be read, the latest first."""
        found = [_read(path) for path in self.folder.glob("*.json")] if self.folder.is_dir() else []
        return tuple(sorted((one for one in found if one is not None), key=lambda one: -one.when))

    def new_key(self) -> str:
        """Return the name of a draft of a new exemplar, which no other has."""
        return f"new {time.time_ns()}"

    def _path(self, key: str) -> Path:
        return self.folder / f"{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:24]}.json"


def _read(path: Path) -> KeptDraft | None:
    try:
        return KeptDraft.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
