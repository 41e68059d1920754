"""Exported files: written all or none."""

import os
from pathlib import Path

from core.schema.errors import DataError


def write_files(files: dict[Path, str]) -> None:
    """Write all files beside their places first, then move them there; raises DataError."""
    parts = {path.with_name(f".{path.name}.part"): path for path in files}
    try:
        for part, path in parts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(files[path], encoding="utf-8")
        for part, path in parts.items():
            os.replace(part, path)
    except OSError as error:
        place = error.filename or next(iter(files))
        raise DataError(
            f"{place} cannot be written ({error.strerror}); check the folder and what is free on the disk."
        ) from error
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
