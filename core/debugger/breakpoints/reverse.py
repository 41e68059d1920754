"""Going backwards: where a stored run would last have stopped."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from core.debugger.breakpoints.collection import answered
from core.debugger.breakpoints.kinds import Breakpoint
from core.debugger.breakpoints.stored_events import moments_of
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

    The run is gone through from its beginning, as what it has come to counts;
    hits to let pass are counted from there too. What only tells is left out,
    and so are requests, which are not stored. Nothing is counted or stored.
    Raises TraceError.
    """
    asked = [one for one in breakpoints if one.enabled and one.then == "stop"]
    counts: Counter[int] = Counter()
    last: LastHit | None = None
    for moment in moments_of(store, run, before_step=before_step) if asked else ():
        for breakpoint in asked:
            answer = answered(breakpoint, moment)
            if answer is None:
                continue
            sentence, failed = answer
            counts[breakpoint.number] += 1
            if failed or counts[breakpoint.number] > breakpoint.ignore:
                last = LastHit(moment.figures.step, moment.phase, sentence)
    return last
