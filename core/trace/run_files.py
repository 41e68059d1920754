"""Exports runs to files, and imports them from files of any known format."""

import os
from contextlib import closing
from pathlib import Path

from core.schema.errors import UsageError
from core.schema.formats import count
from core.settings.file_kinds import DATABASE_MAGIC, is_database
from core.settings.user_file import MOST_TOLD
from core.system.paths import expanded
from core.trace.exports.hiding import without_secrets
from core.trace.exports.registry import format_named
from core.trace.imports.records import check_steps, without
from core.trace.imports.registry import read_file
from core.trace.repro.importer import import_repro, import_summary, is_repro
from core.trace.store import TraceStore


def export_run(database: Path, run: int, form: str, path: str, *, content: bool = False) -> str:
    """Write a run in one of the formats, without secrets; return what was left out, in a sentence.

    `content` adds what was said and typed to a format that leaves it out.

    A file that is there already is replaced whole or not at all. Raises
    UsageError if it cannot be written, and TraceError.
    """
    target = expanded(path)
    if os.path.realpath(target) == os.path.realpath(database):
        raise UsageError(f"{path} is the database that the run is in; choose another file.")
    chosen = format_named(form)
    store = TraceStore.open(database, read_only=True)
    with closing(store), without_secrets(store, run) as hidden:
        data, left_out = chosen.write(hidden, run, content=content), hidden.left_out or ""
    write_file(target, data)
    return left_out


def write_file(path: Path, data: bytes) -> None:
    """Write a file, which is replaced whole or not at all.

    Raises UsageError if it cannot be written, or would replace an SQLite database by what is none.
    """
    if is_database(path) and not data.startswith(DATABASE_MAGIC):
        raise UsageError(f"{path} is a database, and is not overwritten; choose another file.")
    try:
        _write(path, data)
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


def check_place(path: Path) -> None:
    """Raise UsageError if no file can be written at `path`, to tell so before what takes long."""
    if path.is_dir() or not os.access(path if path.exists() and not path.is_file() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: choose a file in a folder that exists and is writable.")


def import_run(store: TraceStore, path: Path) -> tuple[int | None, str]:
    """Return the number of the run, and the outcome of the file in a sentence.

    Raises DataError if the file is of no known kind or nothing of it can be read, and TraceError: nothing is
    stored then.
    """
    if is_repro(path):
        content, run = import_repro(store, path)
        return run, import_summary(path.name, content, run)
    kind, imported = read_file(path)
    check_steps(path, imported)
    run = store.import_run(imported, path.stem)
    faults = "".join(f"\n  {entry.position}: {entry.why}." for entry in imported.faulty[:MOST_TOLD])
    left_out = f", {count(len(imported.left_out), 'entry', 'entries')} left out" if imported.left_out else ""
    return run, f"{path.name} ({kind.title}) was imported as run {run}{left_out}{without(imported)}.{faults}"
