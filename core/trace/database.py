"""The database file: opening it, transactions, and SQLite's failures as sentences.

What the tables are is left to `core.trace.migrations`.
"""

import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from core.errors import TraceError
from core.trace.migrations import (
    MIGRATIONS,
    Migration,
    migrate,
    version_of,
)

Parameters = Sequence[Any] | dict[str, Any]

_CANNOT_KEEP_NOTES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_MISTAKES = (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.NotSupportedError)


class TraceDatabase:
    """One connection to one database file; every block of `write` or `read` is one transaction.

    Safe to use from several threads, which then take turns.
    """

    def __init__(self, path: Path, database: Database, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self._database = database
        self._turn = threading.RLock()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        read_only: bool = False,
        busy_seconds: float = 5.0,
        migrations: tuple[Migration, ...] = MIGRATIONS,
    ) -> "TraceDatabase":
        """Open the file, make it where there is none, and bring its tables up to date.

        With `read_only` the file must exist and be up to date. Raises TraceError.
        """
        try:
            if path.is_dir():
                raise TraceError(f"{path} is a folder; name a file in it as the trace database.")
            if read_only and not path.exists():
                raise TraceError(f"There is no trace database {path} yet; the first run makes it.")
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TraceError(
                f"The folder {path.parent} of the trace database cannot be used ({error.strerror}); "
                "choose another place for it."
            ) from error
        if read_only:
            return cls(path, _open_to_read(path, busy_seconds, len(migrations)), read_only=True)
        with failures_of(path):
            database = _connect(path, "mode=rwc", busy_seconds)
            try:
                version_of(database, path, len(migrations))
                _prepare(database)
                migrate(database, path, migrations)
            except BaseException:
                database.close()
                raise
        return cls(path, database, read_only=False)

    @contextmanager
    def write(self) -> Generator[None, None, None]:
        """Do all of the block or nothing of it; raises TraceError when SQLite fails."""
        if self.read_only:
            raise TraceError(f"The trace database {self.path} was opened to be read only.")
        with self._turn, failures_of(self.path), transaction(self._database, "IMMEDIATE"):
            yield

    @contextmanager
    def read(self) -> Generator[None, None, None]:
        """See one state of the database throughout the block; raises TraceError when SQLite fails."""
        with self._turn, failures_of(self.path), transaction(self._database, "DEFERRED"):
            yield

    def rows(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        cursor = self._database.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def row(self, sql: str, parameters: Parameters = ()) -> dict[str, Any] | None:
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        return self._database.execute(sql, parameters)

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        with self._turn:
            self._database.close()


@contextmanager
def transaction(database: Database, kind: str) -> Generator[None, None, None]:
    """Begin a transaction of this kind, or go on in the one that is open."""
    if database.conn.in_transaction:
        yield
        return
    database.execute(f"BEGIN {kind}")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        database.rollback()
        raise


@contextmanager
def failures_of(path: Path) -> Generator[None, None, None]:
    """Turn SQLite's errors into TraceError; wrong use of it stays what it is."""
    try:
        yield
    except _MISTAKES:
        raise
    except sqlite3.Error as error:
        raise TraceError(_sentence(error, path)) from error
    except OverflowError as error:
        raise TraceError(
            f"A number is too large for the trace database {path}; use numbers of at most 18 digits."
        ) from error


def _sentence(error: sqlite3.Error, path: Path) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    text = str(error).rstrip(".")
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return (
                f"The trace database {path} is locked by another program; "
                "close what else has it open, or try again later."
            )
        case sqlite3.SQLITE_READONLY:
            return (
                f"The trace database {path} can only be read; make the file and its folder writable, "
                "or choose another file."
            )
        case sqlite3.SQLITE_FULL:
            return (
                f"There is no room left for the trace database {path}; free some space there. "
                "What was saved before is kept."
            )
        case sqlite3.SQLITE_NOTADB:
            return f"{path} is not a trace database; choose another file."
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return (
                f"The trace database {path} cannot be opened ({text}); "
                "check that the file and its folder may be read and written."
            )
        case sqlite3.SQLITE_IOERR:
            return (
                f"The disk failed under the trace database {path} ({text}); check the disk, then try again."
            )
        case sqlite3.SQLITE_CONSTRAINT:
            return f"The trace database {path} refused a row that does not fit the others ({text})."
    # Python itself reports text that is no UTF-8, and a lost table has no code of its own.
    if code == sqlite3.SQLITE_CORRUPT or "decode to UTF-8" in text or "no such" in text:
        return damaged(path)
    return f"The trace database {path} failed ({text}); try again, or choose another file."


def damaged(path: Path) -> str:
    """Return the sentence for a file whose content cannot be right."""
    return (
        f"The trace database {path} is damaged; move it aside to begin a new one, "
        f'and get back what can be read with: sqlite3 "{path}" .recover'
    )


def _connect(path: Path, options: str, busy_seconds: float) -> Database:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        return Database(connection, execute_plugins=False)
    except BaseException:
        connection.close()
        raise


def _prepare(database: Database) -> None:
    database.execute("PRAGMA journal_mode = WAL").fetchone()
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA foreign_keys = ON")
    # SQLite opens a file it may not write as if all were well: ask before a run depends on it.
    with transaction(database, "IMMEDIATE"):
        pass


def _open_to_read(path: Path, busy_seconds: float, newest: int) -> Database:
    with failures_of(path):
        database = _connect(path, "mode=ro", busy_seconds)
        try:
            database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError as error:
            database.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _CANNOT_KEEP_NOTES:
                raise
            unwritten = path.with_name(path.name + "-wal")
            if unwritten.exists() and unwritten.stat().st_size:
                raise TraceError(
                    f"The trace database {path} was not closed and lies where nothing may be written; "
                    f"copy it and {unwritten.name} into a writable folder and open it there."
                ) from error
            # Nobody can write there, so the file cannot change under the reader.
            database = _connect(path, "mode=ro&immutable=1", busy_seconds)
        except BaseException:
            database.close()
            raise
        try:
            version = version_of(database, path, newest)
            if version < newest:
                raise TraceError(
                    f"The trace database {path} was made by an older version of this program; "
                    "begin a run with it, or open it in the window, to bring it up to date."
                    if version
                    else f"The trace database {path} is empty; the first run fills it."
                )
        except BaseException:
            database.close()
            raise
    return database
