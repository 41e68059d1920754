import json
import sqlite3
from contextlib import closing

import pytest

from core.debugger.evaluations.engine import planned
from core.schema.errors import TraceError
from core.trace.blobs import hash_of
from core.trace.database import MIGRATIONS
from core.trace.evaluations import all_evaluations
from core.trace.store import TraceStore
from tests.core.trace.making import open_as, write_run

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


ADD_MOOD = "ALTER TABLE runs ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm; and kind';"
FAIL_HALFWAY = f"{ADD_MOOD} DELETE FROM runs; CREATE TABLE runs (run INTEGER); DELETE FROM runs;"


def version(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


@pytest.fixture
def old(path):
    """A database of version 1 with two runs in it."""
    store = open_as(path, MIGRATIONS[:1])
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
    assert store.stops.breakpoints() == store.stops.watches() == store.stops.hits(1) == ()
    assert store.stops.add("breakpoints", {"kind": "loop", "definition": "{}"}) == 1
    assert len(store.runs()) == 2
    store.close()
    assert version(old) == len(MIGRATIONS)
    assert version(old.with_name("traces.db.version-1")) == 1


def test_rows_as_version_1_wrote_them_are_read(path):
    page = (
        b'{"url":"http://shop/","title":"Shop","elements":'
        b'[{"ref":4,"role":"button","name":"Buy","uses":["click"],"box":{"x":1,"y":2,"width":30,"height":10}}]}'
    )
    open_as(path, MIGRATIONS[:1]).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO blobs (id, hash, media_type, encoding, size, data)"
            " VALUES (1, ?, 'application/json', 'identity', ?, ?)",
            (hash_of(page), len(page), page),
        )
        connection.execute(
            "INSERT INTO runs (run, task, environment, seed, instruction, start_url, preset, llm, browser, started,"
            " ended, outcome, success, reward, judge, steps) VALUES (7, 'shop/1', 'shop', 3, 'Buy it', 'http://shop/',"
            " 'plain', 'rules', 'embedded', 1700000000.0, 1700000009.5, 'done', 1, 0.5, 'page', 1)"
        )
        connection.execute(
            "INSERT INTO steps (id, run, number, begun, phase, sealed, effect, action, target, thought, outcome)"
            " VALUES (1, 7, 1, 1700000001.0, 'commit', 1, 'page action', 'click [4]', 'button \"Buy\"', 'Buy.', 'done')"
        )
        connection.executemany(
            "INSERT INTO phases (step, position, phase, saved, part, record) VALUES (1, ?, ?, 1700000002.0, ?, ?)",
            [
                (1, "observe", 1, "{}"),
                (5, "decide", None, '{"proposal":{"action":{"kind":"click","target":{"by":"ref","ref":4}},'
                 '"thought":"Buy.","problem":""},"calls":[1]}'),
                (8, "act", None, '{"effect":"page action","outcome":"done","target":"button \\"Buy\\""}'),
                (10, "commit", None, '{"seconds":1.5,"seconds_in_llm":0.5}'),
            ],
        )  # fmt: skip
    store = TraceStore.open(path)
    row, detail = store.run(7), store.step(7, 1)
    store.close()
    assert (row.verdict.success, row.verdict.reward, row.grade, row.differences) == (True, 0.5, "", ())
    assert detail.row.action == "click [4]"
    observed, decided, acted, committed = detail.records
    assert observed.observation.element(4).line() == '[4] button "Buy"'
    assert str(decided.proposal.action) == "click [4]"
    assert (acted.target, acted.primitives, acted.inputs) == ('button "Buy"', (), ())
    assert (committed.seconds, committed.seconds_in_llm) == (1.5, 0.5)


def test_a_file_of_each_version_opens_with_its_runs(path):
    for number in range(1, len(MIGRATIONS) + 1):
        file = path.with_name(f"{number}.db")
        store = open_as(file, MIGRATIONS[:number])
        write_run(store)
        store.close()
        store = TraceStore.open(file)
        assert len(store.step(1, 2).records) == 10
        assert [run.run for run in store.runs("draft")] == [1]
        store.close()


def test_an_old_file_is_upgraded_with_its_data_and_a_copy_is_kept(old):
    store = open_as(old, (*MIGRATIONS, ADD_MOOD))
    assert [run.instruction for run in store.runs()] == ["Send the letter", "Save the draft"]
    assert [run.run for run in store.runs("letter")] == [2]
    assert len(store.step(1, 2).records) == 10
    assert store._database.rows("SELECT mood FROM runs") == [{"mood": "calm; and kind"}] * 2
    store.close()
    copy = old.with_name("traces.db.version-1")
    assert (version(old), version(copy)) == (len(MIGRATIONS) + 1, 1)
    before = open_as(copy, MIGRATIONS[:1], read_only=True)
    assert len(before.find_runs()) == 2
    before.close()


def test_a_migration_that_is_cut_off_leaves_the_file_as_it_was(old):
    with pytest.raises(TraceError, match="already exists"):
        open_as(old, (*MIGRATIONS, "", FAIL_HALFWAY))
    assert version(old) == 1
    store = TraceStore.open(old)
    assert len(store.runs()) == 2
    store.close()
    store = open_as(old, (*MIGRATIONS, ADD_MOOD))
    assert len(store.runs()) == 2
    store.close()


def test_an_old_file_is_not_upgraded_by_reading(old):
    with pytest.raises(TraceError, match="older version"):
        open_as(old, (*MIGRATIONS, ADD_MOOD), read_only=True)
    assert version(old) == 1
    assert not old.with_name("traces.db.version-1").exists()


def test_a_new_file_is_made_without_a_copy(path):
    open_as(path, (*MIGRATIONS, ADD_MOOD)).close()
    assert [file.name for file in path.parent.iterdir()] == ["traces.db"]


def test_without_room_for_the_copy_the_file_is_left_as_it_was(old):
    old.with_name("traces.db.version-1.unfinished").mkdir()
    with pytest.raises(TraceError, match="no backup could be written"):
        open_as(old, (*MIGRATIONS, ADD_MOOD))
    assert version(old) == 1


def test_an_evaluation_of_a_family_is_read_as_one_of_tasks(path):
    open_as(path, MIGRATIONS[:12]).close()
    variant = {"preset": "plain", "llm": "rules", "title": "before"}
    plan = {"run": 3, "fixed": 7, "variants": [variant], "tasks": ["t"], "seeds": [1]}
    with closing(sqlite3.connect(path)) as connection, connection:
        for kind in ("family", "bisect"):
            words = json.dumps({**plan, "kind": kind})
            connection.execute("INSERT INTO evaluations (name, time, plan) VALUES (?, 0, ?)", (kind, words))
        connection.execute("INSERT INTO evaluations (name, time, plan) VALUES ('damaged', 0, '{')")
    store = TraceStore.open(path)
    rows = {row.name: row for row in store.ask(all_evaluations)}
    assert rows.pop("damaged").plan == "{"
    plans = {name: planned(row) for name, row in rows.items()}
    store.close()
    assert (plans["family"].kind, plans["family"].run) == ("tasks", 3)
    assert plans["bisect"].kind == "bisect"
