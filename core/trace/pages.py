"""The pages of runs: how they were, what they reported, and what servers answered."""

import json
import time
from collections.abc import Iterable, Mapping

from core.browser.log.records import LogPart, Moment, PageLog
from core.browser.recorded.exchange import Exchange, Taken
from core.schema.events import BrowserEvent
from core.schema.observation import picture_type
from core.schema.record import Record
from core.schema.restore import Restored
from core.schema.step import BlobHash
from core.trace import encoding, reader
from core.trace.database import JSON, TraceDatabase, Transactions
from core.trace.hidden_records import hidden_exchange, hidden_log
from core.trace.run_reader import kept_for_run, path, rows_of_step, valid, valid_json
from core.trace.under_way import RunsUnderWay


class RunEvent(Record):
    """Something that happened in the browser, with its place in the run."""

    step: int
    """The current step; 0 before the first."""
    time: float
    """Seconds since the epoch."""
    event: BrowserEvent


class StoredPages:
    """Each method is one transaction, as those of `TraceStore` are, and raises TraceError as they do."""

    def __init__(self, store: Transactions, under_way: RunsUnderWay) -> None:
        self._store = store
        self._under_way = under_way

    # What the browser keeps for a page

    def save(self, run: int, step: int, page: bytes) -> None:
        """Store what the browser and the environment's server keep for the page of a step, as JSON.

        Its cookies and storage stay as they are: going back needs them.
        """

        def save(database: TraceDatabase) -> None:
            kept, _ = database.blobs.put(page, JSON, whole=True)
            database.update("steps", {"run": run, "number": step}, {"page": kept})

        self._store.change(save)

    def of(self, run: int, number: int) -> bytes:
        """Return what the browser and the environment's server kept for the page of a step, or nothing."""
        return self._store.ask(lambda database: reader.kept_for_step(database, run, number, "page"))

    def save_restored(self, run: int, restored: Restored) -> None:
        """Store how well the first page of a branch was brought back."""

        def save(database: TraceDatabase) -> None:
            kept, _ = database.blobs.put(restored.model_dump_json().encode(), JSON)
            database.update("runs", {"run": run}, {"restored": kept, "grade": restored.grade})

        self._store.change(save, run)

    def restored(self, run: int) -> Restored | None:
        """Return how well the first page of a branch was brought back; None for what is not a branch."""

        def read(database: TraceDatabase) -> Restored | None:
            data = kept_for_run(database, run, "restored")
            return valid_json(database, Restored, data) if data else None

        return self._store.ask(read)

    # Pictures

    def save_pictures(self, run: int, pictures: Mapping[int, bytes]) -> None:
        """Store the pictures of a run's own steps, by their numbers, which were stored without them."""

        def save(database: TraceDatabase) -> None:
            for number, picture in pictures.items():
                kept, _ = database.blobs.put(picture, picture_type(picture))
                database.update("steps", {"run": run, "number": number}, {"screenshot": kept})

        self._store.change(save, run)
        self._under_way.forget(run)

    def pictures(self, run: int) -> dict[int, BlobHash]:
        """Return the blobs of the steps' pictures, by the number of the step; for a branch, of those before it too.

        A step without one is left out.
        """
        query = (
            "SELECT number, hash FROM steps JOIN blobs ON blobs.id = screenshot WHERE run = ? AND number < ?"
        )
        return self._store.ask(
            lambda database: {
                row["number"]: row["hash"]
                for part, left in path(database, run)
                for row in database.rows(query, (part, left))
            }
        )

    # What servers answered

    def save_network(self, run: int, step: int, taken: Iterable[Taken]) -> None:
        """Store what servers answered in a step, in this order."""

        # Nobody waits for the file while contents are searched.
        hidden = [hidden_exchange(exchange, body, self._store.secrets) for exchange, body in taken]

        def save(database: TraceDatabase) -> None:
            for exchange, body in hidden:
                kept = database.blobs.put(body, exchange.media_type)[0] if body else None
                values = exchange.model_dump(exclude={"step", "headers", "body"})
                values |= {"run": run, "step": step, "time": time.time(), "body": kept}
                database.insert("exchanges", {**values, "headers": json.dumps(exchange.headers)})

        self._store.change(save, run)

    def network(self, run: int) -> tuple[Exchange, ...]:
        """Return what servers answered in a run, for a branch before it too, in order; the contents are blobs."""
        columns = (
            "step, opening, method, url, kind, sent, status, headers, blobs.hash AS body, missing, error"
        )

        def read(database: TraceDatabase) -> tuple[Exchange, ...]:
            rows = [
                row
                for part, left in path(database, run)
                for row in database.rows(
                    f"SELECT {columns} FROM exchanges LEFT JOIN blobs ON blobs.id = exchanges.body"
                    " WHERE run = ? AND step < ? ORDER BY exchanges.id",
                    (part, left),
                )
            ]
            try:
                return tuple(
                    Exchange.model_validate(
                        {**row, "headers": encoding.parsed(row["headers"]), "body": row["body"] or ""}
                    )
                    for row in rows
                )
            except ValueError as error:
                raise database.damaged() from error

        return self._store.ask(read)

    # What pages reported

    def save_event(self, run: int, step: int, event: BrowserEvent) -> None:
        """Store something that happened besides an action; what happened in one is in its `Acted`."""
        values = {"run": run, "step": step, "time": time.time(), **event.model_dump()}
        self._store.change(lambda database: database.insert("events", values), run)

    def events(self, run: int) -> tuple[RunEvent, ...]:
        """Return what happened besides actions, in order."""

        def read(database: TraceDatabase) -> tuple[RunEvent, ...]:
            columns = "step, time, kind, text, tab, url"
            rows = rows_of_step(database, f"SELECT {columns} FROM events", run, None, "id")
            return tuple(
                RunEvent(step=row.pop("step"), time=row.pop("time"), event=valid(database, BrowserEvent, row))
                for row in rows
            )

        return self._store.ask(read)

    def save_log(self, run: int, step: int, moment: Moment, log: PageLog) -> None:
        """Store a part of what the pages reported in a step, empty or not, after those before it."""

        data = hidden_log(encoding.to_json(log), self._store.secrets)

        def save(database: TraceDatabase) -> None:
            kept = None if log.empty else database.blobs.put(data, JSON)[0]
            database.insert("page_logs", {"run": run, "step": step, "moment": moment, "log": kept})

        self._store.change(save, run)

    def log(self, run: int, number: int) -> tuple[LogPart, ...] | None:
        """Return what pages reported in a step, in order; None if it was stored before that was kept."""

        def read(database: TraceDatabase) -> tuple[LogPart, ...] | None:
            rows = rows_of_step(
                database,
                "SELECT moment, log FROM page_logs",
                reader.owner(database, run, number),
                number,
                "id",
            )
            return tuple(_log_part(database, row["moment"], row["log"]) for row in rows) or None

        return self._store.ask(read)


def _log_part(database: TraceDatabase, moment: str, blob: int | None) -> LogPart:
    log = PageLog() if blob is None else valid_json(database, PageLog, database.blobs.content(blob))
    return valid(database, LogPart, {"moment": moment, "log": log})
