"""Bringing a database file to the version that this program knows, without losing what it holds.

A kind of file is told by `FileKind`. Version N of it is what the first N of
its migrations make; SQLite's ``user_version`` holds N. A migration that has
been released is never edited: a change is a new one at the end.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sqlite_utils import Database

from core.schema.errors import StoreError

Migration = Callable[[Database], None]


class FileKind(NamedTuple):
    """What is particular to one kind of database file."""

    noun: str
    """What sentences call it, such as "trace database"."""
    application_id: int
    """Marks the file as ours in its header."""
    error: type[StoreError]
    """What is raised where it fails."""
    migrations: tuple[Migration, ...]
    made_by: str
    """What makes the file where there is none, as the end of a sentence."""
    updated_by: str
    """What brings an old one up to date, the same."""

    @property
    def a_noun(self) -> str:
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def newest(self) -> int:
        return len(self.migrations)


def version_of(database: Database, path: Path, kind: FileKind) -> int:
    """Return the version of the file, 0 where it is empty; raises the kind's error if it is not ours or too new."""
    application, version = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version")
    )
    if application != kind.application_id:
        if application or version or database.table_names():
            raise kind.error(f"{path} is a database of another program; choose another file.")
        return 0
    if version > kind.newest:
        raise kind.error(
            f"The {kind.noun} {path} was written by a newer version of this program "
            f"(its tables are version {version}, this program knows {kind.newest}); "
            "update the program, or choose another file."
        )
    return version


def migrate(database: Database, path: Path, kind: FileKind) -> None:
    """Bring the file to the newest version, one transaction a migration.

    A file that holds anything is first copied to ``NAME.version-N`` beside
    it. Several programs may try at once: one does the work, the others wait
    and find it done.
    """
    version = version_of(database, path, kind)
    if version == kind.newest:
        return
    if version:
        _back_up(database, path, kind, version)
    while version < kind.newest:
        database.execute("BEGIN IMMEDIATE")
        try:
            # Another program may have been faster.
            version = version_of(database, path, kind)
            if version < kind.newest:
                kind.migrations[version](database)
                version += 1
                database.execute(f"PRAGMA application_id = {kind.application_id}")
                database.execute(f"PRAGMA user_version = {version}")
            database.execute("COMMIT")
        except BaseException:
            database.rollback()
            raise


def _back_up(database: Database, path: Path, kind: FileKind, version: int) -> None:
    target = path.with_name(f"{path.name}.version-{version}")
    unfinished = target.with_name(f"{target.name}.unfinished")
    try:
        unfinished.unlink(missing_ok=True)
        copy = sqlite3.connect(unfinished)
        try:
            database.conn.backup(copy)
        finally:
            copy.close()
        os.replace(unfinished, target)
    except (OSError, sqlite3.Error) as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise kind.error(
            f"The {kind.noun} {path} is of an older version and was left as it is, "
            f"because no copy of it could be written to {target} ({error}); make room there and try again."
        ) from error
