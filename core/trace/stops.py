"""Where runs are to stop: the breakpoints and watches of a database, and what runs have hit."""

from collections.abc import Iterable
from typing import Literal

from core.trace import reader, run_reader
from core.trace.database import TraceDatabase, Transactions
from core.trace.records import BreakpointRow, Hit, WatchRow

Table = Literal["breakpoints", "watches"]


class Stops:
    """Each method is one transaction, as those of `TraceStore` are, and raises TraceError as they do."""

    def __init__(self, store: Transactions) -> None:
        self._store = store

    # Breakpoints

    def breakpoints(self) -> tuple[BreakpointRow, ...]:
        """Return the breakpoints in the order of their numbers, as they are kept."""
        query = "SELECT number, kind, definition, hits FROM breakpoints ORDER BY number"
        rows = self._store.ask(
            lambda database: [run_reader.valid(database, BreakpointRow, row) for row in database.rows(query)]
        )
        return tuple(rows)

    def add_breakpoint(self, kind: str, definition: str) -> int:
        """Store a new breakpoint and return its number."""
        return self._add("breakpoints", {"kind": kind, "definition": definition})

    def replace_breakpoint(self, number: int, kind: str, definition: str) -> None:
        """Store a breakpoint under the number that it has; its hits stay."""
        self._replace("breakpoints", number, {"kind": kind, "definition": definition})

    def restore_breakpoint(self, number: int, kind: str, definition: str, hits: int) -> None:
        """Store a breakpoint that was deleted under the number that it had."""
        values = {"number": number, "kind": kind, "definition": definition, "hits": hits}
        self._store.change(lambda database: database.insert("breakpoints", values))

    def remove_breakpoint(self, number: int) -> None:
        """Delete a breakpoint; what it has hit stays."""
        self._remove("breakpoints", number)

    # Watches

    def watches(self) -> tuple[WatchRow, ...]:
        """Return the watches in the order of their numbers, as they are kept."""
        query = "SELECT number, kind, text, on_change FROM watches ORDER BY number"
        rows = self._store.ask(
            lambda database: [run_reader.valid(database, WatchRow, row) for row in database.rows(query)]
        )
        return tuple(rows)

    def add_watch(self, kind: str, text: str, *, on_change: bool) -> int:
        """Store a new watch and return its number."""
        return self._add("watches", {"kind": kind, "text": text, "on_change": on_change})

    def replace_watch(self, number: int, kind: str, text: str, *, on_change: bool) -> None:
        """Store a watch under the number that it has."""
        self._replace("watches", number, {"kind": kind, "text": text, "on_change": on_change})

    def restore_watch(self, number: int, kind: str, text: str, *, on_change: bool) -> None:
        """Store a watch that was deleted under the number that it had."""
        values = {"number": number, "kind": kind, "text": text, "on_change": on_change}
        self._store.change(lambda database: database.insert("watches", values))

    def remove_watch(self, number: int) -> None:
        """Delete a watch; where it has changed stays."""
        self._remove("watches", number)

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

    def _add(self, table: Table, values: dict[str, object]) -> int:
        """Store a row under a number that none has, or had when it was hit."""
        column = "breakpoint" if table == "breakpoints" else "watch"

        def add(database: TraceDatabase) -> int:
            (row,) = database.rows(
                f"SELECT max((SELECT coalesce(max(number), 0) FROM {table}),"
                f" (SELECT coalesce(max({column}), 0) FROM hits)) + 1 AS number"
            )
            return database.insert(table, {"number": row["number"], **values})

        return self._store.change(add)

    def _replace(self, table: Table, number: int, values: dict[str, object]) -> None:
        self._store.change(lambda database: database.update(table, {"number": number}, values))

    def _remove(self, table: Table, number: int) -> None:
        self._store.change(
            lambda database: database.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
        )
