"""Writing a run to a file: read from the database anew, so that any thread may do it."""

import os
from pathlib import Path

from core.errors import UsageError
from core.trace.store import TraceStore

FORMS = ("json", "html")


def export_run(database: Path, run: int, form: str, path: str) -> None:
    """Write a run as ``json`` or ``html``.

    A file that is there already is replaced whole or not at all. Raises
    UsageError where it cannot be written, and TraceError.
    """
    if form not in FORMS:
        raise UsageError(f'There is no export form "{form}"; there are {" and ".join(FORMS)}.')
    from core.trace.export import export_html, export_json  # Jinja and its templates: only when asked for

    store = TraceStore.open(database, read_only=True)
    try:
        text = export_json(store, run) if form == "json" else export_html(store, run)
    finally:
        store.close()
    try:
        _write(Path(path).expanduser(), text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


def _write(path: Path, text: str) -> None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_text(text, encoding="utf-8")  # Such as /dev/stdout: there is nothing to replace.
        return
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
