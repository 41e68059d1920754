"""Bringing a file to a newer version, for any kind of file."""

import sqlite3

import pytest

from core.schema.errors import LibraryError
from core.storage.database import DatabaseFile, FileKind

KIND = FileKind(
    noun="address book",
    application_id=0x41424344,
    error=LibraryError,
    migrations=("CREATE TABLE people (name TEXT)",),
    made_by="the first address makes it",
    updated_by="open it to write, to bring it up to date",
)
NEWER = KIND._replace(
    migrations=(
        *KIND.migrations,
        "ALTER TABLE people ADD COLUMN city TEXT DEFAULT 'Oslo'",
    )
)


FAIL_HALFWAY = "DELETE FROM people; CREATE TABLE people (name TEXT)"


def version(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "book.db"
    file = DatabaseFile.open(path, KIND)
    with file.write():
        file.execute("INSERT INTO people VALUES ('Ada')")
    file.close()
    return path


def test_an_old_file_is_upgraded_with_its_rows_and_a_copy_is_kept(old):
    file = DatabaseFile.open(old, NEWER)
    assert file.rows("SELECT * FROM people") == [{"name": "Ada", "city": "Oslo"}]
    file.close()
    assert (version(old), version(old.with_name("book.db.version-1"))) == (2, 1)


def test_a_migration_that_is_cut_off_leaves_the_file_as_it_was(old):
    with pytest.raises(LibraryError, match=r"The address book .* failed \(table people already exists\)"):
        DatabaseFile.open(old, KIND._replace(migrations=(*KIND.migrations, FAIL_HALFWAY)))
    assert not old.with_name("book.db-wal").exists(), "SQLite deletes it when the last connection is closed."
    file = DatabaseFile.open(old, KIND)
    assert (version(old), file.rows("SELECT name FROM people")) == (1, [{"name": "Ada"}])
    file.close()


def test_an_old_file_is_not_upgraded_by_reading(old):
    with pytest.raises(LibraryError, match="older version of this program; open it to write"):
        DatabaseFile.open(old, NEWER, read_only=True)
    assert version(old) == 1


def test_a_newer_file_is_refused(old):
    DatabaseFile.open(old, NEWER).close()
    with pytest.raises(LibraryError, match=r"The address book .* version 2, this program knows 1"):
        DatabaseFile.open(old, KIND)


def test_a_file_of_another_kind_is_refused(old):
    with pytest.raises(LibraryError, match="another program"):
        DatabaseFile.open(old, KIND._replace(application_id=0x44434241))


def test_without_room_for_the_copy_the_file_is_left_as_it_was(old):
    old.with_name("book.db.version-1.unfinished").mkdir()
    with pytest.raises(LibraryError, match="no backup could be written"):
        DatabaseFile.open(old, NEWER)
    assert version(old) == 1
