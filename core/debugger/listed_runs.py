"""The runs that the window lists: a page of the newest, and more as they are asked for."""

from core.debugger.snapshots import RunsView
from core.trace.records import RunRow
from core.trace.store import TraceStore

PAGE = 200
"""Runs that are listed at first, and how many more each time."""


class ListedRuns:
    """Reads `RunsView`; of the runs listed before, only those that can have changed are read again.

    These are the newest ones, those that go on, and those that the session
    says. Which runs there are is read each time, so none is listed twice or left
    out, however many were added or deleted meanwhile.
    """

    def __init__(self) -> None:
        self.query = ""
        """The words that the runs are looked for by."""
        self._most = PAGE
        self._rows: dict[int, RunRow] = {}
        self._changed: set[int] = set()

    def look_for(self, query: str) -> None:
        """List the newest runs that match; where the words are the same, as many as before."""
        if query != self.query:
            self.query, self._most = query, PAGE

    def list_more(self, listed: int) -> None:
        """List a page more than the `listed` runs that there are in the list."""
        self._most = max(self._most, listed + PAGE)

    def forget(self, run: int) -> None:
        """Read a run again at the next time: it was changed."""
        self._changed.add(run)

    def read(self, store: TraceStore, current: int | None, expanded: tuple[int, ...]) -> RunsView:
        """Return the view, with the own steps of those runs that are `expanded`."""
        query, most = self.query, self._most
        changed, self._changed = self._changed, set()
        found = store.find_runs(query, current=current)
        always = {*expanded, *changed, *((current,) if current is not None else ())}
        listed = set(found[:most]) | {run for run in found if run == current}
        known = {run: row for run, row in self._rows.items() if run in listed and row.outcome != "running"}
        fresh = ({*found[:PAGE]} | always) & listed
        read = store.rows(fresh | (listed - known.keys()))
        self._rows = known | {row.run: row for row in read}
        rows = [self._rows[run] for run in sorted(self._rows, reverse=True)]
        shown = tuple(row for row in rows if row.steps or row.run == current or row.outcome == "running")
        return RunsView(
            runs=shown,
            total=len(found) - (len(rows) - len(shown)),
            more=len(found) > most,
            query=query,
            current=current,
            steps={run: store.own_steps(run) for run in expanded if run in self._rows},
        )
