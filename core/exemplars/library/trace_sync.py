"""What the library learns of the trace: where its exemplars were retrieved, each step only once, and how runs ended."""

from typing import TYPE_CHECKING

from core.exemplars.library.records import Retrieval
from core.schema.errors import NotInTraceError
from core.trace.store import TraceStore

if TYPE_CHECKING:
    # Loading SQLite takes long.
    from core.exemplars.library.store import Library

_STEPS = 2000
"""Steps of the trace that are read at once."""


def note_retrievals(library: "Library", traces: TraceStore) -> int:
    """Read from the trace where exemplars were retrieved since this was last done; returns how many times.

    Only steps that are new are read, and the outcomes of runs that exemplars
    were retrieved in. A library that has nothing yet is left alone. Raises
    StoreError.
    """
    if not library.is_made:
        return 0
    trace = str(traces.path.absolute())
    count = 0
    while True:
        since = library.last_step_read(trace)
        last, found = traces.recalls(since, limit=_STEPS)
        new = [
            Retrieval(
                trace=trace,
                run=run,
                step=step,
                when=when,
                **one.model_dump(include={"id", "distance", "voted", "used"}),
            )
            for run, step, when, recall in found
            for one in recall.retrieved
        ]
        if new or last != since:
            library.log(trace, last, new)
            count += len(new)
        if last == since:
            break
    runs = library.runs_read(trace)
    if runs:
        library.settle(trace, traces.ends(runs))
    return count


def success_of(traces: TraceStore, run: int) -> bool | None:
    """Return whether a run was a success; None if that is not known, or if the trace does not have it."""
    try:
        return traces.run(run).verdict.success
    except NotInTraceError:
        return None
