"""Tables that a window has written to a file."""

import asyncio
import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.schema.errors import DataError


async def write_table(path: str, text: str) -> str:
    """Write a table as it is, and return the sentence that says so; raises DataError."""
    try:
        await asyncio.to_thread(Path(path).write_text, text, encoding="utf-8", newline="")
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}); choose another place.") from error
    return f"The table was written to {path}."


def table_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as comma-separated values (RFC 4180) under a heading, which is the keys of the first one."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
