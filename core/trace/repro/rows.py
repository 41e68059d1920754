"""Copies runs from one trace database into another, row by row, whatever tables there are.

The rows of a run are found by the tables' references to runs and steps. Ids are renumbered where the other
database has its own. Each function works inside the transactions that are open.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import zstandard

from core.schema.errors import TraceError
from core.storage import compression
from core.trace.database import TraceDatabase
from core.trace.pruning import references
from core.trace.records import ATTACHED_NAME

_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_TEXTUAL = re.compile(
    r"^(text/|application/(json|javascript|xml|x-www-form-urlencoded)|image/svg)|\+(json|xml)$"
)
_NOT_OURS = ("hits", "breakpoint"), ("hits", "watch")
"""Columns that name what belongs to a database and not to a run."""
_NOT_COPIED = ("attempts",)
"""Tables that tie runs to others of this database, by their numbers or as an evaluation: elsewhere these are others."""
_FIRST = ("runs", "steps")


Change = Callable[[str], str]
"""What becomes of a text; `str` leaves it as it is."""


class Table(NamedTuple):
    """A table with rows that belong to runs."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    key: str
    """The column that numbers its rows by itself; empty if other columns name them."""
    references: dict[str, str]
    """Column to the table that it refers to."""


def tables_of(database: TraceDatabase) -> tuple[Table, ...]:
    """Return the tables with rows that belong to runs, each after those that it refers to."""
    found: dict[str, Table] = {}
    for row in database.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"):
        name = row["name"]
        info = database.rows(f'PRAGMA table_info("{name}")')
        references = {
            one["from"]: one["table"] for one in database.rows(f'PRAGMA foreign_key_list("{name}")')
        }
        if name in _NOT_COPIED:
            continue
        if name != "runs" and not {"runs", "steps"} & set(references.values()):
            continue
        keys = [one["name"] for one in info if one["pk"]]
        own = keys[0] if len(keys) == 1 and keys[0] not in references else ""
        found[name] = Table(name, tuple(one["name"] for one in info), tuple(keys), own, references)
    return tuple(
        sorted(
            found.values(),
            key=lambda one: (one.name not in _FIRST, _FIRST.index(one.name) if one.name in _FIRST else 0),
        )
    )


def hide_in(database: TraceDatabase, runs: Sequence[int], change: Change) -> bool:
    """Change the text of runs where they are, and leave nothing of it as it was before but in the indexes of words.

    To be called where references are not checked: each blob that goes would have whole tables read. Returns whether
    `forget_words` is to be called for these.
    """
    database.execute("PRAGMA secure_delete = ON").fetchall()
    copier = Copier(database, database, change, same_numbers=True)
    indexed = False
    for table in tables_of(database):
        for row in copier.rows(table, runs):
            held = {
                name: copier.value(table, name, value)
                for name, value in row.items()
                if name not in (*table.keys, "page") and table.references.get(name, "blobs") == "blobs"
            }
            changed = {name: value for name, value in held.items() if value != row[name]}
            if changed:
                database.update(table.name, {name: row[name] for name in table.keys}, changed)
                indexed = indexed or table.name in _FIRST
    renamed = {id: now for id, now in copier.blobs.items() if now[0] != id}
    if renamed:
        became = json.dumps({id: now for id, (now, _) in renamed.items()})
        for place, column in references(database):
            database.execute(
                f"""UPDATE "{place}" SET "{column}" = json_extract(:became, '$."' || "{column}" || '"')"""
                f' WHERE "{column}" IN (SELECT CAST(key AS INTEGER) FROM json_each(:became))',
                {"became": became},
            )
        database.blobs.rename({id: name for id, (_, name) in renamed.items()})
    return indexed


class Copier:
    """Copies runs with all that belongs to them."""

    def __init__(
        self,
        source: TraceDatabase,
        target: TraceDatabase,
        change: Change,
        *,
        own: Change = str,
        same_numbers: bool = False,
        whole: bool = False,
    ) -> None:
        """Change all text by `change`, and then what is no request to a server and no answer of one by `own`.

        With `whole`, the copy has the user's own files as well: the copied runs stay with their user.
        """
        self._whole = whole
        self._source, self._target = source, target
        self._same_numbers = same_numbers
        self._change, self._own = change, own
        self._numbers: dict[str, dict[int, int]] = {name: {} for name in _FIRST}
        self.blobs: dict[int, tuple[int, str]] = {}

    def copy(self, runs: Sequence[int]) -> dict[int, int]:
        """Copy these runs, each after the one that it branched from; return their numbers there.

        Raises TraceError if something of them is damaged: the transaction
        of the target is to be given up then.
        """
        for table in tables_of(self._source):
            for row in self.rows(table, runs):
                self._insert(table, row)
        return self._numbers["runs"]

    def rows(self, table: Table, runs: Sequence[int]) -> list[dict[str, Any]]:
        """Return the rows of a table that belong to runs."""
        if "runs" in table.references.values() and table.name != "runs":
            column = next(name for name, to in table.references.items() if to == "runs")
            where = f"{column} = ?"
        elif table.name == "runs":
            where = "run = ?"
        else:
            column = next(name for name, to in table.references.items() if to == "steps")
            where = f"{column} IN (SELECT id FROM steps WHERE run = ?)"
        order = ", ".join(f'"{name}"' for name in ([table.key] if table.key else table.columns[:2]))
        rows = [
            row
            for run in runs
            for row in self._source.rows(f"SELECT * FROM {table.name} WHERE {where} ORDER BY {order}", (run,))
        ]
        if table.name == "runs" and self._source is not self._target:
            # Going back starts the program that an attached agent is: none that a file names is ever started.
            # The user's own files are the user's, and most of them have nothing to do with the run.
            own = {} if self._whole else {"own_files": None}
            program = {"preset_text": None}
            rows = [{**row, **own, **(program if row["preset"] == ATTACHED_NAME else {})} for row in rows]
        return rows

    def _insert(self, table: Table, row: dict[str, Any]) -> None:
        values = {name: self.value(table, name, value) for name, value in row.items() if name != table.key}
        if self._same_numbers and table.name in _FIRST:
            values[table.key] = row[table.key]
        if table.name == "runs":
            values["owner"] = row["owner"] if self._same_numbers else ""  # Nobody is at work on it there.
            if values["parent_run"] is None:
                values["parent_step"] = None
        number = self._target.insert(table.name, values)
        if table.name in self._numbers:
            self._numbers[table.name][row[table.key]] = number

    def value(self, table: Table, column: str, value: Any) -> Any:
        """Return what a column holds in the copy."""
        if value is None or (table.name, column) in _NOT_OURS:
            return None
        to = table.references.get(column)
        is_file = column == "url" and value.startswith("file:")
        own = str if table.name == "exchanges" and not is_file else self._own
        if to == "blobs":
            return self._blob(value, own)[0]
        if to is not None:
            return self._numbers[to].get(value)
        if isinstance(value, str):
            return self._text(value, own)
        if isinstance(value, bytes):
            try:
                text = compression.decompress(value).decode()
                changed = self._text(text, own)
                return value if changed == text else compression.compress(changed.encode())
            except (zstandard.ZstdError, UnicodeDecodeError) as error:
                if self._same_numbers:
                    return value
                raise self._source.damaged() from error
        return value

    def _text(self, text: str, own: Change) -> str:
        """Return the text changed, with the names that the blobs have there which it names."""
        return own(self._change(_HASH.sub(self._renamed, text)))

    def _renamed(self, found: re.Match[str]) -> str:
        id = self._source.blobs.id_if_known(found[0])
        return found[0] if id is None else self._blob(id, self._own)[1]

    def _blob(self, id: int, own: Change) -> tuple[int, str]:
        known = self.blobs.get(id)
        if known is None:
            try:
                data, media_type = self._source.blobs.content_and_type(id)
            except TraceError:
                if not self._same_numbers:
                    raise
                known = self.blobs[id] = self._damaged_blob(id)
                return known
            if _TEXTUAL.search(media_type):
                text = self._text(data.decode(errors="surrogateescape"), own)
                data = text.encode(errors="surrogateescape")
            known = self.blobs[id] = self._target.blobs.put(data, media_type)
        return known

    def _damaged_blob(self, id: int) -> tuple[int, str]:
        name = self._source.blobs.name_of(id)
        return (id, name) if self._source is self._target else self._target.blobs.put_damaged(name)
