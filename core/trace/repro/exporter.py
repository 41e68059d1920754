"""A repro file: a trace database of one run, with the runs that it branched from, and without secrets.

Any copy of the program opens it as a database (``--db``) or brings the run
into its own (``import``), and repeats it without a server or an LLM: what both
answered is in it.
"""

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from core.browser.log.records import RequestEntry
from core.schema.step import Acted, Observed, Reviewed
from core.trace.repro.secrets import TELLING, Secrets
from core.trace.store import TraceStore

_BULLET = "•"


def export_repro(store: TraceStore, run: int) -> bytes:
    """Return the file; raises TraceError where a part of the run is damaged."""
    secrets = secrets_of(store, run)
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        path = Path(folder) / "repro.db"
        with closing(TraceStore.open(path)) as target:
            store.copy_to(target, run, secrets, offline=bool(store.network(run)))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            # One file, which may lie where nothing can be written beside it.
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            connection.execute("VACUUM")
        return path.read_bytes()


def secrets_of(store: TraceStore, run: int) -> Secrets:
    """Return what is secret in a run, and in those that it branched from."""
    secrets = Secrets()
    for exchange in store.network(run):
        secrets.look_in_headers([*exchange.headers])
        secrets.look_in_url(exchange.url)
        if exchange.body:
            data, media_type = store.blob_and_type(exchange.body)
            _look(secrets, data, media_type)
    for row in store.steps(run):
        secrets.look_in_url(row.url)
        _look_in_kept(secrets, store.page(run, row.number))
        _look_in_step(secrets, store, run, row.number)
        for part in store.page_log(run, row.number) or ():
            for entry in part.log.entries if part.log is not None else ():
                if isinstance(entry, RequestEntry):
                    secrets.look_in_url(entry.url)
                secrets.look_in_text(entry.model_dump_json())
    for call in store.calls(run):
        secrets.look_in_text(store.blob(call.messages).decode(errors="replace"))
    return secrets


def _look_in_kept(secrets: Secrets, page: bytes) -> None:
    try:
        kept = json.loads(page or b"{}")
    except ValueError:
        return  # It is damaged, and no page is brought back by it.
    if isinstance(kept, dict):
        secrets.look_in_kept(kept)


def _look(secrets: Secrets, data: bytes, media_type: str) -> None:
    if not media_type.startswith(("text/", "application/")):
        return
    text = data.decode(errors="replace")
    secrets.look_in_text(text)
    if "html" in media_type:
        secrets.look_in_html(text)


def _look_in_step(secrets: Secrets, store: TraceStore, run: int, number: int) -> None:
    detail = store.step(run, number)
    fields: set[str] = set()
    for record in detail.records:
        if isinstance(record, Observed):
            if record.html:
                _look(secrets, *store.blob_and_type(record.html))
            secrets.look_in_text(record.observation.lines())
            fields = {
                str(element.ref)
                for element in record.observation.elements
                if "type" in element.uses
                and (TELLING.search(element.name) or set(element.value) == {_BULLET})
            }
        elif isinstance(record, Reviewed):
            secrets.look_in_text(record.thought)
            _look_in_typed(secrets, record.action, fields, "")
        elif isinstance(record, Acted):
            for done in record.inputs:
                mark = done.marks.get("target")
                _look_in_typed(secrets, done.action, fields, mark.element.name if mark else record.target)


def _look_in_typed(secrets: Secrets, action: Any, fields: set[str], name: str) -> None:
    """Note what was typed into a field of a telling name, or one that shows bullets."""
    text = getattr(action, "text", "")
    target = getattr(action, "target", None)
    called = f"{name} {getattr(target, 'name', '')}"
    if text and (str(getattr(target, "ref", "")) in fields or TELLING.search(called)):
        secrets.add("password", text)
