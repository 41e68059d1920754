"""What the library learns of the trace: where its exemplars were retrieved, each step only once, and how runs ended."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.exemplars.library.records import Retrieval
from core.schema.errors import NotInTraceError
from core.schema.step import Recalled
from core.trace.store import TraceStore

if TYPE_CHECKING:
    # Loading SQLite takes long.
    from core.exemplars.library.store import Library

_STEPS = 2000
"""Steps of the trace that are read at once."""


def note_retrievals(library: "Library", traces: TraceStore) -> int:
    """Read from the trace where exemplars were retrieved since this was last done; returns how many times.

    Only steps that are new are read, and the outcomes of runs that exemplars
    were retrieved in. The library is made if there is something to store. Raises
    StoreError.
    """
    if not library.is_made and not traces.has_recalls():
        return 0
    trace = str(traces.path.absolute())
    read = library.runs_read(trace)
    if others := [(run, began) for run, began in traces.started(read).items() if began > read[run]]:
        library.forget_runs(trace, others)
    count = 0
    since = library.last_step_read(trace)
    while True:
        last, found = traces.recalls(since, limit=_STEPS)
        new = [one for at in found for one in _retrievals(trace, *at)]
        if new or (last != since and library.is_made):
            library.log(trace, last[0], new, begun=last[1])
            count += len(new)
        if last == since:
            break
        since = last
    if runs := library.runs_read(trace):
        library.settle(trace, traces.ends(runs))
    return count


def _retrievals(trace: str, run: int, step: int, when: float, recalled: Recalled) -> Iterator[Retrieval]:
    """Give what was retrieved, then what a person added to it."""
    assert recalled.recall is not None
    near = {one.id: one for one in recalled.recall.retrieved}
    for id in dict.fromkeys((*near, *(one.id for one in recalled.recall.used))):
        known = near[id].model_dump(include={"distance", "voted"}) if id in near else {}
        used = id in recalled.exemplars
        yield Retrieval(id=id, trace=trace, run=run, step=step, when=when, used=used, **known)


def success_of(traces: TraceStore, run: int) -> bool | None:
    """Return whether a run was a success; None if that is not known, or if the trace does not have it."""
    try:
        return traces.run(run).verdict.success
    except NotInTraceError:
        return None
