"""Where runs are to stop: the breakpoints and watches of a database, and what runs have hit."""

from collections.abc import Iterable, Mapping
from typing import Literal

from core.trace import reader, run_reader
from core.trace.database import TraceDatabase, Transactions
from core.trace.records import BreakpointRow, Hit, WatchRow

Table = Literal["breakpoints", "watches"]


class Stops:
    """Each method is one transaction, as those of `TraceStore` are, and raises TraceError as they do."""

    def __init__(self, store: Transactions) -> None:
        self._store = store

    def breakpoints(self) -> tuple[BreakpointRow, ...]:
        """Return the breakpoints in the order of their numbers, as they are kept."""
        query = "SELECT number, kind, definition, hits FROM breakpoints ORDER BY number"
        rows = self._store.ask(
            lambda database: [run_reader.valid(database, BreakpointRow, row) for row in database.rows(query)]
        )
        return tuple(rows)

    def watches(self) -> tuple[WatchRow, ...]:
        """Return the watches in the order of their numbers, as they are kept."""
        query = "SELECT number, kind, text, on_change FROM watches ORDER BY number"
        rows = self._store.ask(
            lambda database: [run_reader.valid(database, WatchRow, row) for row in database.rows(query)]
        )
        return tuple(rows)

    # Either

    def add(self, table: Table, values: Mapping[str, object]) -> int:
        """Store a row under a number that none has, or had when it was hit, and return the number."""
        column = "breakpoint" if table == "breakpoints" else "watch"

        def add(database: TraceDatabase) -> int:
            (row,) = database.rows(
                f"SELECT max((SELECT coalesce(max(number), 0) FROM {table}),"
                f" (SELECT coalesce(max({column}), 0) FROM hits)) + 1 AS number"
            )
            return database.insert(table, {"number": row["number"], **values})

        return self._store.change(add)

    def replace(self, table: Table, number: int, values: Mapping[str, object]) -> None:
        """Store a row under the number that it has; the hits of a breakpoint stay."""
        self._store.change(lambda database: database.update(table, {"number": number}, values))

    def restore(self, table: Table, number: int, values: Mapping[str, object]) -> None:
        """Store a row that was deleted under the number that it had."""
        self._store.change(lambda database: database.insert(table, {"number": number, **values}))

    def remove(self, table: Table, number: int) -> None:
        """Delete a row; what it has hit stays."""
        self._store.change(
            lambda database: database.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
        )

    # Hits

    def hits(self, run: int, step: int | None = None) -> tuple[Hit, ...]:
        """Return what a run, or one step of it, has hit, in order."""
        return self._store.ask(lambda database: reader.hits(database, run, step))

    def save_hits(self, hits: Iterable[Hit]) -> None:
        """Store hits, all or none, and count them with their breakpoints."""

        def save(database: TraceDatabase) -> None:
            for hit in hits:
                run_reader.require_run(database, hit.run)
                database.insert("hits", hit.model_dump())
                database.execute("UPDATE breakpoints SET hits = hits + 1 WHERE number = ?", (hit.breakpoint,))

        self._store.change(save)
