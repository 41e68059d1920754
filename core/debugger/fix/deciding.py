"""Proposes where to fix a failed run: the steps of its causes, the likeliest first."""

from collections.abc import Iterator

from core.agent.resources import AgentResources
from core.debugger.causes.finding import causes_of
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.bisection import bisected
from core.debugger.fix.views import Clue
from core.trace.records import RunRow
from core.trace.store import TraceStore

_ENDS = {
    "running": "This is the last step so far; the run has not ended.",
    "budget": "This is the last step: the run was out of its budget of page actions. If it was on the right way, "
    "nothing has to be changed: running again from here has a budget of its own.",
}
_SAID_BY_END = ("budget", "last-step")
"""Kinds of causes that say less of such a step than `_ENDS`."""


def clues_of(
    store: TraceStore, row: RunRow, resources: AgentResources, files: AgentFiles
) -> tuple[Clue, ...]:
    """Return the steps to put right, the likeliest first; at least one for a run that has steps. Raises TraceError."""
    steps = [step for step in store.steps(row.run) if step.phase not in ("observe", "recognise", "recall")]
    if not steps:
        return ()
    last = steps[-1]
    steps = [step for step in steps if step.sealed or step.action or step.outcome != "pending"]
    if not steps:
        reason = f"Run {row.run} has not decided on an action yet: this is its first step."
        return (Clue(step=last.number, reason=reason),)
    last = steps[-1]
    if row.verdict.success:
        reason = f"Run {row.run} succeeded, so there is nothing to fix. You can still change any step."
        return (Clue(step=last.number, reason=reason),)
    causes = causes_of(store, row.run, resources, files) if row.outcome != "running" else ()
    end = _ENDS.get(row.outcome, "")
    likely, possible = (
        [
            Clue(
                step=each.step,
                reason=f"{each.what} {each.why}",
                file=each.file,
                line=each.line,
                patch=each.patch,
            )
            for each in causes
            if (each.certainty == "possible") == is_possible and not (end and each.kind in _SAID_BY_END)
        ]
        for is_possible in (False, True)
    )
    # How the run ended says more than what is known to cause such failures and need not have caused this one.
    at_end = [Clue(step=last.number, reason=end)] if end else []
    nothing = Clue(step=last.number, reason="This is the last step. Nothing else is known about the failure.")
    own, by_step = {step.number for step in steps}, dict[int, Clue]()
    for clue in (*_bisected(store, row), *likely, *at_end, *possible, nothing):
        if clue.step in own:
            by_step.setdefault(clue.step, clue)
    return tuple(by_step.values())


def _bisected(store: TraceStore, row: RunRow) -> Iterator[Clue]:
    """Find the last step from which branches still succeeded, by the last bisection that found one."""
    shares = bisected(store, row.run)
    good = max((step for step, share in shares.items() if share.successes), default=None)
    if good is None:
        return
    later = any(share.judged for step, share in shares.items() if step > good)
    rest = "; from later steps none did" if later else ""
    counts = f"{shares[good].successes} of {shares[good].judged}"
    yield Clue(step=good, reason=f"Bisect: from here {counts} branches still succeeded{rest}.")
