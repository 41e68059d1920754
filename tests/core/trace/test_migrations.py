import sqlite3

import pytest

from core.schema.errors import TraceError
from core.trace.database import MIGRATIONS
from core.trace.store import TraceStore
from tests.core.trace.making import write_run

TABLES = {
    "blobs",
    "runs",
    "steps",
    "phases",
    "calls",
    "interventions",
    "events",
    "log",
    "runs_fts",
    "steps_fts",
}


def add_mood(database):
    database.execute("ALTER TABLE runs ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")


def fail_halfway(database):
    add_mood(database)
    database.execute("DELETE FROM runs")
    raise sqlite3.OperationalError("power cut")


def version(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


@pytest.fixture
def old(path):
    """A database of version 1 with two runs in it."""
    store = TraceStore.open(path, migrations=MIGRATIONS[:1])
    for instruction in ("Save the draft", "Send the letter"):
        write_run(store, instruction=instruction)
    store.close()
    return path


def test_version_1_has_its_tables(old):
    connection = sqlite3.connect(old)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    connection.close()
    assert tables >= TABLES
    assert version(old) == 1


def test_a_file_of_version_1_comes_to_have_room_for_breakpoints_and_keeps_its_runs(old):
    store = TraceStore.open(old)
    assert store.breakpoints() == store.watches() == store.hits(1) == ()
    assert store.add_breakpoint("loop", "{}") == 1
    assert store.count_runs() == 2
    store.close()
    assert version(old) == len(MIGRATIONS)
    assert version(old.with_name("traces.db.version-1")) == 1


def test_a_file_of_each_version_opens_with_its_runs(path):
    for number in range(1, len(MIGRATIONS) + 1):
        file = path.with_name(f"{number}.db")
        store = TraceStore.open(file, migrations=MIGRATIONS[:number])
        write_run(store)
        store.close()
        store = TraceStore.open(file)
        assert len(store.step(1, 2).records) == 10
        assert [run.run for run in store.runs("draft")] == [1]
        store.close()


def test_an_old_file_is_upgraded_with_its_data_and_a_copy_is_kept(old):
    store = TraceStore.open(old, migrations=(*MIGRATIONS, add_mood))
    assert [run.instruction for run in store.runs()] == ["Send the letter", "Save the draft"]
    assert [run.run for run in store.runs("letter")] == [2]
    assert len(store.step(1, 2).records) == 10
    assert store._database.rows("SELECT mood FROM runs") == [{"mood": "calm"}] * 2
    store.close()
    copy = old.with_name("traces.db.version-1")
    assert (version(old), version(copy)) == (len(MIGRATIONS) + 1, 1)
    before = TraceStore.open(copy, migrations=MIGRATIONS[:1], read_only=True)
    assert before.count_runs() == 2
    before.close()


def test_a_migration_that_is_cut_off_leaves_the_file_as_it_was(old):
    with pytest.raises(TraceError, match="power cut"):
        TraceStore.open(old, migrations=(*MIGRATIONS, fail_halfway))
    assert version(old) == len(MIGRATIONS)
    store = TraceStore.open(old)
    assert store.count_runs() == 2
    store.close()
    store = TraceStore.open(old, migrations=(*MIGRATIONS, add_mood))
    assert store.count_runs() == 2
    store.close()


def test_migrations_that_went_through_stay_when_a_later_one_fails(old):
    with pytest.raises(TraceError, match="power cut"):
        TraceStore.open(old, migrations=(*MIGRATIONS, lambda database: None, fail_halfway))
    assert version(old) == len(MIGRATIONS) + 1


def test_an_old_file_is_not_upgraded_by_reading(old):
    with pytest.raises(TraceError, match="older version"):
        TraceStore.open(old, migrations=(*MIGRATIONS, add_mood), read_only=True)
    assert version(old) == 1
    assert not old.with_name("traces.db.version-1").exists()


def test_a_new_file_is_made_without_a_copy(path):
    TraceStore.open(path, migrations=(*MIGRATIONS, add_mood)).close()
    assert [file.name for file in path.parent.iterdir()] == ["traces.db"]


def test_without_room_for_the_copy_the_file_is_left_as_it_was(old):
    old.with_name("traces.db.version-1.unfinished").mkdir()
    with pytest.raises(TraceError, match="no copy of it could be written"):
        TraceStore.open(old, migrations=(*MIGRATIONS, add_mood))
    assert version(old) == 1
