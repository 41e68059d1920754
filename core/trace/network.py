"""What servers answered to the pages of a run: rows, and contents as blobs.

Works inside the transaction that is open.
"""

import json
import time
from collections.abc import Iterable

from pydantic import ValidationError

from core.browser.recorded.exchange import Exchange
from core.browser.recorded.recorder import Taken
from core.schema.errors import TraceError
from core.trace import reader as reading
from core.trace.blobs import Blobs
from core.trace.database import TraceDatabase, damaged

_COLUMNS = "step, opening, method, url, kind, sent, status, headers, blobs.hash AS body, missing, error"


def save(database: TraceDatabase, blobs: Blobs, run: int, step: int, taken: Iterable[Taken]) -> None:
    """Store what came in a step, in this order."""
    reading.require_run(database, run)
    for exchange, body in taken:
        row = None
        if body:
            row, _ = blobs.put(body, _media_type(exchange))
        database.execute(
            "INSERT INTO exchanges (run, step, time, opening, method, url, kind, sent, status, headers, body,"
            " missing, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run,
                step,
                time.time(),
                exchange.opening,
                exchange.method,
                exchange.url,
                exchange.kind,
                exchange.sent,
                exchange.status,
                json.dumps(exchange.headers),
                row,
                exchange.missing,
                exchange.error,
            ),
        )


def of_run(database: TraceDatabase, run: int) -> tuple[Exchange, ...]:
    """Return what came in a run, and before it in those that it branched from, in order."""
    try:
        return tuple(
            Exchange.model_validate({**row, "headers": json.loads(row["headers"]), "body": row["body"] or ""})
            for part, left in reading.path(database, run)
            for row in database.rows(
                f"SELECT {_COLUMNS} FROM exchanges LEFT JOIN blobs ON blobs.id = exchanges.body"
                " WHERE run = ? AND step < ? ORDER BY exchanges.id",
                (part, left),
            )
        )
    except (ValueError, ValidationError) as error:
        raise TraceError(damaged(database.path)) from error


def _media_type(exchange: Exchange) -> str:
    told = next((value for name, value in exchange.headers if name.lower() == "content-type"), "")
    return told.partition(";")[0].strip().lower() or "application/octet-stream"
