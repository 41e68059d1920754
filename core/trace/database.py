"""The database file of traces: its tables, and their migrations.

Version N of the database is what `MIGRATIONS[:N]` makes; SQLite's
``user_version`` holds N. A migration that has been released is never edited:
a change is a new one at the end. The tables are explained for readers in
resources/trace-schema.md; how a file is opened and brought to the newest is
`core.storage.database`.
"""

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from core.schema.errors import TraceError
from core.schema.hiding import Secrets
from core.storage.database import DatabaseFile, FileKind
from core.trace import owners
from core.trace.blobs import Blobs

JSON = "application/json"
NewBlobs = Iterable[tuple[bytes, str]]
"""Contents with their media types."""

T = TypeVar("T")

APPLICATION_ID = 0x42535450
"""Marks the file as ours in its header: the letters BSTP."""

_VERSION_1 = """
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,          -- SHA-256 of the content, in hex
    media_type TEXT NOT NULL,
    encoding TEXT NOT NULL CHECK (encoding IN ('identity', 'zstd')),
    dictionary INTEGER REFERENCES blobs (id),
    size INTEGER NOT NULL,              -- of the content, in bytes, before compression
    data BLOB NOT NULL
);

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    environment TEXT NOT NULL,
    seed INTEGER NOT NULL,
    instruction TEXT NOT NULL,
    start_url TEXT NOT NULL,
    preset TEXT NOT NULL,
    preset_text INTEGER REFERENCES blobs (id),
    llm TEXT NOT NULL,
    browser TEXT NOT NULL,
    started REAL NOT NULL,              -- seconds since the epoch
    ended REAL,
    outcome TEXT NOT NULL DEFAULT 'running',
    success INTEGER,                    -- 1, 0, or NULL where nobody could tell
    reward REAL,
    judge TEXT NOT NULL DEFAULT 'none',
    reason TEXT NOT NULL DEFAULT '',
    answer TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    steps INTEGER NOT NULL DEFAULT 0,
    llm_calls INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL,                          -- US dollars; NULL where no call had a price
    seconds REAL NOT NULL DEFAULT 0,
    seconds_in_llm REAL NOT NULL DEFAULT 0,
    touched INTEGER NOT NULL DEFAULT 0,
    parent_run INTEGER REFERENCES runs (run),
    parent_step INTEGER,
    owner TEXT                          -- names the lock of the process at work on it
);
CREATE INDEX runs_task ON runs (task);
CREATE INDEX runs_outcome ON runs (outcome);
CREATE INDEX runs_parent ON runs (parent_run) WHERE parent_run IS NOT NULL;

CREATE TABLE steps (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    trial INTEGER NOT NULL DEFAULT 1,
    begun REAL NOT NULL,
    phase TEXT NOT NULL DEFAULT 'observe',
    sealed INTEGER NOT NULL DEFAULT 0,
    origin TEXT NOT NULL DEFAULT 'agent',
    effect TEXT NOT NULL DEFAULT 'none',
    action TEXT NOT NULL DEFAULT '',
    target TEXT NOT NULL DEFAULT '',
    thought TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT 'pending',
    message TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT '',
    url TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    edited INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    seconds_in_llm REAL NOT NULL DEFAULT 0,
    html INTEGER REFERENCES blobs (id),
    screenshot INTEGER REFERENCES blobs (id),
    UNIQUE (run, number)
);

CREATE TABLE phases (
    step INTEGER NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,          -- of the phase among the ten, from 1
    phase TEXT NOT NULL,
    saved REAL NOT NULL,
    part INTEGER REFERENCES blobs (id), -- what is large in the record, left out of it
    base INTEGER REFERENCES blobs (id), -- the observation that numbers in `part` refer to
    record NOT NULL,                    -- JSON, as text or, where it is long, compressed with zstd
    PRIMARY KEY (step, position)
) WITHOUT ROWID;

CREATE TABLE calls (
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    step INTEGER NOT NULL,              -- the step's number; 0 before the first
    purpose TEXT NOT NULL,
    llm TEXT NOT NULL,
    model TEXT NOT NULL,
    messages INTEGER NOT NULL REFERENCES blobs (id),
    reply INTEGER REFERENCES blobs (id),
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    cost REAL,
    started REAL NOT NULL,
    seconds REAL NOT NULL,
    retries TEXT NOT NULL,              -- JSON: a list of {reason, waited}
    error TEXT NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE INDEX calls_step ON calls (run, step);

CREATE TABLE interventions (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    kind TEXT NOT NULL,
    who TEXT NOT NULL,
    time REAL NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL
);
CREATE INDEX interventions_step ON interventions (run, step);

CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    tab TEXT NOT NULL,
    url TEXT NOT NULL
);
CREATE INDEX events_step ON events (run, step);

CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    run INTEGER REFERENCES runs (run) ON DELETE CASCADE,
    time REAL NOT NULL,
    level TEXT NOT NULL,
    source TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX log_run ON log (run);

CREATE VIRTUAL TABLE runs_fts USING fts5 (
    task, instruction, answer,
    content='runs', content_rowid='run', tokenize='unicode61 remove_diacritics 2'
);
CREATE TRIGGER runs_fts_insert AFTER INSERT ON runs BEGIN
    INSERT INTO runs_fts (rowid, task, instruction, answer)
    VALUES (new.run, new.task, new.instruction, new.answer);
END;
CREATE TRIGGER runs_fts_delete AFTER DELETE ON runs BEGIN
    INSERT INTO runs_fts (runs_fts, rowid, task, instruction, answer)
    VALUES ('delete', old.run, old.task, old.instruction, old.answer);
END;
CREATE TRIGGER runs_fts_update AFTER UPDATE OF task, instruction, answer ON runs BEGIN
    INSERT INTO runs_fts (runs_fts, rowid, task, instruction, answer)
    VALUES ('delete', old.run, old.task, old.instruction, old.answer);
    INSERT INTO runs_fts (rowid, task, instruction, answer)
    VALUES (new.run, new.task, new.instruction, new.answer);
END;

CREATE VIRTUAL TABLE steps_fts USING fts5 (
    thought, action,
    content='steps', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);
CREATE TRIGGER steps_fts_insert AFTER INSERT ON steps BEGIN
    INSERT INTO steps_fts (rowid, thought, action) VALUES (new.id, new.thought, new.action);
END;
CREATE TRIGGER steps_fts_delete AFTER DELETE ON steps BEGIN
    INSERT INTO steps_fts (steps_fts, rowid, thought, action)
    VALUES ('delete', old.id, old.thought, old.action);
END;
CREATE TRIGGER steps_fts_update AFTER UPDATE OF thought, action ON steps
WHEN old.thought IS NOT new.thought OR old.action IS NOT new.action BEGIN
    INSERT INTO steps_fts (steps_fts, rowid, thought, action)
    VALUES ('delete', old.id, old.thought, old.action);
    INSERT INTO steps_fts (rowid, thought, action) VALUES (new.id, new.thought, new.action);
END;
"""


_VERSION_2 = """
ALTER TABLE steps ADD COLUMN agent INTEGER REFERENCES blobs (id);  -- the agent as the step found it
ALTER TABLE steps ADD COLUMN page INTEGER REFERENCES blobs (id);   -- what browser and server kept for the page
ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN profile TEXT;                          -- the named browser profile
ALTER TABLE runs ADD COLUMN restored INTEGER REFERENCES blobs (id); -- how well its first page was restored
ALTER TABLE runs ADD COLUMN grade TEXT NOT NULL DEFAULT '';
"""
"""Make going back and branches possible."""

_VERSION_3 = """
CREATE TABLE breakpoints (
    number INTEGER PRIMARY KEY,         -- never given twice: hits go on naming it
    kind TEXT NOT NULL,
    definition TEXT NOT NULL,           -- JSON
    hits INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE watches (
    number INTEGER PRIMARY KEY,         -- never given twice: hits go on naming it
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    on_change INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE hits (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    phase TEXT NOT NULL,
    breakpoint INTEGER,                 -- its number; it may have been deleted since
    watch INTEGER,                      -- the same, where a watch has changed
    sentence TEXT NOT NULL,
    stopped INTEGER NOT NULL,
    time REAL NOT NULL
);
CREATE INDEX hits_step ON hits (run, step);
CREATE INDEX hits_breakpoint ON hits (breakpoint) WHERE breakpoint IS NOT NULL;
CREATE INDEX hits_watch ON hits (watch) WHERE watch IS NOT NULL;
"""


_VERSION_4 = """
CREATE TABLE what_ifs (
    number INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    time REAL NOT NULL,
    record INTEGER NOT NULL REFERENCES blobs (id) -- JSON
);
CREATE INDEX what_ifs_step ON what_ifs (run, step);
"""
"""Make room for questions that were asked again."""

_VERSION_5 = """
CREATE TABLE exchanges (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step INTEGER NOT NULL,              -- the step's number; 0 before the first
    time REAL NOT NULL,
    opening INTEGER NOT NULL,           -- whether it came while the task was being opened
    method TEXT NOT NULL,
    url TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- what asked for it: document, script, fetch, websocket, ...
    sent TEXT NOT NULL,                 -- SHA-256 of what was sent with it, in hex
    status INTEGER NOT NULL,            -- 0 where no answer came
    headers TEXT NOT NULL,              -- JSON: a list of [name, value]
    body INTEGER REFERENCES blobs (id),
    missing TEXT NOT NULL,              -- why the content was not kept
    error TEXT NOT NULL
);
CREATE INDEX exchanges_step ON exchanges (run, step);
ALTER TABLE runs ADD COLUMN offline INTEGER NOT NULL DEFAULT 0; -- its pages get recorded answers only
"""
"""Make room for what servers answered."""

_VERSION_6 = """
CREATE TABLE page_logs (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    moment TEXT NOT NULL,
    log INTEGER REFERENCES blobs (id) -- JSON; NULL where nothing happened
);
CREATE INDEX page_logs_step ON page_logs (run, step);

CREATE TABLE phases_begun (
    step INTEGER NOT NULL REFERENCES steps (id) ON DELETE CASCADE,
    phase TEXT NOT NULL,
    begun REAL NOT NULL,
    PRIMARY KEY (step, phase)
) WITHOUT ROWID;
"""
"""Make room for what pages reported and asked for, and for when a phase began."""

_VERSION_7 = """
ALTER TABLE runs ADD COLUMN changes INTEGER REFERENCES blobs (id);     -- JSON: what was asked of a branch
ALTER TABLE runs ADD COLUMN differences TEXT NOT NULL DEFAULT '[]';    -- JSON: how a branch differs
CREATE TABLE bisections (
    number INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    time REAL NOT NULL,
    record TEXT NOT NULL                -- JSON
);
CREATE INDEX bisections_run ON bisections (run);
"""
"""Make room for how a branch differs, and for bisections."""

_VERSION_8 = """
CREATE TABLE evaluations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    time REAL NOT NULL,
    plan TEXT NOT NULL                  -- JSON: what was asked
);
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    evaluation INTEGER NOT NULL REFERENCES evaluations (number) ON DELETE CASCADE,
    variant TEXT NOT NULL,
    task TEXT NOT NULL,
    seed INTEGER NOT NULL,
    time INTEGER NOT NULL,              -- the how manieth of several at this seed, from 1
    attempt INTEGER NOT NULL,           -- 2 where the first one failed through no fault of the agent
    run INTEGER REFERENCES runs (run) ON DELETE CASCADE, -- NULL where it could not begin
    error TEXT NOT NULL DEFAULT ''
);
CREATE INDEX attempts_evaluation ON attempts (evaluation);
CREATE INDEX attempts_run ON attempts (run) WHERE run IS NOT NULL;
"""
"""Make room for evaluations."""

_VERSION_9 = "ALTER TABLE evaluations ADD COLUMN owner TEXT; -- names the lock of the process at work on it"
"""Keep two processes from one evaluation."""

_VERSION_10 = (
    "ALTER TABLE evaluations ADD COLUMN made TEXT NOT NULL DEFAULT '[]'; -- JSON: with what it was made"
)
"""Keep with what an evaluation was made."""

_VERSION_11 = "DROP TABLE bisections;"
"""A bisection is an evaluation."""

_VERSION_12 = (
    "ALTER TABLE runs ADD COLUMN viewport TEXT; -- the size in which its pages are seen, such as 1280x720"
)
"""Keep with a run how large its pages are."""

_VERSION_13 = """
UPDATE evaluations SET plan = json_set(plan, '$.kind', 'tasks')
WHERE CASE WHEN json_valid(plan) THEN json_extract(plan, '$.kind') END = 'family';
UPDATE evaluations SET plan = json_remove(plan, '$.fixed')
WHERE CASE WHEN json_valid(plan) THEN json_type(plan, '$.fixed') END IS NOT NULL;
"""
"""What compares two agents on a run's task is an evaluation of tasks; a plan that is no JSON stays as it is."""

_VERSION_14 = "ALTER TABLE runs ADD COLUMN own_files INTEGER REFERENCES blobs (id); -- JSON: texts by name"
"""Keep with a run the user's own files of the agent."""

MIGRATIONS = (
    _VERSION_1,
    _VERSION_2,
    _VERSION_3,
    _VERSION_4,
    _VERSION_5,
    _VERSION_6,
    _VERSION_7,
    _VERSION_8,
    _VERSION_9,
    _VERSION_10,
    _VERSION_11,
    _VERSION_12,
    _VERSION_13,
    _VERSION_14,
)
"""What makes each version out of the one before; an empty file is version 0."""


KIND = FileKind(
    noun="trace database",
    application_id=APPLICATION_ID,
    error=TraceError,
    migrations=MIGRATIONS,
    made_by="the first run creates it",
    updated_by="to update it, start a run with it, or open it in the window",
)


class TraceDatabase(DatabaseFile):
    """One connection to one database of traces, with its blobs."""

    def __init__(self, path: Path, kind: FileKind, database: sqlite3.Connection, *, read_only: bool) -> None:
        super().__init__(path, kind, database, read_only=read_only)
        self.blobs = Blobs(self)

    def lives(self, owner: str) -> bool:
        """Return whether the process that has this token still runs."""
        return owners.lives(self.path, owner)

    def forget_words(self) -> None:
        """Leave nothing in the indexes of words of what was changed or deleted: they only mark it as gone."""
        for index in ("runs_fts", "steps_fts"):
            self.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")


class Transactions(Protocol):
    """Does each thing in a transaction of its own."""

    @property
    def secrets(self) -> Secrets: ...

    def ask(self, question: Callable[[TraceDatabase], T]) -> T: ...

    def change(self, change: Callable[[TraceDatabase], T], run: int | None = None) -> T: ...
