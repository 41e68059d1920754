"""The runs that the window lists: a page of the newest, and more on request."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from core.debugger.session_view import RunsView
from core.schema.errors import TraceError
from core.trace.records import RunRow, StepRow
from core.trace.store import TraceStore

_OTHERS_SECONDS = 3.0
"""How often it is looked, while a run continues, whether other runs have changed."""
_WATCHED_SECONDS = 1.0
PAGE = 200
"""Runs that are listed at first, and how many more each time."""


async def watch_others(store: TraceStore, changed: Callable[[], None]) -> None:
    """Call `changed` whenever another process has written into the trace, until cancelled."""
    seen = store.seen_changes()
    while True:
        await asyncio.sleep(_WATCHED_SECONDS)
        with suppress(TraceError):  # Who does something with the file tells what is wrong with it.
            if (now := store.seen_changes()) != seen:
                seen = now
                changed()


class ListedRuns:
    """Reads `RunsView`; of the runs already listed, only those that can have changed are read again.

    These are the newest ones, the running ones, and those that were changed. The list of runs is read
    each time, so none is listed twice or left out, however many were added or deleted meanwhile.
    """

    def __init__(self) -> None:
        self.query = ""
        """The words that the runs are looked for by."""
        self._most = PAGE
        self._rows: dict[int, RunRow] = {}
        self._changed: set[int | None] = set()
        self._last: RunsView | None = None
        """What was read last."""
        self._asked = self._read_for = 0
        """How often all was asked for, and for which of these it was read last."""
        self._whole_at = 0.0

    def look_for(self, query: str | None) -> None:
        """List the newest runs that match; where the words are the same, or None, as many as before."""
        self._asked += 1
        if query is not None and query != self.query:
            self.query, self._most = query, PAGE

    def list_more(self, listed: int) -> None:
        """List a page more than the `listed` runs that there are in the list."""
        self._most = max(self._most, listed + PAGE)

    def forget(self, run: int | None) -> None:
        """Read a run, or all if it is None, again at the next time: it was changed."""
        self._changed.add(run)

    def read(self, store: TraceStore, current: int | None, expanded: tuple[int, ...]) -> RunsView:
        """Return the view, with the own steps of those runs that are `expanded`."""
        self._read_for, self._whole_at = self._asked, time.monotonic()
        query, most = self.query, self._most
        changed, self._changed = self._changed, set()
        found = store.find_runs(query, current=current)
        always = {*expanded, *changed, *((current,) if current is not None else ())}
        listed = set(found[:most]) | {run for run in found if run == current}
        known = {run: row for run, row in self._rows.items() if run in listed and row.outcome != "running"}
        fresh = {*(found if None in changed else found[:PAGE]), *always} & listed
        read = store.rows(fresh | (listed - known.keys()))
        self._rows = known | {row.run: row for row in read}
        rows = [self._rows[run] for run in sorted(self._rows, reverse=True)]
        shown = tuple(row for row in rows if row.steps or row.run == current or row.outcome == "running")
        self._last = RunsView(
            runs=shown,
            total=len(found) - (len(rows) - len(shown)),
            more=len(found) > most,
            query=query,
            current=current,
            steps={run: store.own_steps(run) for run in expanded if run in self._rows},
        )
        return self._last

    def read_step(self, store: TraceStore, expanded: tuple[int, ...], steps: tuple[StepRow, ...]) -> RunsView:
        """Return the view after the current run has done a step; `steps` are its known steps.

        Changes by other processes are not read each time.
        """
        last, run = self._last, steps[0].run
        if (
            last is None
            or last.current != run
            or run not in last.steps
            or self._read_for != self._asked
            or time.monotonic() - self._whole_at > _OTHERS_SECONDS
        ):
            return self.read(store, run, expanded)
        (row,) = store.rows([run])
        self._rows[run] = row
        before = (one for one in last.steps[run] if one.number < steps[0].number)
        self._last = last.replace(
            runs=tuple(row if one.run == run else one for one in last.runs),
            steps={**last.steps, run: (*before, *steps)},
        )
        return self._last
