"""Writing a run to a file: read from the database anew, so that any thread may do it."""

import os
from pathlib import Path

from core.schema.errors import UsageError
from core.trace.exports.registry import format_named
from core.trace.store import TraceStore


def export_run(database: Path, run: int, form: str, path: str, *, content: bool = False) -> None:
    """Write a run in one of the formats; `content` adds what was said and typed to one that leaves it out.

    A file that is there already is replaced whole or not at all. Raises
    UsageError where it cannot be written, and TraceError.
    """
    chosen = format_named(form)
    store = TraceStore.open(database, read_only=True)
    try:
        data = chosen.write(store, run, content=content)
    finally:
        store.close()
    try:
        _write(Path(path).expanduser(), data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


def _write(path: Path, data: bytes) -> None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(data)  # Such as /dev/stdout: there is nothing to replace.
        return
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
