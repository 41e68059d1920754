"""What was found out about exemplars by trying: replays, experiments with and without, and credits, as JSON."""

from collections.abc import Iterable
from typing import Literal

from core.memory.library.rows import plain
from core.storage.database import DatabaseFile

ProofKind = Literal["replay", "worth", "credit"]

TABLES = """
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


def about_family(name: str) -> str:
    """Return what names a family; no id has a space."""
    return f"family {name}"


def save(
    database: DatabaseFile, kind: ProofKind, about: str, when: float, content: str, number: int | None
) -> int:
    """Store one, in place of the one of that number where it is given, and return its number."""
    if number is not None:
        database.execute(
            'UPDATE proofs SET "when" = ?, content = ? WHERE number = ?', (when, plain(content), number)
        )
        return number
    cursor = database.execute(
        'INSERT INTO proofs (kind, about, "when", content) VALUES (?, ?, ?, ?)',
        (kind, plain(about), when, plain(content)),
    )
    return int(cursor.lastrowid or 0)


def of(
    database: DatabaseFile, kind: ProofKind, about: Iterable[str], limit: int
) -> tuple[tuple[int, str], ...]:
    """Return numbers and contents, the oldest first, the latest `limit`; those of all where nothing is named."""
    names = tuple(about)
    wanted = f"AND about IN ({', '.join('?' * len(names))})" if names else ""
    rows = database.rows(
        f"SELECT number, content FROM proofs WHERE kind = ? {wanted} ORDER BY number DESC LIMIT ?",
        (kind, *map(plain, names), limit),
    )
    return tuple((int(row["number"]), str(row["content"])) for row in reversed(rows))


def latest(database: DatabaseFile, kind: ProofKind) -> dict[str, str]:
    """Return the last content of each that there is one about."""
    rows = database.rows(
        "SELECT about, content FROM proofs WHERE number IN"
        " (SELECT max(number) FROM proofs WHERE kind = ? GROUP BY about)",
        (kind,),
    )
    return {str(row["about"]): str(row["content"]) for row in rows}
