"""Brings into the library where the trace has retrieved its exemplars, each step only once."""

from core.memory.library.records import Retrieval
from core.memory.library.store import Library
from core.trace.store import TraceStore

_STEPS = 2000
"""Steps of the trace that are read at once."""


def note_retrievals(library: Library, traces: TraceStore) -> int:
    """Read from the trace where exemplars were retrieved since this was last done; returns how many times.

    Only steps that are new are read, and the outcomes of runs that exemplars
    were retrieved in. Raises StoreError.
    """
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
