"""Writing a run to a file: read from the database anew, so that any thread may do it."""

from pathlib import Path

from core.errors import UsageError
from core.trace.store import TraceStore

FORMS = ("json", "html")


def export_run(database: Path, run: int, form: str, path: str) -> None:
    """Write a run as ``json`` or ``html``; raises UsageError where the file cannot be written."""
    if form not in FORMS:
        raise UsageError(f'There is no export form "{form}"; there are {" and ".join(FORMS)}.')
    from core.trace.export import export_html, export_json  # Jinja and its templates: only when asked for

    store = TraceStore.open(database, read_only=True)
    try:
        text = export_json(store, run) if form == "json" else export_html(store, run)
    finally:
        store.close()
    try:
        Path(path).expanduser().write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
