"""Opening the database, and what can be wrong with it."""

import contextlib
import logging
import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.schema.errors import TraceError
from core.storage.database import Lock, log
from core.trace.database import MIGRATIONS
from core.trace.store import TraceStore
from tests.core.killable import Killable
from tests.core.trace.making import overwrite, start, write_run
from tests.core.trace.writer import write_a_run_each

NOBODY = 65534


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """Act as a user for whom file modes count: root reads and writes everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_folder_and_file_are_made_where_there_are_none(path):
    assert not path.parent.exists()
    TraceStore.open(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["traces.db"]


def test_a_name_with_signs_that_mean_something_in_addresses_is_a_plain_name(tmp_path):
    path = tmp_path / "my runs? 100%#1.db"
    store = TraceStore.open(path)
    write_run(store)
    store.close()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_database_is_in_wal_mode_and_checks_references(store):
    pragmas = {
        name: store._database.rows(f"PRAGMA {name}")[0][name] for name in ("journal_mode", "synchronous")
    }
    assert pragmas == {"journal_mode": "wal", "synchronous": 1}
    assert store._database.rows("PRAGMA foreign_keys") == [{"foreign_keys": 1}]


def test_a_new_file_that_another_program_has_just_made_is_waited_for(path):
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
        release.start()
        TraceStore.open(path).close()
        release.join()


def test_several_programs_may_make_the_same_database_at_once(tmp_path):
    programs = [Killable(write_a_run_each) for _ in range(4)]
    for number in range(10):
        for program in programs:
            program.go_on(tmp_path / f"{number}.db")
        assert [program.said() for program in programs] == [""] * 4
        store = TraceStore.open(tmp_path / f"{number}.db")
        assert len(store.runs()) == 4
        store.close()
    for program in programs:
        program.kill()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_is_refused_by_name(tmp_path, read_only):
    with pytest.raises(TraceError, match="is a folder"):
        TraceStore.open(tmp_path, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, read_only):
    path = tmp_path / "notes.txt"
    path.write_text("These are notes and not a database at all. " * 100)
    before = path.read_bytes()
    with pytest.raises(TraceError, match="is not a trace database"):
        TraceStore.open(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path, read_only):
    path = tmp_path / "places.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE places (name TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(TraceError, match="another program"):
        TraceStore.open(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_database_is_refused_and_left_alone(path, read_only):
    TraceStore.open(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(
        TraceError, match=rf"newer version .*version 99, this program knows {len(MIGRATIONS)}"
    ):
        TraceStore.open(path, read_only=read_only)
    assert not path.with_name("traces.db.version-99").exists()


def test_a_locked_database_is_said_to_be_locked_when_it_is_opened(path):
    TraceStore.open(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(TraceError, match="locked by another program"):
        TraceStore.open(path, busy_seconds=0)
    other.execute("ROLLBACK")
    other.close()
    TraceStore.open(path, busy_seconds=0).close()


def test_a_database_locked_in_the_midst_of_a_run_loses_nothing(store, path, monkeypatch):
    run = write_run(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(store._database, "_lock", Lock())
    with pytest.raises(TraceError, match="locked by another program"):
        store.begin_step(run, 3)
    assert [step.number for step in store.steps(run)] == [1, 2]
    other.execute("ROLLBACK")
    other.close()
    store.begin_step(run, 3)
    assert [step.number for step in store.steps(run)] == [1, 2, 3]


@pytest.mark.parametrize("opened", [False, True])
def test_the_lock_of_another_program_is_waited_for_and_told(path, monkeypatch, opened):
    monkeypatch.setattr("core.storage.database._MOMENT", 0.05)
    store = TraceStore.open(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    told = []

    class Listener(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())
            other.execute("ROLLBACK")

    listener = Listener()
    log.addHandler(listener)
    try:
        if opened:
            TraceStore.open(path).close()
        assert store.begin_run(start()) == 1
    finally:
        log.removeHandler(listener)
    assert told == [f"The trace database {path} is locked by another program. Waiting for up to 30 s."]
    other.close()
    store.close()


def test_reading_goes_on_while_another_program_writes(path):
    store = TraceStore.open(path)
    run = write_run(store)
    with store._database.write():
        store._database.execute("UPDATE runs SET answer = 'half done'")
        reader = TraceStore.open(path, read_only=True, busy_seconds=0)
        assert reader.run(run).answer == ""
        reader.close()
    store.close()


@pytest.mark.parametrize("first", [0.2, 0.35, 0.5, 0.65])
def test_a_damaged_database_never_answers_with_anything_but_a_sentence(path, first):
    store = TraceStore.open(path)
    runs = [write_run(store, steps=3, instruction=f"Task number {number}") for number in range(20)]
    store.close()
    overwrite(path, first=first, last=first + 0.3)
    problems = []
    try:
        store = TraceStore.open(path)
    except TraceError as error:
        problems.append(str(error))
    else:
        readings = [lambda run=run: [store.step(run, n) for n in (1, 2, 3)] for run in runs]
        for reading in [store.check, lambda: store.runs("task number"), *readings]:
            try:
                reading()
            except TraceError as error:
                problems.append(str(error))
        with contextlib.suppress(TraceError):
            write_run(store)
        store.close()
    assert problems
    assert all(
        "damaged" in problem or "has no" in problem or "has lost" in problem for problem in problems
    ), problems


def test_a_damaged_schema_is_told_in_a_sentence_wherever_the_damage_is(path):
    store = TraceStore.open(path)
    write_run(store)
    store.close()
    whole = path.read_bytes()
    schema = whole.find(b"CREATE TABLE")
    places = [*range(16, 4096, 193), *range(schema - 40, schema + 300, 17), whole.find(b"CREATE INDEX") + 9]
    told = set()
    for junk in (b"\xda\xff", b"\x00" * 40, b"9(" * 30):
        for place in places:
            path.write_bytes(whole[:place] + junk + whole[place + len(junk) :])
            try:
                with contextlib.closing(TraceStore.open(path, read_only=place % 2 == 0)) as damaged:
                    damaged.runs("task")
                    damaged.steps(1)
                    damaged.check()
            except TraceError as error:
                told.add(str(error))
    said = (
        "is damaged",
        "has lost",
        "of another program",
        "not a trace database",
        "newer version",
        "no run 1",
    )
    assert [one for one in told if not any(words in one for words in said)] == []
    assert any("is damaged" in one for one in told)


def test_a_file_that_is_marked_as_ours_is_damaged_where_its_first_bytes_are_gone(path):
    store = TraceStore.open(path)
    write_run(store)
    store.close()
    with path.open("r+b") as file:
        file.write(b"\0" * 16)
    for read_only in (True, False):
        with pytest.raises(TraceError, match=r"traces\.db is damaged"):
            TraceStore.open(path, read_only=read_only)


def test_a_database_whose_head_is_gone_is_refused(path):
    store = TraceStore.open(path)
    write_run(store)
    store.close()
    overwrite(path, first=0.0, last=0.05)
    with pytest.raises(TraceError, match=r"not a trace database|damaged"):
        TraceStore.open(path)


def test_a_missing_or_empty_database_cannot_be_read_and_is_not_made(tmp_path):
    path = tmp_path / "none.db"
    with pytest.raises(TraceError, match=r"no trace database .* yet"):
        TraceStore.open(path, read_only=True)
    assert not path.exists()
    path.touch()
    with pytest.raises(TraceError, match="is empty"):
        TraceStore.open(path, read_only=True)
    assert path.stat().st_size == 0


def test_a_file_that_may_only_be_read_is_refused_for_writing_and_serves_for_reading(open_folder):
    path = open_folder / "traces.db"
    store = TraceStore.open(path)
    run = write_run(store, steps=2)
    store.close()
    before = path.read_bytes()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    with without_rights():
        with pytest.raises(TraceError, match=r"is read-only|cannot be opened"):
            TraceStore.open(path)
        reader = TraceStore.open(path, read_only=True)
        assert len(reader.step(run, 2).records) == 10
        assert [row.run for row in reader.runs("draft")] == [run]
        reader.close()
    assert path.read_bytes() == before
    assert [file.name for file in open_folder.iterdir()] == ["traces.db"]


def test_a_database_that_was_not_closed_needs_a_writable_place_to_be_read(open_folder):
    path = open_folder / "traces.db"
    source = open_folder / "source.db"
    store = TraceStore.open(source)
    write_run(store)
    for ending in ("", "-wal"):
        path.with_name(path.name + ending).write_bytes(source.with_name(source.name + ending).read_bytes())
    store.close()
    open_folder.chmod(0o555)
    with without_rights(), pytest.raises(TraceError, match=r"was not closed .* copy it and traces\.db-wal"):
        TraceStore.open(path, read_only=True)


def test_a_file_that_may_not_be_read_is_refused_with_a_sentence(open_folder):
    path = open_folder / "traces.db"
    TraceStore.open(path).close()
    path.chmod(0o000)
    open_folder.chmod(0o555)
    for read_only in (False, True):
        with without_rights(), pytest.raises(TraceError, match="cannot be opened"):
            TraceStore.open(path, read_only=read_only)


def test_a_folder_that_cannot_be_made_is_refused_with_its_reason(open_folder):
    open_folder.chmod(0o555)
    with without_rights(), pytest.raises(TraceError, match=r"deeper .*cannot be used \(Permission denied\)"):
        TraceStore.open(open_folder / "deeper" / "traces.db")
    file = open_folder.parent / f"{open_folder.name}-file"
    file.touch()
    try:
        with pytest.raises(TraceError, match="cannot be used"):
            TraceStore.open(file / "traces.db")
    finally:
        file.unlink()


def test_closing_twice_does_nothing(path):
    store = TraceStore.open(path)
    store.begin_run(start())
    store.close()
    store.close()
