"""The tables of the exemplar library, and how older files come to have them."""

from sqlite_utils import Database

from core.memory.library.proofs import TABLES as PROOF_TABLES
from core.schema.errors import LibraryError
from core.storage.database import FileKind, Migration

_EXEMPLARS = """
    number INTEGER PRIMARY KEY,         -- never given twice: nothing is deleted
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,           -- the current one
    family TEXT NOT NULL,
    task TEXT NOT NULL,
    environment TEXT NOT NULL,
    site TEXT NOT NULL,
    origin TEXT NOT NULL,
    run INTEGER,
    step INTEGER,
    llm TEXT NOT NULL,
    made REAL NOT NULL,                 -- seconds since the epoch
    changed REAL NOT NULL,
    tags TEXT NOT NULL,                 -- JSON: a list
    note TEXT NOT NULL,
    archived INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    contrasts INTEGER NOT NULL,
    tokens INTEGER NOT NULL,            -- an estimate
    text INTEGER NOT NULL,              -- names the text that is embedded: 8 bytes of its SHA-256
    change INTEGER NOT NULL             -- counts up with every change of any exemplar
"""
_WORDS = "USING fts5 (id, family, task, tags, note, words, tokenize='unicode61 remove_diacritics 2')"

_VERSION_1 = f"""
CREATE TABLE exemplars ({_EXEMPLARS});
CREATE UNIQUE INDEX exemplars_change ON exemplars (change);
CREATE INDEX exemplars_changed ON exemplars (archived, changed DESC, id);
CREATE INDEX exemplars_made ON exemplars (archived, made DESC, id);
CREATE INDEX exemplars_family ON exemplars (archived, family, id);
CREATE INDEX exemplars_id ON exemplars (archived, id);
CREATE INDEX exemplars_tokens ON exemplars (archived, tokens DESC, id);
CREATE INDEX exemplars_environment ON exemplars (archived, environment, id);
CREATE INDEX exemplars_site ON exemplars (archived, site, id);
CREATE INDEX exemplars_origin ON exemplars (archived, origin, id);
CREATE INDEX exemplars_llm ON exemplars (archived, llm, id);
CREATE INDEX exemplars_run ON exemplars (run) WHERE run IS NOT NULL;

CREATE TABLE versions (
    exemplar INTEGER NOT NULL REFERENCES exemplars (number),
    number INTEGER NOT NULL,
    saved REAL NOT NULL,
    why TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    content BLOB NOT NULL,              -- a line of a file of exemplars, compressed with zstd
    PRIMARY KEY (exemplar, number)
);

CREATE TABLE tags (
    tag TEXT NOT NULL,
    exemplar INTEGER NOT NULL,
    PRIMARY KEY (tag, exemplar)
) WITHOUT ROWID;
CREATE INDEX tags_exemplar ON tags (exemplar);

CREATE VIRTUAL TABLE exemplars_fts {_WORDS};

CREATE TABLE retrievals (
    id TEXT NOT NULL,                   -- of the exemplar, which may be one of a file
    trace TEXT NOT NULL,                -- the database of traces that has the run
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    "when" REAL NOT NULL,
    distance REAL NOT NULL,
    voted INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (id, trace, run, step)
) WITHOUT ROWID;

CREATE TABLE outcomes (
    trace TEXT NOT NULL,
    run INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    success INTEGER,                    -- 1, 0, or NULL where nobody could tell
    PRIMARY KEY (trace, run)
) WITHOUT ROWID;

CREATE TABLE traces (
    trace TEXT PRIMARY KEY,
    told INTEGER NOT NULL               -- the last step whose retrievals are known
) WITHOUT ROWID;
"""

_VERSION_3 = """
CREATE TABLE apart (
    id TEXT NOT NULL,                   -- of an exemplar, which may be one of a file
    other TEXT NOT NULL,                -- of one that is much like it, and later by the alphabet
    "when" REAL NOT NULL,               -- a person said then that both are to be kept
    PRIMARY KEY (id, other)
) WITHOUT ROWID;
"""

BESIDE = f"""
CREATE TEMP TABLE IF NOT EXISTS beside ({_EXEMPLARS});
CREATE TEMP TABLE IF NOT EXISTS beside_tags (tag TEXT, exemplar INTEGER, PRIMARY KEY (tag, exemplar));
CREATE VIRTUAL TABLE IF NOT EXISTS temp.beside_fts {_WORDS};
"""
"""The same for exemplars of files, as long as the database is open; nothing of it is stored."""


def _make_version_1(database: Database) -> None:
    database.executescript(_VERSION_1)


def _make_version_2(database: Database) -> None:
    database.executescript(PROOF_TABLES)


def _make_version_3(database: Database) -> None:
    database.executescript(_VERSION_3)


def _sort_by_task_and_looks(database: Database) -> None:
    database.execute("CREATE INDEX exemplars_task ON exemplars (archived, task, id)")
    database.execute("CREATE INDEX exemplars_steps ON exemplars (archived, steps DESC, id)")


MIGRATIONS: tuple[Migration, ...] = (
    _make_version_1,
    _make_version_2,
    _make_version_3,
    _sort_by_task_and_looks,
)

KIND = FileKind(
    noun="exemplar library",
    application_id=0x42535845,  # the letters BSXE
    error=LibraryError,
    migrations=MIGRATIONS,
    made_by="the first exemplar that is kept makes it",
    updated_by="list its exemplars with the command `exemplars list` to bring it up to date",
)
