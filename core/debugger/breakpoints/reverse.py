"""Going backwards: where a stored run would last have stopped, and where a watch last changed."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from core.debugger.breakpoints.collection import hit_of
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.stored_events import events_of
from core.debugger.breakpoints.watch import Watch, WatchValue
from core.debugger.breakpoints.watches import differs, value_of
from core.schema.errors import UsageError
from core.schema.step import Phase
from core.trace.store import TraceStore


class LastHit(NamedTuple):
    """Where a run would have stopped."""

    step: int
    phase: Phase
    sentence: str


def last_hit(
    store: TraceStore, breakpoints: Iterable[Breakpoint], run: int, before_step: int
) -> LastHit | None:
    """Return the last place before `before_step` where one of the breakpoints stops a run, or None.

    The run is read from its beginning, since totals and hits to let pass count
    from there. Breakpoints that only log are left out. No hit is counted or
    stored. Raises TraceError.
    """
    checked = [one for one in breakpoints if one.enabled and one.then == "stop"]
    counts: Counter[int] = Counter()
    last: LastHit | None = None
    for event in events_of(store, run, before_step=before_step) if checked else ():
        for breakpoint in checked:
            hit = hit_of(breakpoint, event)
            if hit is None:
                continue
            sentence, failed = hit
            counts[breakpoint.number] += 1
            if failed or counts[breakpoint.number] > breakpoint.ignore:
                last = LastHit(event.figures.step, event.phase, sentence)
    return last


class WatchChange(NamedTuple):
    """Where the value of a watch became another one."""

    step: int
    phase: Phase
    before: WatchValue
    after: WatchValue


def last_change(store: TraceStore, run: int, before_step: int, watch: Watch) -> WatchChange | None:
    """Return where an expression's value last changed before `before_step`, or None where it never did.

    Raises TraceError, and UsageError for a watch of the page, whose values are not stored.
    """
    if watch.kind != "expression":
        raise UsageError(
            f"{watch.text} is read in the live page; what it was at earlier steps is not stored."
        )
    known: WatchValue | None = None
    last: WatchChange | None = None
    for event in events_of(store, run, before_step=before_step):
        now = value_of(watch, event, event.previous, known)
        if known is not None and differs(known, now):
            last = WatchChange(event.figures.step, event.phase, known, now)
        known = now
    return last
