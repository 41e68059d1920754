"""A repro file of a stranger: nothing in it is run, and what no trace has is refused in a sentence."""

import contextlib
import json
import os
import sqlite3
import time

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.schema.errors import BackstepError, DataError, TraceError
from core.schema.step import CallRecord
from core.trace.blobs import hash_of
from core.trace.calls import stored_prompt
from core.trace.database import MIGRATIONS
from core.trace.encoding import encode_prompt
from core.trace.repro import importer, untrusted
from core.trace.repro.exporter import export_repro
from core.trace.repro.importer import import_repro, is_repro
from core.trace.store import TraceStore
from tests.core.trace.making import a_request, open_as, write_run


@pytest.fixture
def other(tmp_path):
    store = TraceStore.open(tmp_path / "other.db")
    yield store
    store.close()


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The bytes of a repro file."""
    store = TraceStore.open(tmp_path_factory.mktemp("exported") / "traces.db")
    yield export_repro(store, write_run(store))
    store.close()


@pytest.fixture
def given_file(exported, tmp_path):
    path = tmp_path / "run.backstep"
    path.write_bytes(exported)
    return path


def changed(path, *statements):
    """Change a file as a stranger would, its schema too."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(*statement) if isinstance(statement, tuple) else connection.execute(statement)
    connection.close()
    return path


def schema(old, new):
    """Return the statement that changes the words of a table in a file."""
    return ("UPDATE sqlite_schema SET sql = replace(sql, ?, ?)", (old, new))


FOREIGN = {
    "a view": ["CREATE VIEW more AS SELECT 1"],
    "a trigger": ["CREATE TRIGGER more AFTER UPDATE ON runs BEGIN DELETE FROM steps; END"],
    "a virtual table": ["CREATE VIRTUAL TABLE more USING fts5 (words)"],
    "a table": ["CREATE TABLE more (words TEXT)"],
    "an index on an expression": ["CREATE INDEX more ON runs (upper(task))"],
    "a partial index": ["CREATE INDEX more ON runs (task) WHERE abs(seed) > 1"],
    "a generated column": ["ALTER TABLE runs ADD COLUMN more TEXT AS (upper(task))"],
    "a check": [schema("answer TEXT NOT NULL", "answer TEXT NOT NULL CHECK (length(answer) < 9e9)")],
    "a default": [schema("DEFAULT 'running'", "DEFAULT (hex(zeroblob(9)))")],
    "our trigger that does something else": [schema("AFTER DELETE ON steps", "AFTER UPDATE ON steps")],
    "statistics": ["ANALYZE"],
    "a column less": ["ALTER TABLE runs DROP COLUMN differences"],
}


@pytest.mark.parametrize("statements", FOREIGN.values(), ids=FOREIGN)
def test_a_schema_that_is_not_word_for_word_ours_is_refused(other, given_file, statements):
    with pytest.raises(
        DataError, match=r"run\.backstep is not a repro file: its tables are not those of a trace"
    ):
        import_repro(other, changed(given_file, *statements))
    assert other.runs() == ()


def test_a_table_with_a_nul_in_its_name_is_damage(other, given_file):
    changed(
        given_file,
        "CREATE TABLE more (words TEXT)",
        "UPDATE sqlite_schema SET name = 'runs' || char(0), tbl_name = name WHERE name = 'more'",
    )
    with pytest.raises(DataError, match=r"run\.backstep cannot be read: it is damaged"):
        import_repro(other, given_file)


def test_a_file_of_an_older_version_is_brought_up_to_date_in_a_copy(other, tmp_path):
    for version in range(1, len(MIGRATIONS) + 1):
        path = tmp_path / f"{version}.backstep"
        old = open_as(path, MIGRATIONS[:version])
        write_run(old, instruction=f"Task of version {version}")
        old.close()
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
        connection.close()
        before = path.read_bytes()
        _, run = import_repro(other, path)
        assert other.run(run).instruction == f"Task of version {version}"
        assert path.read_bytes() == before


def test_an_older_version_is_checked_by_the_schema_of_that_version(other, tmp_path):
    path = tmp_path / "old.backstep"
    old = open_as(path, MIGRATIONS[:1])
    write_run(old)
    old.close()
    with pytest.raises(DataError, match="its tables are not those of a trace"):
        import_repro(other, changed(path, "ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT 'x'"))


def test_a_file_of_a_newer_version_says_so(other, given_file):
    with pytest.raises(DataError, match="was written by a newer version of this program"):
        import_repro(other, changed(given_file, "PRAGMA user_version = 9999"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT upper(task) FROM runs",
        "SELECT load_extension('x')",
        "SELECT owner, (SELECT count(*) FROM steps) FROM runs",
        "ATTACH '/tmp/x.db' AS x",
        "PRAGMA user_version = 1",
        "PRAGMA query_only = OFF",
        "DELETE FROM runs",
        "CREATE TABLE x (y)",
        "SELECT * FROM breakpoints",
        "SELECT * FROM runs_fts",
        "BEGIN",
    ],
)
def test_the_reader_may_do_nothing_but_read_columns_that_are_known(given_file, sql):
    connection = untrusted._opened(given_file)
    try:
        untrusted._restrict(connection, untrusted._known(len(MIGRATIONS)))
        assert connection.execute("SELECT run, task FROM runs").fetchall()
        with pytest.raises(
            sqlite3.DatabaseError, match=r"not authorized|prohibited|too many|constructor failed"
        ):
            connection.execute(sql).fetchall()
    finally:
        connection.close()


def one_blob(data, **values):
    row = {
        "hash": hash_of(b"x"),
        "media_type": "text/html",
        "encoding": "zstd",
        "size": 1,
        "data": data,
    } | values
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    return (f"INSERT INTO blobs ({names}) VALUES ({marks})", tuple(row.values()))


def bomb(size):
    """Return a few kilobytes that unpack to `size` bytes."""
    made = zstandard.ZstdCompressor().compressobj(size=size)
    return b"".join([*(made.compress(bytes(1 << 20)) for _ in range(size >> 20)), made.flush()])


def test_a_blob_that_unpacks_to_too_much_is_refused_and_not_unpacked(other, given_file):
    changed(given_file, one_blob(bomb(300 << 20), size=300 << 20))
    begun = time.thread_time()
    with pytest.raises(DataError, match="a blob has more than 256 MB"):
        import_repro(other, given_file)
    assert time.thread_time() - begun < 5


def test_a_bomb_in_a_trace_of_ones_own_is_not_unpacked_either(store, tmp_path):
    run = write_run(store)
    data = bomb(300 << 20)
    store._database.execute("UPDATE blobs SET data = ?, encoding = 'zstd'", (data,))
    store._database.execute("UPDATE phases SET record = ?", (data,))
    with pytest.raises(TraceError, match="damaged"):
        store.step(run, 1)
    with pytest.raises(TraceError, match="damaged"):
        store.preset_text(run)


def test_a_blob_that_lies_about_its_size_is_refused(other, given_file):
    data = zstandard.ZstdCompressor().compress(bytes(1000))
    with pytest.raises(DataError, match="a blob does not have the stated size"):
        import_repro(other, changed(given_file, one_blob(data, size=10)))


def test_a_blob_that_is_packed_by_itself_or_by_one_that_is_packed_so_is_refused(other, given_file, store):
    data = zstandard.ZstdCompressor().compress(bytes(1000))
    with pytest.raises(DataError, match="a blob is compressed with an invalid dictionary"):
        import_repro(other, changed(given_file, one_blob(data, size=1000, id=99999, dictionary=99999)))
    run = write_run(store)
    store._database.execute("UPDATE blobs SET dictionary = id, encoding = 'zstd'")
    with pytest.raises(TraceError, match="damaged"):
        store.preset_text(run)


def test_wrong_content_under_a_known_hash_does_not_come_in(store, given_file):
    """The other database has the right content already, and keeps it."""
    run = write_run(store, instruction="Another")
    right = store.preset_text(run)
    changed(
        given_file,
        (
            "UPDATE blobs SET encoding = 'identity', dictionary = NULL, data = ?, size = 5 WHERE hash = ?",
            (b"wrong", hash_of(right.encode())),
        ),
        "UPDATE runs SET task = 'other/task'",
    )
    with pytest.raises(DataError, match="damaged"):
        import_repro(store, given_file)
    assert store.preset_text(run) == right
    assert len(store.runs()) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET seed = 'nine'",
        "UPDATE runs SET started = 'x'",
        "UPDATE runs SET started = 9e999",
        "UPDATE runs SET started = 1e300",
        "UPDATE runs SET task = x'00'",
        "UPDATE steps SET number = 'one' WHERE number = 1",
        "UPDATE steps SET number = 9000000000 WHERE number = 1",
        "UPDATE steps SET number = -number",
        "UPDATE steps SET url = x'ff'",
        "UPDATE blobs SET data = 'text'",
        "UPDATE blobs SET encoding = 'other'",
        "UPDATE steps SET html = 123456",
        "UPDATE phases SET record = 1.5",
        "UPDATE runs SET task = CAST(x'ff' AS TEXT)",
    ],
)
def test_a_value_of_another_type_or_beyond_all_measure_is_refused(other, given_file, statement):
    with pytest.raises(
        DataError, match=r"run\.backstep (is damaged|cannot be read: it is damaged), or not a trace"
    ):
        import_repro(other, changed(given_file, "PRAGMA ignore_check_constraints = ON", statement))
    assert other.runs() == ()


def test_a_nul_in_what_a_page_said_is_text_like_any_other(other, given_file):
    _, run = import_repro(other, changed(given_file, "UPDATE steps SET title = 'a' || char(0) || 'b'"))
    assert other.steps(run)[0].title == "a\0b"


@pytest.mark.parametrize("owner", ["../../x", "a/b", "\0", "x" * 5000])
def test_the_owner_of_a_run_names_no_file(other, given_file, owner):
    changed(given_file, ("UPDATE runs SET outcome = 'running', owner = ?", (owner,)))
    _, run = import_repro(other, given_file)
    assert other.run(run).outcome == "interrupted"


def run_with_a_call(store):
    run = write_run(store)
    prompt = encode_prompt(a_request("Act."))
    call = CallRecord(
        number=1, step=1, purpose="decide", llm="x", model="x", messages=prompt.hash, started=1.0
    )
    store.calls.save(run, call, blobs=prompt.blobs)
    return run


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE phases SET record = ?", lambda store, run: store.step(run, 1)),
        ("UPDATE calls SET retries = ?", lambda store, run: store.calls.of(run)),
        ("UPDATE runs SET differences = ?", lambda store, run: store.run(run)),
    ],
)
def test_json_nested_100_000_deep_is_damage_and_no_crash(store, other, tmp_path, statement, read):
    run = run_with_a_call(store)
    store._database.execute(statement, (DEEP,))
    path = tmp_path / "deep.backstep"
    store._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    path.write_bytes(store.path.read_bytes())
    with contextlib.suppress(BackstepError):
        _, copy = import_repro(other, path)
        read(other, copy)
    with pytest.raises(TraceError, match="damaged"):
        read(store, run)


def test_a_deep_prompt_is_damage_and_no_crash(store):
    call = store.calls.of(run_with_a_call(store))[0]
    data = json.dumps({"messages": []})[:-1].encode() + b', "x": ' + DEEP.encode() + b"}"
    _, name = store._database.blobs.put(data, "application/json")
    with pytest.raises(TraceError, match="damaged"):
        stored_prompt(store, call.replace(messages=name))


def test_a_pipe_a_device_and_a_folder_are_no_repro_files(other, tmp_path):
    os.mkfifo(tmp_path / "pipe.backstep")
    assert not is_repro(tmp_path / "pipe.backstep")
    assert not is_repro(tmp_path)
    with pytest.raises(DataError, match="is a pipe or a device"):
        import_repro(other, tmp_path / "pipe.backstep")


def test_a_file_that_is_too_large_is_refused_before_it_is_copied(other, given_file):
    with given_file.open("r+b") as file:
        file.truncate(5 << 30)
    with pytest.raises(DataError, match=r"has 5120 MB, but at most 4096 MB are read"):
        import_repro(other, given_file)


def test_a_file_that_grows_while_it_is_copied_is_refused(other, given_file, monkeypatch):
    monkeypatch.setattr(importer, "MOST_BYTES", given_file.stat().st_size)
    opened = importer.open_regular

    def growing(path, *, most):
        file = opened(path, most=most)
        with path.open("ab") as more:
            more.write(bytes(100))
        return file

    monkeypatch.setattr(importer, "open_regular", growing)
    with pytest.raises(DataError, match="is still being written; wait until it is complete"):
        import_repro(other, given_file)


def test_reading_ends_after_a_time(other, given_file, monkeypatch):
    monkeypatch.setattr(untrusted, "_SECONDS", -1.0)
    changed(
        given_file,
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO log (run, time, level, source, text) SELECT 1, 1.0, 'info', 'x', 'y' FROM n",
    )
    with pytest.raises(DataError, match="it takes more than -1 seconds"):
        import_repro(other, given_file)


def test_a_file_has_only_so_many_rows(other, given_file, monkeypatch):
    monkeypatch.setattr(untrusted, "_MOST_ROWS", 3)
    with pytest.raises(DataError, match="it has more than 3 rows"):
        import_repro(other, given_file)


@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_change_of_bytes_is_read_or_refused_in_a_sentence(store, other, tmp_path, data):
    path = tmp_path / "fuzzed.backstep"
    if not (whole := getattr(store, "exported", b"")):
        whole = store.exported = export_repro(store, write_run(store))
    content = bytearray(whole)
    for at, byte in data.draw(
        st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=30)
    ):
        content[at] = byte
    path.write_bytes(content[: data.draw(st.integers(0, len(whole) * 2))])
    with contextlib.suppress(BackstepError):
        _, run = import_repro(other, path)
        for row in other.steps(run):
            other.step(run, row.number)
