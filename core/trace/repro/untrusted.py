"""Reads an untrusted trace database and copies it row by row into a new one.

Nothing in the file is executed: it is opened read-only, its schema must be exactly that of a trace of its
version, and only columns of its tables can be read. So a file with other generated columns, checks, defaults,
triggers, views or indexes is refused. The new database is made by our own migrations, and the type and size
of everything copied into it are checked.
"""

import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from core.schema.errors import DataError
from core.storage.compression import LARGEST
from core.storage.database import run_script, version_of
from core.trace.blobs import SMALL
from core.trace.database import APPLICATION_ID, KIND, MIGRATIONS

_SECONDS = 60.0
"""Of the processor's time for reading a file."""
_MOST_ROWS = 1_000_000
_MOST_CONTENT = 16 << 30
"""Bytes of all blobs together, unpacked."""
_LARGEST_NUMBER = 1_000_000
_COUNTED = frozenset(("step", "number", "position", "trial", "parent_step"))
"""Columns of small numbers from 0, by which steps and their parts are counted."""
_LARGEST_REAL = 6e10
"""Of seconds and dollars: a moment later than this is not a date (the year 3871)."""
_NEVER_COPIED = frozenset(("breakpoints", "watches"))
"""What belongs to a database and not to a run."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LARGEST,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 4,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 8,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_PRAGMAS = ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0")

SchemaRow = tuple[str, str, str, str | None]
"""Type, name, table and SQL of what a database is made of."""


class _Column(NamedTuple):
    name: str
    type: str
    """As it is declared: ``INTEGER``, ``REAL``, ``TEXT``, ``BLOB``, or nothing for text or bytes."""


class _Version(NamedTuple):
    """The schema of a version of trace databases."""

    schema: tuple[SchemaRow, ...]
    tables: dict[str, tuple[_Column, ...]]
    """Those whose rows are read, in the order in which they were made."""


def take_over(source: Path, target: Path, name: str) -> None:
    """Make the database `target` of what the file `source` has of its newest run and those it branched from.

    `target` has the version of the file. `name` is what sentences call the
    file. Raises DataError if the file is not a trace database through and
    through, or too large, and TraceError where it is too new.
    """
    try:
        with closing(_opened(source)) as connection:
            version = version_of(connection, source, KIND)
            if not version:
                raise DataError(f"{name} contains no run, so there is nothing to import.")
            known = _known(version)
            _restrict(connection, known)
            _check_schema(connection, known, name)
            with closing(sqlite3.connect(target, isolation_level=None)) as copy:
                _make(copy, version)
                _fill(copy, connection, known, name)
    except sqlite3.Error as error:
        raise DataError(f"{name} cannot be read: {_reason(error)}; get the file again.") from error
    except (
        UnicodeDecodeError
    ) as error:  # SQLite's own sentence about a damaged schema, which cannot be read either.
        raise DataError(
            f"{name} cannot be read: it is damaged, or not a trace; get the file again."
        ) from error


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
    )
    try:
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        end = time.thread_time() + _SECONDS
        connection.set_progress_handler(lambda: time.thread_time() > end, 10_000)
    except BaseException:
        connection.close()
        raise
    return connection


def _restrict(connection: sqlite3.Connection, known: _Version) -> None:
    """Allow only the reading of columns that are known, by plain SELECT."""
    columns = {(table, item.name) for table, some in known.tables.items() for item in some}
    columns |= {("sqlite_master", one) for one in ("type", "name", "tbl_name", "sql")}

    def permitted(
        action: int, table: str | None, column: str | None, database: str | None, inner: str | None
    ) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        reads_known = action == sqlite3.SQLITE_READ and (table, column) in columns
        return (
            sqlite3.SQLITE_OK if reads_known and database == "main" and inner is None else sqlite3.SQLITE_DENY
        )

    connection.set_authorizer(permitted)


@cache
def _known(version: int) -> _Version:
    with closing(sqlite3.connect(":memory:")) as database:
        for migration in MIGRATIONS[:version]:
            run_script(database, migration)
        schema = tuple(_schema(database))
        virtual = tuple(name for kind, name, _, sql in schema if kind == "table" and _is_virtual(sql))
        tables = {
            name: tuple(_Column(one[1], one[2]) for one in database.execute(f'PRAGMA table_info("{name}")'))
            for kind, name, _, _ in schema
            if kind == "table" and name not in _NEVER_COPIED and not name.startswith(virtual)
        }
    return _Version(schema, tables)


def _is_virtual(sql: str | None) -> bool:
    return bool(sql) and str(sql).startswith("CREATE VIRTUAL")


def _schema(connection: sqlite3.Connection) -> list[SchemaRow]:
    # Which migrations were applied is kept by sqlite-utils, and is nothing of a run.
    return connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema"
        " WHERE NOT (tbl_name = '_sqlite_migrations' AND type IN ('table', 'index')) LIMIT 1000"
    ).fetchall()


def _check_schema(connection: sqlite3.Connection, known: _Version, name: str) -> None:
    found = _schema(connection)
    differing = set(found) ^ set(known.schema)
    if differing or len(found) != len(known.schema):
        some = sorted({str(one[1]) for one in differing} or {"twice the same"})
        raise DataError(
            f"{name} is not a repro file: its tables are not those of a trace ({some[0][:40]!a} differs); "
            "get a new export of the run."
        )


def _make(copy: sqlite3.Connection, version: int) -> None:
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "foreign_keys = ON"):
        copy.execute(f"PRAGMA {pragma}").fetchall()
    for migration in MIGRATIONS[:version]:
        run_script(copy, migration)
    copy.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    copy.execute(f"PRAGMA user_version = {version}")


def _fill(copy: sqlite3.Connection, source: sqlite3.Connection, known: _Version, name: str) -> None:
    rows = _Rows(source, known, name)
    runs = rows.path()
    if not runs:
        raise DataError(f"{name} contains no run, so there is nothing to import.")
    blobs = _Blobs(rows)
    copy.execute("BEGIN")
    # What refers to what is looked at when all is there.
    copy.execute("PRAGMA defer_foreign_keys = ON")
    steps: set[int] = set()
    for table, columns in known.tables.items():
        names = ", ".join(column.name for column in columns)
        sql = f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
        for row in rows.of(table):
            if row.get("run", runs[0]) not in runs or (table in _OF_STEPS and row["step"] not in steps):
                continue
            if table == "blobs":
                blobs.check(row)
            elif table == "steps":
                steps.add(row["id"])
            elif table == "runs":
                row["owner"] = ""  # Nobody is at work on it here.
            copy.execute(sql, tuple(row.values()))
    copy.execute("COMMIT")


_OF_STEPS = frozenset(("phases", "phases_begun"))
"""Tables whose column ``step`` is the id of a step."""


class _Rows:
    """The rows of a file, each checked by type and size."""

    def __init__(self, source: sqlite3.Connection, known: _Version, name: str) -> None:
        self._source = source
        self._tables = known.tables
        self._name = name
        self._left = _MOST_ROWS

    def damaged(self, what: str) -> DataError:
        return DataError(f"{self._name} is damaged, or not a trace: {what}; get a new export of the run.")

    def of(self, table: str) -> Iterator[dict[str, Any]]:
        columns = self._tables[table]
        names = [one.name for one in columns]
        for values in self._source.execute(f"SELECT {', '.join(names)} FROM {table}"):
            self._left -= 1
            if self._left < 0:
                raise self.damaged(f"it has more than {_MOST_ROWS} rows")
            for column, value in zip(columns, values, strict=True):
                if not _fits(table, column, value):
                    raise self.damaged(
                        f"{column.name} of a row of {table} is not a valid {_WORDS[column.type]}"
                    )
            yield dict(zip(names, values, strict=True))

    def path(self) -> Sequence[int]:
        """Return the newest run and those that it branched from."""
        parents: dict[int, int | None] = {row["run"]: row["parent_run"] for row in self.of("runs")}
        found: list[int] = []
        at = max(parents, default=None)
        while at is not None and at not in found and at in parents:
            found.append(at)
            at = parents[at]
        return found


_WORDS = {"INTEGER": "number", "REAL": "number", "TEXT": "text", "BLOB": "content", "": "record"}


def _fits(table: str, column: _Column, value: Any) -> bool:
    if value is None:
        return True  # The tables say which may be missing.
    if column.type == "INTEGER":
        counted = column.name in _COUNTED and not (table in _OF_STEPS and column.name == "step")
        return type(value) is int and (not counted or 0 <= value <= _LARGEST_NUMBER)
    if column.type == "REAL":
        return type(value) in (int, float) and math.isfinite(value) and abs(value) <= _LARGEST_REAL
    if column.type == "TEXT":
        return type(value) is str
    return type(value) is bytes or (not column.type and type(value) is str)


class _Blobs:
    """Checks blobs, in the order of their ids, for content that takes more to decompress than a trace's own."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows
        self._dictionaries: set[int] = set()
        """Those by which others may be packed."""
        self._whole = 0

    def check(self, row: dict[str, Any]) -> None:
        """Raise DataError if a blob does not have the stated size, or is packed by another that may not be used."""
        try:
            packed = row["encoding"] == "zstd"
            size = zstandard.frame_content_size(row["data"]) if packed else len(row["data"])
        except (zstandard.ZstdError, TypeError) as error:
            raise self._rows.damaged("a blob cannot be unpacked") from error
        if size != row["size"]:
            raise self._rows.damaged("a blob does not have the stated size")
        if size > LARGEST:
            raise self._rows.damaged(f"a blob has more than {LARGEST >> 20} MB")
        if row["dictionary"] is None and size <= SMALL:
            self._dictionaries.add(row["id"])
        elif row["dictionary"] is not None and row["dictionary"] not in self._dictionaries:
            raise self._rows.damaged("a blob is compressed with an invalid dictionary")
        self._whole += size
        if self._whole > _MOST_CONTENT:
            raise self._rows.damaged(f"its blobs have more than {_MOST_CONTENT >> 30} GB")


def _reason(error: sqlite3.Error) -> str:
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
        return f"it takes more than {_SECONDS:g} seconds"
    return f"it is damaged, or not a trace ({str(error).rstrip('.')})"
