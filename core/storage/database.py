"""A database file: opening, migrations, transactions, and errors of SQLite as readable sentences.

A kind of file is described by `FileKind`: `core.trace.database` has the traces',
`core.exemplars.library.tables` that of the exemplar library. Version N of it is
what the first N of its migrations make; SQLite's ``user_version`` holds N. A
migration that has been released is never edited: a change is a new one at the
end.
"""

import contextlib
import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from core.schema.errors import StoreError
from core.schema.formats import encodable
from core.schema.hiding import Secrets

if TYPE_CHECKING:
    from sqlite_utils.db import Database, Table

BUSY_SECONDS = 30.0
"""How long the lock of another program is waited for."""
_MOMENT = 1.0
"""A lock that is shorter is waited for without a word."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

log = logging.getLogger(__name__)


class FileKind(NamedTuple):
    """The particulars of one kind of database file."""

    noun: str
    """What sentences call it, such as "trace database"."""
    application_id: int
    """Marks the file as ours in its header."""
    error: type[StoreError]
    """What is raised if it fails."""
    migrations: tuple[str, ...]
    """Scripts that each make a version out of the one before; an empty file is version 0."""
    made_by: str
    """What makes the file if there is none, as the end of a sentence."""
    updated_by: str
    """What brings an old one up to date, the same."""

    @property
    def a_noun(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def newest(self) -> int:
        return len(self.migrations)


def version_of(database: sqlite3.Connection, path: Path, kind: FileKind) -> int:
    """Return the version of the file, 0 if it is empty; raises the kind's error if it is not ours or too new."""
    # In one statement, so that what another program makes meanwhile is seen whole or not at all.
    application, version, tables = database.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application != kind.application_id:
        if application or version or tables:
            raise kind.error(f"{path} is a database of another program; choose another file.")
        return 0
    if version > kind.newest:
        raise kind.error(
            f"The {kind.noun} {path} was written by a newer version of this program "
            f"(its tables are version {version}, this program knows {kind.newest}); "
            "update the program, or choose another file."
        )
    return int(version)


class Lock(NamedTuple):
    """How long another program's lock on a file is waited for. One that takes longer than a moment is logged."""

    file: str = ""
    seconds: float = 0.0

    def wait(self, begin: Callable[[], object]) -> None:
        """Try to begin until the lock has gone; raises SQLite's error when the time is over."""
        started, told = time.monotonic(), False
        while True:
            try:
                begin()
                return
            except sqlite3.OperationalError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                waited = time.monotonic() - started
                if code not in _BUSY or waited >= self.seconds:
                    raise
            if waited >= _MOMENT and not told:
                told = True
                log.warning(
                    "The %s is locked by another program. Waiting for up to %.0f s.", self.file, self.seconds
                )
            time.sleep(0.01)


def migrate(
    database: sqlite3.Connection,
    path: Path,
    kind: FileKind,
    lock: Lock = Lock(),  # noqa: B008 - it is frozen
) -> None:
    """Bring the file to the newest version, in one transaction.

    A file that holds anything is first copied to ``NAME.version-N`` besides
    it. Several programs may try at once: one does the work, the others wait
    and find it done.
    """
    if version_of(database, path, kind) == kind.newest:
        return
    with transaction(database, "IMMEDIATE", lock):
        version = version_of(database, path, kind)  # Another program may have been faster.
        if 0 < version < kind.newest:
            _back_up(path, kind, version)
        _apply(database, kind, version)
        database.execute(f"PRAGMA application_id = {kind.application_id}")
        database.execute(f"PRAGMA user_version = {kind.newest}")


def _apply(database: sqlite3.Connection, kind: FileKind, version: int) -> None:
    """Apply the migrations after `version`; sqlite-utils keeps a table of those that were applied, and when."""
    from sqlite_utils.migrations import Migrations

    migrations = Migrations(kind.noun)
    for number, script in enumerate(kind.migrations, start=1):
        # Files from before that table are taken up where their version says.
        wanted = script if number > version else ""

        def apply(tables: "Database", /, script: str = wanted) -> None:
            run_script(tables.conn, script)

        migrations(name=f"version {number}")(apply)
    migrations.apply(_tables(database))


def _tables(database: sqlite3.Connection) -> "Database":
    from sqlite_utils.db import Database

    return Database(database, recursive_triggers=False, execute_plugins=False)


def run_script(database: sqlite3.Connection, script: str) -> None:
    """Do the statements one by one, in the transaction that is open: ``executescript`` would commit it."""
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            database.execute(statement)
            statement = ""
    database.execute(statement)


def _back_up(path: Path, kind: FileKind, version: int) -> None:
    target = path.with_name(f"{path.name}.version-{version}")
    unfinished = target.with_name(f"{target.name}.unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        # SQLite copies nothing from a connection with a transaction, so another one reads.
        with (
            contextlib.closing(sqlite3.connect(path)) as source,
            contextlib.closing(sqlite3.connect(unfinished)) as copy,
        ):
            source.backup(copy)
        os.replace(unfinished, target)
    except (OSError, sqlite3.Error) as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise kind.error(
            f"The {kind.noun} {path} is from an older version. It was not changed, because no backup could "
            f"be written to {target} ({error}); free some space there and try again."
        ) from error


Parameters = Sequence[Any] | dict[str, Any]

_CANNOT_KEEP_NOTES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_DAMAGE = re.compile("decode to UTF-8|no such|malformed|unsupported file format|vtable constructor failed")
_MISTAKES = (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.NotSupportedError)


class DatabaseFile:
    """One connection to one database file; every block of `write` or `read` is one transaction.

    Safe to use from several threads, which then take turns.
    """

    def __init__(self, path: Path, kind: FileKind, database: sqlite3.Connection, *, read_only: bool) -> None:
        self.path = path
        self.kind = kind
        self.read_only = read_only
        self._lock = Lock()
        self._database = database
        self._file = _file_at(path)
        self._tables: Database | None = None
        self._turn = threading.RLock()
        self.secrets = Secrets()
        """What is not stored, but a name in its place."""

    @property
    def is_current(self) -> bool:
        """Whether its path names the file that is open: not if it was moved, deleted or replaced since."""
        return self._file == _file_at(self.path)

    def hidden(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return columns as they may be stored: names in place of secrets, and texts that SQLite can hold."""
        return {name: self._hidden(value) for name, value in values.items()}

    def _hidden(self, value: Any) -> Any:
        return self.secrets.text(encodable(value)) if isinstance(value, str) else value

    @classmethod
    def open(
        cls,
        path: Path,
        kind: FileKind,
        *,
        read_only: bool = False,
        busy_seconds: float = BUSY_SECONDS,
    ) -> Self:
        """Open the file, make it if there is none, and bring its tables up to date.

        With `read_only` the file must exist and be up to date. Raises the kind's error.
        """
        try:
            if path.is_dir():
                raise kind.error(f"{path} is a folder; give a file in it as the {kind.noun}.")
            if read_only and not path.exists():
                raise kind.error(f"There is no {kind.noun} {path} yet; {kind.made_by}.")
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise kind.error(
                f"The folder {path.parent} of the {kind.noun} cannot be used ({error.strerror}); "
                "choose another place for it."
            ) from error
        if read_only:
            return cls(path, kind, _open_to_read(path, kind, busy_seconds), read_only=True)
        with failures_of(path, kind):
            database = _connect(path, "mode=rwc", min(busy_seconds, _MOMENT))
            lock = Lock(f"{kind.noun} {path}", busy_seconds)
            try:
                version_of(database, path, kind)
                _prepare(database, lock)
                migrate(database, path, kind, lock)
            except BaseException:
                database.close()
                raise
        file = cls(path, kind, database, read_only=False)
        file._lock = lock
        return file

    @classmethod
    def in_memory(cls, kind: FileKind) -> Self:
        """Make one that is gone when it is closed."""
        path = Path(":memory:")
        database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(database, path, kind)
        return cls(path, kind, database, read_only=False)

    @classmethod
    def of_content(cls, content: bytes, kind: FileKind) -> Self:
        """Open a whole file that is up to date in memory, to be read only; raises the kind's error."""
        path = Path(":memory:")
        database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            with failures_of(path, kind):
                database.deserialize(content)
                version = version_of(database, path, kind)
        except BaseException:
            database.close()
            raise
        if version != kind.newest:
            database.close()
            raise kind.error(f"The file given as {kind.a_noun} is from another version of this program.")
        return cls(path, kind, database, read_only=True)

    @contextmanager
    def write(self) -> Generator[None, None, None]:
        """Do all of the block or nothing of it; raises the kind's error when SQLite fails."""
        if self.read_only:
            raise self.kind.error(f"The {self.kind.noun} {self.path} was opened read-only.")
        with (
            self._turn,
            failures_of(self.path, self.kind),
            transaction(self._database, "IMMEDIATE", self._lock),
        ):
            yield

    @contextmanager
    def write_unchecked(self) -> Generator[None, None, None]:
        """Write as `write` does, without SQLite's check of references: it reads whole tables for each row deleted."""
        with self._turn:
            self._database.execute("PRAGMA foreign_keys = OFF")
            try:
                with self.write():
                    yield
            finally:
                self._database.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def read(self) -> Generator[None, None, None]:
        """See one state of the database throughout the block; raises the kind's error when SQLite fails."""
        with self._turn, failures_of(self.path, self.kind), transaction(self._database, "DEFERRED"):
            yield

    def table(self, name: str) -> "Table":
        """Return a table of sqlite-utils, to write in inside the transaction that is open.

        For what is written now and then. Steps are stored by `insert` and
        `update`, which need no look at the table, and hide secrets.
        """
        if self._tables is None:
            self._tables = _tables(self._database)
        return self._tables.table(name)

    def rows(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        cursor = self.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def row(self, sql: str, parameters: Parameters = ()) -> dict[str, Any] | None:
        rows = self.rows(sql, parameters)
        return rows[0] if rows else None

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        try:
            return self._database.execute(sql, parameters)
        except UnicodeEncodeError:
            if isinstance(parameters, dict):
                return self._database.execute(sql, {name: _plain(one) for name, one in parameters.items()})
            return self._database.execute(sql, list(map(_plain, parameters)))

    def insert(self, table: str, values: Mapping[str, Any], *, replace: bool = False) -> int:
        """Store a row, with `replace` in place of the one of its key, and return its number."""
        columns, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        verb = "INSERT OR REPLACE" if replace else "INSERT"
        cursor = self.execute(
            f"{verb} INTO {table} ({columns}) VALUES ({marks})",
            list(self.hidden(values).values()),
        )
        return cursor.lastrowid or 0

    def update(self, table: str, key: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Change these values of the rows that have all columns of `key`."""
        columns = ", ".join(f"{column} = ?" for column in values)
        where = " AND ".join(f"{column} = ?" for column in key)
        changed = [self._hidden(value) for value in (*values.values(), *key.values())]
        self.execute(f"UPDATE {table} SET {columns} WHERE {where}", changed)

    def seen_changes(self) -> int:
        """Return a number that is another one once another connection has changed the file."""
        with self._turn, failures_of(self.path, self.kind):
            return int(self.rows("PRAGMA data_version")[0]["data_version"])

    def execute_script(self, sql: str) -> None:
        """Do several statements, each by itself; raises the kind's error when SQLite fails."""
        with self._turn, failures_of(self.path, self.kind):
            run_script(self._database, sql)

    @property
    def free_room(self) -> int:
        """Bytes of the file that hold nothing."""
        row = self.row(
            "SELECT freelist_count * page_size AS room FROM pragma_freelist_count, pragma_page_size"
        )
        return 0 if row is None else int(row["room"])

    def compact(self) -> None:
        """Give the free room of the file back to the disk, which takes as much room again meanwhile.

        Raises the kind's error, with nothing changed.
        """
        with self._turn, failures_of(self.path, self.kind):
            self._database.execute("VACUUM")
            self.checkpoint()

    def checkpoint(self) -> None:
        """Move what was written lately from the log beside the file into the file, unless another program reads."""
        with self._turn, failures_of(self.path, self.kind):
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def aside(self) -> Generator[None, None, None]:
        """Do all of the block or nothing of it, in temporary tables alone: nobody has to wait for it."""
        with self._turn, failures_of(self.path, self.kind), transaction(self._database, "DEFERRED"):
            yield

    def damaged(self) -> StoreError:
        """Return the error for content that cannot be right."""
        return self.kind.error(damaged(self.path, self.kind))

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        with self._turn:
            self._database.close()


def _file_at(path: Path) -> tuple[int, int] | None:
    """Return which file of the disk a path names; None if it names none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def transaction(
    database: sqlite3.Connection,
    kind: str,
    lock: Lock = Lock(),  # noqa: B008 - it is frozen
) -> Generator[None, None, None]:
    """Begin a transaction of this kind, or continue in the one that is open."""
    if database.in_transaction:
        yield
        return
    lock.wait(lambda: database.execute(f"BEGIN {kind}"))
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        database.rollback()
        raise


@contextmanager
def failures_of(path: Path, kind: FileKind) -> Generator[None, None, None]:
    """Turn SQLite's errors into the kind's error; wrong use of it stays what it is."""
    try:
        yield
    except _MISTAKES:
        raise
    except sqlite3.Error as error:
        raise kind.error(_sentence(error, path, kind)) from error
    except (
        UnicodeDecodeError
    ) as error:  # Python's own sentence about a damaged schema, which it cannot read either.
        raise kind.error(damaged(path, kind)) from error
    except OverflowError as error:
        raise kind.error(
            f"A number is too large for the {kind.noun} {path}; use numbers of at most 18 digits."
        ) from error


def _sentence(error: sqlite3.Error, path: Path, kind: FileKind) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    text = str(error).rstrip(".")
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"The {kind.noun} {path} is locked by another program; close that program, or try again later."
        case sqlite3.SQLITE_READONLY:
            return (
                f"The {kind.noun} {path} is read-only; make the file and its folder writable, or choose "
                "another file."
            )
        case sqlite3.SQLITE_FULL:
            return (
                f"There is no space left for the {kind.noun} {path}; free some space there. Everything saved "
                "before is kept."
            )
        case sqlite3.SQLITE_NOTADB if not _is_marked(path, kind):
            return f"{path} is not {kind.a_noun}; choose another file."
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return (
                f"The {kind.noun} {path} cannot be opened ({text}); "
                "check the permissions of the file and its folder."
            )
        case sqlite3.SQLITE_IOERR:
            return f"The disk with the {kind.noun} {path} failed ({text}); check the disk, then try again."
        case sqlite3.SQLITE_CONSTRAINT:
            return f"The {kind.noun} {path} refused an inconsistent row ({text})."
    # Python itself reports text that is no UTF-8, and some damage has no code of its own.
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or _DAMAGE.search(text):
        return damaged(path, kind)
    return f"The {kind.noun} {path} failed ({text}); try again, or choose another file."


def _is_marked(path: Path, kind: FileKind) -> bool:
    """Return whether the file's header still says that it is of this kind."""
    try:
        with path.open("rb") as file:
            return file.read(72)[68:] == kind.application_id.to_bytes(4)
    except OSError:
        return False


def damaged(path: Path, kind: FileKind) -> str:
    """Return the sentence for a file whose content cannot be right."""
    return (
        f"The {kind.noun} {path} is damaged. Move it away to start a new one. "
        f'To recover the readable parts, run: sqlite3 "{path}" .recover'
    )


def _plain(value: Any) -> Any:
    """Return a value as SQLite can hold it."""
    return encodable(value) if isinstance(value, str) else value


def _connect(path: Path, options: str, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )


def _prepare(database: sqlite3.Connection, lock: Lock) -> None:
    # SQLite itself does not wait for other programs there.
    lock.wait(lambda: database.execute("PRAGMA journal_mode = WAL").fetchone())
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute("PRAGMA foreign_keys = ON")
    # SQLite opens a file it may not write as if all were well: ask before a run depends on it.
    with transaction(database, "IMMEDIATE", lock):
        pass


def _open_to_read(path: Path, kind: FileKind, busy_seconds: float) -> sqlite3.Connection:
    with failures_of(path, kind):
        database = _connect(path, "mode=ro", busy_seconds)
        try:
            database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError as error:
            database.close()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _CANNOT_KEEP_NOTES:
                raise
            unwritten = path.with_name(path.name + "-wal")
            if unwritten.exists() and unwritten.stat().st_size:
                raise kind.error(
                    f"The {kind.noun} {path} was not closed and is in a read-only folder; copy it and "
                    f"{unwritten.name} to a writable folder and open it there."
                ) from error
            # Nobody can write there, so the file cannot change under the reader.
            database = _connect(path, "mode=ro&immutable=1", busy_seconds)
        except BaseException:
            database.close()
            raise
        try:
            version = version_of(database, path, kind)
            if version < kind.newest:
                raise kind.error(
                    f"The {kind.noun} {path} was made by an older version of this program; {kind.updated_by}."
                    if version
                    else f"The {kind.noun} {path} is empty; {kind.made_by}."
                )
        except BaseException:
            database.close()
            raise
    return database


MOST_WORDS = 40


def phrases_of(query: str) -> list[str]:
    """Return each word as a phrase of its own; the last may be only begun.

    Words beyond the fortieth are not looked at.
    """
    words = [word for word in query.replace("\0", " ").split() if any(map(str.isalnum, word))][:MOST_WORDS]
    phrases = ['"{}"'.format(encodable(word).replace('"', '""')) for word in words]
    if phrases:
        phrases[-1] += " *"
    return phrases


def match_of(query: str) -> str:
    """Return what a row must match for all words to occur in it; empty if there are none."""
    return " AND ".join(phrases_of(query))
