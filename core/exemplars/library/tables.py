"""The tables of the exemplar library, their migrations, and how an exemplar becomes rows."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import zstandard

from core.exemplars.files import exemplar_of, line_of
from core.exemplars.library.records import Provenance
from core.llm.costs import count_tokens
from core.schema.errors import DataError, LibraryError
from core.schema.exemplar import Exemplar, ExemplarReview
from core.storage.compression import compress, decompress
from core.storage.database import DatabaseFile, FileKind, damaged

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

_VERSION_2 = """
CREATE TABLE proofs (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,                 -- replay, worth or credit
    about TEXT NOT NULL,                -- the exemplar's id, which may be one of a file, or "family NAME"
    "when" REAL NOT NULL,               -- seconds since the epoch
    content TEXT NOT NULL               -- JSON
);
CREATE INDEX proofs_about ON proofs (about, kind, number);
CREATE INDEX proofs_kind ON proofs (kind, number);
"""
"""What was found out about exemplars by trying: replays, experiments with and without, and credits, as JSON."""

_VERSION_3 = """
CREATE TABLE apart (
    id TEXT NOT NULL,                   -- of an exemplar, which may be one of a file
    other TEXT NOT NULL,                -- of one that is much like it, and later by the alphabet
    "when" REAL NOT NULL,               -- a person said then that both are to be kept
    PRIMARY KEY (id, other)
) WITHOUT ROWID;
"""

_VERSION_4 = """
CREATE INDEX exemplars_task ON exemplars (archived, task, id);
CREATE INDEX exemplars_steps ON exemplars (archived, steps DESC, id);
"""
"""Lists are sorted by task and by looks, too."""

_ORDERS = "changed DESC, made DESC, family, id, tokens DESC, environment, site, origin, llm, task, steps DESC"
_INDEXES = [(f"exemplars_{by.split()[0]}", by if by == "id" else f"{by}, id") for by in _ORDERS.split(", ")]

_VERSION_5 = "\n".join(
    (
        *(f"DROP INDEX {index};" for index, _ in _INDEXES),
        "ALTER TABLE exemplars ADD COLUMN status TEXT NOT NULL DEFAULT 'reviewed';",
        "ALTER TABLE exemplars ADD COLUMN reviewed_by TEXT NOT NULL DEFAULT '';",
        "ALTER TABLE exemplars ADD COLUMN reviewed_at REAL NOT NULL DEFAULT 0;",
        "ALTER TABLE exemplars ADD COLUMN although INTEGER NOT NULL DEFAULT 0;",
        "UPDATE exemplars SET status = 'retired', reviewed_at = changed WHERE archived;",
        "ALTER TABLE exemplars DROP COLUMN archived;",
        *(f"CREATE INDEX {index} ON exemplars (status, {by});" for index, by in _INDEXES),
        """CREATE TABLE file_reviews (
            id TEXT PRIMARY KEY,        -- of an exemplar of a file, or of one that is bundled
            status TEXT NOT NULL,
            reviewed_by TEXT NOT NULL,
            reviewed_at REAL NOT NULL,
            although INTEGER NOT NULL   -- whether it is used although it has faults
        ) WITHOUT ROWID;""",
    )
)
"""The archive becomes a status: new, reviewed or retired. What was in use stays in use."""

_VERSION_6 = """
ALTER TABLE exemplars ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE exemplars ADD COLUMN weight REAL NOT NULL DEFAULT 1;
ALTER TABLE exemplars ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outcomes ADD COLUMN measured INTEGER NOT NULL DEFAULT 0;
"""
"""Tell which file an exemplar came from, what is preferred, and which runs are of evaluations."""

_VERSION_7 = """
ALTER TABLE traces ADD COLUMN begun REAL NOT NULL DEFAULT 0;
"""
"""When the last step was begun whose retrievals are known: of another step of that id, all is read again."""
_EXEMPLARS_NOW = _EXEMPLARS.replace(
    "    archived INTEGER NOT NULL,\n",
    "    status TEXT NOT NULL,\n    reviewed_by TEXT NOT NULL,\n    reviewed_at REAL NOT NULL,\n"
    "    although INTEGER NOT NULL,\n    file TEXT NOT NULL,\n    weight REAL NOT NULL,\n"
    "    pinned INTEGER NOT NULL,\n",
)

BESIDE = f"""
CREATE TEMP TABLE IF NOT EXISTS beside ({_EXEMPLARS_NOW});
CREATE TEMP TABLE IF NOT EXISTS beside_tags (tag TEXT, exemplar INTEGER, PRIMARY KEY (tag, exemplar));
CREATE VIRTUAL TABLE IF NOT EXISTS temp.beside_fts {_WORDS};
"""
"""The same for exemplars of files, as long as the database is open; nothing of it is stored."""


MIGRATIONS = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4, _VERSION_5, _VERSION_6, _VERSION_7)

KIND = FileKind(
    noun="exemplar library",
    application_id=0x42535845,  # the letters BSXE
    error=LibraryError,
    migrations=MIGRATIONS,
    made_by="the first saved exemplar creates it",
    updated_by="to update it, list its exemplars with the command `exemplars list`",
)


def tokens_of(exemplar: Exemplar) -> int:
    """Return about how many tokens the trajectory has when it is prompted with."""
    texts = [exemplar.task]
    for step in exemplar.steps:
        texts += [step.observation, step.thought, *step.actions]
    for contrast in exemplar.contrasts:
        texts += [contrast.observation, contrast.tried, contrast.right, contrast.why]
    return sum(count_tokens(text) for text in texts)


def text_number(text: str) -> int:
    """Return what names a text that is embedded: 8 bytes of its hash, as SQLite keeps a number."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big", signed=True)


def pack(exemplar: Exemplar) -> bytes:
    """Return it as a version keeps it: its review is one of all versions."""
    return compress(line_of(exemplar.replace(review=ExemplarReview())).encode("utf-8", "replace"))


def unpack(content: bytes, path: Path, database: DatabaseFile) -> Exemplar:
    """Raises LibraryError if the content cannot be right."""
    try:
        return exemplar_of(decompress(content).decode(), str(path))
    except (zstandard.ZstdError, ValueError, DataError) as error:
        raise LibraryError(damaged(path, database.kind)) from error


def values_of(exemplar: Exemplar, provenance: Provenance, tokens: int) -> dict[str, Any]:
    """Return the columns of an exemplar that follow from it."""
    return {
        "id": exemplar.id,
        "family": plain(exemplar.family),
        "task": plain(exemplar.task),
        "environment": plain(exemplar.environment),
        "site": plain(provenance.site),
        "origin": provenance.origin,
        "run": provenance.run,
        "step": provenance.step,
        "llm": plain(provenance.llm),
        "file": plain(provenance.file),
        "weight": exemplar.weight,
        "pinned": exemplar.pinned,
        "tags": json.dumps(exemplar.tags),
        "note": plain(exemplar.note),
        **review_values(exemplar.review),
        "steps": len(exemplar.steps),
        "contrasts": len(exemplar.contrasts),
        "tokens": tokens,
        "text": text_number(exemplar.key),
    }


def review_values(review: ExemplarReview) -> dict[str, Any]:
    """Return the columns of a review."""
    return {
        "status": review.status,
        "reviewed_by": plain(review.by),
        "reviewed_at": review.at,
        "although": review.although,
    }


def review_of(row: Mapping[str, Any]) -> ExemplarReview:
    """Return the review of a row; raises pydantic's ValidationError for one that is damaged."""
    return ExemplarReview(
        status=row["status"], by=row["reviewed_by"], at=row["reviewed_at"], although=row["although"]
    )


def insert_words(database: DatabaseFile, number: int, exemplar: Exemplar, *, beside: bool = False) -> None:
    """Store what an exemplar is found by: its words and tags, in place of those it had."""
    words, tags = ("temp.beside_fts", "temp.beside_tags") if beside else ("exemplars_fts", "tags")
    database.execute(f"DELETE FROM {words} WHERE rowid = ?", (number,))
    database.execute(f"DELETE FROM {tags} WHERE exemplar = ?", (number,))
    said = [part for step in exemplar.steps for part in (step.thought, *step.actions)]
    values = {
        "rowid": number,
        "id": exemplar.id,
        "family": plain(exemplar.family),
        "task": plain(exemplar.task),
        "tags": plain(" ".join(exemplar.tags)),
        "note": plain(exemplar.note),
        "words": plain("\n".join(said)),
    }
    database.insert(words, values)
    for tag in dict.fromkeys(exemplar.tags):
        database.insert(tags, {"tag": plain(tag), "exemplar": number})


def plain(text: str) -> str:
    """Return a text as SQLite can keep it: half a character becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
