"""How an exemplar becomes rows; every function works inside the transaction that is open."""

import hashlib
import json
from pathlib import Path
from typing import Any

import zstandard

from core.llm.costs import count_tokens
from core.memory.files import exemplar_of, line_of
from core.memory.library.records import Provenance
from core.schema.errors import DataError, LibraryError
from core.schema.exemplar import Exemplar
from core.storage.database import DatabaseFile, damaged


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
    return zstandard.ZstdCompressor(level=3).compress(line_of(exemplar).encode("utf-8", "replace"))


def unpack(content: bytes, path: Path, database: DatabaseFile) -> Exemplar:
    """Raises LibraryError where the content cannot be right."""
    try:
        return exemplar_of(zstandard.ZstdDecompressor().decompress(content).decode(), str(path))
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
        "tags": json.dumps(exemplar.tags),
        "note": plain(exemplar.note),
        "archived": exemplar.archived,
        "steps": len(exemplar.steps),
        "contrasts": len(exemplar.contrasts),
        "tokens": tokens,
        "text": text_number(exemplar.key),
    }


def insert(database: DatabaseFile, table: str, values: dict[str, Any]) -> int:
    names = ", ".join(f'"{name}"' for name in values)
    places = ", ".join("?" * len(values))
    cursor = database.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(values.values()))
    return int(cursor.lastrowid or 0)


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
    insert(database, words, values)
    for tag in dict.fromkeys(exemplar.tags):
        insert(database, tags, {"tag": plain(tag), "exemplar": number})


def plain(text: str) -> str:
    """Return a text as SQLite can keep it: half a character becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
