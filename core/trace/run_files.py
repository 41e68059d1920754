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
    _refuse_own(target, database)
    chosen = format_named(form)
    store = TraceStore.open(database, read_only=True)
    with closing(store), without_secrets(store, run) as hidden:
        data, left_out = chosen.write(hidden, run, content=content), hidden.left_out or ""
    write_file(target, data)
    return left_out


def write_file(path: Path, data: bytes) -> None:
    """Write a file, which is replaced whole or not at all.

    Raises UsageError if it cannot be written, or would replace an SQLite database: a repro file replaces an older
    one.
    """
    if not (data.startswith(DATABASE_MAGIC) and is_repro(path, exported=True)):
        _refuse_database(path)
    try:
        _write(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


def _refuse_own(path: Path, database: Path) -> None:
    if os.path.realpath(path) == os.path.realpath(database):
        raise UsageError(f"{path} is the database of the runs; choose another file.")


def _refuse_database(path: Path) -> None:
    if is_database(path):
        raise UsageError(f"{path} is a database, and is not overwritten; choose another file.")


def _write(path: Path, data: bytes) -> None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(data)  # Such as /dev/stdout: there is nothing to replace.
        return
    unfinished = _unfinished(path)
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _unfinished(path: Path) -> Path:
    """Return where a file is written before it takes its place."""
    return path.with_name(f".{path.name}.unfinished")


def check_place(path: Path, database: Path) -> None:
    """Raise UsageError if no report can be written at `path`, to tell so before the runs are made in `database`."""
    _refuse_own(path, database)
    _refuse_database(path)
    try:
        if os.path.exists(path) and (os.path.islink(path) or not os.path.isfile(path)):
            if os.path.isdir(path) or not os.access(path, os.W_OK):
                raise PermissionError
        else:
            place = _unfinished(Path(os.path.realpath(path)))
            place.touch()
            place.unlink()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: choose a file with a short name, in a folder that exists and is writable."
        ) from error


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
