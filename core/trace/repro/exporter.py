"""A repro file: a trace database of one run, with the runs that it branched from, and without secrets.

Any installation can import the run into its database (``import``) and repeat it without a server or an LLM,
because their answers are in the file. What is secret, `core.schema.secrets` says. Secrets in pictures stay. The
user's own folder is ``~``, but for addresses and answers of sites; the importer's takes its place in addresses of
files.
"""

import re
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from core.schema.events import LogLine
from core.trace.exports.hiding import copied_without_secrets
from core.trace.store import TraceStore

_START = r"(?:(?<![\w.~\]-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4}))"
"""Where a path begins, also in JSON, in which a line break ends with a letter."""
_END = r"(?![\w@%-]|\.\w)"
_ADDRESS = r"https?://[^\s\"'<>`\\,;|)\]/]*+(?:/[^\s\"'<>`\\]*+)?"


def export_repro(store: TraceStore, run: int) -> bytes:
    """Return the file; raises TraceError if a part of the run is damaged."""
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        path = Path(folder) / "repro.db"
        copy, number = copied_without_secrets(
            store, run, path, own=_without_home, offline=bool(store.pages.network(run))
        )
        with closing(copy):
            if copy.left_out:
                told = LogLine(time=time.time(), source="export", text=copy.left_out)
                copy.save_log(number, told)
        return whole_file(path, compact=True)


def _without_home(text: str) -> str:
    """Return a text with ``~`` in place of the user's own folder; an address of a site stays as it is."""
    home = Path.home()
    if home == home.parent:
        return text
    written = "|".join(map(re.escape, {str(home), home.as_uri().removeprefix("file://")}))
    own = rf"{_ADDRESS}|{_START}(?:{written}){_END}"
    return re.sub(own, lambda found: found[0] if found[0].startswith("http") else "~", text)


def whole_file(path: Path, *, compact: bool = False) -> bytes:
    """Return a closed trace database as one file, which may lie if nothing can be written next to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        if compact:
            connection.execute("VACUUM")
    return path.read_bytes()
